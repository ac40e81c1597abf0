"""Lines over time and distribution functions in print: each is told from the others without its colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from anabranch.media.charts import DistributionChart, Drawn, Line, LineChart, Mark, greatest
from anabranch.media.palette import TOGETHER
from anabranch.report.plots.plot import Layout, Plot, finish, marker_of, new_figure
from anabranch.report.style import plain, styled
from anabranch.text.units import suited

_PATTERNS: dict[str, Any] = {"-..": (0, (8, 2, 1, 2, 1, 2)), "-,": (0, (3, 1))}
"""Dashes that matplotlib has no name for."""
_BAND = 0.18
"""Opacity of a band."""
_MARKS = 8
"""About so many markers on a line."""
_FEW = 40
"""Steps of a distribution up to which each has its marker."""
_NEARLY = 0.9
"""Share of the run from which on lines are said to go to its end."""
_UPRIGHTS = {True: ("#333333", (0, (4, 3))), False: ("#777777", (0, (1, 2)))}
"""Colour and dashes of what goes down, and of any other change."""


def line_plot(chart: LineChart, layout: Layout) -> Plot:
    """The lines of a chart, on its first axis."""
    chart = chart.with_total()
    axis, lines = chart.axes[0], chart.lines
    drawn = [chart.drawn(number, axis) for number in range(len(lines))]
    edges = [values for one in drawn for values in (one.values, one.high) if values is not None]
    most = sum(greatest([one.values]) for one in drawn) if chart.is_stacked else greatest(edges)
    factor, unit = axis.suited(most)
    first, last = _range(chart, drawn)
    time_factor, time_unit = suited(last, "s")
    drawn = [_scaled(one, time_factor, factor) for one in drawn]
    with styled():
        figure, axes = new_figure(layout)
        if chart.is_stacked:
            _stack(axes, lines, drawn)
        else:
            for number, (line, one) in enumerate(zip(lines, drawn, strict=True)):
                _draw(axes, line, one, number, len(lines))
        _draw_marks(axes, chart.marks, (first, last), time_factor)
        axes.set_xlabel(f"time in {time_unit}")
        axes.set_ylabel(axis.labelled(unit))
        axes.set_xlim(first * time_factor, last * time_factor)
        _scale_values(axes, drawn, axis.top, is_log=chart.is_log and most > 0, any_positive=most > 0)
        finish(figure, axes, layout, chart.title, chart.notes)
    return Plot(figure, chart.name, chart.notes)


def _scaled(one: Drawn, time_factor: float, factor: float) -> Drawn:
    low, high = (None if edge is None else edge * factor for edge in (one.low, one.high))
    return Drawn(one.times_s * time_factor, one.values * factor, low, high)


def _range(chart: LineChart, drawn: Sequence[Drawn]) -> tuple[float, float]:
    """The time on the axis: what was asked for, else the whole run, or as much of it as there are samples."""
    latest = max((float(one.times_s[-1]) for one in drawn if one.times_s.size), default=0.0)
    first = 0.0 if chart.start_s is None else chart.start_s
    last = chart.ended_s if latest > _NEARLY * chart.ended_s else latest
    last = max(last, latest) if chart.end_s is None else chart.end_s
    return first, last if last > first else first + 1e-9


def _draw(axes: Axes, line: Line, one: Drawn, number: int, lines: int) -> None:
    places = np.flatnonzero(np.isfinite(one.values))
    if one.low is not None and one.high is not None and np.isfinite(one.low).any():
        axes.fill_between(one.times_s, one.low, one.high, color=line.look.color, alpha=_BAND, linewidth=0)
    # What has no neighbour would be drawn as nothing.
    finite = np.isfinite(np.concatenate([[np.nan], one.values, [np.nan]]))
    alone = np.flatnonzero(finite[1:-1] & ~finite[:-2] & ~finite[2:])
    marks = set(places.tolist() if line.look.dash == " " else alone.tolist())
    if line.is_marked and places.size:
        step = max(1, places.size // _MARKS)
        # Not all at the same instants, where lines may lie on each other.
        marks |= set(places[number * step // max(lines, 1) :: step].tolist())
    is_behind = line.look == TOGETHER
    axes.plot(
        one.times_s,
        one.values,
        color=line.look.color,
        linestyle=_PATTERNS.get(line.look.dash, line.look.dash),
        linewidth=2.4 if is_behind else 1.2,
        markersize=4.0,
        markeredgewidth=0.9,
        markevery=sorted(marks),
        label=plain(line.full_label),
        **(marker_of(line.look) if line.is_marked else {"marker": "." if marks else ""}),
        # A sum lies on the largest of its parts, which must be seen.
        zorder=2.0 if is_behind else 2.2,
    )


def _stack(axes: Axes, lines: Sequence[Line], drawn: Sequence[Drawn]) -> None:
    """Layers on each other; of layers with the same name one is in the legend."""
    times = np.unique(np.concatenate([one.times_s for one in drawn]))
    base = np.zeros_like(times)
    named: set[str] = set()
    for line, one in zip(lines, drawn, strict=True):
        layer = np.zeros_like(times)
        layer[np.searchsorted(times, one.times_s)] = np.nan_to_num(one.values)
        label = "_nolegend_" if line.full_label in named else plain(line.full_label)
        named.add(line.full_label)
        axes.fill_between(
            times,
            base,
            base + layer,
            facecolor=line.look.color,
            edgecolor="white",
            linewidth=0.25,
            label=label,
        )
        base = base + layer


def _scale_values(
    axes: Axes, drawn: Sequence[Drawn], top: float | None, *, is_log: bool, any_positive: bool
) -> None:
    """From zero, or logarithmic where that was asked for and there is something to show."""
    if is_log:
        axes.set_yscale("log")
        least = min(float(one.values[one.values > 0].min()) for one in drawn if (one.values > 0).any())
        axes.set_ylim(bottom=least / 1.5)
    else:
        axes.set_ylim(bottom=0, top=top if top is not None else None if any_positive else 1)


def _draw_marks(axes: Axes, marks: Sequence[Mark], span: tuple[float, float], factor: float) -> None:
    """Uprights at changes of the network; each kind is once in the legend."""
    named: set[str] = set()
    for mark in marks:
        if not span[0] <= mark.time_s <= span[1]:
            continue
        color, dash = _UPRIGHTS[mark.is_bad]
        label = "_nolegend_" if mark.kind in named else mark.kind
        named.add(mark.kind)
        axes.axvline(
            mark.time_s * factor, color=color, linestyle=dash, linewidth=0.9, label=label, zorder=1.5
        )


def distribution_plot(shown: DistributionChart, layout: Layout) -> Plot:
    """Distribution functions, one for each curve."""
    least, most = shown.extremes
    factor, unit = shown.axis.suited(most)
    with styled():
        figure, axes = new_figure(layout)
        for curve in (one for one in shown.curves if one.values.size):
            size = curve.values.size
            marks = list(range(1, size)) if size <= _FEW else list(range(size // 10, size, size // 8))
            axes.plot(
                curve.values * factor, curve.shares, drawstyle="steps-post", color=curve.look.color,
                linestyle=curve.look.line, linewidth=1.2, markersize=4.0, markevery=marks,
                label=plain(curve.label), **marker_of(curve.look),
            )  # fmt: skip
        if shown.wants_log:
            axes.set_xscale("log")
        else:
            axes.set_xlim(*_room(least * factor, most * factor))
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(shown.axis.labelled(unit))
        axes.set_ylabel(f"share of {shown.shares_of}")
        finish(figure, axes, layout, shown.title, shown.notes)
    return Plot(figure, shown.name, shown.notes)


def _room(least: float, most: float) -> tuple[float, float]:
    """Ends of the axis: from zero, but not where all values are near to each other and far from zero."""
    if 0 < most < 2 * least:
        beside = max(0.1 * (most - least), 0.01 * most)
        return least - beside, most + beside
    return -0.015 * most or -0.015, 1.04 * most or 1.0
