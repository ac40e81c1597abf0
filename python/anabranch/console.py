"""What all commands share: exit statuses, messages, JSON documents and tables on a terminal.

Commands of other distributions (see :mod:`anabranch.command_group`) use it, too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import polars as pl

EXIT_MISTAKE = 2
"""The user's input is wrong; the message says where and what would be right."""
EXIT_NO_OUTPUT = 1
"""Standard output cannot be written, as on a full disk."""
EXIT_INCOMPLETE = 1
"""A part of the work failed, the message says why; the rest is there."""
EXIT_INTERRUPTED = 130
"""Stopped by Ctrl-C, as a shell reports it (128 + SIGINT); after SIGTERM 143, after SIGHUP 129."""

JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON document to standard output.")]
"""The type of a command's parameter that asks for JSON."""
ReplaceOption = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Write though the folder has other files or a result of another kind; other files stay in it.",
    ),
]
"""The type of a command's parameter that lets it write into a folder with other files."""
JobsOption = Annotated[int | None, typer.Option(metavar="N", help="Processes; all cores if left out.", min=1)]
"""The type of a command's parameter that bounds the processes of a study."""


def console() -> Console:
    """Standard output for people: the full width in a pipe, where nothing would be gained by folding."""
    found = Console()
    return found if found.is_terminal else Console(width=200)


def print_json(document: Any) -> None:
    """Writes one JSON document to standard output.

    Raises:
        ValueError: if a number in it is not finite.
    """
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def say(message: str) -> None:
    """Writes a line to standard error, without the characters that a terminal would obey."""
    plain = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in message)
    sys.stderr.write(plain + "\n")


def plain_table(title: str | None) -> Table:
    """An empty table without a frame."""
    return Table(title=None if title is None else Text(title), title_justify="left", box=None, pad_edge=False)


def print_table(console: Console, table: Table) -> None:
    """Prints a table; without the blanks at the ends of its lines where it goes to a file or a pipe."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    console.print(Text("\n".join(line.rstrip() for line in capture.get().splitlines())), soft_wrap=True)


def natural_width(console: Console, table: Table) -> int:
    """Characters that a table takes where nothing holds it back."""
    return Measurement.get(console, console.options.update(width=10_000), table).maximum


def table_cell(value: Any, form: str) -> Text:
    """A value in a table, written as a format specification says; a dash for None."""
    if value is None:
        return Text("-")
    return Text(format(value, form) if form else str(value))


def print_rows(
    console: Console, title: str | None, columns: Mapping[str, str], rows: Iterable[Sequence[str]]
) -> None:
    """Prints a table of texts.

    Args:
        console: where to.
        title: above the table.
        columns: of each heading ``left``, ``right``, or ``fold`` for texts that may break anywhere.
        rows: a text for each column.
    """
    table = plain_table(title)
    for heading, kind in columns.items():
        justify: Literal["left", "right"] = "right" if kind == "right" else "left"
        table.add_column(heading, justify=justify, overflow="fold" if kind == "fold" else "ellipsis")
    for row in rows:
        table.add_row(*map(Text, row))
    print_table(console, table)


def print_more(console: Console, count: int, shown: int, what: str = "") -> None:
    """Says how many more rows there are than are shown, if there are more."""
    if count > shown:
        console.print(Text(f"... and {count - shown:,} more {what}".rstrip()))


FrameColumn = tuple[str, str, str]
"""Heading, column of a table of results, and how its values are written."""


def frame_table(
    title: str, frame: pl.DataFrame, columns: Sequence[FrameColumn], *, no_wrap: bool = True
) -> Table:
    """Rows of a result. Headings break at spaces where that saves width; values only without ``no_wrap``."""
    table = plain_table(title)
    for heading, _, form in columns:
        words = Text("\n".join(heading.split(" ")))
        table.add_column(words, justify="right" if form else "left", vertical="bottom", no_wrap=no_wrap)
    for row in frame.to_dicts():
        table.add_row(*(table_cell(row[name], form) for _, name, form in columns))
    return table
