"""Tables of a user's in CSV files: header, number of cells and numbers checked, with file and line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from anabranch.scenario.quantity import quoted
from anabranch.setup.problems import Problems
from anabranch.text.csv_cells import unescaped

_NUMBER: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row with its cells by column, stripped and unescaped."""

    place: str
    """File and line, for messages."""
    cells: Mapping[str, str]


def header_of(text: str) -> list[str]:
    """Returns the names of the columns, stripped; none where the first line is no CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader(text.splitlines()[:1], skipinitialspace=True), [])]
    except csv.Error:
        return []


def table_rows(name: str, text: str, columns: Sequence[str], problems: Problems) -> Iterator[TableRow]:
    """The rows of a table with these columns, in any order; other columns are left alone.

    Empty lines are skipped, and apostrophes before formulas.

    Args:
        name: of the file, for messages.
        text: what it has.
        columns: each of them has to be there, once.
        problems: takes what is wrong, with the line.
    """
    lines = csv.reader(text.splitlines(), skipinitialspace=True)
    try:
        header = [cell.strip() for cell in next(lines, [])]
        if any(header.count(column) != 1 for column in columns):
            message = f"{quoted(','.join(header))} is no header with the columns {','.join(columns)}"
            problems.add(f"{name}, line 1", message)
            return
        for cells in lines:
            place = f"{name}, line {lines.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                problems.add(place, f"has {len(cells)} cells in place of {len(header)}")
                continue
            yield TableRow(place, dict(zip(header, (unescaped(cell.strip()) for cell in cells), strict=True)))
    except csv.Error as error:
        problems.add(name, f"is no CSV: {error}")


def number_of(text: str) -> float | None:
    """The finite number that a text is; None for anything else."""
    value = float(text) if _NUMBER.fullmatch(text) else None
    return value if value is not None and abs(value) < float("inf") else None
