"""The spreadsheet of a study: for each metric a sheet with its tables and native charts, and all runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from anabranch import _core
from anabranch.media.columns import Column
from anabranch.media.pieces import DataTable
from anabranch.media.texts import printable
from anabranch.media.workbook import (
    add_sheet,
    number_format,
    one_page_wide,
    put,
    put_row,
    sheet_names,
    workbook_bytes,
)
from anabranch.report.charts import CHART_ROWS, TABLE_BESIDE, ChartPlace, insert_chart
from anabranch.report.views.outcome import StudyOutcome
from anabranch.report.views.study import ENDINGS
from anabranch.report.views.study_table import (
    Block,
    MetricTable,
    axis_title,
    failed_runs,
    metric_table,
    number_text,
)
from anabranch.results.folders import write_whole
from anabranch.results.result import MetricInfo

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
        """A whole frame, a row for a row; levels and numbers of runs are shown as they are."""
        heads = {factor.name: axis_title(factor) for factor in self.result.factors}
        measured = set()
        for metric in self.result.metrics:
            heads[metric.name] = printable(metric.label)
            heads |= {f"{metric.name}{key}": f"{heads[metric.name]}: {word}" for key, word in ENDINGS.items()}
            measured |= {f"{metric.name}{key}" for key in ("", "_ci", "_min", "_max", "_more_than")}
        columns = tuple(
            Column(name, heads.get(name, name), digits=5 if name in measured else 0) for name in frame.columns
        )
        add_sheet(self.book, name, DataTable(name, name, columns, tuple(frame.get_columns())))


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
