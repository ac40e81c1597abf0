"""The spreadsheet of tables: a sheet for each, with its filter and its chart."""

from __future__ import annotations

from collections.abc import Sequence

import xlsxwriter
from xlsxwriter.worksheet import Worksheet

from anabranch.report.sections import PageColumn, PageTable
from anabranch.report.spreadsheet import number_format, one_page_wide, put, sheet_names, workbook_bytes
from anabranch.report.table_files import NamedTable, TableChart, plain_cell

_TITLE, _HEADER, _FIRST_ROW = 0, 2, 3
_MOST_ROWS = 1_048_576 - _FIRST_ROW - 1
_SMALL = {"size": 9, "bold": False}
_COLORS = ("#0072B2", "#E69F00", "#009E73")


def workbook(title: str, tables: Sequence[NamedTable]) -> bytes:
    """The bytes of the spreadsheet of these tables."""
    names = sheet_names([(named.name, named.name) for named in tables], ())

    def fill(book: xlsxwriter.Workbook) -> None:
        for named, name in zip(tables, names, strict=True):
            _sheet(book, name, title, named)

    return workbook_bytes(title, fill)


def _sheet(book: xlsxwriter.Workbook, name: str, title: str, named: NamedTable) -> None:
    sheet, table = book.add_worksheet(name), named.table
    put(sheet, _TITLE, 0, title, book.add_format({"bold": True, "font_size": 14}))
    put(sheet, _TITLE + 1, 0, table.caption, book.add_format({"font_color": "#595959"}))
    rows = [[plain_cell(cell) for cell in row] for row in table.rows[:_MOST_ROWS]]
    for column, about in enumerate(table.columns):
        _column(book, sheet, column, about, [row[column] for row in rows])
    if len(table.rows) > len(rows):
        left_out = f"{len(table.rows) - len(rows)} more rows do not fit into a sheet"
        put(sheet, _FIRST_ROW + len(rows), 0, left_out)
    sheet.freeze_panes(_FIRST_ROW, 1)
    sheet.autofilter(_HEADER, 0, _HEADER + max(1, len(rows)), max(0, len(table.columns) - 1))
    one_page_wide(sheet)
    if named.chart is not None and rows:
        _chart(book, sheet, table, named.chart)


def _column(
    book: xlsxwriter.Workbook,
    sheet: Worksheet,
    column: int,
    about: PageColumn,
    cells: Sequence[str | float | None],
) -> None:
    """A column with its heading; as wide as its longest text."""
    heading = f"{about.heading} ({about.unit})" if about.unit else about.heading
    align = {"align": "right"} if about.numeric else {}
    put(sheet, _HEADER, column, heading, book.add_format({"bold": True, "bottom": 1, **align}))
    form = None
    if about.numeric:
        numbers = [float(cell) for cell in cells if isinstance(cell, int | float)]
        form = book.add_format({"num_format": number_format(numbers)})
    for row, cell in enumerate(cells, start=_FIRST_ROW):
        put(sheet, row, column, cell, form)
    longest = max((len(cell) for cell in cells if isinstance(cell, str)), default=8)
    sheet.set_column(column, column, max(9, min(60, max(longest, len(heading)) + 2)))


def _chart(book: xlsxwriter.Workbook, sheet: Worksheet, table: PageTable, wanted: TableChart) -> None:
    """Bars from the top of the page down, in the order of the table."""
    last = _FIRST_ROW + min(len(table.rows), wanted.most) - 1
    chart = book.add_chart({"type": "bar"})
    for color, column in zip(_COLORS, wanted.values, strict=False):
        chart.add_series(
            {
                "name": [sheet.get_name(), _HEADER, column],
                "categories": [sheet.get_name(), _FIRST_ROW, wanted.category, last, wanted.category],
                "values": [sheet.get_name(), _FIRST_ROW, column, last, column],
                "fill": {"color": color},
                "gap": 40,
            }
        )
    name = sheet.get_name()
    chart.set_title({"name": [name, _TITLE + 1, 0], "name_font": {"size": 12, "bold": True}})
    for set_axis, column, more in (
        (chart.set_y_axis, wanted.category, {"reverse": True, "label_position": "low"}),
        (chart.set_x_axis, wanted.values[0], {"major_gridlines": {"visible": True}}),
    ):
        # Of several series the legend says what they are, and their headings the unit.
        named = column == wanted.category or len(wanted.values) == 1
        title = {"name": [name, _HEADER, column], "name_font": _SMALL} if named else {}
        set_axis({**title, "num_font": _SMALL, **more})
    chart.set_legend({"position": "bottom"} if len(wanted.values) > 1 else {"none": True})
    chart.set_size({"width": 720, "height": 120 + 22 * (last - _FIRST_ROW + 1) * len(wanted.values)})
    sheet.insert_chart(_HEADER, len(table.columns) + 1, chart, {"object_position": 2})
