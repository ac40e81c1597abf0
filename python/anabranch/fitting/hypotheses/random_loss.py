"""Packets that are lost by chance, alone or in bursts, beside those that find the queue full.

The measured losses are replayed while fitting; the probability enters predictions alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.hypotheses.hypothesis import (
    BASIC,
    Candidate,
    Hypothesis,
    basic_model,
    other_rates,
)

LEAST_LOSSES = 3
"""Fewer may be the queue's, met where no sample of the round-trip time was near."""
_BURSTY = 1.25
_REGULAR = 0.3
"""Variation of the distances below which losses are a queue's law, not chance."""
_LAWFUL = 8.0
"""As many parameters as losses that are no chance cost the model that says so."""


def _propose(estimates: Estimates, *, bursty: bool) -> Sequence[Candidate]:
    features, losses = estimates.features, estimates.losses
    if features.early_share <= 0.15 and len(features.loss_runs) <= 25:
        return []
    if len(losses.by_chance) < LEAST_LOSSES or (losses.mean_burst > _BURSTY) != bursty:
        return []
    is_lawful = losses.regularity < _REGULAR
    model = replace(
        basic_model(estimates),
        loss=losses.share,
        burst=losses.mean_burst if bursty else 1.0,
        lost_packets=losses.by_chance,
    )
    return [
        Candidate(
            model,
            BASIC,
            extra=(2.0 if bursty else 1.0) + (_LAWFUL if is_lawful else 0.0),
            caution="the losses come at distances too regular for chance" if is_lawful else "",
            starts=other_rates(estimates),
        )
    ]


HYPOTHESIS = Hypothesis("loss", "random loss", lambda estimates: _propose(estimates, bursty=False))
BURSTS = Hypothesis("burst-loss", "loss in bursts", lambda estimates: _propose(estimates, bursty=True))
