"""Native charts of a spreadsheet: lines over a continuous first factor, bars for a categorical one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_range_formula
from xlsxwriter.worksheet import Worksheet

from anabranch.media.palette import Look
from anabranch.report.looks import is_transport, looks, wants_logarithm
from anabranch.report.views.study_table import Block, MetricTable

CHART_ROWS = 21
"""Rows that a chart covers."""
TABLE_BESIDE = 9
"""A table of at most so many columns has its chart beside it, where it is seen at once; a wider one below."""

_WIDTH, _HEIGHT = 720, 410
_TITLES = {"size": 10, "bold": False}
_NUMBERS = {"size": 9}
# Excel has fewer shapes than matplotlib; where none is alike, the nearest that is not taken.
_MARKERS = {"o": "circle", "s": "square", "^": "triangle", "D": "diamond", "X": "x", "P": "plus", "*": "star",
    "v": "long_dash"}  # fmt: skip

Cell = tuple[int, int]
"""Row and column, from 0."""


@dataclass(frozen=True, slots=True)
class ChartPlace:
    """The place of a block's numbers in a sheet, and that of its chart."""

    sheet: str
    top: int
    """First row of numbers; the levels of the first factor are in column 0."""
    value_columns: Sequence[int]
    width_columns: Sequence[int | None]
    """Half widths of the confidence intervals; None where there are none."""
    heading: Cell
    """Cell with the chart's title."""
    corner: Cell
    """Upper left corner of the chart."""


def insert_chart(
    book: xlsxwriter.Workbook,
    sheet: Worksheet,
    table: MetricTable,
    block: Block,
    place: ChartPlace,
    titles: tuple[Cell, Cell],
) -> None:
    """Adds the chart of a block; ``titles`` are the cells that name its x axis and its y axis."""
    kind = {"type": "scatter", "subtype": "straight_with_markers"} if table.continuous else {"type": "column"}
    chart = book.add_chart(kind)
    several = len(block.columns) > 1
    for index, look in enumerate(looks([column.name for column in block.columns])):
        chart.add_series(_series(table, block, place, titles[0][0], index, look))
    chart.set_title(
        {
            "name": [place.sheet, *place.heading],
            "name_font": {"size": 12, "bold": True},
            # Outside of what is drawn.
            "overlay": False,
        }
    )
    chart.set_x_axis(_x_axis(table, block, [place.sheet, *titles[0]]))
    chart.set_y_axis(
        {
            "name": [place.sheet, *titles[1]],
            "name_font": _TITLES,
            "num_font": _NUMBERS,
            "num_format": "General",
            "major_gridlines": {"visible": True, "line": {"color": "#DDDDDD", "width": 0.75}},
            **_y_range(table),
        }
    )
    if several:
        bottom = len(block.columns) <= 4
        chart.set_legend({"position": "bottom" if bottom else "right", "font": _NUMBERS})
    else:
        chart.set_legend({"none": True})
    chart.show_blanks_as("gap")
    chart.set_size({"width": _WIDTH, "height": _HEIGHT})
    sheet.insert_chart(*place.corner, chart, {"object_position": 2})


def _series(
    table: MetricTable, block: Block, place: ChartPlace, header: int, index: int, look: Look
) -> dict[str, Any]:
    """One column of a block as a series: lines with markers, or bars."""
    column, top, bottom = block.columns[index], place.top, place.top + len(block.rows) - 1
    value_column, width_column = place.value_columns[index], place.width_columns[index]
    series: dict[str, Any] = {
        "name": [place.sheet, header, value_column],
        "categories": [place.sheet, top, 0, bottom, 0],
        "values": [place.sheet, top, value_column, bottom, value_column],
        "values_data": list(column.means),
    }
    if table.continuous:
        series |= _line(look)
    else:
        series |= {**_bar(look), "gap": 60}
        names = [str(level) for level in block.rows]
        if len(block.columns) == 1 and any(is_transport(name) for name in names):
            series["points"] = [_bar(each) for each in looks(names)]
    if width_column is not None and any(width is not None for width in column.half_widths):
        cells = "=" + xl_range_formula(place.sheet, top, width_column, bottom, width_column)
        series["y_error_bars"] = {
            "type": "custom",
            "plus_values": cells,
            "minus_values": cells,
            "plus_data": list(column.half_widths),
            "minus_data": list(column.half_widths),
            "line": {"color": look.color if table.continuous else "#404040", "width": 1},
        }
    return series


def _line(look: Look) -> dict[str, Any]:
    fill = "#FFFFFF" if look.hollow else look.color
    line: dict[str, Any] = {"color": look.color, "width": 1.75}
    if look.hollow:
        line["dash_type"] = "dash"
    return {
        "line": line,
        "marker": {
            "type": _MARKERS[look.marker],
            "size": 6,
            "border": {"color": look.color},
            "fill": {"color": fill},
        },
    }


def _bar(look: Look) -> dict[str, Any]:
    if look.hollow:
        pattern = {"pattern": "wide_upward_diagonal", "fg_color": look.color, "bg_color": "#FFFFFF"}
        return {"pattern": pattern, "border": {"color": look.color}}
    return {"fill": {"color": look.color}, "border": {"color": look.color}}


def _x_axis(table: MetricTable, block: Block, name: list[Any]) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "name": name,
        "name_font": _TITLES,
        "num_font": _NUMBERS,
        # Below what is drawn, even where values are negative.
        "label_position": "low",
        "major_gridlines": {"visible": False},
    }
    if not table.continuous:
        return axis
    axis["num_format"] = "General"
    levels = [level for level in block.rows if not isinstance(level, str)]
    if wants_logarithm(levels):
        left = 10.0 ** math.floor(math.log10(min(levels)))
        right = 10.0 ** math.ceil(math.log10(max(levels)))
        return {**axis, "log_base": 10, "min": left, "max": right, "crossing": left}
    if len(levels) > 1:
        first, last = min(levels), max(levels)
        axis |= _round_range(0.0 if 0 <= first <= last / 2 else first, last)
    return axis


def _y_range(table: MetricTable) -> dict[str, float]:
    """The same range in all charts of a metric, with room for the intervals."""
    tops, bottoms = [0.0], [0.0]
    for column in (column for block in table.blocks for column in block.columns):
        for mean, width in zip(column.means, column.half_widths, strict=True):
            if mean is not None:
                tops.append(mean + (width or 0.0))
                bottoms.append(mean - (width or 0.0))
    if table.starts_at_zero():
        return _round_range(0.0, max(tops))
    if min(table.values(), default=0.0) < 0:
        return _round_range(min(bottoms), max(tops))
    return _round_range(min(bottoms[1:], default=0.0), max(tops))


def _round_range(low: float, high: float) -> dict[str, float]:
    """Ends of an axis at multiples of a round step, of which there are at most nine; nothing for no range."""
    if not low < high:
        return {}
    power = 10.0 ** math.floor(math.log10((high - low) / 8))
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= (high - low) / 8)
    # A hair of tolerance, so that 0.3, which is three times 0.1 and a bit less, does not end at 0.4.
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return {name: float(f"{value:.12g}") for name, value in
            (("min", first * step), ("max", last * step), ("major_unit", step))}  # fmt: skip
