"""A queue that CoDel governs (RFC 8289), and FQ-CoDel (RFC 8290), alike to one flow alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.hypotheses.hypothesis import Candidate, Hypothesis, basic_model

_SHORT_MS = 40.0
"""A queue that its law keeps short stays below most of the time; its target is 5 ms."""


def _is_short(estimates: Estimates) -> bool:
    features = estimates.features
    usual_ms = features.rtt_shares_ms[4] - features.least_rtt_ms
    greatest_ms = features.most_rtt_ms - features.least_rtt_ms
    return usual_ms < _SHORT_MS and usual_ms < 0.75 * greatest_ms + 6 and bool(features.loss_runs)


def _codel(estimates: Estimates) -> Sequence[Candidate]:
    if not _is_short(estimates):
        return []
    return [Candidate(replace(basic_model(estimates), discipline="codel"), ("rate_mbps", "rtt_ms"))]


def _fair(estimates: Estimates) -> Sequence[Candidate]:
    """Beside a constant flow, which a fair queue keeps away from ours."""
    features = estimates.features
    spare_mbps = estimates.top_mbps - features.rate_mode_mbps * estimates.wire
    is_shared = estimates.pair_spread > 1.4 and spare_mbps > 0.2 * features.rate_mode_mbps * estimates.wire
    usual_ms = features.rtt_shares_ms[4] - features.least_rtt_ms
    if not is_shared or usual_ms >= _SHORT_MS or features.reordered_share > 0.004:
        return []
    model = replace(
        basic_model(estimates),
        rate_mbps=estimates.top_mbps,
        udp_mbps=max(0.3, spare_mbps),
        discipline="fq-codel",
    )
    return [Candidate(model, ("rate_mbps", "rtt_ms", "udp_mbps"))]


HYPOTHESIS = Hypothesis("codel", "CoDel", _codel)
FAIR = Hypothesis("fq-codel-udp", "FQ-CoDel, with constant cross traffic", _fair)
