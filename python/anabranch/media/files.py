"""Tables as CSV files, and as a spreadsheet with native charts."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from anabranch.errors import ResultError, installation
from anabranch.media.pieces import Cell, DataTable, plain_cell, scaled
from anabranch.results.folders import write_whole
from anabranch.results.result import csv_bytes


def save_csv(tables: Sequence[DataTable], folder: Path | str) -> list[Path]:
    """Writes each table as ``NAME.csv`` into a folder; headers are the names of the columns.

    Returns:
        The files; earlier ones of their names are replaced.

    Raises:
        ResultError: if one cannot be written.
    """
    files = []
    for table in tables:
        kept = table.filed()
        frame = pl.DataFrame(
            [
                pl.Series(about.name, [_text(cell, about.file_factor) for cell in values], pl.String)
                for about, values in zip(kept.columns, kept.values, strict=True)
            ]
        )
        files.append(write_whole(Path(folder) / f"{table.name}.csv", csv_bytes(frame)))
    return files


def check_spreadsheet() -> None:
    """Refuses a spreadsheet before any work, where XlsxWriter is not there.

    Raises:
        ResultError: with a remedy.
    """
    if find_spec("xlsxwriter") is None:
        raise ResultError(f"--xlsx needs XlsxWriter: {installation('spreadsheet')}")


def save_spreadsheet(title: str, tables: Sequence[DataTable], path: Path | str) -> Path:
    """Writes a spreadsheet (.xlsx): a sheet for each table, its chart beside it; the same has the same bytes.

    Raises:
        ResultError: if it cannot be written.
    """
    # Stands on an optional package.
    from anabranch.media.workbook import tables_workbook  # noqa: PLC0415

    return write_whole(Path(path), tables_workbook(title, tables))


def _text(cell: Cell, factor: float) -> str | None:
    value = scaled(plain_cell(cell), factor)
    # Twelve digits, so that what is left of a subtraction is no number of its own.
    return f"{value:.12g}" if isinstance(value, float) else None if value is None else str(value)
