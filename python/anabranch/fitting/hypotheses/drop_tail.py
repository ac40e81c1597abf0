"""One bottleneck whose queue drops what does not fit: the simplest path."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.hypotheses.hypothesis import BASIC, Candidate, Hypothesis, basic_model


def _propose(estimates: Estimates) -> Sequence[Candidate]:
    return [Candidate(basic_model(estimates), BASIC)]


HYPOTHESIS = Hypothesis("drop-tail", "drop-tail queue", _propose)
