"""Figures of results: one style, for paper and screen alike."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch.result import Result

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours that people with any colour vision tell apart (Okabe and Ito, 2008); the yellow is too light."""

DASHES = ("-", "--", ":", "-.")
"""Line styles, so that colour is never the only difference."""

STYLE: Any = {
    "figure.dpi": 150,
    "savefig.dpi": 150,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "legend.fontsize": 8,
    # The same figure has the same bytes.
    "svg.hashsalt": "anabranch",
}

# More lines than this cannot be told apart, so that single flows turn grey behind their sum.
_MOST_LABELLED = 7
_MOST_DRAWN = 200


def goodput_over_time(result: Result) -> Figure:
    """Goodput of each flow over time, and of all together where there are several."""
    with rc_context(STYLE):
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
                    "label": _plain(name),
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
    with rc_context(STYLE):
        columns = min(2, len(panels))
        rows = -(-len(panels) // columns)
        figure = Figure(figsize=(3.6 * columns, 2.5 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for index, (title, runs) in enumerate(panels.items()):
            axes: Axes = grid[index // columns][index % columns]
            for number, (name, result) in enumerate(runs.items()):
                total = result.flow_series.group_by("time_s").agg(pl.col("goodput_mbps").sum()).sort("time_s")
                axes.plot(
                    total["time_s"].to_numpy(),
                    total["goodput_mbps"].to_numpy(),
                    color=PALETTE[number % len(PALETTE)],
                    linestyle=DASHES[number % len(DASHES)],
                    label=_plain(name),
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
    axes.set_title(_plain(title), loc="left")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)


def save_figure(figure: Figure, file: Path) -> None:
    """Writes a figure as PNG, SVG or PDF, by the name's ending; the same figure gives the same bytes."""
    metadata: dict[str, Any] = {
        ".png": {"Software": None},
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    with rc_context(STYLE):
        figure.savefig(file, metadata=metadata.get(file.suffix, {}))


def _plain(text: str) -> str:
    """A user's text as text: a dollar sign does not start a formula."""
    return text.replace("$", r"\$")
