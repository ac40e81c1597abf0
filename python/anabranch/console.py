"""What all commands share: exit statuses, messages, JSON documents and tables on a terminal.

Commands of other distributions (see :mod:`anabranch.command_group`) use it, too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from anabranch import units
from anabranch.foreign import plain, plain_json

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
        help="Write though the folder has files that Anabranch did not write; they stay in it.",
    ),
]
"""The type of a command's parameter that lets it write into a folder with other files."""
JobsOption = Annotated[int | None, typer.Option(metavar="N", help="Processes; all cores if left out.", min=1)]
"""The type of a command's parameter that bounds the processes of a study."""


def console() -> Console:
    """Standard output for people: the full width in a pipe, where nothing would be gained by folding."""
    found = Console()
    if not found.is_terminal:
        found = Console(width=200)
    found.push_render_hook(_Filter())
    return found


class _Filter(RenderHook):
    """Whatever a console prints goes through :func:`plain`; the console's own colours come after it."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """What is printed in place of these."""
        return [_Filtered(renderable) for renderable in renderables]


class _Filtered:
    """Something to print, without the characters that a terminal would obey."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(plain(segment.text), segment.style)


def write(text: str) -> None:
    """Writes lines of text to standard output, without the characters that a terminal would obey."""
    sys.stdout.write(plain(text) + "\n")


def print_json(document: Any) -> None:
    """Writes one JSON document to standard output.

    Raises:
        ValueError: if a number in it is not finite.
    """
    # Other encodings lack letters, and what Python writes in their place is no JSON.
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(document, indent=2, ensure_ascii=not unicode, allow_nan=False)
    sys.stdout.write(plain_json(text) + "\n")


def say(message: str) -> None:
    """Writes a line to standard error, without the characters that a terminal would obey."""
    sys.stderr.write(plain(message) + "\n")


def confirmed(question: str) -> bool | None:
    """Whether the person at the terminal says yes; the default is no. None where there is no terminal."""
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
        return None
    sys.stderr.write(plain(f"{question} [y/N] "))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sits at a standard stream; nobody does at one that is closed, or that there is not."""
    return stream is not None and not stream.closed and stream.isatty()


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


FULL = 1 + 1e-9
"""A load above this is more than a link can carry; less than that above 1 is rounding."""
_WARNING = "bold black on bright_yellow"

Cell = str | Text
"""A cell of a table; a text with a style where that says something."""


def load_cell(load: float, text: str) -> Text:
    """A load in a table; one above the capacity has a mark besides its colour, for eyes without it."""
    return Text(f"! {text}", _WARNING) if load > FULL else Text(text)


def print_overload(console: Console) -> None:
    """Says below a table what the mark means."""
    console.print(Text("! overload: more traffic than the link can carry", _WARNING))


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of a table for people."""

    heading: str
    """Breaks where it has line breaks."""
    cells: Sequence[Cell]
    kind: Literal["left", "right", "fold"] = "left"
    """``right`` for numbers, ``fold`` for texts that may break anywhere."""

    @property
    def name(self) -> str:
        """The heading on one line."""
        return self.heading.replace("-\n", "").replace("\n", " ")


def print_columns(
    console: Console,
    title: str | None,
    columns: Sequence[TextColumn],
    *,
    spare: Sequence[str] = (),
    rest: str = "",
) -> None:
    """Prints a table, and below it which columns had no room.

    Args:
        console: where to.
        title: above the table.
        columns: all of the same length.
        spare: names of columns that a narrow terminal does without, the first of them first.
        rest: where all columns are.
    """
    shown = list(columns)
    dropped: list[str] = []
    for name in spare:
        if _width(console, title, shown) <= console.width:
            break
        kept = [column for column in shown if column.name != name]
        if len(kept) < len(shown):
            dropped.append(name)
            shown = kept
    print_table(console, _table(title, shown))
    if dropped:
        count = f"{len(dropped)} {'column' if len(dropped) == 1 else 'columns'} left out at this width"
        console.print(Text(f"{count}: {', '.join(dropped)}; all of them in {rest}"))


def _table(title: str | None, columns: Sequence[TextColumn]) -> Table:
    table = plain_table(title)
    for column in columns:
        table.add_column(
            Text(column.heading),
            justify="right" if column.kind == "right" else "left",
            vertical="bottom",
            overflow="fold",
            # A name may break where nothing else is left to go; a number may not.
            no_wrap=column.kind == "right",
        )
    for row in zip(*(_padded(column) for column in columns), strict=True):
        table.add_row(*row)
    return table


def _padded(column: TextColumn) -> list[Text]:
    """The cells; numbers that end in blanks, so that their points are aligned, keep them."""
    cells = [cell if isinstance(cell, Text) else Text(cell) for cell in column.cells]
    if column.kind == "right" and any(cell.plain.endswith(" ") for cell in cells):
        width = max(map(len, column.heading.split("\n")))
        for cell in cells:
            cell.justify = "left"
            cell.pad_left(max(0, width - len(cell.plain)))
    return cells


def _width(console: Console, title: str | None, columns: Sequence[TextColumn]) -> int:
    """Characters that a table takes where nothing holds it back."""
    options = console.options.update(width=10_000)
    return Measurement.get(console, options, _table(title, columns)).maximum


def print_rows(
    console: Console,
    title: str | None,
    columns: Mapping[str, str],
    rows: Iterable[Sequence[Cell]],
    *,
    spare: Sequence[str] = (),
    rest: str = "",
) -> None:
    """Prints a table row by row: of each heading its kind, and a cell for each column.

    The other arguments are those of :func:`print_columns`.
    """
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    print_columns(
        console,
        title,
        [
            TextColumn(heading, own, kind)  # type: ignore[arg-type]
            for (heading, kind), own in zip(columns.items(), cells, strict=True)
        ],
        spare=spare,
        rest=rest,
    )


def print_more(console: Console, count: int, shown: int, what: str = "") -> None:
    """Says how many more rows there are than are shown, if there are more."""
    if count > shown:
        console.print(Text(f"... and {count - shown:,} more {what}".rstrip()))


FrameColumn = tuple[str, str, str]
"""Heading, column of a table of results, and its unit, or else how its values are written."""


def frame_columns(frame: pl.DataFrame, columns: Sequence[FrameColumn]) -> list[TextColumn]:
    """Columns of a result that have a value; headings break at spaces, where that saves width.

    An unfinished flow has ``> x`` for its completion time.
    """
    from anabranch.censored import COMPLETION, MORE_THAN  # noqa: PLC0415 - not every command has frames

    found = []
    for heading, name, form in columns:
        if name not in frame.columns:
            continue
        values = frame[name].to_list()
        more_than = name.replace(COMPLETION, MORE_THAN)
        bounds = frame[more_than].to_list() if more_than != name and more_than in frame.columns else []
        if all(value is None for value in (*values, *bounds)) and values:
            continue
        if form in units.UNITS:
            cells, unit = units.in_unit(values, form, bounds)
            heading = f"{heading} {unit}"  # noqa: PLW2901 - the unit belongs to it
        else:
            cells = ["-" if value is None else format(value, form) for value in values]
        found.append(TextColumn(heading.replace(" ", "\n"), cells, "right" if form else "left"))
    return found
