"""One look for all figures and charts: colours, markers and lines by name, fonts and sizes for print."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib import font_manager
from matplotlib.figure import Figure

from anabranch.errors import ResultError
from anabranch.report.files import write_whole
from anabranch.signals import deferred

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255")
"""Colours that people with any colour vision tell apart: seven of Okabe and Ito (2008), whose yellow is too
light for a line on paper, and the wine of Paul Tol's scheme "muted"."""

DASHES = ("-", "--", ":", "-.")
"""Line styles, so that colour is never the only difference between lines that have no markers."""

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

_NO_SHAPE = "\N{REPLACEMENT CHARACTER}"

FORMATS = ("png", "pdf", "svg")
"""Forms of a figure file, which are also the endings of its name."""

_NO_DATES: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


@dataclass(frozen=True, slots=True)
class Look:
    """How one series is drawn wherever it appears.

    A hollow look is for the relative of another: the same colour and shape, but the marker is empty, the line
    dashed and the bar hatched.
    """

    color: str
    """As ``#RRGGBB``."""
    marker: str
    """Shape of the marker, in matplotlib's letters."""
    dash: str
    """Style of a line without markers."""
    hollow: bool = False

    @property
    def line(self) -> str:
        """Style of a line with markers."""
        return "--" if self.hollow else "-"


_MARKERS = ("o", "s", "^", "D", "X", "P", "*", "v")
_FULL = tuple(
    Look(color, marker, DASHES[number % len(DASHES)])
    for number, (color, marker) in enumerate(zip(PALETTE, _MARKERS, strict=True))
)
_LOOKS = _FULL + tuple(
    replace(look, hollow=True, dash=DASHES[(number + 1) % len(DASHES)]) for number, look in enumerate(_FULL)
)

_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _BLACK, _WINE = range(len(_FULL))
_HOLLOW = len(_FULL)
_BY_TRANSPORT = {
    "newreno": _BLUE,
    "linux-reno": _BLUE + _HOLLOW,
    "cubic": _RED,
    "linux-cubic": _RED + _HOLLOW,
    "dctcp": _PINK + _HOLLOW,
    "bbr": _GREEN,
    "linux-bbr": _GREEN + _HOLLOW,
    "bbr3": _BLACK + _HOLLOW,
    "sdn-paced": _BLACK,
    "sliding-window": _BLACK + _HOLLOW,
    "window-clamp": _ORANGE,
    "mprc": _PINK,
    "tcp-pr": _SKY,
    "rr-tcp": _SKY + _HOLLOW,
    "tcp-ncr": _ORANGE + _HOLLOW,
    "mptcp": _WINE,
    "mptcp-lia": _WINE,
    "mptcp-olia": _WINE + _HOLLOW,
    "mptcp-balia": _PINK + _HOLLOW,
    "mptcp-cubic": _ORANGE,
    "linux-mptcp": _ORANGE + _HOLLOW,
}
"""The look of each transport, in every figure. ``mptcp`` couples its windows by LIA (RFC 6356). There are
no more looks than 16: ``mptcp-cubic`` shares that of ``window-clamp``, ``dctcp`` that of ``mptcp-balia``,
``bbr3`` that of ``sliding-window`` and ``linux-mptcp`` that of ``tcp-ncr``, beside which they do not
stand."""


def look(name: str) -> Look:
    """The look of a transport; any other name has one that follows from its letters."""
    return _LOOKS[_BY_TRANSPORT.get(name, zlib.crc32(name.encode()) % len(_LOOKS))]


def looks(names: Sequence[str]) -> list[Look]:
    """A look for each series of a figure, all different as long as there are enough (16).

    If one of the names is a transport, transports have their own looks, and the others start from the look of
    their name and take the next free one. Otherwise looks go by position.
    """
    if not any(name in _BY_TRANSPORT for name in names):
        return [_LOOKS[number % len(_LOOKS)] for number in range(len(names))]
    return transport_looks(names)


def transport_looks(names: Sequence[str]) -> list[Look]:
    """A look for each transport, the user's own ones included: those start from the look of their name."""
    taken = {_BY_TRANSPORT[name] for name in names if name in _BY_TRANSPORT}
    found = []
    for name in names:
        number = _BY_TRANSPORT.get(name)
        if number is None:
            start = zlib.crc32(name.encode())
            slots = [(start + step) % len(_LOOKS) for step in range(len(_LOOKS))]
            number = next((slot for slot in slots if slot not in taken), slots[0])
            taken.add(number)
        found.append(_LOOKS[number])
    return found


def is_transport(name: str) -> bool:
    """Whether a look is reserved for this name."""
    return name in _BY_TRANSPORT


@contextmanager
def styled() -> Iterator[None]:
    """Inside, matplotlib draws in our style, whatever the user's own settings are.

    Signals wait until the end: what they raise would get lost in its callbacks, or be printed by them.
    """
    with deferred(), matplotlib.style.context(["default", STYLE]):
        yield


def save_figure(figure: Figure, file: Path) -> None:
    """Writes a figure as PNG, SVG or PDF, by the name's ending; the same figure gives the same bytes.

    Raises:
        ResultError: if the ending is another, or the file cannot be written.
    """
    form = file.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        endings = ", ".join(f".{ending}" for ending in FORMATS)
        raise ResultError(f"{file}: no form of figure has this ending; choose one of {endings}")
    write_whole(file, figure_bytes(figure, form))


def figure_bytes(figure: Figure, form: str) -> bytes:
    """A figure in one of :data:`FORMATS`, as the bytes of its file; the same figure gives the same bytes."""
    picture = BytesIO()
    with styled():
        figure.savefig(picture, format=form, metadata=_NO_DATES[form])
    return picture.getvalue()


def check_forms(forms: Sequence[str]) -> None:
    """Makes sure that these forms of figures exist.

    Raises:
        ResultError: if one does not.
    """
    for form in forms:
        if form not in FORMATS:
            raise ResultError(f"figures: no form {form!r}; choose from {', '.join(FORMATS)}")


def plain(text: str) -> str:
    """A user's text as matplotlib shows it unchanged: no formulas, no line breaks, no hidden labels.

    Letters that the figures' font lacks, such as emoji, have the replacement character in their place.
    """
    shapes = _shapes()
    shown = "".join(letter if ord(letter) in shapes else _NO_SHAPE for letter in printable(text))
    text = shown.replace("$", r"\$")
    # Matplotlib leaves labels that begin with an underscore out of the legend.
    return f"\N{ZERO WIDTH SPACE}{text}" if text.startswith("_") else text


@cache
def _shapes() -> frozenset[int]:
    """The letters that the font of the figures can draw; it comes with matplotlib."""
    font = font_manager.get_font(font_manager.findfont(STYLE["font.family"], fallback_to_default=False))
    return frozenset(font.get_charmap())


def printable(text: str) -> str:
    """Text on one line, without characters that have no shape and that XML forbids."""
    spaced = " ".join(text.split())
    return "".join(letter if letter.isprintable() else _NO_SHAPE for letter in spaced)


def wants_logarithm(levels: Sequence[float]) -> bool:
    """Whether numbers on an axis are further apart by factor than by difference, over two decades or more.

    ``0.001, 0.01, 0.1`` are; ``1, 50, 100`` are not.
    """
    ordered = sorted(levels)
    if len(ordered) < 3 or ordered[0] <= 0 or ordered[-1] < 100 * ordered[0]:
        return False
    logarithms = [math.log(level) for level in ordered]
    return _unevenness(logarithms) < _unevenness(ordered)


def _unevenness(ordered: Sequence[float]) -> float:
    """Largest step as a share of the whole way."""
    steps = [after - before for before, after in itertools.pairwise(ordered)]
    return max(steps) / (ordered[-1] - ordered[0])
