"""Axes of the figures of a study: logarithmic where levels span decades, values in a unit that suits them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from anabranch.report.labels import text_width
from anabranch.report.looks import wants_logarithm
from anabranch.report.views.study_table import MetricTable
from anabranch.text.units import plain

_LARGE = 1e5
"""Numbers without a unit are marked in thousands, millions, ... from here on."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FONT, _BETWEEN = 9.5, 4.0
"""Size of the marks where they are largest, and room between them, in points."""


def scale_axes(axes: Axes, table: MetricTable, width: float) -> str:
    """Scales and ticks of a panel; panels that share axes share these.

    Values begin at zero unless that would flatten the lines.

    Args:
        axes: of the panel, drawn.
        table: what is drawn.
        width: of the axes in inches, more or less: where marks have no room, some are left out.

    Returns:
        The label of the values, with the unit that suits them.
    """
    if table.continuous:
        _scale_levels(axes, [float(level) for level in table.blocks[0].rows], width * 72)
    if table.starts_at_zero():
        axes.set_ylim(bottom=0)
    elif not table.continuous:
        axes.axhline(0, color="black", linewidth=0.8)
    factor, label = table.shown
    if factor == 1 and max(map(abs, axes.get_ylim())) >= _LARGE:
        axes.yaxis.set_major_formatter(EngFormatter())
    return label


def _scale_levels(axes: Axes, levels: Sequence[float], width: float) -> None:
    """A logarithmic axis where levels span decades; with a zero among them it is symmetric around that."""
    positive = sorted(level for level in levels if level > 0)
    if not wants_logarithm(positive) or min(levels) < 0:
        return
    if len(positive) == len(levels):
        axes.set_xscale("log")
        ticks = positive
    else:
        # Zero stands as far left of the smallest level as a decade is wide.
        axes.set_xscale("symlog", linthresh=positive[0], linscale=0.9)
        axes.set_xlim(-0.25 * positive[0], 1.4 * positive[-1])
        ticks = [0.0, *positive]
    left, right = axes.transData.transform([(end, 0.0) for end in axes.get_xlim()])[:, 0]
    at = [(x - left) / (right - left) * width for x, _ in axes.transData.transform([(t, 0.0) for t in ticks])]
    far = any(_is_decade(tick) and not 1e-3 <= tick <= 1e4 for tick in positive)
    marks = _with_room([(tick, x, _mark(tick, powers=far)) for tick, x in zip(ticks, at, strict=True)])
    axes.set_xticks(list(marks), list(marks.values()))
    axes.set_xticks([], minor=True)


def _with_room(ticks: Sequence[tuple[float, float, str]]) -> dict[float, str]:
    """The marks that do not touch each other; whole decades come first."""
    kept: list[tuple[float, float, str]] = []
    for _, x, text in sorted(ticks, key=lambda each: (not _is_decade(each[0]), each[0])):
        half = text_width(text, _FONT) / 2 + _BETWEEN / 2
        if all(abs(x - other) >= half + other_half for other, other_half, _ in kept):
            kept.append((x, half, text))
    by_text = {text for _, _, text in kept}
    return {tick: text for tick, _, text in ticks if text in by_text}


def _is_decade(value: float) -> bool:
    return value == 0 or math.isclose(math.log10(value), round(math.log10(value)), abs_tol=1e-9)


def _mark(value: float, *, powers: bool) -> str:
    """A level; powers of ten as such where some are far from one."""
    if value and powers and _is_decade(value):
        return "10" + str(round(math.log10(value))).translate(_RAISED)
    return plain(value)
