"""Systems beside the first one, replication by replication.

All carry the same draws, so that what the draws do to all of them alike drops out of a ratio: its interval is
that of a paired comparison, mostly much narrower than those of both values.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from anabranch.study.student import half_width
from anabranch_publications.comparison.runs import Comparison
from anabranch_publications.comparison.subjects import Subject
from anabranch_publications.comparison.systems import System

RATIOS = (
    "goodput_mbps",
    "flow_goodput_p5_mbps",
    "completion_median_ms",
    "completion_p95_ms",
    "queue_mean_ms",
)
"""Measures whose ratios are shown: above zero for every system."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A system's value over that of the first system."""

    mean: float
    """Over replications."""
    half: float | None
    """Half the width of the mean's confidence interval; None for fewer than three replications."""

    @property
    def tells(self) -> bool:
        """Whether the interval tells the two systems apart."""
        return self.half is not None and abs(self.mean - 1) > self.half


def ratio(
    comparison: Comparison, subject: Subject, system: System, name: str, over: System | None = None
) -> Ratio | None:
    """A measure over that of another system, by default the comparison's first one, pair by pair.

    None where one of them has no value, or the other one has zero.
    """
    other = over or comparison.systems[0]
    values, first = (_values(comparison, subject, of, name) for of in (system, other))
    if None in values or None in first or any(value == 0 for value in first):
        return None
    ratios = [mine / base for mine, base in zip(values, first, strict=True) if mine is not None and base]
    return Ratio(sum(ratios) / len(ratios), half_width(ratios, comparison.result.confidence))


def _values(comparison: Comparison, subject: Subject, system: System, name: str) -> list[float | None]:
    rows = comparison.result.runs.filter(
        (pl.col("network") == subject.name) & (pl.col("system") == system.name)
    ).sort("replication")
    values: list[float | None] = rows[name].to_list()
    return values
