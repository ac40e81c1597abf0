"""The project's colours on a screen: ``looks.py`` on a light ground, lighter colours on a dark ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.report import looks
from anabranch.report.looks import PALETTE, Look

DARK_PALETTE = ("#4ba3dd", "#ff8a4c", "#2cc79a", "#e39ac5", "#f2b632", "#8ccbf5", "#f0f0f0", "#d6679c")
"""The same hues in the same order, each with a contrast of at least 4.5 to the dark ground (WCAG 1.4.3)."""

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


def css_variables() -> tuple[str, str]:
    """Declarations of ``--c0``, ``--c1``, ... on a light and on a dark ground."""
    return tuple(
        "".join(f"--c{number}:{color};" for number, color in enumerate(colors))
        for colors in (PALETTE, DARK_PALETTE)
    )  # type: ignore[return-value]
