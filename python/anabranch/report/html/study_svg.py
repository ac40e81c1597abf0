"""Figures of a study for the page, drawn as SVG: they say their values to the pointer, and they print."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from anabranch.report.html.palette import screen_look
from anabranch.report.study_table import (
    Block,
    Column,
    MetricTable,
    StudyMetric,
    StudyOutcome,
    axis_title,
    level_text,
    metric_table,
    number_text,
)
from anabranch.report.style import Look, is_transport, looks, printable, wants_logarithm

_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 12.0, 26.0, 46.0
_LONGEST_NAME = 18
"""Letters of a name under bars."""

# Each is a path around (0, 0), in matplotlib's letters.
_MARKERS = {
    "o": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "s": "M-3.5-3.5h7v7h-7z",
    "^": "M0-4.5L4.4 3.6h-8.8z",
    "v": "M0 4.5L4.4-3.6h-8.8z",
    "D": "M0-4.8L4.8 0L0 4.8L-4.8 0z",
    "X": "M-4-2.2L-2.2-4L0-1.8L2.2-4L4-2.2L1.8 0L4 2.2L2.2 4L0 1.8L-2.2 4L-4 2.2L-1.8 0z",
    "P": "M-1.5-4.2h3v2.7h2.7v3h-2.7v2.7h-3v-2.7h-2.7v-3h2.7z",
    "*": "M0-5L1.3-1.6L4.9-1.5L2 .7L3 4.2L0 2.1L-3 4.2L-2 .7L-4.9-1.5L-1.3-1.6z",
}


@dataclass(frozen=True, slots=True)
class _Frame:
    """The axes of all panels of a figure."""

    width: float
    height: float
    x: Callable[[float], float]
    y: Callable[[float], float]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[float]
    x_title: str


def metric_figure(result: StudyOutcome, metric: StudyMetric) -> dict[str, Any]:
    """A metric over the first factor: a series for each level of the second, a panel for each of the rest.

    Returns:
        ``name``, ``label``, ``panels`` (SVG; none where no run has a value), ``legend`` (key and name of each
        series; empty for one), and whether it has ``intervals``.
    """
    table = metric_table(result, metric)
    names = [column.name for column in table.blocks[0].columns]
    styles = looks(names)
    frame = _frame(table)
    several, measured = len(names) > 1, any(True for _ in table.values())
    return {
        "name": metric.name,
        "label": printable(metric.label),
        "panels": [_panel(frame, table, block, styles) for block in table.blocks] if measured else [],
        "legend": [
            {"key": _key(look, bars=not table.continuous), "name": name}
            for name, look in zip(names, styles, strict=True)
            if several and measured
        ],
        "intervals": table.has_intervals,
    }


def _frame(table: MetricTable) -> _Frame:
    alone = len(table.blocks) == 1
    width, height = (640.0, 330.0) if alone else (400.0, 260.0)
    low, high = _range(table)
    y_ticks = nice_ticks(low, high)
    low, high = min(low, y_ticks[0]), max(high, y_ticks[-1])

    def y(value: float) -> float:
        return _TOP + (height - _TOP - _BOTTOM) * (high - value) / (high - low)

    across = width - _LEFT - _RIGHT
    levels = table.blocks[0].rows
    title = axis_title(table.first) if table.first else ""
    if not table.continuous:
        count = len(levels)

        def place(value: float) -> float:
            return _LEFT + across * (value + 0.5) / count

        names = [level_text(table.first, level) if table.first else "" for level in levels]
        ticks = [(float(index), name) for index, name in enumerate(names)]
        return _Frame(width, height, place, y, ticks, y_ticks, title)
    numbers = [float(level) for level in levels]
    scale = math.log10 if wants_logarithm(numbers) else float
    first, last = scale(min(numbers)), scale(max(numbers))
    margin = (last - first) * 0.04 or 0.5

    def along(value: float) -> float:
        return _LEFT + across * (scale(value) - first + margin) / (last - first + 2 * margin)

    marked = numbers if len(numbers) <= 8 or scale is math.log10 else nice_ticks(min(numbers), max(numbers))
    inside = [(value, number_text(value)) for value in marked if min(numbers) <= value <= max(numbers)]
    return _Frame(width, height, along, y, inside, y_ticks, title)


def _range(table: MetricTable) -> tuple[float, float]:
    """The values and their intervals, from zero where the table says so."""
    ends = [0.0] if table.starts_at_zero() else []
    for block in table.blocks:
        for column in block.columns:
            for mean, half in zip(column.means, column.half_widths, strict=True):
                if mean is not None:
                    ends += [mean - (half or 0.0), mean + (half or 0.0)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    if table.starts_at_zero():
        # An interval that reaches below zero does not move the axis.
        low = 0.0
    return (low, high) if high > low else (low, low + (abs(low) or 1.0))


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from below ``low`` to above ``high``: steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _panel(frame: _Frame, table: MetricTable, block: Block, styles: Sequence[Look]) -> Markup:
    draw = _lines if table.continuous else _bars
    shapes = [*_axes(frame, block.title), *draw(frame, table, block, styles)]
    label = f"{table.metric.label}{f', {block.title}' if block.title else ''}"
    return Markup(
        '<svg class="plot" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">{}</svg>'
    ).format(label, frame.width, frame.height, frame.width, frame.height, Markup("").join(shapes))


def _axes(frame: _Frame, title: str) -> Iterator[Markup]:
    right, bottom = frame.width - _RIGHT, frame.height - _BOTTOM
    for tick in frame.y_ticks:
        y = round(frame.y(tick), 1)
        yield Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(_LEFT, right, y, y)
        yield Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(_LEFT - 6, y + 4, _short(tick))
    yield Markup('<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(_LEFT, right, bottom, bottom)
    room = (right - _LEFT) / max(1, len(frame.x_ticks))
    crowded = any(len(_cut(name)) * 6.5 > room for _, name in frame.x_ticks)
    step = max(1, math.ceil(len(frame.x_ticks) * 14 / (right - _LEFT)))
    for value, name in frame.x_ticks[::step]:
        x = round(frame.x(value), 1)
        place = Markup('transform="translate({} {}) rotate(-28)" text-anchor="end"').format(
            x + 4, bottom + 14
        )
        if not crowded:
            place = Markup('x="{}" y="{}" text-anchor="middle"').format(x, bottom + 17)
        yield Markup("<text {}>{}<title>{}</title></text>").format(place, _cut(name), name)
    yield Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(
        right, frame.height - 4, frame.x_title
    )
    yield Markup('<text class="heading" x="{}" y="15">{}</text>').format(_LEFT, title)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _short(value: float) -> str:
    """A tick in few letters."""
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= factor:
            return f"{value / (1e3 if letter == 'k' else factor):g}{letter}"
    return f"{value:.6g}"


def _lines(frame: _Frame, table: MetricTable, block: Block, styles: Sequence[Look]) -> Iterator[Markup]:
    for column, look in zip(block.columns, styles, strict=True):
        numbers = [float(level) for level in block.rows]
        path, pen = "", "M"
        for x, mean in zip(numbers, column.means, strict=True):
            if mean is None:
                pen = "M"
                continue
            path += f"{pen}{frame.x(x):.1f} {frame.y(mean):.1f}"
            pen = "L"
        color = screen_look(look)["color"]
        dash = Markup(' stroke-dasharray="6 4"') if look.hollow else ""
        yield Markup('<path d="{}" fill="none" stroke="var(--c{})" stroke-width="1.8"{}/>').format(
            path, color, dash
        )
        for index, x in enumerate(numbers):
            yield from _point(frame, table, column, index, frame.x(x), look)


def _point(
    frame: _Frame, table: MetricTable, column: Column, index: int, x: float, look: Look
) -> Iterator[Markup]:
    """A marker with its interval."""
    mean, half = column.means[index], column.half_widths[index]
    if mean is None:
        return
    color = screen_look(look)["color"]
    yield from _interval(frame, x, mean, half, f"var(--c{color})")
    yield Markup(
        '<path d="{}" transform="translate({:.1f} {:.1f})" fill="{}" stroke="var(--c{})" stroke-width="1.4">'
        "<title>{}</title></path>"
    ).format(
        _MARKERS[look.marker], x, frame.y(mean), "var(--paper)" if look.hollow else f"var(--c{color})", color,
        _words(table, column, index),
    )  # fmt: skip


def _interval(frame: _Frame, x: float, mean: float, half: float | None, color: str) -> Iterator[Markup]:
    if not half:
        return
    top, bottom = frame.y(mean + half), min(frame.y(mean - half), frame.height - _BOTTOM)
    yield Markup(
        '<path d="M{:.1f} {:.1f}V{:.1f}M{:.1f} {:.1f}h6M{:.1f} {:.1f}h6" stroke="{}" fill="none"/>'
    ).format(x, top, bottom, x - 3, top, x - 3, bottom, color)


def _words(table: MetricTable, column: Column, index: int) -> str:
    """What a point says when it is hovered."""
    mean, half = column.means[index], column.half_widths[index]
    level = table.blocks[0].rows[index]
    where = [level_text(table.first, level)] if table.first else []
    where += [column.name] if len(table.blocks[0].columns) > 1 else []
    interval = f" ± {half:.3g}" if half is not None else ""
    return f"{', '.join(where)}{': ' if where else ''}{mean:.5g}{interval}"


def _bars(frame: _Frame, table: MetricTable, block: Block, styles: Sequence[Look]) -> Iterator[Markup]:
    """Groups of bars; what is hollow has an outline alone."""
    count = len(block.columns)
    room = (frame.width - _LEFT - _RIGHT) / len(block.rows)
    width = min(60.0, room * (0.5 if count == 1 else 0.8 / count))
    names = [level_text(table.first, level) if table.first else "" for level in block.rows]
    own = looks(names) if count == 1 and any(is_transport(name) for name in names) else None
    base = frame.y(max(frame.y_ticks[0], min(0.0, frame.y_ticks[-1])))
    for number, (column, style) in enumerate(zip(block.columns, styles, strict=True)):
        for index, mean in enumerate(column.means):
            if mean is None:
                continue
            look = own[index] if own else style
            x = frame.x(float(index)) + (number - (count - 1) / 2) * width
            top, color = frame.y(mean), screen_look(look)["color"]
            yield Markup(
                '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" stroke="var(--c{})" '
                'stroke-width="1.4"><title>{}</title></rect>'
            ).format(
                x - width / 2 + 1, min(top, base), max(width - 2, 1), abs(base - top),
                "none" if look.hollow else f"var(--c{color})", color, _words(table, column, index),
            )  # fmt: skip
            yield from _interval(frame, x, mean, column.half_widths[index], "var(--text)")


def _key(look: Look, *, bars: bool) -> Markup:
    """The sign of a series in the legend."""
    color = screen_look(look)["color"]
    if bars:
        fill = "none" if look.hollow else f"var(--c{color})"
        shape = Markup('<rect x="6" y="2" width="14" height="10" fill="{}" stroke="var(--c{})"/>').format(
            fill, color
        )
    else:
        dash = Markup(' stroke-dasharray="6 4"') if look.hollow else ""
        fill = "var(--paper)" if look.hollow else f"var(--c{color})"
        shape = Markup(
            '<path d="M0 7H26" stroke="var(--c{})" stroke-width="1.8"{}/>'
            '<path d="{}" transform="translate(13 7)" fill="{}" stroke="var(--c{})" stroke-width="1.4"/>'
        ).format(color, dash, _MARKERS[look.marker], fill, color)
    return Markup('<svg width="26" height="14" aria-hidden="true">{}</svg> ').format(shape)
