"""A way back that acknowledgments fill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.exchange import BARE_BYTES
from anabranch.fitting.hypotheses.hypothesis import (
    BASIC,
    Candidate,
    Hypothesis,
    basic_model,
    other_rates,
)

_FEW_ACKS = 0.49
"""Acknowledgments for each packet: with delayed ones half of them, fewer where some are lost."""
_USUAL_PACKETS = 40
_BEGINNINGS = 2
"""Beside that of the estimates."""


def _propose(estimates: Estimates) -> Sequence[Candidate]:
    if estimates.features.ack_ratio >= _FEW_ACKS:
        return []
    base = basic_model(estimates)
    uplink_mbps = estimates.uplink_mbps
    model = replace(
        base,
        uplink_mbps=uplink_mbps,
        uplink_packets=float(_USUAL_PACKETS),
        buffer_bytes=base.buffer_bytes / 2,
        rtt_ms=max(0.2, base.rtt_ms - BARE_BYTES * 8 / uplink_mbps / 1e3),
    )
    # Acknowledgments that are lost bunch what the others deliver: the highest rates are none of the link.
    starts = tuple(
        {"rate_mbps": one["rate_mbps"], "buffer_bytes": one["buffer_bytes"] / 2}
        for one in other_rates(estimates)[:_BEGINNINGS]
    )
    return [Candidate(model, (*BASIC, "uplink_packets"), extra=1.0, starts=starts)]


HYPOTHESIS = Hypothesis("slow-uplink", "slow way back", _propose)
