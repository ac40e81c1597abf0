"""Figures of a comparison: what each system reaches on a network, and at what price."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from anabranch.media.palette import Look
from anabranch.report.looks import looks
from anabranch.report.style import plain, styled
from anabranch_publications.comparison.measures import MEASURES
from anabranch_publications.comparison.runs import Comparison
from anabranch_publications.comparison.subjects import Subject
from anabranch_publications.comparison.systems import SYSTEMS, System


@dataclass(frozen=True, slots=True)
class _Panel:
    title: str
    axis: str
    full: str
    """Measure of the large markers."""
    small: str | None = None
    """Measure of the small ones."""
    log: bool = False
    signed: bool = False
    """Whether it may lie below zero."""


_PANELS = (
    _Panel("goodput of the long flows", "Mbps", "goodput_mbps"),
    _Panel(
        "completion of transfers",
        "s: median (small) and p95",
        "completion_p95_ms",
        "completion_median_ms",
        log=True,
    ),
    _Panel("goodput lost in a failure", "% of the level before", "failure_lost_percent", signed=True),
)
_ROOM = 1.6
"""Room beyond the largest mean, as a factor."""
_SMALL = 3.0
"""Size of a small marker, in points."""
_SCALE = {"completion_p95_ms": 1e-3, "completion_median_ms": 1e-3}


def network_figure(comparison: Comparison, subject: Subject) -> Figure:
    """Goodput, completion times and the cost of a failure of every system on a network, with intervals.

    A system that has no value has no marker, and a cross at the left says so.
    """
    with styled():
        systems = comparison.systems
        figure = Figure(figsize=(8.4, 1.1 + 0.26 * len(systems)), layout="constrained")
        grid = figure.subplots(1, len(_PANELS), sharey=True)
        for axes, panel in zip(grid, _PANELS, strict=True):
            _dots(axes, comparison, subject, panel)
        grid[0].set_yticks(range(len(systems)), [plain(system.label) for system in systems])
        grid[0].set_ylim(len(systems) - 0.4, -0.6)
        figure.suptitle(plain(subject.title), x=0.01, ha="left", fontsize=10)
    return figure


def _dots(axes: Axes, comparison: Comparison, subject: Subject, panel: _Panel) -> None:
    looks = _looks(comparison.systems)
    if panel.log:
        axes.set_xscale("log")
    for y, (system, look) in enumerate(zip(comparison.systems, looks, strict=True)):
        row = comparison.row(subject, system)
        for name, full in ((panel.full, True), (panel.small, False)):
            if name is None:
                continue
            scale = _SCALE.get(name, 1.0)
            if row[name] is None:
                if full:
                    axes.text(
                        0.98,
                        y - (0.32 if row.get(panel.small or "") is not None else 0.0),
                        "no value",
                        transform=axes.get_yaxis_transform(),
                        ha="right",
                        va="center",
                        fontsize=6.5,
                        color="#595959",
                    )
                continue
            half = row[f"{name}_ci"]
            axes.errorbar(
                row[name] * scale,
                y,
                xerr=None if not half else _bounded(row[name], half, panel.log, scale),
                color=look.color,
                marker=look.marker,
                markerfacecolor="white" if look.hollow else look.color,
                markersize=None if full else _SMALL,
                linestyle="none",
                elinewidth=0.9,
            )
    _limit(axes, comparison, subject, panel)
    axes.set_title(panel.title, loc="left", fontsize=9)
    axes.set_xlabel(panel.axis)


def _limit(axes: Axes, comparison: Comparison, subject: Subject, panel: _Panel) -> None:
    """An axis for the means: an interval that is wider than all of them lie apart is cut at its end."""
    rows = [comparison.row(subject, system) for system in comparison.systems]
    names = [name for name in (panel.full, panel.small) if name is not None]
    means = [row[name] * _SCALE.get(name, 1.0) for row in rows for name in names if row[name] is not None]
    if not means:
        return
    low, high = min(means), max(means)
    if panel.log:
        _plain_decades(axes, 0.95 * low, 1.05 * high)
        return
    room = _ROOM * max(high, 0.0) - high if low >= 0 else high - low
    # What may lie below zero is shown to do so.
    lowest = min(
        row[name] - (row[f"{name}_ci"] or 0.0) for row in rows for name in names if row[name] is not None
    )
    below = max(lowest, -max(room, high)) if panel.signed else 0.0
    axes.set_xlim(min(0.0, below, low - room if low < 0 else 0.0), high + max(room, 0.5 * abs(high), 1.0))
    axes.axvline(0, color="black", linewidth=0.8)


def _plain_decades(axes: Axes, low: float, high: float) -> None:
    """A logarithmic axis of whole decades, with plain numbers at them and none between."""
    # The library's own limits come first otherwise, with a warning where all values are one.
    axes.set_autoscalex_on(False)
    axes.set_xlim(10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _bounded(value: float, half: float, log: bool, scale: float) -> list[list[float]]:
    """Both arms of an interval; on a logarithmic axis the lower one ends above zero."""
    lower = min(half, 0.9 * value) if log else half
    return [[lower * scale], [half * scale]]


def state_figure(comparison: Comparison) -> Figure:
    """Goodput over the entries of the fullest router: a panel for each network, a marker for each system."""
    return _scatter(comparison, "entries_max", "entries of the fullest router", log=True)


def load_figure(comparison: Comparison) -> Figure:
    """Goodput over the worst-case load: what is reached now, and what is certain for any traffic."""
    return _scatter(comparison, "worst_load", "worst-case load of a link", log=False)


def _scatter(comparison: Comparison, x: str, label: str, *, log: bool) -> Figure:
    with styled():
        count = len(comparison.subjects)
        across = min(2, count)
        down = -(-count // across)
        figure = Figure(figsize=(1.9 + 2.9 * across, 0.5 + 2.3 * down), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False)
        looks = _looks(comparison.systems)
        for number, subject in enumerate(comparison.subjects):
            axes = grid[number // across][number % across]
            if log:
                axes.set_xscale("log")
            for system, look in zip(comparison.systems, looks, strict=True):
                row = comparison.row(subject, system)
                if row[x] is None or row["goodput_mbps"] is None:
                    continue
                axes.errorbar(
                    row[x],
                    row["goodput_mbps"],
                    yerr=row["goodput_mbps_ci"] or None,
                    color=look.color,
                    marker=look.marker,
                    markerfacecolor="white" if look.hollow else look.color,
                    linestyle="none",
                    elinewidth=0.9,
                )
            axes.set_title(plain(subject.name), loc="left", fontsize=9)
            places = [comparison.row(subject, system)[x] for system in comparison.systems]
            positive = [place for place in places if place]
            if log and positive:
                _plain_decades(axes, 0.95 * min(positive), 1.05 * max(positive))
            values = [comparison.row(subject, system)["goodput_mbps"] for system in comparison.systems]
            axes.set_ylim(0, 1.4 * max((value for value in values if value), default=1.0))
        for number in range(count, across * down):
            grid[number // across][number % across].set_axis_off()
        figure.supxlabel(label, fontsize=9)
        figure.supylabel(
            f"{MEASURES['goodput_mbps'].label.replace(' Mbps', '')} of the long flows in Mbps", fontsize=9
        )
        handles = [
            grid[0][0].errorbar(
                [],
                [],
                color=look.color,
                marker=look.marker,
                linestyle="none",
                markerfacecolor="white" if look.hollow else look.color,
            )
            for look in looks
        ]
        figure.legend(
            handles, [plain(system.label) for system in comparison.systems], loc="outside right upper"
        )
    return figure


def _looks(systems: Sequence[System]) -> list[Look]:
    """A look for each system, by its place in the registry, so that it is the same in every comparison."""
    # Names of systems are names of transports here and there; places are not.
    names = [*SYSTEMS, *(system.name for system in systems if system.name not in SYSTEMS)]
    every = dict(zip(names, looks([str(place) for place in range(len(names))]), strict=True))
    return [every[system.name] for system in systems]
