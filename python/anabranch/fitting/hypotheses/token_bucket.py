"""A token bucket that shapes, as the kernel's tbf: what it has saved passes at once, and the rest waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.hypotheses.hypothesis import BASIC, Candidate, Hypothesis, basic_model
from anabranch.fitting.misfit import STEADY_MS

_REORDERED = 0.004
_LEAST_SAVED = 2
"""Segments: one acknowledgment delivers two, whatever the path is."""
_FASTEST_MBPS = 1000.0
_LEAST_FASTER = 2.0


def _propose(estimates: Estimates) -> Sequence[Candidate]:
    features = estimates.features
    saved_bytes, speed_mbps = features.first_saving
    is_quiet = features.jitter_ms[0] < STEADY_MS and features.reordered_share < _REORDERED
    if not (is_quiet and features.is_steady) or saved_bytes < _LEAST_SAVED * features.flow.mss_bytes:
        return []
    base = basic_model(estimates)
    line_mbps = min(_FASTEST_MBPS, max(_LEAST_FASTER * base.rate_mbps, speed_mbps * estimates.wire))
    model = replace(base, bucket_bytes=saved_bytes * estimates.wire, line_mbps=line_mbps)
    return [Candidate(model, (*BASIC, "bucket_bytes"), extra=1.0)]


HYPOTHESIS = Hypothesis("token-bucket", "token bucket that shapes", _propose)
