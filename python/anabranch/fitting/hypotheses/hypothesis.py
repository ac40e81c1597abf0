"""A hypothesis is a kind of path, and where its search begins for a measurement."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.path import PathModel

BASIC = ("rate_mbps", "rtt_ms", "buffer_bytes")
"""Parameters of every path with one bottleneck."""


@dataclass(frozen=True)
class Candidate:
    """A model to be tried, and what of it is searched for."""

    model: PathModel
    free: tuple[str, ...]
    """Names of parameters, as :meth:`PathModel.with_values` has them."""
    extra: float = 0.0
    """Numbers that it takes from the measurement beside those that are free: parameters, too."""
    seeds: int = 1
    """Simulations whose mean is compared, where chance has a part."""
    over_time: bool = False
    """Whether it says what happened when."""
    caution: str = ""
    """What speaks against it though it may fit."""
    starts: tuple[dict[str, float], ...] = ()
    """Other values of free parameters to begin with."""


@dataclass(frozen=True)
class Hypothesis:
    """A kind of path. One file each; the registry has them all."""

    name: str
    title: str
    propose: Callable[[Estimates], Sequence[Candidate]]
    """Candidates where the measurement has a sign of it, and none else."""


def basic_model(estimates: Estimates) -> PathModel:
    """The path by the estimates alone."""
    return PathModel(estimates.rate_mbps, estimates.rtt_ms, estimates.buffer_bytes)


def other_rates(estimates: Estimates) -> tuple[dict[str, float], ...]:
    """Other beginnings, for paths on which no one rate is that of most windows.

    Under much loss the queue is empty, and the mode of the delivery rate is no bottleneck's; jitter bunches
    what it delivers, and the highest rates are none, either.
    """
    features = estimates.features
    rates = [estimates.rate_mbps]
    for data_mbps in (
        features.rate_mode_mbps,
        features.rate_shares_mbps[3],
        features.pair_top_mbps,
        features.pair_shares_mbps[2],
    ):
        other = data_mbps * estimates.wire
        is_new = math.isfinite(other) and all(abs(math.log(other / one)) > _APART for one in rates)
        if is_new and other < _MOST * estimates.rate_mbps:
            rates.append(other)
    return tuple(
        {"rate_mbps": rate, "buffer_bytes": estimates.buffer_bytes * rate / estimates.rate_mbps}
        for rate in rates[1:]
    )


_APART = 0.05
_MOST = 3
