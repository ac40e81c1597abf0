"""The workbook of a run: its tables, and its charts beside their numbers."""

from __future__ import annotations

from pathlib import Path

from anabranch.errors import ResultError
from anabranch.media.files import check_spreadsheet, save_spreadsheet
from anabranch.media.pieces import DataTable
from anabranch.report.views.charts import run_charts
from anabranch.report.views.run import run_tables
from anabranch.results.result import Result


def save_run_workbook(result: Result | None, path: Path) -> None:
    """Writes the workbook of a run (.xlsx); the same run gives the same bytes.

    Args:
        result: the run; None where the result is of something else.
        path: the file.

    Raises:
        ResultError: if it is no run, XlsxWriter is not there, or the file cannot be written.
    """
    check_spreadsheet()
    if result is None or "flows" not in result.tables:
        raise ResultError("--xlsx: this is no run; a study writes study.xlsx by itself, captures have tables")
    tables: list[DataTable] = [*run_tables(result), *(chart.table() for chart in run_charts(result))]
    save_spreadsheet(str(result.summary.get("title") or "A run"), tables, path)
