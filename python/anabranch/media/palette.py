"""The project's colours and looks, on paper and on a screen."""

from __future__ import annotations

from dataclasses import dataclass

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255")
"""Colours that people with any colour vision tell apart: seven of Okabe and Ito (2008), whose yellow is too
light for a line on paper, and the wine of Paul Tol's scheme "muted"."""

DARK_PALETTE = ("#4ba3dd", "#ff8a4c", "#2cc79a", "#e39ac5", "#f2b632", "#8ccbf5", "#f0f0f0", "#d6679c")
"""The same hues in the same order, each with a contrast of at least 4.5 to the dark ground (WCAG 1.4.3)."""

RAMP = ("#b4c8dc", "#6f9fcb", "#2f6fae", "#123a6b", "#081a36")
"""A link on a map, from idle to the greatest value: pale to nearly black blue, which no colour vision takes
for the orange of an overload."""
DARK_RAMP = ("#42566a", "#3f7ab5", "#66a8e6", "#addafb", "#f0f8ff")
"""The same on a dark ground, where more is lighter."""
ROUTE, DARK_ROUTE = "#C2185B", "#ff7ab8"
"""Of the outline of links that a route uses, on a light and on a dark ground."""
OVERLOAD, DARK_OVERLOAD = "#E8710A", "#ff9a3c"
"""Of a load above the capacity, on maps and in bars, on a light and on a dark ground."""

DASHES = ("-", "--", ":", "-.")
"""Line styles, so that colour is never the only difference between lines that have no markers."""
PATTERNS = (*DASHES, "-..", "-,")
"""Lines of one colour are told apart by these: matplotlib's four, dash and two dots, and short dashes."""


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
    """Style of a line without markers, one of :data:`PATTERNS`; a space for marks that no line joins."""
    hollow: bool = False

    @property
    def line(self) -> str:
        """Style of a line with markers."""
        return "--" if self.hollow else "-"


TOGETHER = Look("#9a9a9a", "", "-")
"""Of the sum of all."""


LOOKS = len(PALETTE) * len(PATTERNS)
"""Colours with dashes that differ: 48."""


def look_at(number: int) -> Look:
    """The look of a line that belongs to no transport, by its place: :data:`LOOKS` of them are different."""
    across, again = number % len(PALETTE), number // len(PALETTE)
    return Look(PALETTE[across], ".", PATTERNS[(across + again) % len(PATTERNS)])


def css_variables() -> tuple[str, str]:
    """Declarations for a light and for a dark ground.

    Of lines they are ``--c0``, ``--c1``, ..., of links on maps ``--ramp0``, ``--ramp1``, ... and
    ``--overload``, of routes ``--route``.
    """
    grounds = ((PALETTE, RAMP, OVERLOAD, ROUTE), (DARK_PALETTE, DARK_RAMP, DARK_OVERLOAD, DARK_ROUTE))
    light, dark = (
        "".join(
            [
                *(f"--c{number}:{color};" for number, color in enumerate(palette)),
                *(f"--ramp{number}:{color};" for number, color in enumerate(ramp)),
                f"--overload:{overload};--route:{route};",
            ]
        )
        for palette, ramp, overload, route in grounds
    )
    return light, dark
