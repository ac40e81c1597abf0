"""The looks of ``looks.py`` as the script of a page takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.media.palette import PALETTE
from anabranch.report import looks
from anabranch.report.looks import Look

_DASHES = {"-": [], "--": [7, 4], ":": [2, 3], "-.": [8, 3, 2, 3]}
"""Lengths in pixels."""


def screen_look(found: Look) -> dict[str, Any]:
    """A look as the page takes it: the number of the colour, the marker, dashes, whether hollow."""
    return {
        "color": PALETTE.index(found.color),
        "marker": found.marker,
        "dash": _DASHES[found.line if found.hollow else "-"],
        "hollow": found.hollow,
    }


def transport_looks(names: Sequence[str]) -> list[dict[str, Any]]:
    """Name and look of each transport, the same as in every figure of the run."""
    found = looks.transport_looks(names)
    return [{"name": name, **screen_look(look)} for name, look in zip(names, found, strict=True)]
