"""Figures of a study: a panel for each combination of the third factor and those after it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from anabranch.media.palette import Look
from anabranch.media.texts import printable
from anabranch.report.looks import is_transport, looks
from anabranch.report.plots.plot import legend_columns
from anabranch.report.scales import scale_axes
from anabranch.report.style import plain, styled
from anabranch.report.views.outcome import StudyOutcome
from anabranch.report.views.study_table import (
    Block,
    MetricColumn,
    MetricTable,
    axis_title,
    find_metric,
    interval_words,
    level_text,
    metric_table,
    number_text,
)

Drawn = Any
"""A series in the legend: a container of matplotlib's, which its types do not allow there."""

_MOST_PANELS_ABREAST = 3
_MOST_BESIDE = 4
"""A legend of more entries stands outside of the axes."""
_MOST_WITH_BARS = 15
"""Points of a line at which its intervals become a shade."""
_PANEL_WIDTH, _PANEL_HEIGHT = 3.1, 2.6
_NARROWEST_PANEL = 1.9
_NARROW = 4.5
"""Inches of a figure that has no room for a legend beside its panels."""
_LETTERS_PER_INCH = 14
_SLANT = 35
"""Degrees."""
_MOST_IN_A_PANEL = 10
"""Entries of a legend that fit where a panel would be."""
_LABELS = 0.6
"""Inches beside an axis that its labels take."""
_ARROW = 0.12
"""Length of the arrow at a bound, as a share of it."""
_BOUNDS = "arrows: more than that, since flows are unfinished"
_NOTE_HEIGHT = 0.14
"""Inches of margin for the note on the intervals."""


def study_figure(
    result: StudyOutcome, metric: str, *, width: float | None = None, title: str | None = None
) -> Figure:
    """A metric of a study over its first factor, a series for each level of the second.

    A continuous first factor gives lines with the confidence intervals, a categorical one grouped bars. Each
    combination of further factors has its own panel.

    Args:
        result: the study's result.
        metric: the metric's name.
        width: of the figure in inches; None for what its panels need.
        title: above the panels; None for the study's own, empty for none.

    Raises:
        ResultError: if the study has no such metric.
    """
    table = metric_table(result, find_metric(result, metric))
    with styled():
        across = panels_abreast(len(table.blocks))
        if width is not None:
            across = min(len(table.blocks), max(1, int(width / _NARROWEST_PANEL)))
        down = -(-len(table.blocks) // across)
        names = [column.name for column in table.blocks[0].columns]
        # Bars leave no room for a legend among them.
        most = _MOST_BESIDE if table.continuous else 1
        beside = len(table.blocks) == 1 and len(names) > most
        inches, height = _size(down, across, names, beside=beside)
        if width is not None:
            # Panels of the usual shape, but not too flat or too high.
            inches, height = width, 0.7 + down * min(max(width / across * 0.62, 1.7), 2.9)
        heading = _wrapped(result.title if title is None else title, inches * 0.85)
        # Lines of the title and long names under bars take no room from the axes.
        height += 0.17 * heading.count("\n") + _room_below(table)
        figure = Figure(figsize=(inches, height), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
        drawn: list[Drawn] = []
        for axes, block in zip(grid, table.blocks, strict=False):
            drawn = draw_block(axes, table, block)
        for axes in grid[len(table.blocks) :]:
            axes.set_axis_off()
        label = scale_axes(grid[0], table, inches / across - _LABELS)
        if heading:
            figure.suptitle(heading, fontsize=10, x=0.01, ha="left")
        _explain(figure, list(grid), result, table, label)
        if len(names) > 1:
            _legend(figure, list(grid), table, drawn, beside=beside)
    return figure


def panels_abreast(panels: int) -> int:
    """How many panels stand in a row, so that rows are full as far as can be."""
    return 2 if panels == 4 else min(panels, _MOST_PANELS_ABREAST)


def _size(down: int, across: int, names: Sequence[str], *, beside: bool) -> tuple[float, float]:
    """Width and height that the panels and a legend beside them need."""
    width = 6.3 if across == 1 else 0.4 + _PANEL_WIDTH * across
    width += 0.09 * min(30, max(len(name) for name in names)) + 0.4 if beside else 0.0
    return width, 3.6 if down == 1 else 0.7 + _PANEL_HEIGHT * down


def draw_block(axes: Axes, table: MetricTable, block: Block) -> list[Drawn]:
    """Draws one block; returns its series in the order of the columns."""
    styles = looks([column.name for column in block.columns])
    if block.title:
        axes.set_title(_wrapped(block.title, _PANEL_WIDTH), loc="left", fontsize=9)
    if table.continuous:
        x = np.array([float(level) for level in block.rows])
        return [
            _draw_line(axes, x, column, look, table.shown[0])
            for column, look in zip(block.columns, styles, strict=True)
        ]
    return _draw_bars(axes, table, block, styles)


def _draw_line(axes: Axes, x: NDArray[np.float64], column: MetricColumn, look: Look, factor: float) -> Drawn:
    """A line with markers; what was not measured is a gap in it."""
    means, widths = _numbers(column.means) * factor, _numbers(column.half_widths) * factor
    _draw_bounds(axes, x, column, look, factor)
    has_widths = bool(np.isfinite(widths).any())
    shaded = has_widths and len(x) > _MOST_WITH_BARS
    if shaded:
        axes.fill_between(x, means - widths, means + widths, color=look.color, alpha=0.15, linewidth=0)
    return axes.errorbar(
        x,
        means,
        yerr=np.nan_to_num(widths) if has_widths and not shaded else None,
        color=look.color,
        marker=look.marker,
        markerfacecolor="white" if look.hollow else look.color,
        linestyle=look.line,
        elinewidth=0.9,
    )


def _draw_bounds(
    axes: Axes, x: NDArray[np.float64], column: MetricColumn, look: Look, factor: float, width: float = 0.0
) -> None:
    """An arrow upwards from what a mean is more than; under bars of a width, an empty bar as high."""
    bounds = _numbers(column.more_than) * factor
    if not np.isfinite(bounds).any():
        return
    if width:
        axes.bar(x, bounds, width, fill=False, edgecolor=look.color, linestyle="--", linewidth=0.8)
    lengths = np.nan_to_num(_ARROW * np.abs(bounds))
    axes.errorbar(x, bounds, yerr=lengths, lolims=True, fmt="none", color=look.color, elinewidth=0.9)


def _draw_bars(axes: Axes, table: MetricTable, block: Block, styles: Sequence[Look]) -> list[Drawn]:
    """Groups of bars, one group for each level of the first factor."""
    names = group_names(table)
    positions = np.arange(len(names), dtype=float)
    # Bars of one series take no more than half of the room, and those of several leave a gap between groups.
    width = 0.5 if len(styles) == 1 else 0.8 / len(styles)
    factor, _ = table.shown
    drawn: list[Drawn] = []
    for index, (column, look) in enumerate(zip(block.columns, styles, strict=True)):
        bar_looks = [look] * len(names)
        if len(styles) == 1 and any(is_transport(name) for name in names):
            bar_looks = looks(names)
        means, widths = _numbers(column.means) * factor, _numbers(column.half_widths) * factor
        places = positions + (index - (len(styles) - 1) / 2) * width
        _draw_bounds(axes, places, column, look, factor, width)
        bars = axes.bar(
            places,
            means,
            width,
            yerr=np.nan_to_num(widths) if np.isfinite(widths).any() else None,
            error_kw={"elinewidth": 0.9, "ecolor": "#404040"},
            color=["white" if each.hollow else each.color for each in bar_looks],
            edgecolor=[each.color for each in bar_looks],
            hatch=["////" if each.hollow else "" for each in bar_looks],
        )
        drawn.append(bars)
    axes.set_xticks(positions)
    # One or two groups do not fill the width.
    middle, half = (len(names) - 1) / 2, max(len(names), 3) / 2 + 0.1
    axes.set_xlim(middle - half, middle + half)
    labels = [plain(_shortened(name)) for name in names]
    if _crowded(table, names):
        axes.set_xticklabels(labels, rotation=_SLANT, ha="right", rotation_mode="anchor")
    else:
        axes.set_xticklabels(labels)
    axes.grid(visible=False, axis="x")
    return drawn


def group_names(table: MetricTable) -> list[str]:
    """The names under groups of bars."""
    rows = table.blocks[0].rows
    return [level_text(table.first, level) if table.first else "all runs" for level in rows]


def _crowded(table: MetricTable, names: Sequence[str]) -> bool:
    """Whether names under bars must be slanted."""
    room = 5.5 if len(table.blocks) == 1 else _PANEL_WIDTH - 0.6
    return sum(len(name) + 2 for name in names) > room * _LETTERS_PER_INCH


def _room_below(table: MetricTable) -> float:
    """Inches that slanted names under bars take."""
    names = group_names(table)
    if table.continuous or not _crowded(table, names):
        return 0.0
    longest = max(len(_shortened(name)) for name in names)
    return longest / _LETTERS_PER_INCH * math.sin(math.radians(_SLANT))


def _shortened(name: str) -> str:
    """A name of at most 40 letters, with both ends, one of which tells it from its like."""
    return name if len(name) <= 40 else f"{name[:22]}...{name[-15:]}"


def _explain(
    figure: Figure, grid: Sequence[Axes], result: StudyOutcome, table: MetricTable, label: str
) -> None:
    """Names of the axes, and what the intervals are."""
    panels = len(table.blocks)
    x = plain(axis_title(table.first)) if table.first else ""
    y = _wrapped(label, 2.6)
    for axes in grid[max(0, panels - _abreast(grid)) : panels]:
        axes.set_xlabel(x)
        axes.tick_params(labelbottom=True)
    if panels == 1:
        grid[0].set_ylabel(y)
    else:
        figure.supylabel(y, fontsize=9)
    notes = [f"intervals: {interval_words(result)}"] if table.has_intervals else []
    notes += [_BOUNDS] if table.has_bounds else []
    if notes:
        # In the margin below, where no line and no label can be.
        margin = _NOTE_HEIGHT / figure.get_figheight()
        figure.set_layout_engine("constrained", rect=(0, margin, 1, 1 - margin))
        figure.text(0.995, 0.005, "; ".join(notes), fontsize=6.5, color="#595959", ha="right")


def _abreast(grid: Sequence[Axes]) -> int:
    spec = grid[0].get_subplotspec()
    return spec.get_gridspec().ncols if spec is not None else 1


def _legend(
    figure: Figure, grid: Sequence[Axes], table: MetricTable, drawn: Sequence[Drawn], *, beside: bool
) -> None:
    """Which series is which, with the name of the second factor above."""
    heading = _wrapped(axis_title(table.second), 2) if table.second else None
    labels = []
    for column in table.blocks[0].columns:
        if isinstance(column.level, float | int) and table.second is not None and not table.second.unit:
            # The name of the factor stands above them all.
            labels.append(number_text(column.level))
        else:
            labels.append(_wrapped(column.name, 2.2))
    empty = grid[len(table.blocks) :]
    look: dict[str, Any] = {"title": heading, "title_fontsize": 8}
    if beside and figure.get_figwidth() >= _NARROW:
        figure.legend(list(drawn), labels, loc="outside right upper", **look)
    elif len(table.blocks) == 1 and not beside and figure.get_figwidth() >= _NARROW:
        grid[0].legend(list(drawn), labels, loc="best", **look)
    elif empty and len(labels) <= _MOST_IN_A_PANEL:
        # Where a panel would be, so that the others have the whole width.
        empty[0].legend(list(drawn), labels, loc="upper left", borderaxespad=0, **look)
    else:
        noted = table.has_intervals or table.has_bounds
        _legend_below(figure, drawn, labels, look, _NOTE_HEIGHT if noted else 0.0)


def _legend_below(
    figure: Figure, drawn: Sequence[Drawn], labels: Sequence[str], look: dict[str, Any], note: float
) -> None:
    """The legend between the panels and the note, which has this height in inches."""
    columns = legend_columns(labels, figure.get_figwidth() * 72 - 12, 8.0)
    lines = sum(
        max(label.count("\n") + 1 for label in labels[row::rows])
        for rows in [-(-len(labels) // columns)]
        for row in range(rows)
    )
    room = 0.17 * (lines + (1 if look["title"] else 0)) + 0.12
    height = figure.get_figheight() + room
    figure.set_figheight(height)
    below = (note + room) / height
    figure.set_layout_engine("constrained", rect=(0, below, 1, 1 - below))
    figure.legend(
        list(drawn), labels, loc="lower center", ncols=columns, borderaxespad=0,
        bbox_to_anchor=(0.5, note / height), **look,
    )  # fmt: skip


def _numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([math.nan if value is None else value for value in values], dtype=float)


def _wrapped(text: str, inches: float) -> str:
    """A user's text in lines that fit."""
    lines = textwrap.wrap(printable(text), max(12, int(inches * _LETTERS_PER_INCH)))
    return "\n".join(plain(line) for line in lines)
