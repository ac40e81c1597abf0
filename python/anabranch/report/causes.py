"""Why packets were dropped: the columns of the core, with names for people."""

from __future__ import annotations

import polars as pl

from anabranch import _core

CAUSES = _core.drop_causes()
"""Column of the table ``links`` and name of each cause, in the order of the table."""

# The first ones can happen on any link; the others belong to a queue discipline.
_EVERYWHERE = 3


def causes_of(links: pl.DataFrame) -> list[tuple[str, str]]:
    """The causes that a page tells of: those of any link, and others that dropped something."""
    known = [(column, label) for column, label in CAUSES if column in links.columns]
    return [
        (column, label)
        for number, (column, label) in enumerate(known)
        if number < _EVERYWHERE or bool((links[column] > 0).any())
    ]
