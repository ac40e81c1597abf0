"""Distributions over flows, and drops by their cause."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Literal

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from numpy.typing import NDArray

from anabranch.errors import ResultError
from anabranch.media.palette import PALETTE
from anabranch.report.looks import Look
from anabranch.report.plots.choice import Names, chosen_flows, matching, stopped, table_of
from anabranch.report.plots.over_time import looks_of
from anabranch.report.plots.plot import Layout, Plot, finish, fitted, marker_of, new_figure
from anabranch.report.style import plain, styled
from anabranch.report.views.link_tables import CAUSES
from anabranch.results.censored import COMPLETION, Times
from anabranch.results.result import Result
from anabranch.text.units import suited

Reordering = Literal["ratio", "extent"]
Steps = tuple[NDArray[np.float64], NDArray[np.float64]]
"""A distribution function: values in order, and the share that is no greater; the first share is zero."""

_REORDERING = {
    "ratio": ("reordering_ratio", 100.0, "reordered packets of a flow in %"),
    "extent": ("reordering_extent_max", 1.0, "greatest reordering extent of a flow in packets"),
}
_WIDE = 100.0
"""Values that reach further by factor have a logarithmic axis."""
_FEW = 40
"""Steps up to which each has its marker."""
_MOST_LINKS = 12
_CAUSE_LOOKS = (
    (PALETTE[0], ""), (PALETTE[4], ""), (PALETTE[1], "\\\\\\\\"), (PALETTE[5], "////"), (PALETTE[2], "...."),
    (PALETTE[3], "xxxx"), (PALETTE[7], "++++"),
)  # fmt: skip
"""Colour and hatch of the causes of drops, in the order of the core."""


def completion_plot(result: Result, flows: Names | None, log: bool | None, layout: Layout) -> Plot:
    """The distribution of completion times, a curve for each transport.

    Shares are of the flows that can complete; the legend says how many of how many have.
    """
    chosen = chosen_flows(result, flows, "plot.completion_times")
    done = chosen[COMPLETION].drop_nulls()
    if done.is_empty():
        raise ResultError(
            "plot.completion_times: none of these flows was completed; give traffic a size "
            "(traffic[].size), or make run.duration longer"
        )
    factor, unit = suited(float(done.max()), "s")  # type: ignore[arg-type]
    groups = {}
    nothing_done: list[str] = []
    for name, look in looks_of(result).items():
        own = chosen.filter(pl.col("transport") == name)
        values, count = own[COMPLETION].drop_nulls().to_numpy() * factor, Times.of(own).count
        if values.size:
            share = f"{values.size}" if values.size == count else f"{values.size} of {count}"
            groups[f"{name} ({share} done)"] = (look, steps(values, count))
        elif count:
            nothing_done.append(f"{name}: 0 of {count} done.")
    return distribution(
        result,
        "completion_times",
        f"completion time in {unit}",
        groups,
        log,
        layout,
        "share of flows",
        tuple(nothing_done),
    )


def reordering_plot(result: Result, flows: Names | None, measure: Reordering, layout: Layout) -> Plot:
    """The distribution of reordering over the flows that received packets, a curve for each transport."""
    if measure not in _REORDERING:
        raise ResultError(
            f"measure: no measure {measure!r} of reordering; choose from {', '.join(_REORDERING)}"
        )
    name, factor, label = _REORDERING[measure]
    chosen = chosen_flows(result, flows, "plot.reordering")
    groups = {}
    for transport, look in looks_of(result).items():
        values = chosen.filter(pl.col("transport") == transport)[name].drop_nulls().to_numpy() * factor
        if values.size:
            groups[f"{transport} ({values.size})"] = (look, steps(values.astype(float)))
    if not groups:
        raise ResultError(
            "plot.reordering: none of these flows received a packet; make run.duration longer, or choose "
            "other flows"
        )
    return distribution(result, "reordering", label, groups, False, layout, "share of flows")


def steps(values: NDArray[np.float64], count: int | None = None) -> Steps:
    """The distribution function: each value once, and the share of ``count`` that are no greater."""
    at, last = np.unique(values, return_counts=True)
    return np.concatenate([at[:1], at]), np.concatenate([[0.0], np.cumsum(last) / (count or values.size)])


def distribution(
    result: Result,
    name: str,
    label: str,
    groups: Mapping[str, tuple[Look, Steps]],
    log: bool | None,
    layout: Layout,
    share: str,
    notes: tuple[str, ...] = (),
) -> Plot:
    """The figure of some distribution functions, by their names in the legend.

    ``label`` is that of the axis of values, ``share`` that of the other one. Values that span two decades are
    on a logarithmic axis where ``log`` is None.
    """
    every = np.concatenate([values for _, (values, _) in groups.values()])
    least, most = float(every.min()), float(every.max())
    logarithmic = (least > 0 and most > _WIDE * least) if log is None else log and most > 0
    with styled():
        figure, axes = new_figure(layout)
        for title, (look, (x, y)) in groups.items():
            marks = (
                list(range(1, x.size)) if x.size <= _FEW else list(range(x.size // 10, x.size, x.size // 8))
            )
            axes.plot(
                x, y, drawstyle="steps-post", color=look.color, linestyle=look.line, linewidth=1.2,
                markersize=4.0, markevery=marks, label=plain(title), **marker_of(look),
            )  # fmt: skip
        if logarithmic:
            axes.set_xscale("log")
        else:
            axes.set_xlim(*_room(least, most))
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(label)
        axes.set_ylabel(share)
        notes = (*notes, *stopped(result))
        finish(figure, axes, layout, str(result.summary.get("title") or ""), notes)
    return Plot(figure, name, notes)


def _room(least: float, most: float) -> tuple[float, float]:
    """Ends of the axis: from zero, but not where all values are near to each other and far from zero."""
    if 0 < most < 2 * least:
        beside = max(0.1 * (most - least), 0.01 * most)
        return least - beside, most + beside
    return -0.015 * most or -0.015, 1.04 * most or 1.0


def cause_plot(result: Result, links: Names | None, layout: Layout) -> Plot:
    """Packets that links dropped, by cause: the links that are named, or those that dropped most."""
    table = table_of(result, "links", "plot.drop_causes")
    known = [
        (column, label, *look)
        for (column, label), look in zip(CAUSES, cycle(_CAUSE_LOOKS), strict=False)
        if column in table.columns
    ]
    table = table.with_columns(pl.sum_horizontal(cause[0] for cause in known).alias("all"))
    notes = []
    if links is None:
        dropping = table.filter(pl.col("all") > 0)
        if dropping.is_empty():
            raise ResultError("plot.drop_causes: no link dropped a packet; there is nothing to draw")
        shown = dropping.sort("all", descending=True, maintain_order=True).head(_MOST_LINKS)
        if shown.height < dropping.height:
            notes.append(f"{shown.height} of the {dropping.height} links that dropped packets are shown.")
    else:
        shown = table[matching(table["name"].to_list(), links, "link")]
    with styled():
        figure, axes = new_figure(layout)
        _bars(axes, shown, known, 105.0 if layout.narrow else 150.0)
        finish(figure, axes, layout, str(result.summary.get("title") or ""))
        # As high as its bars need.
        figure.set_figheight(figure.get_figheight() - 1.6 + 0.17 * shown.height)
    return Plot(figure, "drop_causes", (*notes, *stopped(result)))


def _bars(axes: Axes, shown: pl.DataFrame, causes: list[tuple[str, str, str, str]], room: float) -> None:
    left = np.zeros(shown.height)
    places = np.arange(shown.height)
    for column, label, color, hatch in causes:
        values = shown[column].to_numpy().astype(float)
        if values.any():
            axes.barh(
                places, values, 0.7, left=left, color="white" if hatch else color, edgecolor=color,
                hatch=hatch, label=label,
            )  # fmt: skip
        left += values
    axes.set_yticks(places, [plain(fitted(name, room, 8.0)) for name in shown["name"]])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("packets dropped")
    axes.set_xlim(0, max(float(left.max()) * 1.04, 1.0))
