"""Pieces of which a view is made: cards, tables, figures and texts, as data; media render them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from anabranch.media.columns import Column, column
from anabranch.media.palette import Look

if TYPE_CHECKING:
    import polars as pl

    from anabranch.media.links import LinkScale

Tone = Literal["good", "known", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link inside a paragraph or a cell."""

    text: str
    href: str
    """Relative to the page's folder, so that the folder can be moved."""


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict in a cell: its word, and a tone that colours it."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Worded:
    """A number in words of its own: an estimate with its interval, or a dash with its reason."""

    text: str
    value: float | None
    """By which it is sorted, and which files have; None for none."""


Paragraph = str | Sequence[str | Link]
Cell = str | float | Badge | Link | Worded | None
"""Of a column of numbers: a number, or None or NaN for none."""
Values: TypeAlias = "Sequence[Cell] | pl.Series"


@dataclass(frozen=True, slots=True)
class Card:
    """A number with its name, and what else is to be said of it."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A line or a paragraph."""

    words: Paragraph


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart of a table: a bar for each row from the top."""

    category: str
    """The column with the names of the bars."""
    values: tuple[str, ...]
    """The columns with their lengths, one series each."""
    most: int = 30
    """Rows that are drawn at most."""


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of a chart of a table."""

    label: str
    look: Look
    x: str
    """The column of its places."""
    y: str
    """The column of its values."""


@dataclass(frozen=True, slots=True)
class TableLines:
    """A chart of lines of a table."""

    x: str
    """The label of the axis below."""
    y: str
    """The label of the axis of values."""
    lines: tuple[TableLine, ...]


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table as data; each medium shows as many of its rows and columns as it has room for."""

    name: str
    """Of its file and its sheet."""
    caption: str
    columns: tuple[Column, ...]
    values: tuple[Values, ...]
    """The values of each column, all of the same length."""
    things: str = "rows"
    """What its rows are, in the plural."""
    elsewhere: str = ""
    """Where all of its columns are."""
    most: int = 40
    """Rows that a terminal shows."""
    grouped: int = 0
    """So many columns are left empty on a terminal where they repeat those of the row above."""
    bounds: Mapping[str, Values] = field(default_factory=dict)
    """By the name of a column, what its unknown values exceed, where that is known."""
    chart: Bars | TableLines | None = None
    choices: tuple[str, ...] = ()
    """Columns of which a reader of a page may choose one value."""
    searchable: bool = False
    """Whether a page has a box for a text above it."""
    boxed: bool = False
    """Whether a long one scrolls in a box of its own; on paper it is whole."""

    def __post_init__(self) -> None:
        lengths = {len(values) for values in self.values}
        if len(self.values) != len(self.columns) or len(lengths) > 1:
            raise ValueError(f'"{self.caption}" has columns of different lengths')

    @classmethod
    def of_rows(
        cls, name: str, caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], **more: Any
    ) -> DataTable:
        """A table of rows; ``more`` are further fields.

        Raises:
            ValueError: if a row is not as long as there are columns.
        """
        if any(len(row) != len(columns) for row in rows):
            raise ValueError(f'"{caption}" has a row that is not {len(columns)} cells long')
        values = tuple(zip(*rows, strict=True)) or ((),) * len(columns)
        return cls(name, caption, tuple(columns), values, **more)

    @classmethod
    def of_frame(
        cls, name: str, caption: str, frame: pl.DataFrame, names: Iterable[str], scope: str = "", **more: Any
    ) -> DataTable:
        """A table of those columns of a frame that there are and that have a value.

        Args:
            name: of its file and its sheet.
            caption: above it.
            frame: with its columns by name.
            names: which of them, in this order.
            scope: the table in which columns are declared.
            more: further fields.
        """
        columns, values, bounds = list[Column](), list[Values](), dict[str, Values]()
        for each in names:
            if each not in frame.columns:
                continue
            about = column(each, scope)
            exceeds = frame[about.bound] if about.bound in frame.columns else None
            is_unknown = frame[each].null_count() == frame.height
            if frame.height and is_unknown and (exceeds is None or exceeds.null_count() == frame.height):
                continue
            columns.append(about)
            values.append(frame[each])
            if exceeds is not None:
                bounds[each] = exceeds
        return cls(name, caption, tuple(columns), tuple(values), bounds=bounds, **more)

    def filed(self) -> DataTable:
        """The table as files have it: without the columns that join others for people."""
        return self.without(*(about.name for about in self.columns if about.joins))

    def without(self, *names: str) -> DataTable:
        """The table without some of its columns."""
        return self.only(*(about.name for about in self.columns if about.name not in names))

    def only(self, *names: str) -> DataTable:
        """The table with some of its columns, in this order."""
        own_names = [about.name for about in self.columns]
        places = [own_names.index(name) for name in names]
        columns = tuple(self.columns[place] for place in places)
        return replace(self, columns=columns, values=tuple(self.values[place] for place in places))

    @property
    def height(self) -> int:
        """How many rows it has."""
        return len(self.values[0]) if self.values else 0

    def by_row(self) -> Iterable[tuple[Cell, ...]]:
        """The rows of the table."""
        return zip(*self.values, strict=True)


def columns(*names: str, table: str = "") -> tuple[Column, ...]:
    """The declarations of columns.

    Raises:
        KeyError: if one of them is not declared.
    """
    return tuple(column(name, table) for name in names)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as the bytes of an SVG or PNG file.

    It becomes an image of its own, so that the names inside one drawing cannot meet those of another.
    """

    title: str
    image: bytes
    note: str = ""
    href: str = ""
    """A file of the figure, relative to the page's folder."""


@dataclass(frozen=True, slots=True)
class Map:
    """A network. A link is as wide as the logarithm of its capacity says, and its value colours it.

    What comes later lies above what comes earlier.
    """

    nodes: Sequence[str]
    places: Sequence[tuple[float, float] | None]
    """Latitude and longitude of each node in degrees, where they are known."""
    ends: Sequence[tuple[int, int]]
    """The nodes from and to which each link leads."""
    capacities_mbps: Sequence[float]
    values: Sequence[float]
    scale: LinkScale
    """Of the values."""
    down: frozenset[int] = frozenset()
    """Links that are down."""
    shares: Mapping[int, float] | None = None
    """The share of the packets on each link of some routes, which are outlined; the other links fade."""
    chosen: int | None = None
    """A link with an outline."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page, with an entry in its table of contents."""

    key: str
    """Letters, digits, ``.``, ``-`` and ``_``, unique on the page; its address is ``#section-KEY``."""
    title: str
    paragraphs: Sequence[Paragraph] = ()
    tables: Sequence[DataTable] = ()
    figures: Sequence[Figure] = ()
    figures_first: bool = False
    """Whether the figures come before the tables."""
    notes: Sequence[Paragraph] = ()
    """Below the tables."""
    file: str = ""
    """The text of a file, which is shown as it is."""


@dataclass(frozen=True, slots=True)
class Article:
    """A document that is read from the top to the end: a page for a browser, or a page of text."""

    title: str
    lead: Sequence[Paragraph]
    cards: Sequence[Card]
    """Its first numbers."""
    sections: Sequence[Section]

    def __post_init__(self) -> None:
        twice = [key for key, count in Counter(one.key for one in self.sections).items() if count > 1]
        if twice:
            raise ValueError(f"sections share the keys {', '.join(twice)}")


Piece = DataTable | Text


def plain_cell(cell: Cell) -> str | float | None:
    """A cell as a text or a number; None for none."""
    if isinstance(cell, Badge | Link):
        return cell.text
    if isinstance(cell, Worded):
        return cell.value
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def worded_cell(cell: Cell) -> str | float | None:
    """A cell as people see it: a number that has words as these."""
    return cell.text if isinstance(cell, Worded) else plain_cell(cell)


def scaled(value: str | float | None, factor: float) -> str | float | None:
    """A number times a factor; what is no number stays, and so does a count."""
    return value * factor if isinstance(value, int | float) and factor != 1 else value


def counted(number: int, what: str) -> str:
    """A count with its noun, in the plural where it is not one."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
