"""A policer: what is beyond a rate is dropped, and nothing waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.exchange import Numbers
from anabranch.fitting.hypotheses.hypothesis import Candidate, Hypothesis, basic_model

_LEAST_RUNS = 3
_LEAST_SHARE = 1e-3
_EMPTY = 0.5


def _propose(estimates: Estimates) -> Sequence[Candidate]:
    features, flow = estimates.features, estimates.features.flow
    runs = features.loss_runs
    lost = float(np.mean(flow.is_lost))
    if len(runs) < _LEAST_RUNS or lost < _LEAST_SHARE or features.early_share < _EMPTY:
        return []
    wire_bytes = (flow.bytes + (flow.packet_bytes - flow.mss_bytes)).astype(float)
    passed = np.concatenate([[0.0], np.cumsum(np.where(flow.is_lost, 0.0, wire_bytes))])
    begins = np.sort(np.array([sent_s for sent_s, _ in runs]))
    rate_mbps = _rate_mbps(flow.sent_s, passed, begins)
    if rate_mbps is None:
        return []
    # The most that passed beyond the rate until the first loss: a full bucket became empty.
    until = int(np.searchsorted(flow.sent_s, begins[0]))
    saved = passed[until] - passed[:until] - rate_mbps * 1e6 / 8 * (begins[0] - flow.sent_s[:until])
    pair_mbps = features.pair_shares_mbps[2] * estimates.wire
    line_mbps = max(1.5 * rate_mbps, pair_mbps if np.isfinite(pair_mbps) else 0.0)
    model = replace(
        basic_model(estimates),
        rate_mbps=line_mbps,
        policer_mbps=rate_mbps,
        policer_bytes=max(5000.0, float(saved.max(initial=0.0))),
        buffer_bytes=max(estimates.buffer_bytes, line_mbps * 1e3 / 8 * estimates.rtt_ms),
    )
    return [Candidate(model, ("policer_mbps", "policer_bytes", "rtt_ms"), extra=1.0)]


def _rate_mbps(sent_s: Numbers, passed: Numbers, begins: Numbers) -> float | None:
    """The rate of the bucket: it is empty at each loss, so that what passed in between came at its rate.

    Where it filled up in between, less passed: the upper end of all such times counts. None with too few.
    """
    apart = np.concatenate([[True], np.diff(begins) > _APART_S])
    times = begins[apart]
    spans = np.diff(times)
    if spans.size < _LEAST_SPANS:
        return None
    places = np.searchsorted(sent_s, times)
    rates = (passed[places[1:]] - passed[places[:-1]]) * 8 / spans / 1e6
    return float(np.percentile(rates, 80))


_APART_S = 0.1
"""Losses nearer to each other are of one time at which the bucket was empty."""
_LEAST_SPANS = 2
HYPOTHESIS = Hypothesis("policer", "policer", _propose)
