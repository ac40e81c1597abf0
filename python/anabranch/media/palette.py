"""The project's colours, on paper and on a screen."""

from __future__ import annotations

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255")
"""Colours that people with any colour vision tell apart: seven of Okabe and Ito (2008), whose yellow is too
light for a line on paper, and the wine of Paul Tol's scheme "muted"."""

DARK_PALETTE = ("#4ba3dd", "#ff8a4c", "#2cc79a", "#e39ac5", "#f2b632", "#8ccbf5", "#f0f0f0", "#d6679c")
"""The same hues in the same order, each with a contrast of at least 4.5 to the dark ground (WCAG 1.4.3)."""

OVERLOAD = "#E8710A"
"""Of a load above the capacity, on maps and in bars."""


def css_variables() -> tuple[str, str]:
    """Declarations of ``--c0``, ``--c1``, ... on a light and on a dark ground."""
    return tuple(
        "".join(f"--c{number}:{color};" for number, color in enumerate(colors))
        for colors in (PALETTE, DARK_PALETTE)
    )  # type: ignore[return-value]
