"""Text in cells of CSV files of which a spreadsheet runs nothing, and the same text again when it is read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Final

FORMULA: Final = r"^'*[=+\-@\t\r]"
"""Text that a spreadsheet would take for a formula (OWASP, "CSV injection"), also behind apostrophes."""
NUMBER: Final = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""Numbers such as ``-3.5``, which stay."""

_ROW_END: Final = "\r\n"
_ESCAPED: Final = re.compile(r"'+[=+\-@\t\r]")


def escaped(text: str) -> str:
    """Returns the text with an apostrophe in front if a spreadsheet would run it."""
    return f"'{text}" if re.match(FORMULA, text) and not re.match(NUMBER, text) else text


def unescaped(cell: str) -> str:
    """Returns the text of a cell that :func:`escaped` has written."""
    return cell[1:] if _ESCAPED.match(cell) else cell


class _Rows(io.StringIO):
    """Takes whole rows that end in CR LF, and ends them in LF.

    A writer for LF leaves a carriage return in a cell without quotes, where readers end a row with it.
    """

    def write(self, row: str) -> int:
        return super().write(f"{row.removesuffix(_ROW_END)}\n")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV, of which a spreadsheet runs nothing, and which a scenario reads."""
    text = _Rows()
    writer = csv.writer(text, lineterminator=_ROW_END)
    writer.writerow(header)
    writer.writerows([escaped(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()
