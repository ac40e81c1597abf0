"""The spreadsheet of a study: for each metric a sheet with its tables and native charts, and all runs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from anabranch import _core
from anabranch.folders import write_whole
from anabranch.report.charts import CHART_ROWS, TABLE_BESIDE, ChartPlace, insert_chart
from anabranch.report.looks import printable
from anabranch.report.study_table import (
    Block,
    MetricTable,
    StudyOutcome,
    axis_title,
    failed_runs,
    metric_table,
    number,
    number_text,
)
from anabranch.result import MetricInfo

_NAME_LENGTH = 31
"""Letters of a sheet's name at most, in UTF-16; Excel's own limit, as are those below."""
_CELL_LENGTH = 32_767
_SHEET_ROWS = 1_048_576
# Excel keeps this one for itself.
_RESERVED = ("history",)

_TITLE, _STUDY, _NOTE, _SECOND, _HEADER, _FIRST_ROW = range(6)
"""Rows of a metric's sheet: its name, the study's, what the numbers are, the second factor, the header."""


def save_spreadsheet(result: StudyOutcome, path: Path) -> Path:
    """Writes the spreadsheet of a study (.xlsx); the same result gives the same bytes.

    Returns:
        The file.

    Raises:
        ResultError: if it cannot be written.
    """
    return write_whole(path, workbook_bytes(result.title, lambda book: _Sheets(book, result).write()))


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


class _Sheets:
    """The sheets of one workbook."""

    def __init__(self, book: xlsxwriter.Workbook, result: StudyOutcome) -> None:
        self.book = book
        self.result = result
        self.title = book.add_format({"bold": True, "font_size": 14})
        self.bold = book.add_format({"bold": True})
        self.header = book.add_format({"bold": True, "bottom": 1, "align": "right"})
        self.header_left = book.add_format({"bold": True, "bottom": 1})
        self.block = book.add_format({"bold": True, "bg_color": "#E8EEF4"})
        self.quiet = book.add_format({"font_color": "#595959"})
        self.wrapped = book.add_format({"text_wrap": True, "valign": "top"})
        self.left = book.add_format({"align": "left", "valign": "top"})

    def write(self) -> None:
        """All sheets, in order."""
        failed = failed_runs(self.result.runs)
        ours = ["Study", "Cells", "Runs", *(["Failed"] if len(failed) else [])]
        metrics = self.result.metrics
        names = sheet_names([(metric.label, metric.name) for metric in metrics], ours)
        self._study(names)
        for metric, name in zip(metrics, names, strict=True):
            self._metric(metric, name)
        self._frame("Cells", self.result.cells)
        self._frame("Runs", self.result.runs)
        if len(failed):
            # The reason first: it is what this sheet is opened for.
            first = ["run", "cell", "replication", "reason"]
            self._frame("Failed", failed.select(*first, pl.exclude(*first, *(m.name for m in metrics))))

    def _study(self, names: Sequence[str]) -> None:
        """What was studied: factors, replications, what failed, and where the metrics are."""
        result = self.result
        sheet = self.book.add_worksheet("Study")
        put(sheet, 0, 0, result.title, self.title)
        facts: list[tuple[str, Any]] = [
            ("Runs", len(result.runs)),
            ("Failed runs", len(failed_runs(result.runs))),
            ("Cells", len(result.cells)),
            ("Replications of each cell", result.replications),
            ("Confidence of the intervals in %", float(number_text(100 * result.confidence))),
            ("Anabranch version", _core.version()),
        ]
        for row, (name, value) in enumerate(facts, start=2):
            put(sheet, row, 0, name, self.bold)
            put(sheet, row, 1, value, self.left)
        row = 2 + len(facts) + 1
        put_row(sheet, row, ("Factor", "Unit", "Kind", "Column", "Levels"), self.header_left)
        for factor in result.factors:
            row += 1
            levels = ", ".join(_level(level) for level in factor.levels)
            put_row(sheet, row, (factor.label, factor.unit, factor.kind, factor.name, levels), self.wrapped)
        if not result.factors:
            row += 1
            put(sheet, row, 0, "none", self.quiet)
        row += 2
        put_row(sheet, row, ("Metric", "Sheet", "", "Column"), self.header_left)
        for metric, name in zip(result.metrics, names, strict=True):
            row += 1
            put(sheet, row, 0, metric.label, self.wrapped)
            quoted = name.replace("'", "''")
            sheet.write_url(row, 1, f"internal:'{quoted}'!A1", string=name)
            put(sheet, row, 3, metric.name, self.left)
        for column, width in enumerate((38, 30, 13, 22, 70)):
            sheet.set_column(column, column, width)
        one_page_wide(sheet)

    def _metric(self, metric: MetricInfo, name: str) -> None:
        """The tables and charts of one metric."""
        result, table = self.result, metric_table(self.result, metric)
        sheet = self.book.add_worksheet(name)
        layout = _Layout(table)
        put(sheet, _TITLE, 0, metric.label, self.title)
        put(sheet, _STUDY, 0, result.title, self.bold)
        put(sheet, _NOTE, 0, _note(result, table), self.quiet)
        if table.second is not None:
            put(sheet, _SECOND, 1, axis_title(table.second), self.bold)
        for column, head in enumerate(layout.heads):
            put(sheet, _HEADER, column, head, self.header if column else self.header_left)
        widths = [max(9, min(len(head) + 2, 40)) for head in layout.heads]
        labels = [len(_level(level)) for block in table.blocks for level in block.rows]
        widths[0] = min(40, max([14, len(layout.heads[0]) + 2, *(length + 2 for length in labels)]))
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        values = [value for block in table.blocks for row in layout.rows(block) for value in row]
        form = self.book.add_format({"num_format": number_format(v for v in values if v is not None)})
        row = _FIRST_ROW
        for block in table.blocks:
            row = self._block(sheet, layout, block, row, form)
        sheet.freeze_panes(_FIRST_ROW, 1)
        sheet.repeat_rows(_SECOND, _HEADER)
        one_page_wide(sheet)

    def _block(self, sheet: Worksheet, layout: _Layout, block: Block, row: int, form: Format) -> int:
        """One table and its chart; returns the row where the next block begins."""
        heading = (_STUDY, 0)
        if block.title:
            heading = (row, 0)
            put_row(sheet, row, (block.title, *[""] * (len(layout.heads) - 1)), self.block)
            row += 1
        top = row
        for level, values in zip(block.rows, layout.rows(block), strict=True):
            put(sheet, row, 0, _category(level) if layout.table.first else "all runs", self.left)
            put_row(sheet, row, values, form, first=1)
            row += 1
        if layout.table.first is None:
            return row + 2
        beside = len(layout.heads) <= TABLE_BESIDE
        corner = (top, len(layout.heads) + 1) if beside else (row + 1, 1)
        place = ChartPlace(sheet.get_name(), top, layout.value_columns, layout.width_columns, heading, corner)
        insert_chart(self.book, sheet, layout.table, block, place, titles=((_HEADER, 0), (_TITLE, 0)))
        return max(row, corner[0] + CHART_ROWS) + 2

    def _frame(self, name: str, frame: pl.DataFrame) -> None:
        """A whole frame, a row for a row."""
        sheet = self.book.add_worksheet(name)
        heads = {factor.name: axis_title(factor) for factor in self.result.factors}
        for metric in self.result.metrics:
            heads[metric.name] = printable(metric.label)
            endings = {"_ci": "± half width", "_min": "smallest", "_max": "largest"}
            endings |= {"_more_than": "more than", "_done": "flows done", "_flows": "of flows"}
            heads |= {f"{metric.name}{key}": f"{heads[metric.name]}: {word}" for key, word in endings.items()}
        titles = [heads.get(column, column) for column in frame.columns]
        wrapped = self.book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"})
        widths: list[int] = []
        for column, head in enumerate(titles):
            put(sheet, 0, column, head, wrapped)
            longest = _longest(frame[:, column])
            widths.append(max(9, min(60, max(longest, min(len(head), 16)) + 2)))
            sheet.set_column(column, column, widths[-1])
        # Room for every line of the longest heading, plus one, since words do not break where it suits.
        lines = (-(-len(head) // (width - 2)) for head, width in zip(titles, widths, strict=True))
        sheet.set_row(0, 15 * (1 + max(lines, default=0)))
        there = frame.head(_SHEET_ROWS - 2)
        forms = [self._form(frame[:, column]) for column in range(frame.width)]
        for row, values in enumerate(there.iter_rows(), start=1):
            for column, (value, form) in enumerate(zip(values, forms, strict=True)):
                put(sheet, row, column, value, form)
        if len(there) < len(frame):
            left_out = f"{len(frame) - len(there)} more rows do not fit into a sheet"
            put(sheet, _SHEET_ROWS - 1, 0, left_out, self.quiet)
        sheet.freeze_panes(1, 1)
        sheet.repeat_rows(0)
        if frame.width:
            sheet.autofilter(0, 0, max(1, len(there)), frame.width - 1)
        one_page_wide(sheet)

    def _form(self, column: pl.Series) -> Format | None:
        """The format of a column of measurements; levels and numbers of runs are shown as they are."""
        metrics = {metric.name for metric in self.result.metrics}
        if re.sub("_(ci|min|max|more_than)$", "", column.name) not in metrics and column.name not in metrics:
            return None
        values = (value for entry in column if (value := number(entry)) is not None)
        return self.book.add_format({"num_format": number_format(values)})


class _Layout:
    """Which column of a metric's sheet holds what."""

    def __init__(self, table: MetricTable) -> None:
        self.table = table
        self.heads = [axis_title(table.first) if table.first else ""]
        self.value_columns: list[int] = []
        self.width_columns: list[int | None] = []
        columns = table.blocks[0].columns if table.blocks else ()
        for column in columns:
            self.value_columns.append(len(self.heads))
            self.heads.append(column.name if table.second else "mean")
            self.width_columns.append(len(self.heads) if table.has_intervals else None)
            if table.has_intervals:
                self.heads.append("±")
            if table.has_bounds:
                self.heads.append("more than")
        self.extremes = table.second is None
        if self.extremes:
            self.heads += ["smallest", "largest"]

    def rows(self, block: Block) -> Iterator[list[float | None]]:
        """The numbers of a block, row by row, without the level of the first factor."""
        for index in range(len(block.rows)):
            row: list[float | None] = []
            for column in block.columns:
                row.append(column.means[index])
                if self.table.has_intervals:
                    row.append(column.half_widths[index])
                if self.table.has_bounds:
                    row.append(column.more_than[index])
                if self.extremes:
                    row += [column.lows[index], column.highs[index]]
            yield row


def put(sheet: Worksheet, row: int, column: int, value: Any, form: Format | None = None) -> None:
    """Writes a cell: a number as a number, a text as a text, and nothing where nothing was measured."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        finite = number(value)
        if finite is None:
            sheet.write_blank(row, column, None, form)
        else:
            sheet.write_number(row, column, finite, form)
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


def _category(level: float | str) -> float | str:
    """A level as a cell that charts refer to."""
    if isinstance(level, str):
        try:
            odd = not math.isfinite(float(level))
        except ValueError:
            odd = False
        # A chart would keep "inf" and "nan" as numbers, and no program would open the file.
        return f'"{level}"' if odd else printable(level) or '""'
    return level


def _level(level: float | str) -> str:
    return printable(level) if isinstance(level, str) else number_text(level)


def _longest(column: pl.Series) -> int:
    """Letters of a column's longest text; numbers are formatted and take a fixed width."""
    if column.dtype != pl.String:
        return 8
    longest = column.str.len_chars().max()
    return longest if isinstance(longest, int) else 0


def _note(result: StudyOutcome, table: MetricTable) -> str:
    """What the numbers of a metric's sheet are."""
    nothing = "An empty cell was not measured."
    if table.has_bounds:
        nothing = (
            "Where flows are unfinished, the mean is open, and a gap in the chart; the column beside "
            "has what it is more than."
        )
    if result.replications == 1:
        return f"One run of each cell. {nothing}"
    words = f"Each number is the mean of up to {result.replications} runs"
    if table.has_intervals:
        words += f"; ± is half the width of its {number_text(100 * result.confidence)} % confidence interval"
    return f"{words}. {nothing}"


def one_page_wide(sheet: Worksheet) -> None:
    """Prints on as many A4 pages as are needed, one page wide."""
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
