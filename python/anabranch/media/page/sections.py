"""Pages of sections: cards, tables to sort and filter, figures; for what is neither a run nor a study."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from anabranch import _core
from anabranch.media.page import REPORT, render
from anabranch.media.pieces import Article, Figure, Link, Paragraph
from anabranch.results.folders import write_whole

_SCRIPTS = ("core", "table", "sections")


def page(article: Article) -> str:
    """An article as a self-contained page, which fetches nothing.

    Raises:
        ValueError: if a figure is neither SVG nor PNG.
    """
    return render(
        "sections.html.j2",
        {"kind": "sections"},
        _SCRIPTS,
        charts=False,
        title=article.title,
        lead=article.lead,
        cards=article.cards,
        sections=[(f"section-{section.key}", section.title) for section in article.sections],
        content=article.sections,
        pieces=_pieces,
        source_of=_source,
        warnings=[],
        facts=[("Made by", f"Anabranch {_core.version()}")],
    )


def save_page(folder: Path | str, article: Article) -> Path:
    """Writes an article as ``report.html`` into a folder, and returns the file.

    Raises:
        ResultError: if it cannot be written.
        ValueError: as :func:`page`.
    """
    return write_whole(Path(folder) / REPORT, page(article).encode())


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
