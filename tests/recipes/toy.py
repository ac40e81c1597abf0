"""What follows a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Insertions = Mapping[str, list[tuple[str, str]]]


@dataclass(frozen=True)
class Toy:
    """Something small that follows a recipe."""

    files: Mapping[str, str] = field(default_factory=dict)
    """New files, by path."""
    insertions: Insertions = field(default_factory=dict)
    """For each file lines, each behind which text that is there."""
    tests: tuple[tuple[str, str], ...] = ()
    """Tests that then hold the toy, too: a package, and a filter of unit tests or ``--test=`` and a file."""
    run: str = ""
    """A program that runs the toy in Python. It has ``scenario``, a function of the fields that it sets."""
