"""Delay that varies from packet to packet, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.exchange import HEADER_BYTES
from anabranch.fitting.hypotheses.hypothesis import (
    BASIC,
    Candidate,
    Hypothesis,
    basic_model,
    other_rates,
)
from anabranch.fitting.hypotheses.random_loss import LEAST_LOSSES
from anabranch.fitting.misfit import STEADY_MS

_LOUD_MS = 2.2
_BEGINNINGS = 1
"""Beside that of the estimates: pairs of acknowledgments say nothing here."""


def _propose(estimates: Estimates) -> Sequence[Candidate]:
    features, flow = estimates.features, estimates.features.flow
    quiet_ms, loud_ms = features.jitter_ms
    if not ((quiet_ms > STEADY_MS and features.ack_ratio < 0.48) or loud_ms > _LOUD_MS):
        return []
    sending_ms = (flow.packet_bytes + HEADER_BYTES) * 8 / estimates.rate_mbps / 1e3
    base = basic_model(estimates)
    model = replace(
        base,
        jitter_ms=max(0.3, 1.5 * quiet_ms),
        # The handshake had some jitter, too: propagation is no longer than it.
        rtt_ms=max(0.2, min(base.rtt_ms, features.least_rtt_ms - sending_ms - 1.2 * quiet_ms)),
    )
    free = ("jitter_ms", *BASIC)
    starts = other_rates(estimates)[:_BEGINNINGS]
    candidates = [Candidate(model, free, seeds=2, starts=starts)]
    losses = estimates.losses
    if len(losses.by_chance) >= LEAST_LOSSES and features.early_share > 0.15:
        lossy = replace(model, loss=losses.share, lost_packets=losses.by_chance)
        candidates.append(Candidate(lossy, free, extra=1.0, seeds=2))
    return candidates


HYPOTHESIS = Hypothesis("jitter", "jitter", _propose)
