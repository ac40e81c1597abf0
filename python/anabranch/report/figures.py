"""Figures of results: one style, for paper and screen alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch.report.style import DASHES, PALETTE, looks, plain, save_figure, styled
from anabranch.result import Result

__all__ = ["compare_goodput", "goodput_over_time", "label_axes", "save_figure"]

# More lines than this cannot be told apart, so that single flows turn grey behind their sum.
_MOST_LABELLED = 7
_MOST_DRAWN = 200


def goodput_over_time(result: Result) -> Figure:
    """Goodput of each flow over time, and of all together where there are several."""
    with styled():
        figure = Figure(figsize=(6.3, 3.2), layout="constrained")
        axes = figure.subplots()
        series = result.flow_series
        names = dict(zip(result.flows["flow"].to_list(), result.flows["name"].to_list(), strict=True))
        few = len(names) <= _MOST_LABELLED
        for number, (flow, name) in enumerate(names.items()):
            if number >= _MOST_DRAWN:
                break
            own = series.filter(pl.col("flow") == flow)
            look: dict[str, Any]
            if few:
                look = {
                    "color": PALETTE[number],
                    "linestyle": DASHES[number % len(DASHES)],
                    "label": plain(name),
                }
            else:
                look = {"color": "#999999", "linewidth": 0.5, "alpha": 0.5}
            axes.plot(own["time_s"].to_numpy(), own["goodput_mbps"].to_numpy(), **look)
        if len(names) > 1:
            total = series.group_by("time_s").agg(pl.col("goodput_mbps").sum()).sort("time_s")
            label = f"all {len(names)} flows"
            axes.plot(
                total["time_s"].to_numpy(), total["goodput_mbps"].to_numpy(), color="#000000", label=label
            )
        label_axes(axes, "time in s", "goodput in Mbps", str(result.summary.get("title", "")))
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="best")
    return figure


def compare_goodput(panels: Mapping[str, Mapping[str, Result]]) -> Figure:
    """Total goodput over time of several runs: a panel for each group, a line for each run in it."""
    with styled():
        columns = min(2, len(panels))
        rows = -(-len(panels) // columns)
        figure = Figure(figsize=(3.6 * columns, 2.5 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for index, (title, runs) in enumerate(panels.items()):
            axes: Axes = grid[index // columns][index % columns]
            for (name, result), look in zip(runs.items(), looks(list(runs)), strict=True):
                total = result.flow_series.group_by("time_s").agg(pl.col("goodput_mbps").sum()).sort("time_s")
                axes.plot(
                    total["time_s"].to_numpy(),
                    total["goodput_mbps"].to_numpy(),
                    color=look.color,
                    linestyle=look.dash,
                    label=plain(name),
                )
            label_axes(axes, "time in s", "goodput in Mbps", title)
            axes.legend(loc="best")
        for index in range(len(panels), rows * columns):
            grid[index // columns][index % columns].set_axis_off()
    return figure


def label_axes(axes: Axes, x: str, y: str, title: str) -> None:
    """Labels with units, a title, and axes that begin at zero."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(plain(title), loc="left")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
