"""Pages of sections: cards, tables to sort and filter, figures; for what is neither a run nor a study."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.columns import Column
from anabranch.folders import write_whole
from anabranch.media.page import REPORT, render
from anabranch.media.pieces import Badge, Cell, Document, Figure, Link, Paragraph, Worded
from anabranch.units import NOTHING, quantity

_SCRIPTS = ("core", "table", "sections")


def page(document: Document) -> str:
    """A document as a self-contained page, which fetches nothing.

    Raises:
        ValueError: if a figure is neither SVG nor PNG.
    """
    return render(
        "sections.html.j2",
        {"kind": "sections"},
        _SCRIPTS,
        charts=False,
        title=document.title,
        lead=document.lead,
        cards=document.cards,
        sections=[(f"section-{section.key}", section.title) for section in document.sections],
        content=document.sections,
        pieces=_pieces,
        source_of=_source,
        cell_of=_cell,
        warnings=[],
        facts=[("Made by", f"Anabranch {_core.version()}")],
    )


def save_page(folder: Path | str, document: Document) -> Path:
    """Writes a document as ``report.html`` into a folder, and returns the file.

    Raises:
        ResultError: if it cannot be written.
        ValueError: as :func:`page`.
    """
    return write_whole(Path(folder) / REPORT, page(document).encode())


def _pieces(paragraph: Paragraph) -> Sequence[str | Link]:
    return [paragraph] if isinstance(paragraph, str) else paragraph


def _source(figure: Figure) -> str:
    """The image as a ``data:`` address.

    Raises:
        ValueError: if it is neither SVG nor PNG.
    """
    if figure.image.startswith(b"\x89PNG"):
        kind = "png"
    elif figure.image.lstrip().startswith((b"<?xml", b"<svg")):
        kind = "svg+xml"
    else:
        raise ValueError(f'"{figure.title}" is neither SVG nor PNG')
    return f"data:image/{kind};base64,{base64.b64encode(figure.image).decode('ascii')}"


def _cell(cell: Cell, column: Column) -> dict[str, Any]:
    shown: dict[str, Any] = {"number": column.is_number, "value": None, "kind": "", "href": "", "text": ""}
    match cell:
        case Badge():
            return shown | {"kind": cell.tone, "text": cell.text}
        case Link():
            return shown | {"href": cell.href, "text": cell.text}
        case str():
            return shown | {"text": cell}
        case Worded():
            value = None if cell.value is None else cell.value * column.factor
            return shown | {"text": cell.text, "value": value}
        case None:
            return shown | {"text": NOTHING if column.is_number else ""}
    value = cell * column.factor
    return shown | {"value": float(value) if math.isfinite(value) else None, "text": _in_full(value)}


def _in_full(value: float) -> str:
    """A number as :func:`quantity` has it, but in full up to a thousand million: a column has one unit."""
    if 999.5 <= abs(value) < 1e9:
        return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return quantity(value)
