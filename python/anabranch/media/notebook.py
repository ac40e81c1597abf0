"""Pieces in a notebook: tables and lines as on a terminal, figures below them."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence

from rich.console import Console

from anabranch.media.pieces import Figure, Piece
from anabranch.media.terminal import show

_WIDTH = 110
_TEXT = (
    "<pre style=\"font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; "
    'white-space: pre; line-height: 1.25; overflow-x: auto">{code}</pre>'
)
"""Named letters of one width: where a page has another family for text, columns would be out of line."""


def code_html(text: str) -> str:
    """A text whose columns and line breaks stay, such as a scenario file."""
    return _TEXT.format(code=html.escape(text))


def pieces_html(pieces: Sequence[Piece], figures: Sequence[Figure] = (), warnings: Sequence[str] = ()) -> str:
    """Tables and lines, then figures; above them what misleads whoever does not know it.

    Args:
        pieces: the tables and lines.
        figures: drawings as SVG.
        warnings: a line for each.
    """
    console = Console(record=True, file=io.StringIO(), width=_WIDTH, force_jupyter=False)
    show(console, pieces)
    printed = console.export_html(inline_styles=True, code_format=_TEXT)
    return "".join([_warned(warnings), printed, *map(_drawn, figures)])


def _warned(warnings: Sequence[str]) -> str:
    lines = "".join(f"<li>{html.escape(warning)}</li>" for warning in warnings)
    return (
        f'<p style="margin-bottom: 0"><b>Warnings</b></p><ul style="margin-top: 0">{lines}</ul>'
        if lines
        else ""
    )


def _drawn(figure: Figure) -> str:
    drawing = figure.image.decode()
    # Without the XML declaration, which has no place in the middle of a page.
    drawing = drawing[drawing.index("<svg") :]
    return drawing + (f'<p style="font-size: 0.85em">{html.escape(figure.note)}</p>' if figure.note else "")
