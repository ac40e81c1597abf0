"""Figures of results: one style, for paper and screen alike."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch.report.looks import looks
from anabranch.report.plots.run_plots import RunPlots
from anabranch.report.style import plain, save_figure, styled
from anabranch.results.result import Result

__all__ = ["compare_goodput", "goodput_over_time", "label_axes", "save_figure"]


def goodput_over_time(result: Result) -> Figure:
    """Goodput of each flow over time and of all together; of many flows the mean and a band by transport."""
    return RunPlots(result).goodput(title=True).figure


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
