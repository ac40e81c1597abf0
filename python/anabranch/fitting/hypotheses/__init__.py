"""The registry of hypotheses: a file and a line each."""

from __future__ import annotations

from typing import Final

from anabranch.fitting.hypotheses import (
    codel,
    cross_traffic,
    drop_tail,
    jitter,
    policer,
    random_loss,
    slow_uplink,
    sprayed,
    token_bucket,
    varying_rate,
)
from anabranch.fitting.hypotheses.hypothesis import Candidate, Hypothesis

HYPOTHESES: Final[tuple[Hypothesis, ...]] = (
    drop_tail.HYPOTHESIS,
    random_loss.HYPOTHESIS,
    random_loss.BURSTS,
    policer.HYPOTHESIS,
    token_bucket.HYPOTHESIS,
    codel.HYPOTHESIS,
    codel.FAIR,
    jitter.HYPOTHESIS,
    slow_uplink.HYPOTHESIS,
    cross_traffic.HYPOTHESIS,
    cross_traffic.ON_OFF,
    cross_traffic.ELASTIC,
    varying_rate.HYPOTHESIS,
    sprayed.HYPOTHESIS,
)
"""All kinds of paths, in the order in which they are shown."""

__all__ = ["HYPOTHESES", "Candidate", "Hypothesis"]
