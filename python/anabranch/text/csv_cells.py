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

_ESCAPED: Final = re.compile(r"'+[=+\-@\t\r]")


def escaped(text: str) -> str:
    """Returns the text with an apostrophe in front if a spreadsheet would run it."""
    return f"'{text}" if re.match(FORMULA, text) and not re.match(NUMBER, text) else text


def unescaped(cell: str) -> str:
    """Returns the text of a cell that :func:`escaped` has written."""
    return cell[1:] if _ESCAPED.match(cell) else cell


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV, of which a spreadsheet runs nothing, and which a scenario reads."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([escaped(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()
