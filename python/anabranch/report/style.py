"""How matplotlib draws every figure: fonts and sizes for print, and the files that figures become."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib import font_manager
from matplotlib.figure import Figure

from anabranch.errors import ResultError
from anabranch.media.pieces import Figure as Picture
from anabranch.media.texts import NO_SHAPE, printable
from anabranch.process.signals import deferred
from anabranch.report.looks import FORMATS
from anabranch.results.folders import write_whole

STYLE: Any = {
    "figure.dpi": 150,
    "savefig.dpi": 200,
    # Comes with matplotlib, so that a figure looks the same on every machine.
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    # No factor such as 1e-5 beside an axis.
    "axes.formatter.limits": (-9, 15),
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2,
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    # Letters stay letters in a PDF (many publishers refuse Type 3 fonts) and become outlines in an SVG.
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    # The same figure has the same bytes.
    "svg.hashsalt": "anabranch",
}

_LARGEST_SVG = 400_000
"""Bytes of a drawing beyond which its picture in points is shown instead."""
_NO_DATES: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


@contextmanager
def styled() -> Iterator[None]:
    """Inside, matplotlib draws in our style, whatever the user's own settings are.

    Signals wait until the end: what they raise would get lost in its callbacks, or be printed by them.
    """
    with deferred(), matplotlib.style.context(["default", STYLE]):
        yield


def save_figure(figure: Figure, file: Path) -> Path:
    """Writes a figure as PNG, SVG or PDF, by the name's ending; the same figure gives the same bytes.

    Returns:
        The file.

    Raises:
        ResultError: if the ending is another, or the file cannot be written.
    """
    form = file.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        endings = ", ".join(f".{ending}" for ending in FORMATS)
        raise ResultError(f"{file}: no form of figure has this ending; choose one of {endings}")
    return write_whole(file, figure_bytes(figure, form))


def figure_bytes(figure: Figure, form: str) -> bytes:
    """A figure in one of :data:`FORMATS`, as the bytes of its file; the same figure gives the same bytes."""
    picture = BytesIO()
    with styled():
        figure.savefig(picture, format=form, metadata=_NO_DATES[form])
    return picture.getvalue()


def picture(title: str, figure: Figure, *, note: str = "", href: str = "") -> Picture:
    """A figure as a piece of a page: as SVG, or as PNG where that has very many paths."""
    image = figure_bytes(figure, "svg")
    return Picture(title, image if len(image) <= _LARGEST_SVG else figure_bytes(figure, "png"), note, href)


def plain(text: str) -> str:
    """A user's text as matplotlib shows it unchanged: no formulas, no line breaks, no hidden labels.

    Letters that the figures' font lacks, such as emoji, have the replacement character in their place.
    """
    shapes = _shapes()
    shown = "".join(letter if ord(letter) in shapes else NO_SHAPE for letter in printable(text))
    text = shown.replace("$", r"\$")
    # Matplotlib leaves labels that begin with an underscore out of the legend.
    return f"\N{ZERO WIDTH SPACE}{text}" if text.startswith("_") else text


@cache
def _shapes() -> frozenset[int]:
    """The letters that the font of the figures can draw; it comes with matplotlib."""
    font = font_manager.get_font(font_manager.findfont(STYLE["font.family"], fallback_to_default=False))
    return frozenset(font.get_charmap())
