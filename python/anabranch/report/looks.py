"""One look for each name, in figures, spreadsheets and pages alike: colours, markers and lines.

Nothing here imports matplotlib, which a page or a spreadsheet need not wait for; ``style.py`` does.
"""

from __future__ import annotations

import itertools
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from anabranch.errors import ResultError
from anabranch.media.palette import DASHES, PALETTE, Look

FORMATS = ("png", "pdf", "svg")
"""Forms of a figure file, which are also the endings of its name."""
TABLE_FORMATS = ("tex", "md")
"""Forms of a table for a paper, which are also the endings of its file."""

WIDTHS: Mapping[str, float] = {
    "single": 3.4,
    "double": 7.0,
    "ieee": 3.5,
    "ieee-wide": 7.16,
    "acm": 3.33,
    "acm-wide": 7.0,
    "elsevier": 3.54,
    "elsevier-wide": 7.48,
    "lncs": 4.8,
}
"""Widths of figures in inches.

The columns of publishers: IEEE 88.9 and 182 mm (its guide for authors), ACM 241 and 506 pt (the class acmart,
``sigconf``), Elsevier 90 and 190 mm (its sizes of artwork), Springer's LNCS 122 mm (the class llncs).
"""
NARROWEST, WIDEST = 2.0, 20.0
"""Inches that a figure may be wide."""
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
TRANSPORT_LOOKS = {
    "newreno": _BLUE,
    "linux-reno": _BLUE + _HOLLOW,
    "ns2-newreno": _WINE + _HOLLOW,
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
    "dctcp-fabric": _BLACK + _HOLLOW,
    "mprc-fabric": _BLACK,
    "uet": _SKY,
    "uet-reps": _SKY + _HOLLOW,
    "mrc": _ORANGE,
}
"""The look of each transport, in every figure. ``mptcp`` couples its windows by LIA (RFC 6356). There are
no more looks than 16: ``mptcp-cubic`` shares that of ``window-clamp``, ``dctcp`` that of ``mptcp-balia``,
``bbr3`` that of ``sliding-window``, ``linux-mptcp`` that of ``tcp-ncr`` and ``ns2-newreno`` that of
``mptcp-olia``, beside which they do not stand; those of fabrics share looks of ``sdn-paced``, ``tcp-pr`` and
``window-clamp``."""


def look(name: str) -> Look:
    """The look of a transport; any other name has one that follows from its letters."""
    return _LOOKS[TRANSPORT_LOOKS.get(name, zlib.crc32(name.encode()) % len(_FULL))]


def every_look() -> Sequence[Look]:
    """All looks, by the numbers of :data:`TRANSPORT_LOOKS`."""
    return _LOOKS


def looks(names: Sequence[str]) -> list[Look]:
    """A look for each series of a figure, all different as long as there are enough (16).

    If one of the names is a transport, transports have their own looks, and the others start from the look of
    their name and take the next free one. Otherwise looks go by position.
    """
    if not any(name in TRANSPORT_LOOKS for name in names):
        return [_LOOKS[number % len(_LOOKS)] for number in range(len(names))]
    return transport_looks(names)


def transport_looks(names: Sequence[str]) -> list[Look]:
    """A look for each transport, the user's own ones included: those start from the look of their name.

    They take a colour that no other has as long as there is one, filled: hollow is for relatives of another.
    """
    taken = {TRANSPORT_LOOKS[name] for name in names if name in TRANSPORT_LOOKS}
    every_look = []
    for name in names:
        number = TRANSPORT_LOOKS.get(name)
        if number is None:
            number = _free(zlib.crc32(name.encode()), taken)
            taken.add(number)
        every_look.append(_LOOKS[number])
    return every_look


def _free(start: int, taken: set[int]) -> int:
    """The first look from a place on whose colour is free, else that is free itself, else the one there."""
    colors = {number % len(_FULL) for number in taken}
    filled = [(start + step) % len(_FULL) for step in range(len(_FULL))]
    every = [(start + step) % len(_LOOKS) for step in range(len(_LOOKS))]
    free = (slot for slot in filled if slot not in colors)
    left = (slot for slot in (*filled, *every) if slot not in taken)
    return next(free, next(left, every[0]))


def is_transport(name: str) -> bool:
    """Whether a look is reserved for this name."""
    return name in TRANSPORT_LOOKS


def file_stem(name: str) -> str:
    """The name of a metric's file: a user's column names the metric, a file what every system accepts."""
    return re.sub(r"[^\w.-]", "-", name).lstrip(".") or "metric"


def check_forms(forms: Sequence[str]) -> None:
    """Makes sure that these forms of figures exist.

    Raises:
        ResultError: if one does not.
    """
    for form in forms:
        if form not in FORMATS:
            raise ResultError(f"figures: no form {form!r}; choose from {', '.join(FORMATS)}")


def check_table_forms(forms: Sequence[str]) -> None:
    """Makes sure that these forms of tables exist.

    Raises:
        ResultError: if one does not.
    """
    for form in forms:
        if form not in TABLE_FORMATS:
            raise ResultError(f"table: no form {form!r}; choose from {', '.join(TABLE_FORMATS)}")


def figure_inches(size: str) -> float:
    """The width of figures by the name of a size, or by a number of inches.

    Raises:
        ResultError: if it is neither.
    """
    if size in WIDTHS:
        return WIDTHS[size]
    try:
        inches = float(size.removesuffix("in").strip())
    except ValueError:
        inches = math.nan
    if NARROWEST <= inches <= WIDEST:
        return inches
    raise ResultError(
        f"size: no size {size!r}; choose from {', '.join(WIDTHS)}, or give inches from {NARROWEST:g} to "
        f"{WIDEST:g}"
    )


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
