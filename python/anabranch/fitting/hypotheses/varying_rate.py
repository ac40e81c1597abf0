"""A link whose capacity changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.exchange import Numbers
from anabranch.fitting.features import QUARTER_S
from anabranch.fitting.hypotheses.cross_traffic import is_shared, varies
from anabranch.fitting.hypotheses.hypothesis import Candidate, Hypothesis, basic_model

_LEAST_MBPS = 0.05
_LEAST_BUSY = 3


def _propose(estimates: Estimates) -> Sequence[Candidate]:
    if not is_shared(estimates) or not varies(estimates):
        return []
    own_mbps, busy = estimates.own_mbps()
    places = np.flatnonzero(busy)
    if places.size < _LEAST_BUSY:
        return []
    # Where no queue stood, the flow does not show what there was.
    rates = np.maximum(np.interp(np.arange(own_mbps.size), places, own_mbps[places]), _LEAST_MBPS)
    steps = tuple((float(step * QUARTER_S), float(mbps)) for step, mbps in enumerate(rates))
    model = replace(basic_model(estimates), rate_mbps=float(rates[0]), capacity_steps=steps)
    mean_mbps = float(np.mean(rates))
    of_mean_bytes = estimates.buffer_bytes * mean_mbps / estimates.rate_mbps
    free = ("rtt_ms", "buffer_bytes")
    starts = ({"buffer_bytes": of_mean_bytes}, {"buffer_bytes": _fullest_bytes(estimates, rates)})
    return [Candidate(model, free, extra=4.0, over_time=True, starts=starts)]


def _fullest_bytes(estimates: Estimates, rates_mbps: Numbers) -> float:
    """The bytes that waited when the queue was fullest: what a sample waited, at the rate of its quarter.

    A queue of the same bytes is the longer in time the slower the link is.
    """
    features = estimates.features
    quarters = np.minimum((features.rtt_at_s / QUARTER_S).astype(int), rates_mbps.size - 1)
    waiting_bytes = (features.rtt_ms - features.least_rtt_ms) * rates_mbps[quarters] * 1e3 / 8
    return max(_LEAST_BUFFER_BYTES, float(np.percentile(waiting_bytes, _FULLEST)))


_FULLEST = 99.0
"""Percentile: quarters in which the rate changed have samples at the other one."""
_LEAST_BUFFER_BYTES = 3000.0

HYPOTHESIS = Hypothesis("rate-varying", "capacity that varies", _propose)
