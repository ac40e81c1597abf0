"""Tables of a user's in CSV files: header, number of cells and numbers checked, with file and line."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from anabranch.csv_cells import unescaped
from anabranch.scenario.quantity import quoted
from anabranch.setup.problems import Problems

_NUMBER: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row with its cells by column, stripped and unescaped."""

    place: str
    """File and line, for messages."""
    cells: Mapping[str, str]


def table_rows(
    name: str, text: str, columns: Sequence[str], optional: Sequence[str], problems: Problems
) -> Iterator[TableRow]:
    """The rows of a table with these columns, in any order, and perhaps with optional ones."""

    def wrong(header: Sequence[str]) -> str | None:
        if set(columns) <= set(header) <= {*columns, *optional} and len(set(header)) == len(header):
            return None
        besides = f", and may have {', '.join(optional)}" if optional else ""
        return f"is no header with the columns {','.join(columns)}{besides}"

    return csv_rows(name, text, wrong, problems)


def csv_rows(
    name: str, text: str, wrong: Callable[[Sequence[str]], str | None], problems: Problems
) -> Iterator[TableRow]:
    """The rows of a table below its header; empty lines are skipped, and apostrophes before formulas.

    Args:
        name: of the file, for messages.
        text: what it has.
        wrong: what is wrong with a header; None where nothing is.
        problems: takes what is wrong, with the line.
    """
    lines = csv.reader(text.splitlines(), skipinitialspace=True)
    try:
        header = [cell.strip() for cell in next(lines, [])]
        if (reason := wrong(header)) is not None:
            problems.add(f"{name}, line 1", f"{quoted(','.join(header))} {reason}")
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
