"""Two paths over which packets are spread, in turn or by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.hypotheses.hypothesis import Candidate, Hypothesis, basic_model
from anabranch.fitting.path import Sprayed

_REORDERED = 0.004
_FREE = (
    "rate_mbps.0", "rate_mbps.1", "rtt_ms.0", "rtt_ms.1", "buffer_bytes.0", "buffer_bytes.1",
)  # fmt: skip
_SHARES = (0.05, 0.2, 0.4, 0.6, 1.1, 1.5)
"""Of the spread of round-trip times, how much longer the second path may be: what queues hide is not seen,
and the search goes downhill from one of these alone."""
BALANCINGS = ("packet-round-robin", "packet")


def _propose(estimates: Estimates) -> Sequence[Candidate]:
    features = estimates.features
    if features.reordered_share <= _REORDERED:
        return []
    low_ms, high_ms = np.percentile(features.rtt_ms, (10, 90))
    handshake_ms = features.handshake_ms
    base = basic_model(estimates)
    short_ms = base.rtt_ms
    is_long = handshake_ms > 1.3 * features.least_rtt_ms
    long_ms = handshake_ms if is_long else short_ms + 0.8 * float(high_ms - low_ms)
    half_mbps, half_bytes = base.rate_mbps / 2, base.buffer_bytes / 2
    paths = tuple(Sprayed(half_mbps, rtt_ms, half_bytes) for rtt_ms in (short_ms, long_ms))
    # Much of the spread may be the queues', where both delays are nearly the same; or queues hide more.
    spread_ms = float(high_ms - low_ms)
    starts = tuple({"rtt_ms.1": short_ms + share * spread_ms} for share in _SHARES)
    return [
        Candidate(replace(base, paths=paths, balancing=balancing), _FREE, extra=1.0, starts=starts)
        for balancing in BALANCINGS
    ]


HYPOTHESIS = Hypothesis("sprayed", "packets over two paths", _propose)
