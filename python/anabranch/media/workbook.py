"""Workbooks (.xlsx): cells, names and formats that Excel accepts, and sheets of tables with native charts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from io import BytesIO
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from anabranch import _core
from anabranch.media.columns import Column
from anabranch.media.pieces import Bars, DataTable, TableLines, plain_cell, scaled
from anabranch.media.texts import printable

_NAME_LENGTH = 31
"""Letters of a sheet's name at most, in UTF-16; Excel's own limit, as are those below."""
_CELL_LENGTH = 32_767
SHEET_ROWS = 1_048_576
# Excel keeps this one for itself.
_RESERVED = ("history",)
_WIDEST, _LEAST_WIDTH = 60, 9
_TITLE, _CAPTION, _HEADER, _FIRST_ROW = 0, 1, 2, 3
_SMALL = {"size": 9, "bold": False}
_COLORS = ("#0072B2", "#E69F00", "#009E73")


def workbook_bytes(title: str, fill: Callable[[xlsxwriter.Workbook], None]) -> bytes:
    """A workbook; not when it was written: the same content has the same bytes."""
    content = BytesIO()
    # In memory, because only then xlsxwriter gives every part of the archive the same date.
    book = xlsxwriter.Workbook(content, {"in_memory": True})
    comments = f"Written by Anabranch {_core.version()}"
    book.set_properties({"title": printable(title), "comments": comments, "created": datetime(2000, 1, 1)})
    fill(book)
    book.close()
    return content.getvalue()


def tables_workbook(title: str, tables: Sequence[DataTable]) -> bytes:
    """The bytes of the spreadsheet of these tables."""
    names = sheet_names([(table.name, table.name) for table in tables], ())

    def fill(book: xlsxwriter.Workbook) -> None:
        for table, name in zip(tables, names, strict=True):
            add_sheet(book, name, table, title)

    return workbook_bytes(title, fill)


def sheet_names(labels: Iterable[tuple[str, str]], taken: Iterable[str]) -> list[str]:
    """Names of sheets that Excel accepts, all different, whatever the case.

    Args:
        labels: for each sheet the name that is wanted, and a shorter one if that is too long.
        taken: names that are used already.
    """
    used = {name.lower() for name in (*taken, *_RESERVED)}
    names = []
    for wanted in labels:
        readable = [name for label in wanted if (name := _allowed(label))]
        fitting = [name for name in readable if _utf16(name) <= _NAME_LENGTH]
        base = next(iter([*fitting, *readable]), "metric")
        name, count = _cut(base, _NAME_LENGTH), 1
        while name.lower() in used:
            count += 1
            ending = f" ({count})"
            name = _cut(base, _NAME_LENGTH - len(ending)) + ending
        used.add(name.lower())
        names.append(name)
    return names


def _allowed(label: str) -> str:
    """A label without what Excel forbids in the name of a sheet."""
    return re.sub(r"[\[\]:*?/\\]", "-", printable(label)).strip(" '(")


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _cut(text: str, length: int) -> str:
    while _utf16(text) > length:
        text = text[:-1]
    return text.rstrip(" '")


def number_format(values: Iterable[float]) -> str:
    """A format that shows at least three significant digits of every value."""
    sizes = [abs(value) for value in values if value]
    if not sizes or all(size.is_integer() and size < 1e15 for size in sizes):
        return "#,##0"
    decimals = max(2, 2 - math.floor(math.log10(min(sizes))))
    if decimals > 6 or max(sizes) >= 1e9:
        return "0.000E+00"
    return "#,##0." + "0" * decimals


def finite(value: Any) -> float | None:
    """A number; None for what is none, and for NaN and infinity, which no sheet holds."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None


def put(sheet: Worksheet, row: int, column: int, value: Any, form: Format | None = None) -> None:
    """Writes a cell: a number as a number, a text as a text, and nothing where nothing was measured."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = finite(value)
        if number is None:
            sheet.write_blank(row, column, None, form)
        else:
            sheet.write_number(row, column, number, form)
        return
    text = "" if value is None else printable(str(value))[:_CELL_LENGTH]
    if text:
        # Never write(): that makes formulas and links of texts that look like them.
        sheet.write_string(row, column, text, form)
    else:
        sheet.write_blank(row, column, None, form)


def put_row(
    sheet: Worksheet, row: int, values: Iterable[Any], form: Format | None = None, first: int = 0
) -> None:
    """Writes cells side by side, from the column ``first`` on."""
    for column, value in enumerate(values, start=first):
        put(sheet, row, column, value, form)


def one_page_wide(sheet: Worksheet) -> None:
    """Prints on as many A4 pages as are needed, one page wide."""
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)


def add_sheet(book: xlsxwriter.Workbook, name: str, table: DataTable, title: str = "") -> None:
    """Adds a sheet with a table, its filter and its chart.

    Args:
        book: where to.
        name: of the sheet.
        table: what it holds.
        title: above the table and its caption; a table without a title begins in the first row.
    """
    sheet = book.add_worksheet(name)
    header = 0
    if title:
        put(sheet, _TITLE, 0, title, book.add_format({"bold": True, "font_size": 14}))
        put(sheet, _CAPTION, 0, table.caption, book.add_format({"font_color": "#595959"}))
        header = _HEADER
    table = table.filed()
    room = SHEET_ROWS - header - 2
    lines = 1
    for place, (about, values) in enumerate(zip(table.columns, table.values, strict=True)):
        cells = [scaled(plain_cell(value), about.factor) for value in values[:room]]
        lines = max(lines, _put_column(book, sheet, (header, place), about, cells))
    sheet.set_row(header, 15 * lines)
    shown = min(table.height, room)
    if table.height > shown:
        left_out = f"{table.height - shown} more rows do not fit into a sheet"
        put(sheet, header + 1 + shown, 0, left_out, book.add_format({"font_color": "#595959"}))
    sheet.freeze_panes(header + 1, 1)
    sheet.repeat_rows(header)
    if table.columns:
        sheet.autofilter(header, 0, header + max(1, shown), len(table.columns) - 1)
    one_page_wide(sheet)
    if isinstance(table.chart, Bars) and shown:
        _add_bars(book, sheet, [about.name for about in table.columns], shown, table.chart)
    elif isinstance(table.chart, TableLines) and shown:
        _add_lines(book, sheet, table, shown, table.chart)


def _put_column(
    book: xlsxwriter.Workbook,
    sheet: Worksheet,
    corner: tuple[int, int],
    about: Column,
    cells: Sequence[str | float | None],
) -> int:
    """A column with its heading, as wide as its longest text; returns how many lines the heading takes."""
    header, column = corner
    heading = printable(f"{about.label} ({about.unit})" if about.unit else about.label)
    align = {"align": "right"} if about.is_number else {}
    style = {"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom", **align}
    put(sheet, header, column, heading, book.add_format(style))
    form = None
    if about.unit or about.format or about.digits:
        form = book.add_format(
            {"num_format": number_format(n for cell in cells if (n := finite(cell)) is not None)}
        )
    for row, cell in enumerate(cells, start=header + 1):
        put(sheet, row, column, cell, form)
    longest = max((len(cell) for cell in cells if isinstance(cell, str)), default=8)
    width = max(_LEAST_WIDTH, min(_WIDEST, max(longest, min(len(heading), 16)) + 2))
    sheet.set_column(column, column, width)
    # One line more than needed, since words do not break where it suits.
    return 1 if len(heading) <= width - 2 else 1 - (-len(heading) // (width - 2))


def _add_bars(
    book: xlsxwriter.Workbook, sheet: Worksheet, names: Sequence[str], rows: int, bars: Bars
) -> None:
    """Bars from the top of the page down, in the order of the table."""
    last = _FIRST_ROW + min(rows, bars.most) - 1
    category, values = names.index(bars.category), [names.index(name) for name in bars.values]
    chart, name = book.add_chart({"type": "bar"}), sheet.get_name()
    for color, column in zip(_COLORS, values, strict=False):
        chart.add_series(
            {
                "name": [name, _HEADER, column],
                "categories": [name, _FIRST_ROW, category, last, category],
                "values": [name, _FIRST_ROW, column, last, column],
                "fill": {"color": color},
                "gap": 40,
            }
        )
    chart.set_title({"name": [name, _CAPTION, 0], "name_font": {"size": 12, "bold": True}})
    for set_axis, column, more in (
        (chart.set_y_axis, category, {"reverse": True, "label_position": "low"}),
        (chart.set_x_axis, values[0], {"major_gridlines": {"visible": True}}),
    ):
        # Of several series the legend says what they are, and their headings the unit.
        is_named = column == category or len(values) == 1
        title = {"name": [name, _HEADER, column], "name_font": _SMALL} if is_named else {}
        set_axis({**title, "num_font": _SMALL, **more})
    chart.set_legend({"position": "bottom"} if len(values) > 1 else {"none": True})
    chart.set_size({"width": 720, "height": 120 + 22 * (last - _FIRST_ROW + 1) * len(values)})
    sheet.insert_chart(_HEADER, len(names) + 1, chart, {"object_position": 2})


_DASHES = {"--": "dash", ":": "round_dot", "-.": "dash_dot", "-..": "long_dash_dot_dot", "-,": "square_dot"}
"""Names of Excel for the dashes of a look."""


def _add_lines(
    book: xlsxwriter.Workbook, sheet: Worksheet, table: DataTable, rows: int, lines: TableLines
) -> None:
    """Lines beside their table, in the looks that they have everywhere."""
    names, last, sheet_name = [about.name for about in table.columns], _FIRST_ROW + rows - 1, sheet.get_name()
    chart = book.add_chart({"type": "scatter", "subtype": "straight"})
    for line in lines.lines:
        across, up = names.index(line.x), names.index(line.y)
        drawn = {"color": line.look.color, "width": 1.5}
        if line.look.dash in _DASHES:
            drawn["dash_type"] = _DASHES[line.look.dash]
        chart.add_series(
            {
                "name": printable(line.label),
                "categories": [sheet_name, _FIRST_ROW, across, last, across],
                "values": [sheet_name, _FIRST_ROW, up, last, up],
                "line": drawn,
                "marker": {"type": "none"},
            }
        )
    chart.set_title({"name": printable(table.name), "name_font": {"size": 12, "bold": True}})
    grid = {"visible": True, "line": {"color": "#DDDDDD", "width": 0.75}}
    for set_axis, label in ((chart.set_x_axis, lines.x), (chart.set_y_axis, lines.y)):
        about = {"name": printable(label), "name_font": _SMALL, "num_font": _SMALL}
        set_axis({**about, "num_format": "General", "min": 0, "major_gridlines": grid})
    chart.show_blanks_as("gap")
    chart.set_legend({"position": "bottom"} if len(lines.lines) > 1 else {"none": True})
    chart.set_size({"width": 720, "height": 420})
    sheet.insert_chart(_HEADER, len(names) + 1, chart, {"object_position": 2})
