"""Multipath TCP: the path of each subflow by itself, then all of them together in one simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.features import Features
from anabranch.fitting.hypotheses import Candidate, Hypothesis
from anabranch.fitting.hypotheses.hypothesis import BASIC
from anabranch.fitting.measured import GivenMeasurements
from anabranch.fitting.misfit import Misfit, Residual, misfit
from anabranch.fitting.outcome import EXPLAINED, Fit, InferredRange, Rival, ranges_of
from anabranch.fitting.path import BY_SUBFLOW, PathModel, Sprayed
from anabranch.fitting.search import Search
from anabranch.fitting.simulate import Simulator, Transfer

_RECOGNISED = ("linux-mptcp", "mptcp-cubic")
"""Multipath TCP that a capture is compared with where nobody says which it was."""
HYPOTHESIS = Hypothesis("subflows", "a path for each subflow", lambda _: ())
_SHARED = (
    "whether subflows share a bottleneck: each is fitted by itself; measure plain TCP from each address, and "
    "both at once"
)
_PLAIN = "over which path plain TCP goes: it is taken for that of the first subflow; measure plain TCP, too"


@dataclass
class SubflowSearch(Search):
    """The search over the paths of all subflows together."""

    subflows: tuple[Features, ...] = ()

    def compare(
        self,
        model: PathModel,
        transfer: Transfer,
        seed: int,
        *,
        replay: bool,
        timed: bool,  # noqa: ARG002 - nothing of a path of a subflow is said over time
        chaotic: bool,  # noqa: ARG002 - each has its path for itself
    ) -> Misfit:
        """The misfit of every subflow in one simulation."""
        return _compare(self.subflows, self.simulator.simulate(model, transfer, seed=seed, replay=replay))


def fit_subflows(measured: GivenMeasurements, budget: int, tell: Callable[[int], None] | None) -> Fit:
    """A path for each subflow: by its estimates, then by simulation of the whole connection over all."""
    # The first of them goes where plain TCP would.
    subflows = tuple(sorted(measured.subflows, key=lambda one: one.flow.began_unix_s))
    estimates = [Estimates(one) for one in subflows]
    paths = tuple(Sprayed(one.rate_mbps, one.rtt_ms, one.buffer_bytes) for one in estimates)
    first = paths[0]
    model = PathModel(first.rate_mbps, first.rtt_ms, first.buffer_bytes, paths=paths, balancing=BY_SUBFLOW)
    candidate = Candidate(model, tuple(f"{name}.{place}" for place in range(len(paths)) for name in BASIC))
    simulator = Simulator()
    begun = [
        SubflowSearch([transfer], [False], simulator, tell, subflows=subflows)
        for transfer in _as_multipath(measured.transfers[0])
    ]
    tried = [(search, search.screen([(HYPOTHESIS, candidate)])[0]) for search in begun]
    search, best = min(tried, key=lambda one: one[1].score)
    transfer = search.transfers[0]
    search.refine(best, max(LEAST_SEARCH, min(budget - simulator.runs, MOST_SEARCH)))
    profile = search.profile(best)
    simulated = simulator.simulate(best.model, transfer)
    best.model = replace(best.model, **vars(best.model.paths[0]))
    ranges: list[InferredRange] = []
    for place, one in enumerate(estimates):
        subflow_profile = {name: bounds for name, bounds in profile.items() if name.endswith(f".{place}")}
        ranges += ranges_of(best, subflow_profile, one)
    return Fit(
        names=tuple(one.name for one in measured.transfers),
        transport=str(transfer.traffic[0]["transport"]),
        duration_s=transfer.duration_s,
        kind=HYPOTHESIS.name,
        title=HYPOTHESIS.title,
        model=best.model,
        score=best.score,
        ranges=tuple(ranges),
        rivals=(Rival(HYPOTHESIS.name, HYPOTHESIS.title, best.score, best.total, True, "", best.model),),
        residuals=tuple((one.name, one.errors) for one in best.misfit.worst),
        verdict=_verdict(best.score),
        unknown=(_SHARED, _PLAIN),
        notes=(*measured.notes, *sorted(set(simulator.failures))[:3]),
        held_out=(),
        runs=simulator.runs,
        wall_s=0.0,
        measured=subflows[0],
        simulated=simulated[0] if simulated else None,
        traffic=transfer.traffic,
    )


LEAST_SEARCH, MOST_SEARCH = 10, 90
"""Evaluations of the search, whatever the budget is."""


def _verdict(score: float) -> str:
    if score <= EXPLAINED:
        return f"explained: {HYPOTHESIS.title} (misfit {score:.2f})"
    return (
        f"this model does not explain the capture: {HYPOTHESIS.title} has a misfit of {score:.1f}, above "
        f"{EXPLAINED:g}; measure also plain TCP from each address"
    )


def _as_multipath(transfer: Transfer) -> list[Transfer]:
    """The transfer by the Multipath TCP that is said, or by each that it may have been."""
    entry = transfer.traffic[0]
    name = str(entry["transport"])
    named = (name,) if "mptcp" in name else _RECOGNISED
    return [replace(transfer, traffic=({**entry, "transport": one},)) for one in named]


def _compare(measured: tuple[Features, ...], simulated: list[Features]) -> Misfit:
    """Subflows by the order of their round trips, which the path fixes."""
    if len(simulated) < len(measured):
        return Misfit(())
    residuals: list[Residual] = []
    here = sorted(measured, key=lambda one: one.least_rtt_ms)
    there = sorted(simulated[: len(measured)], key=lambda one: one.least_rtt_ms)
    for one, other in zip(here, there, strict=True):
        residuals += misfit([one], [other], over_time=False, chaotic=False).residuals
    return Misfit(tuple(residuals))
