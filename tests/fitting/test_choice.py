"""The choice among models where there are several transfers, and what several flows are compared by."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

from anabranch.fitting.exchange import read_exchanges
from anabranch.fitting.features import Features
from anabranch.fitting.fit import ranked_by_all
from anabranch.fitting.hypotheses import Candidate
from anabranch.fitting.hypotheses.cross_traffic import ELASTIC
from anabranch.fitting.misfit import Misfit, Residual, misfit
from anabranch.fitting.path import PathModel
from anabranch.fitting.search import Explanation, Search

from .conftest import Captured

PATH = PathModel(20.0, 30.0, 60_000.0)


def explained(flows: int, errors: float) -> Explanation:
    """A model with so many flows across, which the first transfer has refined to an error."""
    model = replace(PATH, elastic_flows=flows)
    candidate = Candidate(model, ("rate_mbps", "rtt_ms", "buffer_bytes"), extra=1.0)
    of_first = Misfit((Residual("goodput", errors, 1.0),))
    return Explanation(ELASTIC, candidate, model, of_first, is_refined=True)


@dataclass
class SearchOfBoth:
    """A search whose second transfer has the last word, by the number of flows across."""

    errors: dict[int, float]
    refined: list[int] = field(default_factory=list)

    def evaluate(self, _candidate: Candidate, model: PathModel) -> Misfit:
        return Misfit((Residual("goodput", self.errors[model.elastic_flows], 1.0),))

    def refine(self, one: Explanation, _budget: int) -> None:
        self.refined.append(one.model.elastic_flows)


def test_the_transfer_that_was_held_out_has_a_say() -> None:
    # One flow prefers two others, by little; two parallel flows tell three.
    ranked = [explained(2, 0.7), explained(3, 0.8), explained(1, 1.2)]
    search = SearchOfBoth({1: 2.5, 2: 1.2, 3: 0.8})
    assert [one.model.elastic_flows for one in ranked_by_all(cast(Search, search), ranked, 30)] == [3, 2, 1]
    assert search.refined == [2, 3], "those that are near each other are refined, and no other one"


def test_flows_of_one_capture_are_compared_by_what_they_get_together(captured: Captured) -> None:
    exchanges, _ = read_exchanges(captured(PATH, flows=2))
    measured = [Features(one, 15.0) for one in exchanges]

    def goodput_errors(simulated: list[Features]) -> float:
        compared = misfit(measured, simulated, over_time=False, chaotic=False)
        return next(one.errors for one in compared.residuals if one.name == "goodput")

    assert goodput_errors(measured) == 0.0
    assert goodput_errors(measured[::-1]) == 0.0, "which of them gets more is chance"
    assert goodput_errors(measured[:1]) < -10.0
