"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def markdown_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Collection[int] | None = None
) -> list[str]:
    """A table as lines of Markdown.

    Args:
        headings: of its columns.
        rows: its cells.
        numbers: columns of numbers, by their place from 0; all but the first if None.
    """
    right = range(1, len(headings)) if numbers is None else numbers
    aligned = ["---:" if place in right else "---" for place in range(len(headings))]
    return [
        "| " + " | ".join(text.replace("|", "\\|") for text in cells) + " |"
        for cells in (headings, aligned, *rows)
    ]
