"""Tables of a page as CSV files, and as a spreadsheet with native charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from anabranch.errors import ResultError
from anabranch.folders import write_whole
from anabranch.report.sections import Badge, Cell, Link, PageColumn, PageTable
from anabranch.result import csv_bytes


@dataclass(frozen=True, slots=True)
class TableChart:
    """A bar chart of a table: a bar for each row from the top."""

    category: int
    """Column with the names of the bars."""
    values: tuple[int, ...]
    """Columns with their lengths, one series each."""
    most: int = 30
    """Rows that are drawn at most."""


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table with the name of its file and sheet."""

    name: str
    table: PageTable
    chart: TableChart | None = None


def save_csv(tables: Sequence[NamedTable], folder: Path | str) -> list[Path]:
    """Writes each table as ``NAME.csv`` into a folder, with units in the header.

    Returns:
        The files; earlier ones of their names are replaced.

    Raises:
        ResultError: if one cannot be written.
    """
    files = []
    for named in tables:
        headers = [csv_header(column) for column in named.table.columns]
        rows = [[_text(cell) for cell in row] for row in named.table.rows]
        table = pl.DataFrame(rows, schema=dict.fromkeys(headers, pl.String), orient="row")
        files.append(write_whole(Path(folder) / f"{named.name}.csv", csv_bytes(table)))
    return files


def csv_header(column: PageColumn) -> str:
    """The name of a column in a file, with its unit: ``capacity_mbps``."""
    unit = {"%": "percent"}.get(column.unit, column.unit.lower())
    return "_".join(part for part in (column.heading.lower().replace(" ", "_"), unit) if part)


def check_spreadsheet() -> None:
    """Refuses a spreadsheet before any work, where XlsxWriter is not there.

    Raises:
        ResultError: with a remedy.
    """
    if find_spec("xlsxwriter") is None:
        raise ResultError('--xlsx needs XlsxWriter: pip install "anabranch[spreadsheet]"')


def save_tables(title: str, tables: Sequence[NamedTable], path: Path | str) -> Path:
    """Writes a spreadsheet (.xlsx): a sheet for each table, its chart beside it; the same has the same bytes.

    Raises:
        ResultError: if it cannot be written.
    """
    # Stands on an optional package.
    from anabranch.report.table_workbook import workbook  # noqa: PLC0415

    return write_whole(Path(path), workbook(title, tables))


def plain_cell(cell: Cell) -> str | float | None:
    """A cell as a text or a number; None for none."""
    if isinstance(cell, Badge | Link):
        return cell.text
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _text(cell: Cell) -> str | None:
    found = plain_cell(cell)
    # Twelve digits, so that what is left of a subtraction is no number of its own.
    return f"{found:.12g}" if isinstance(found, float) else found
