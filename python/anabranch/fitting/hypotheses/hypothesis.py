"""What a hypothesis is: a kind of path, and where its search begins for a measurement."""

from __future__ import annotations

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
