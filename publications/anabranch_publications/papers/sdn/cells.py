"""Cells of the studies of Gholizadeh 2019."""

from __future__ import annotations

import polars as pl

from anabranch.study.result import StudyResult


def cell(result: StudyResult, metric: str, *levels: float | str) -> float:
    """A metric of the cell with these levels.

    Raises:
        LookupError: if there is no such cell, or nothing was measured in it.
    """
    rows = result.cells
    for factor, level in zip(result.factors, levels, strict=True):
        rows = rows.filter(pl.col(factor.name) == level)
    if rows.height != 1 or rows[metric][0] is None:
        raise LookupError(f"no {metric} at {levels} in {result.title!r}")
    return float(rows[metric][0])


def column(result: StudyResult, metric: str, second: float | str) -> list[tuple[float, float]]:
    """First factor and metric, for one level of the second factor."""
    first, other = result.factors
    rows = result.cells.filter(pl.col(other.name) == second).sort(first.name)
    return [(float(x), float(y)) for x, y in rows.select(first.name, metric).iter_rows()]
