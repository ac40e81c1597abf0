"""Pages of sections: cards, tables to sort and filter, figures; for what is neither a run nor a study."""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from matplotlib.figure import Figure

from anabranch import _core
from anabranch.folders import write_whole
from anabranch.report.html.page import REPORT, render
from anabranch.report.style import figure_bytes
from anabranch.units import NOTHING, quantity

_SCRIPTS = ("core", "sections")
_LARGEST_SVG = 400_000
"""Bytes of a drawing beyond which its picture in points is shown instead."""

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


Paragraph = str | Sequence[str | Link]
Cell = str | float | Badge | Link | None
"""Of a column of numbers: a number, or None or NaN for none."""


@dataclass(frozen=True, slots=True)
class PageCard:
    """A number at the top of the page."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PageColumn:
    """A column of a table."""

    heading: str
    unit: str = ""
    numeric: bool = False
    """Numbers, shown in three significant digits and sorted in full."""
    choices: bool = False
    """Whether a reader may choose one of its values, where the table can be filtered."""


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table, which is sorted by its headings."""

    caption: str
    columns: Sequence[PageColumn]
    rows: Sequence[Sequence[Cell]]
    searchable: bool = False
    """Whether it has a box for a text, and a list for each column with choices."""
    boxed: bool = False
    """Whether a long one scrolls in a box of its own; on paper it is whole."""


@dataclass(frozen=True, slots=True)
class PageFigure:
    """A figure as the bytes of an SVG or PNG file.

    It becomes an image of its own, so that the names inside one drawing cannot meet those of another.
    """

    title: str
    image: bytes
    note: str = ""
    href: str = ""
    """A file of the figure, relative to the page's folder."""
    description: str = ""
    """What it shows, for those who do not see it; its title if empty."""

    @classmethod
    def of(cls, title: str, figure: Figure, *, note: str = "", href: str = "") -> PageFigure:
        """A figure of matplotlib's in the house's style: as SVG, or as PNG where that has very many paths."""
        image = figure_bytes(figure, "svg")
        return cls(title, image if len(image) <= _LARGEST_SVG else figure_bytes(figure, "png"), note, href)

    def source(self) -> str:
        """The image as a ``data:`` address.

        Raises:
            ValueError: if it is neither SVG nor PNG.
        """
        if self.image.startswith(b"\x89PNG"):
            kind = "png"
        elif self.image.lstrip().startswith((b"<?xml", b"<svg")):
            kind = "svg+xml"
        else:
            raise ValueError(f'"{self.title}" is neither SVG nor PNG')
        return f"data:image/{kind};base64,{base64.b64encode(self.image).decode('ascii')}"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page, with an entry in its table of contents."""

    key: str
    """Letters, digits, ``.``, ``-`` and ``_``, unique on the page; its address is ``#section-KEY``."""
    title: str
    paragraphs: Sequence[Paragraph] = ()
    tables: Sequence[PageTable] = ()
    figures: Sequence[PageFigure] = ()
    figures_first: bool = False
    """Whether the figures come before the tables."""


def page(
    title: str,
    lead: str | Sequence[Paragraph],
    cards: Sequence[PageCard],
    sections: Sequence[Section],
) -> str:
    """A self-contained page, which fetches nothing.

    Args:
        title: its heading.
        lead: the text below it: one paragraph as a text, or several as a list.
        cards: its first numbers.
        sections: its parts, in their order.

    Raises:
        ValueError: if two sections have one key, a row has another length than its table, or a figure is
            neither SVG nor PNG.
    """
    twice = [key for key, count in Counter(section.key for section in sections).items() if count > 1]
    if twice:
        raise ValueError(f"sections share the keys {', '.join(twice)}")
    for table in (table for section in sections for table in section.tables):
        if any(len(row) != len(table.columns) for row in table.rows):
            raise ValueError(f'"{table.caption}" has a row that is not {len(table.columns)} cells long')
    return render(
        "sections.html.j2",
        {"kind": "sections"},
        _SCRIPTS,
        charts=False,
        package=__name__,
        styles=("sections",),
        title=title,
        lead=[paragraph for paragraph in ([lead] if isinstance(lead, str) else lead) if paragraph],
        cards=cards,
        sections=[(f"section-{section.key}", section.title) for section in sections],
        content=sections,
        pieces=_pieces,
        cell_of=_cell,
        warnings=[],
        facts=[("Made by", f"Anabranch {_core.version()}")],
    )


def save_page(
    folder: Path | str,
    title: str,
    lead: str | Sequence[Paragraph],
    cards: Sequence[PageCard],
    sections: Sequence[Section],
) -> Path:
    """Writes a page as ``report.html`` into a folder, and returns the file.

    Raises:
        ResultError: if it cannot be written.
        ValueError: as :func:`page`.
    """
    return write_whole(Path(folder) / REPORT, page(title, lead, cards, sections).encode())


def _pieces(paragraph: Paragraph) -> Sequence[str | Link]:
    return [paragraph] if isinstance(paragraph, str) else paragraph


def _cell(cell: Cell, column: PageColumn) -> dict[str, Any]:
    shown: dict[str, Any] = {"number": column.numeric, "value": None, "kind": "", "href": "", "text": ""}
    match cell:
        case Badge():
            return shown | {"kind": cell.tone, "text": cell.text}
        case Link():
            return shown | {"href": cell.href, "text": cell.text}
        case str():
            return shown | {"text": cell}
        case None:
            return shown | {"text": NOTHING if column.numeric else ""}
    finite = math.isfinite(cell)
    return shown | {"value": float(cell) if finite else None, "text": _in_full(cell)}


def _in_full(value: float) -> str:
    """A number as :func:`quantity` has it, but in full up to a thousand million: a column has one unit."""
    if 999.5 <= abs(value) < 1e9:
        return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return quantity(value)
