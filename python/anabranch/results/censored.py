"""Statistics of times of which some are known only as more than a bound: those of unfinished flows.

A flow that has not completed when the run ends has a completion time, which is more than the time that it
has had: it is censored on the right (Klein and Moeschberger, Survival Analysis, 2003, section 3.2). To leave
it out makes statistics of the others look like those of all, and too small: the longest are left out.

The rule is one for every statistic. It is computed twice, with each unfinished flow at its bound, and with
each of them without an end. Where both agree, no outcome of the unfinished flows could change it, and it is
that number. Otherwise it is no number, and the first of both is what it is more than. That assumes nothing.
The estimate of Kaplan and Meier (JASA 53, 1958) assumes that flows are cut off independently of how long
they take, which is not so under overload: there flows that begin late take longer, and are cut off earlier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anabranch import _core

COMPLETION = "completion_s"
MORE_THAN = "completion_more_than_s"
"""Columns of the table ``flows``: one of both is null, and both are for a flow that cannot complete."""

CENSORED = (COMPLETION, "handshake_s", "setup_s", "fin_s")
"""Columns of the table ``flows`` with times that a flow may not have come to when the run ends."""

_TOLD_FROM = 0.01
"""The share of unfinished flows from which on it is told."""
SHOWN = ("mean", "median", "p95", "p99")
"""Statistics of completion times in a summary."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of times; one of both is None, or both where there are no times."""

    value: float | None
    more_than: float | None = None
    """What it is more than, or equal to, where unfinished flows leave that open."""

    def scaled(self, factor: float) -> Estimate:
        """The estimate in another unit."""
        return Estimate(*(None if each is None else each * factor for each in (self.value, self.more_than)))

    def text(self, write: Callable[[float], str], nothing: str) -> str:
        """The estimate for people, such as ``3.2 s`` or ``> 3.2 s``."""
        if self.more_than is not None:
            return f"> {write(self.more_than)}"
        return nothing if self.value is None else write(self.value)


@dataclass(frozen=True, slots=True)
class Times:
    """Completion times of the flows that can complete, in the order of the flows."""

    least: NDArray[np.float64]
    """In seconds: the time of each that is done, and what that of each other one is more than."""
    is_done: NDArray[np.bool_]

    @classmethod
    def of(cls, flows: pl.DataFrame) -> Times:
        """The completion times of a table ``flows``.

        A table of an earlier version does not say which flows can complete: where some have, all others count
        as unfinished since whenever.
        """
        times = flows[COMPLETION].cast(pl.Float64).fill_null(math.nan).to_numpy()
        if MORE_THAN not in flows.columns:
            nothing = math.nan if np.isnan(times).all() else 0.0
            return cls.of_columns(times, np.full(len(times), nothing))
        return cls.of_columns(times, flows[MORE_THAN].cast(pl.Float64).fill_null(math.nan).to_numpy())

    @classmethod
    def of_columns(cls, times: NDArray[np.float64], more_than: NDArray[np.float64]) -> Times:
        """The completion times of the two columns, in which NaN stands for null."""
        done = ~np.isnan(times)
        least = np.where(done, times, more_than)
        has_bound = ~np.isnan(least)
        return cls(least[has_bound], done[has_bound])

    @property
    def count(self) -> int:
        """Of all flows."""
        return len(self.least)

    @property
    def done(self) -> int:
        """How many flows are done."""
        return int(self.is_done.sum())

    def statistic(self, name: str) -> Estimate:
        """A statistic by its name, over all of them; ``count`` is of those that are done."""
        if name == "count":
            return Estimate(float(self.done))
        values: list[float] = self.least.tolist()
        least = statistic(name, values)
        if self.done == self.count:
            return Estimate(least)
        if name == "jain":
            return Estimate(None)
        most = statistic(name, np.where(self.is_done, self.least, math.inf).tolist())
        return Estimate(least) if least == most else Estimate(None, least)

    def share_done(self) -> str:
        """How many of how many, such as ``1 of 40``."""
        return f"{self.done:,} of {self.count:,}"


def statistic(name: str, values: list[float]) -> float | None:
    """A statistic of numbers; None where there are none. Sums are exact, so that no order matters."""
    if name == "count":
        return float(len(values))
    if not values:
        return None
    return _STATISTICS[name](values) if name in _STATISTICS else percentile(values, int(name[1:]))


def percentile(values: list[float], percent: float) -> float:
    """The percentile, linear between the two nearest ranks (type 7 of Hyndman and Fan 1996)."""
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = math.floor(position)
    share = position - below
    # Without an end, a share of nothing is no number.
    if share == 0:
        return ordered[below]
    above = ordered[below + 1]
    return above if math.isinf(above) else ordered[below] + share * (above - ordered[below])


jain = _core.jain_index
"""Jain's fairness index; None where all values are zero."""

_STATISTICS: Mapping[str, Callable[[list[float]], float | None]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": lambda values: percentile(values, 50),
    "min": min,
    "max": max,
    "sum": math.fsum,
    "jain": jain,
    "first": lambda values: values[0],
}
STATISTICS = (*_STATISTICS, "count")
"""Statistics beside the percentiles ``p1`` to ``p99``."""


def completion_summary(flows: pl.DataFrame) -> dict[str, Any]:
    """The completion of flows for a summary: how many of how many, and statistics over all of them.

    A statistic has ``value``, or null and ``more_than``, so that no program takes the bound for the number.
    """
    times = Times.of(flows)
    statistics = {name: times.statistic(name) for name in SHOWN}
    return {
        "flows": times.count,
        "done": times.done,
        "unfinished": times.count - times.done,
        **{
            f"{name}_s": {"value": each.value, "more_than": each.more_than}
            for name, each in statistics.items()
        },
    }


_BOUNDS = "means are bounds then, and so are percentiles that they could change"


def unfinished_note(done: int, unfinished: int, until: str | None = None) -> str | None:
    """A warning where more than 1 % of the flows that can complete have not; None otherwise.

    Args:
        done: how many have.
        unfinished: how many have not.
        until: ``run.until`` of the run; None where it is not known.
    """
    count = done + unfinished
    if not _is_told(unfinished, count):
        return None
    until_done = ', with run.until = "done",' if until == "duration" else ""
    return (
        f"completion times: {unfinished:,} of {count:,} unfinished at the end of the run, and known only as "
        f"more than what they have had: {_BOUNDS}; a longer run.duration{until_done} lets them end"
    )


def without_note(metric: str, left: int, flows: int) -> str | None:
    """A warning where more than 1 % of a metric's flows have not come so far; None otherwise."""
    if not _is_told(left, flows):
        return None
    return (
        f"{metric}: {left:,} of {flows:,} flows have not come so far at the end of the run, and their time "
        f"is known only as more than what they have had: {_BOUNDS}"
    )


def late_note(late: int, asked: int, end: str = "the end") -> str:
    """A note on flows that begin when a run is over; ``end`` says when that is."""
    return (
        f"{late:,} of {asked:,} flows {'begins' if late == 1 else 'begin'} after {end}, and nothing of them "
        "is in the results; give a longer run.duration, or an earlier start"
    )


def _is_told(unfinished: int, count: int) -> bool:
    return unfinished > _TOLD_FROM * count
