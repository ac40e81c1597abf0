"""Lines over time: what they are, and how they are drawn so that each is told from the others in print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from numpy.typing import NDArray

from anabranch.media.palette import PALETTE
from anabranch.report.looks import DASHES, Look
from anabranch.report.plots.choice import TimeRange, stopped
from anabranch.report.plots.plot import Layout, Plot, finish, marker_of, new_figure
from anabranch.report.style import plain, styled
from anabranch.results.result import Result
from anabranch.text.units import suited

Numbers = NDArray[np.float64]

PATTERNS = (*DASHES, (0, (8, 2, 1, 2, 1, 2)), (0, (3, 1)))
"""Lines of one colour are told apart by these."""
TOGETHER = Look("#9a9a9a", "", "-")
"""Of a sum over all flows."""
LOW, HIGH = 0.05, 0.95
"""Quantiles at the edges of a band."""
_BAND = 0.18
"""Its opacity."""
_MARKS = 8
"""About so many markers on a line."""
_NEARLY = 0.9
"""Share of the run from which on lines are said to go to its end."""
_MOST_EVENTS = 200
_EVENTS = {True: ("#333333", (0, (4, 3))), False: ("#777777", (0, (1, 2)))}
"""Colour and dashes of what goes down, and of any other change."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line; what was not measured is NaN."""

    label: str
    times_s: Numbers
    values: Numbers
    look: Look
    dash: object = "-"
    marked: bool = False
    """Whether it carries the markers of its look."""
    heavy: bool = False
    low: Numbers | None = None
    """Lower edge of a band around the line."""
    high: Numbers | None = None

    @classmethod
    def of(
        cls,
        label: str,
        samples: pl.DataFrame,
        look: Look,
        dash: object = "-",
        *,
        marked: bool = False,
        heavy: bool = False,
    ) -> Self:
        """The columns ``time_s`` and ``value``, and ``low`` and ``high`` where there is a band."""
        low, high = (column(samples, edge) if edge in samples.columns else None for edge in ("low", "high"))
        times, values = column(samples, "time_s"), column(samples, "value")
        return cls(label, times, values, look, dash, marked, heavy, low, high)


@dataclass(frozen=True, slots=True)
class Chart:
    """The series to draw, and the time over which."""

    name: str
    quantity: str
    """What the values are, for the axis."""
    unit: str
    span: TimeRange
    stacked: bool = False
    """Whether the lines stand on each other."""
    top: float | None = None
    """End of the axis of values; None for that of the values."""
    scaled: bool = True
    """Whether another unit may be chosen for small and large values."""


def column(table: pl.DataFrame, name: str) -> Numbers:
    """A column as numbers; null is NaN."""
    return table[name].cast(pl.Float64).fill_null(np.nan).to_numpy()


def mean_and_band(samples: pl.DataFrame) -> pl.DataFrame:
    """Mean (``value``), ``low`` and ``high`` of the column ``value`` at each instant, in order of time.

    Args:
        samples: ``time_s`` and ``value``, in an order that does not change, because a mean depends on it in
            its last digit.
    """
    value = pl.col("value")
    return samples.group_by("time_s", maintain_order=True).agg(
        value.mean(),
        value.quantile(LOW, "linear").alias("low"),
        value.quantile(HIGH, "linear").alias("high"),
    ).sort("time_s")  # fmt: skip


def summed(samples: pl.DataFrame) -> pl.DataFrame:
    """The sum of the column ``value`` at each instant, in order of time."""
    return samples.group_by("time_s").agg(pl.col("value").sum()).sort("time_s")


def by_place(number: int) -> tuple[Look, object]:
    """Look and dashes of the lines that belong to no transport."""
    return Look(PALETTE[number % len(PALETTE)], ".", "-"), PATTERNS[
        (number + number // len(PALETTE)) % len(PATTERNS)
    ]


def chart(
    result: Result, lines: Sequence[Line], about: Chart, layout: Layout, notes: Sequence[str] = ()
) -> Plot:
    """The figure of some lines."""
    edges = [value for line in lines for value in (line.values, line.high) if value is not None]
    most = sum(_most(line.values) for line in lines) if about.stacked else max(map(_most, edges), default=0.0)
    factor, unit = suited(most, about.unit) if about.scaled else (1.0, about.unit)
    first, last = _range(result, lines, about)
    time_factor, time_unit = suited(last, "s")
    shown = [_scaled(line, time_factor, factor) for line in lines]
    with styled():
        figure, axes = new_figure(layout)
        if about.stacked:
            _stack(axes, shown)
        else:
            for number, line in enumerate(shown):
                _draw(axes, line, number, len(shown))
        _draw_events(axes, result, (first, last), time_factor)
        axes.set_xlabel(f"time in {time_unit}")
        axes.set_ylabel(f"{about.quantity} in {unit}" if unit else about.quantity)
        axes.set_xlim(first * time_factor, last * time_factor)
        _scale_values(axes, shown, about, most > 0)
        notes = (*notes, *stopped(result))
        finish(figure, axes, layout, str(result.summary.get("title") or ""), notes)
    return Plot(figure, about.name, notes)


def _most(values: Numbers) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else 0.0


def _scaled(line: Line, time_factor: float, factor: float) -> Line:
    low, high = (None if edge is None else edge * factor for edge in (line.low, line.high))
    return replace(line, times_s=line.times_s * time_factor, values=line.values * factor, low=low, high=high)


def _range(result: Result, lines: Sequence[Line], about: Chart) -> tuple[float, float]:
    """The time on the axis: what was asked for, else the whole run, or as much of it as there are samples."""
    latest = max((float(line.times_s[-1]) for line in lines if line.times_s.size), default=0.0)
    ended = float(result.summary.get("ended_s") or 0.0)
    first = 0.0 if about.span.start_s is None else about.span.start_s
    last = ended if latest > _NEARLY * ended else latest
    last = max(last, latest) if about.span.end_s is None else about.span.end_s
    return first, last if last > first else first + 1e-9


def _draw(axes: Axes, line: Line, number: int, lines: int) -> None:
    known = np.flatnonzero(np.isfinite(line.values))
    if line.low is not None and line.high is not None:
        axes.fill_between(line.times_s, line.low, line.high, color=line.look.color, alpha=_BAND, linewidth=0)
    # What has no neighbour would be drawn as nothing.
    finite = np.isfinite(np.concatenate([[np.nan], line.values, [np.nan]]))
    alone = np.flatnonzero(finite[1:-1] & ~finite[:-2] & ~finite[2:])
    marks = set(alone.tolist())
    if line.marked and known.size:
        step = max(1, known.size // _MARKS)
        # Not all at the same instants, where lines may lie on each other.
        marks |= set(known[number * step // max(lines, 1) :: step].tolist())
    axes.plot(
        line.times_s,
        line.values,
        color=line.look.color,
        linestyle=line.dash,
        linewidth=2.4 if line.heavy else 1.2,
        markersize=4.0,
        markeredgewidth=0.9,
        markevery=sorted(marks),
        label=plain(line.label),
        **(marker_of(line.look) if line.marked else {"marker": "." if marks else ""}),
        # A sum lies on the largest of its parts, which must be seen.
        zorder=2.0 if line.heavy else 2.2,
    )


def _stack(axes: Axes, lines: Sequence[Line]) -> None:
    """Layers on each other; of layers with the same name one is in the legend."""
    base = np.zeros_like(lines[0].values)
    named: set[str] = set()
    for line in lines:
        top = base + np.nan_to_num(line.values)
        label = "_nolegend_" if line.label in named else plain(line.label)
        named.add(line.label)
        axes.fill_between(
            line.times_s, base, top, facecolor=line.look.color, edgecolor="white", linewidth=0.25, label=label
        )
        base = top


def _scale_values(axes: Axes, lines: Sequence[Line], about: Chart, any_positive: bool) -> None:
    """From zero, or logarithmic where that was asked for and there is something to show."""
    if about.span.log and any_positive:
        axes.set_yscale("log")
        least = min(float(line.values[line.values > 0].min()) for line in lines if (line.values > 0).any())
        axes.set_ylim(bottom=least / 1.5)
    else:
        axes.set_ylim(bottom=0, top=about.top if about.top is not None else None if any_positive else 1)


def _draw_events(axes: Axes, result: Result, shown: tuple[float, float], factor: float) -> None:
    """Uprights at changes of the network; each kind is once in the legend."""
    events = result.tables.get("events")
    if events is None:
        return
    changes = events.filter((pl.col("kind") != "new routes") & pl.col("time_s").is_between(*shown))
    named: set[str] = set()
    for time, kind in changes.select("time_s", "kind").unique(maintain_order=True).head(_MOST_EVENTS).rows():
        color, dash = _EVENTS[kind.endswith("down")]
        label = "_nolegend_" if kind in named else kind
        named.add(kind)
        axes.axvline(time * factor, color=color, linestyle=dash, linewidth=0.9, label=label, zorder=1.5)
