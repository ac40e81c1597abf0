"""A policer: what is beyond a rate is dropped, and nothing waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anabranch.fitting.estimates import Estimates
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
    # At each loss the bucket is empty: what passed between the first and the last one came at its rate.
    begins = sorted(sent_s for sent_s, _ in runs)
    first_s, last_s = begins[0], begins[-1]
    passed = ~flow.is_lost
    between = passed & (flow.sent_s > first_s) & (flow.sent_s <= last_s)
    if last_s - first_s < 1.0:
        return []
    wire_bytes = (flow.bytes + (flow.packet_bytes - flow.mss_bytes)).astype(float)
    rate_mbps = float(wire_bytes[between].sum() * 8 / (last_s - first_s) / 1e6)
    before = passed & (flow.sent_s <= first_s)
    began_s = float(flow.sent_s[0])
    saved = float(wire_bytes[before].sum()) - rate_mbps * 1e6 / 8 * (first_s - began_s)
    line_mbps = max(2 * rate_mbps, features.rate_shares_mbps[3] * estimates.wire)
    model = replace(
        basic_model(estimates),
        rate_mbps=line_mbps,
        policer_mbps=rate_mbps,
        policer_bytes=max(5000.0, saved),
        buffer_bytes=max(estimates.buffer_bytes, line_mbps * 1e3 / 8 * estimates.rtt_ms),
    )
    return [Candidate(model, ("policer_mbps", "policer_bytes", "rtt_ms"), extra=1.0)]


HYPOTHESIS = Hypothesis("policer", "policer", _propose)
