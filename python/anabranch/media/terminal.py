"""Pieces on a terminal: tables as wide as it is, numbers in a unit that suits the column, lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text as Styled

from anabranch.media.columns import Column
from anabranch.media.columns.column import SOFT_HYPHEN
from anabranch.media.pieces import Cell, DataTable, Link, Paragraph, Piece, Values, plain_cell, worded_cell
from anabranch.text import units

_UNBROKEN = "\N{NO-BREAK SPACE}"
"""Stays a space in a heading, which else breaks at spaces."""
_FOLDED = 30
"""Characters of a text that is folded where there is no room for all of it."""
_WARNING = "bold black on bright_yellow"


def show(console: Console, pieces: Iterable[Piece]) -> None:
    """Prints pieces, each below the one before; the mark of an overload is explained once, at the end."""
    is_marked = False
    for number, piece in enumerate(pieces):
        if isinstance(piece, DataTable):
            if number and piece.caption:
                console.print()
            is_marked |= _show_table(console, piece)
        else:
            console.print(Styled(spoken(piece.words)))
    if is_marked:
        console.print(Styled("! overload: more traffic than the link can carry", _WARNING))


def spoken(words: Paragraph) -> str:
    """A paragraph without its links."""
    parts = [words] if isinstance(words, str) else words
    return "".join(part.text if isinstance(part, Link) else part for part in parts)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A column as it is printed."""

    about: Column
    heading: str
    """With its unit; it breaks at line breaks."""
    cells: Sequence[Styled]

    @property
    def name(self) -> str:
        """The heading on one line."""
        return self.heading.replace("-\n", "").replace("\n", " ")


def _show_table(console: Console, table: DataTable) -> bool:
    """Prints a table and what it leaves out; returns whether a value is above its limit."""
    joined = {name for about in table.columns for name in about.joins}
    columns = [
        _shown(table, about, values)
        for about, values in zip(table.columns, table.values, strict=True)
        if about.priority > 0 and about.name not in joined
    ]
    columns = _without_repeats(columns, table.grouped)
    left_out: list[str] = []
    while _least_width(console, columns) > console.width:
        least = min((one.about.priority for one in columns), default=9)
        if least == 9:
            break
        # Of equals the last one goes first.
        place = max(place for place, one in enumerate(columns) if one.about.priority == least)
        left_out.append(columns.pop(place).name)
    if table.caption:
        console.print(Styled(table.caption, "italic"))
    _print(console, _grid(columns))
    if left_out:
        count = f"{len(left_out)} {'column' if len(left_out) == 1 else 'columns'} left out at this width"
        console.print(Styled(f"{count}: {', '.join(left_out)}; all of them in {table.elsewhere}"))
    if table.height > table.most:
        console.print(Styled(f"... and {table.height - table.most:,} more {table.things}".rstrip()))
    return any(cell.plain.startswith("! ") for one in columns for cell in one.cells)


def _shown(table: DataTable, about: Column, values: Values) -> _Shown:
    kept = [worded_cell(value) for value in values[: table.most]]
    texts, unit = _texts(about, kept, list(table.bounds.get(about.name, ()))[: table.most])
    heading = (
        f"{about.heading} {unit}".rstrip()
        .replace(SOFT_HYPHEN, "-\n")
        .replace(" ", "\n")
        .replace(_UNBROKEN, " ")
    )
    if about.limit is None:
        return _Shown(about, heading, [Styled(text) for text in texts])
    sizes = map(plain_cell, values[: table.most])
    marked = [isinstance(size, int | float) and size > about.limit for size in sizes]
    cells = [
        # The mark is for eyes without the colour.
        Styled(f"! {text.lstrip()}", _WARNING) if mark else Styled(text)
        for text, mark in zip(texts, marked, strict=True)
    ]
    return _Shown(about, heading, cells)


def _texts(
    about: Column, values: Sequence[str | float | None], bounds: Sequence[Cell]
) -> tuple[list[str], str]:
    """The cells of a column, and the unit that belongs to the heading."""
    if not about.is_number:
        return ["-" if value is None else str(value) for value in values], ""
    if any(isinstance(value, str) for value in values):
        # Numbers that are words already, such as those with intervals.
        return units.aligned([_word(about, value) for value in values]), about.unit
    numbers: list[float | None] = values  # type: ignore[assignment]
    if about.digits:
        return units.aligned(
            ["-" if value is None else units.plain(value, about.digits) for value in numbers]
        ), ""
    if about.unit in units.UNITS:
        return units.in_unit(numbers, about.unit, bounds)  # type: ignore[arg-type]
    if about.format:
        return ["-" if value is None else format(value, about.format) for value in numbers], (
            "%" if about.name.endswith("_percent") and about.factor == 1 else ""
        )
    return units.fixed(numbers), about.unit


def _word(about: Column, value: str | float | None) -> str:
    if isinstance(value, str) or value is None:
        return value or "-"
    return format(value, about.format) if about.format else units.plain(value, about.digits or 5)


def _without_repeats(columns: list[_Shown], count: int) -> list[_Shown]:
    """The first columns without the cells that repeat the row above."""
    first = [one.cells for one in columns[:count]]
    repeated = [
        place > 0 and all(cells[place].plain == cells[place - 1].plain for cells in first)
        for place in range(len(first[0]) if first else 0)
    ]
    return [
        replace(
            one, cells=[Styled("") if same else cell for cell, same in zip(one.cells, repeated, strict=True)]
        )
        if place < count
        else one
        for place, one in enumerate(columns)
    ]


def _grid(columns: Sequence[_Shown]) -> Grid:
    grid = Grid(box=None, pad_edge=False)
    for one in columns:
        grid.add_column(
            Styled(one.heading),
            justify="right" if one.about.is_number else "left",
            vertical="bottom",
            overflow="fold",
            # A name may break where nothing else is left to go; a number may not.
            no_wrap=one.about.is_number,
        )
    for row in zip(*(_padded(one) for one in columns), strict=True):
        grid.add_row(*row)
    return grid


def _padded(one: _Shown) -> list[Styled]:
    """The cells; numbers that end in blanks, so that their points are aligned, keep them."""
    cells = [cell.copy() for cell in one.cells]
    if one.about.is_number and any(cell.plain.endswith(" ") for cell in cells):
        width = max(map(len, one.heading.split("\n")))
        for cell in cells:
            cell.justify = "left"
            cell.pad_left(max(0, width - len(cell.plain)))
    return cells


def _least_width(console: Console, columns: Sequence[_Shown]) -> int:
    """Characters that a table takes where long texts are folded, and nothing else is."""
    options = console.options.update(width=10_000)
    whole = Measurement.get(console, options, _grid(columns)).maximum
    texts = ([len(cell) for cell in one.cells] for one in columns if one.about.folds)
    return whole - sum(max(0, max(lengths, default=0) - _FOLDED) for lengths in texts)


def _print(console: Console, grid: Grid) -> None:
    """Prints a table; without the blanks at the ends of its lines where it goes to a file or a pipe."""
    if console.is_terminal:
        console.print(grid)
        return
    with console.capture() as capture:
        console.print(grid)
    console.print(Styled("\n".join(line.rstrip() for line in capture.get().splitlines())), soft_wrap=True)
