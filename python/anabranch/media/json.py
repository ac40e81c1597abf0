"""Tables as JSON: a row for each record, by the names of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anabranch.media.pieces import DataTable, plain_cell


def records(table: DataTable, keys: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """The rows of a table; values are as they are kept, a share as a share.

    Args:
        table: the table.
        keys: by the name of each column that is wanted its key in the document; every column by its name if
            None.
    """
    wanted = {about.name: about.name for about in table.columns} if keys is None else keys
    names = list(wanted.values())
    rows = table.only(*wanted).by_row()
    return [dict(zip(names, map(plain_cell, row), strict=True)) for row in rows]
