"""Others on the same link: a constant rate, a rate that comes and goes, and TCP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.features import QUARTER_S
from anabranch.fitting.hypotheses.hypothesis import BASIC, Candidate, Hypothesis, basic_model
from anabranch.fitting.path import PathModel

_COMB_MISS = 0.12
"""Chance has gaps a quarter of a packet time away from a multiple."""
_STEADY = 0.1
_VARYING = 0.12
_VARYING_LONG = 0.15
"""Of quarters of a second with a queue, where the link gives what it has."""
_MOST_ELASTIC = 3


def is_shared(estimates: Estimates) -> bool:
    """Whether there is a queue in order, and a way back that is free."""
    features = estimates.features
    return features.queue_share > 0.3 and features.reordered_share < 0.004 and features.ack_ratio > 0.46


def varies(estimates: Estimates) -> bool:
    """Whether what is left to the flow differs much from time to time: usually, or while a queue stood."""
    features = estimates.features
    if features.rate_spread_mbps > _VARYING * features.rate_shares_mbps[1]:
        return True
    own_mbps, busy = estimates.own_mbps()
    if not busy.any():
        return False
    low_mbps, usual_mbps, high_mbps = np.percentile(own_mbps[busy], (10, 50, 90))
    return bool(high_mbps - low_mbps > _VARYING_LONG * usual_mbps)


def _whole(estimates: Estimates) -> PathModel:
    """The path at the highest rate at which anything came."""
    features = estimates.features
    values = features.rtt_at_losses_ms
    full_ms = float(np.percentile(values, 80)) if values.size > 4 else features.most_rtt_ms
    waiting_ms = max(0.3, full_ms - features.least_rtt_ms)
    rate_mbps = estimates.top_mbps
    return replace(
        basic_model(estimates),
        rate_mbps=rate_mbps,
        buffer_bytes=max(3000.0, waiting_ms * rate_mbps * 1e3 / 8),
    )


def _constant(estimates: Estimates) -> Sequence[Candidate]:
    features = estimates.features
    if not is_shared(estimates):
        return []
    own_mbps = features.rate_mode_mbps * estimates.wire
    candidates = []
    is_steady = features.rate_spread_mbps < _STEADY * features.rate_shares_mbps[1]
    comb = estimates.comb_mbps if estimates.pair_spread > 1.25 and is_steady else None
    if comb is not None and comb[1] < _COMB_MISS:
        rate_mbps = comb[0]
        model = replace(
            basic_model(estimates),
            rate_mbps=rate_mbps,
            udp_mbps=rate_mbps - own_mbps,
            buffer_bytes=estimates.buffer_bytes * rate_mbps / estimates.rate_mbps,
        )
        # The comb has the rate better than any misfit.
        candidates.append(Candidate(model, ("rtt_ms", "buffer_bytes"), extra=1.0))
    if estimates.pair_spread > 1.4 and estimates.top_mbps > 1.2 * own_mbps:
        model = replace(_whole(estimates), udp_mbps=max(0.3, estimates.top_mbps - own_mbps))
        candidates.append(Candidate(model, (*BASIC, "udp_mbps")))
    return candidates


def _on_off(estimates: Estimates) -> Sequence[Candidate]:
    features = estimates.features
    own_mbps = features.goodput_mbps * estimates.wire
    if not is_shared(estimates) or not varies(estimates) or estimates.top_mbps < 1.05 * own_mbps:
        return []
    model = _whole(estimates)
    spans = busy_spans(estimates, model.rate_mbps)
    if not spans:
        return []
    # Each has a beginning, an end and a rate, of which the series of seconds has most.
    return [Candidate(replace(model, udp_spans=spans), BASIC, extra=3.0, over_time=True)]


def busy_spans(estimates: Estimates, rate_mbps: float) -> tuple[tuple[float, float, float], ...]:
    """When others sent, and how much: what a link of this rate did not give the flow while a queue stood."""
    own_mbps, busy = estimates.own_mbps()
    others = np.where(busy, np.clip(rate_mbps - own_mbps, 0, None), 0.0)
    others[others < 0.12 * rate_mbps] = 0.0
    spans = []
    begin = 0
    while begin < others.size:
        end = begin + 1
        while (
            end < others.size
            and abs(others[end] - others[begin]) < 0.2 * rate_mbps
            and (others[end] > 0) == (others[begin] > 0)
        ):
            end += 1
        if others[begin] > 0:
            mean_mbps = float(np.mean(others[begin:end]))
            spans.append((begin * QUARTER_S, end * QUARTER_S, mean_mbps))
        begin = end
    return tuple(spans)


def _elastic(estimates: Estimates) -> Sequence[Candidate]:
    own_mbps = estimates.features.goodput_mbps * estimates.wire
    if not is_shared(estimates) or estimates.top_mbps <= 1.5 * own_mbps:
        return []
    model = _whole(estimates)
    return [
        Candidate(replace(model, elastic_flows=flows), BASIC, extra=1.0, seeds=2)
        for flows in range(1, _MOST_ELASTIC + 1)
    ]


HYPOTHESIS = Hypothesis("udp-constant", "constant cross traffic", _constant)
ON_OFF = Hypothesis("udp-on-off", "cross traffic that comes and goes", _on_off)
ELASTIC = Hypothesis("tcp-across", "TCP across", _elastic)
