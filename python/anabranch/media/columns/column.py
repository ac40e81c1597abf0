"""The declaration of a column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Better = Literal["more", "less", ""]

UNITS = {
    "mbps": "Mbps", "ms": "ms", "us": "us", "s": "s", "bytes": "bytes", "packets": "packets", "percent": "%",
    "ratio": "%", "deg": "degrees", "pairs": "pairs", "points": "points", "years": "years",
}  # fmt: skip
"""The unit for people, by the last word of a column's name."""
SOFT_HYPHEN = "\N{SOFT HYPHEN}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; its values are of one kind and have one unit."""

    name: str
    """In tables and in the header of a CSV file; it ends with the unit of the values."""
    heading: str = ""
    """Above the values, without a unit; the words of the name if left out."""
    unit: str = ""
    """Of the values as people see them; by the last word of the name if left out. Shares are in %."""
    format: str = ""
    """A format of Python's for values whose unit does not follow from their magnitude: ``,d`` of counts."""
    digits: int = 0
    """In place of a format: so many significant digits, and never an exponent."""
    priority: int = 0
    """A terminal shows the columns above 0; where it is narrow the lowest go first, and 9 never."""
    better: Better = ""
    """Whether more of it is better, or less; empty where neither is."""
    bound: str = ""
    """The column that has what an unknown value exceeds."""
    limit: float | None = None
    """A value above which a row is marked as an overload."""
    joins: tuple[str, ...] = ()
    """Columns in whose place a terminal has this one; files have only them."""
    folds: bool = False
    """Whether its texts may be folded before another column is left out."""
    factor: float = 1.0
    """What a value is multiplied by, to be in the unit: 100 for a share; ``format`` is for the share."""

    @property
    def file_factor(self) -> float:
        """The factor by which a value gets the unit that ends the name: 1 for a ``_ratio``."""
        return self.factor if self.name.endswith(("_percent", "_points")) else 1.0

    @property
    def label(self) -> str:
        """The heading without marks for its breaks."""
        return self.heading.replace(SOFT_HYPHEN, "")

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers, and not texts."""
        return bool(self.unit or self.format or self.digits)

    def titled(self, unit: str | None = None) -> str:
        """The heading with a unit, as a label of an axis has it: ``goodput in Mbps``."""
        shown = self.unit if unit is None else unit
        return f"{self.label} in {shown}" if shown else self.label


def completed(given: Column) -> Column:
    """The column with what its name says of its heading, its unit and its factor."""
    stem, _, last = given.name.rpartition("_")
    unit = given.unit or (UNITS.get(last, "") if stem else "")
    words = (stem if stem and last in UNITS else given.name).replace("_", " ")
    is_share = unit == "%" and last != "percent"
    return replace(
        given, heading=given.heading or words, unit=unit, factor=100.0 if is_share else given.factor
    )
