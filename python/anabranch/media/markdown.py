"""Tables in Markdown."""

from __future__ import annotations

from anabranch.columns import Column
from anabranch.media.pieces import Cell, DataTable, Link, plain_cell
from anabranch.units import plain


def table_lines(table: DataTable) -> list[str]:
    """A table as lines of Markdown; numbers stand on the right."""
    filed = table.filed()
    return [
        "| " + " | ".join(cells) + " |"
        for cells in (
            [_escaped(about.label) for about in filed.columns],
            ["---:" if about.is_number else "---" for about in filed.columns],
            *(
                [_text(about, cell) for about, cell in zip(filed.columns, row, strict=True)]
                for row in filed.by_row()
            ),
        )
    ]


def _text(about: Column, cell: Cell) -> str:
    if isinstance(cell, Link):
        return f"[{_escaped(cell.text)}]({cell.href})"
    value = plain_cell(cell)
    if isinstance(value, float):
        return plain(value, about.digits or 4)
    return "" if value is None else _escaped(str(value))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
