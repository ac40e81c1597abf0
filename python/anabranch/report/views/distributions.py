"""Distributions over flows: completion times and reordering, a curve for each transport."""

from __future__ import annotations

from typing import Literal

import polars as pl

from anabranch.errors import ResultError
from anabranch.media.charts import Curve, DistributionChart, ValueAxis, numbers, steps
from anabranch.media.columns import column
from anabranch.report.views.choice import stopped
from anabranch.report.views.over_time import looks_of
from anabranch.results.censored import COMPLETION, Times
from anabranch.results.result import Result

Reordering = Literal["ratio", "extent"]

_COMPLETION = ValueAxis(column(COMPLETION), "completion time")
_REORDERING = {
    "ratio": ValueAxis(column("reordering_ratio"), "reordered packets of a flow"),
    "extent": ValueAxis(column("reordering_extent_max"), "greatest reordering extent of a flow"),
}


def completion_distribution(
    result: Result, flows: pl.DataFrame, *, is_log: bool | None = None
) -> DistributionChart:
    """The distribution of completion times of some flows.

    Shares are of the flows that can complete; the label of a curve says how many of how many have.
    """
    curves, notes, left = [], [], 0
    for name, look in looks_of(result).items():
        rows = flows.filter(pl.col("transport") == name)
        values = numbers(rows[COMPLETION].drop_nulls())
        count = Times.of(rows).count
        left += count - values.size
        if values.size:
            share = f"{values.size}" if values.size == count else f"{values.size} of {count}"
            curves.append(Curve(f"{name} ({share} done)", look, *steps(values, count), values))
        elif count:
            notes.append(f"{name}: 0 of {count} done.")
    return _distribution(result, "completion_times", _COMPLETION, curves, notes, is_log, left)


def reordering_distribution(
    result: Result, flows: pl.DataFrame, measure: Reordering = "ratio"
) -> DistributionChart:
    """The distribution of reordering (RFC 4737) over the flows that received packets.

    Raises:
        ResultError: if there is no such measure.
    """
    if measure not in _REORDERING:
        raise ResultError(
            f"measure: no measure {measure!r} of reordering; choose from {', '.join(_REORDERING)}"
        )
    axis, curves = _REORDERING[measure], []
    # An earlier version has fewer columns.
    is_there = axis.name in flows.columns
    for name, look in looks_of(result).items() if is_there else ():
        ratios = flows.filter(pl.col("transport") == name)[axis.name].drop_nulls()
        if ratios.len():
            values = numbers(ratios) * axis.column.factor
            curves.append(Curve(f"{name} ({values.size})", look, *steps(values), values))
    return _distribution(result, "reordering", axis, curves, [], False, 0)


def _distribution(
    result: Result,
    name: str,
    axis: ValueAxis,
    curves: list[Curve],
    notes: list[str],
    is_log: bool | None,
    left: int,
) -> DistributionChart:
    title = str(result.summary.get("title") or "")
    all_notes = (*notes, *stopped(result))
    return DistributionChart(name, title, axis, "flows", tuple(curves), is_log, all_notes, left)
