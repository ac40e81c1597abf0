"""Simulation in the loop: the misfit of candidates, and the search for the parameters of the best ones."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from anabranch.fitting.hypotheses import Candidate, Hypothesis
from anabranch.fitting.misfit import Misfit, Residual, misfit
from anabranch.fitting.path import PathModel
from anabranch.fitting.simulate import Simulator, Transfer

STEPS = {
    "rate_mbps": 0.006, "rtt_ms": 0.008, "buffer_bytes": 0.06, "jitter_ms": 0.35, "udp_mbps": 0.2,
    "uplink_packets": 0.3, "policer_mbps": 0.01, "policer_bytes": 0.15,
    "bucket_bytes": 0.1,
}  # fmt: skip
"""First steps of the search, relative: what the estimates are usually wrong by."""
WIDER = {"jitter": {"rtt_ms": 4.0}, "sprayed": {"rate_mbps": 8.0, "rtt_ms": 6.0, "buffer_bytes": 4.0}}
"""Of some hypotheses the estimates are wrong by so many times more."""
PROFILE_DROP = 2.71
"""The rise of a sum of squares that bounds 90 % of one parameter (chi-square of one degree of freedom)."""
_MOST_PROFILE_STEPS = 3


@dataclass(frozen=True)
class Trial:
    """One evaluation."""

    model: PathModel
    score: float


@dataclass
class Explanation:
    """A candidate with the best parameters so far."""

    hypothesis: Hypothesis
    candidate: Candidate
    model: PathModel
    misfit: Misfit
    trials: list[Trial] = field(default_factory=list)
    is_refined: bool = False

    @property
    def score(self) -> float:
        """The misfit."""
        return self.misfit.score

    @property
    def penalty(self) -> float:
        """The cost of its parameters beyond three: ln(m)/m each, of m comparisons (Schwarz 1978)."""
        comparisons = max(2, len(self.misfit.residuals))
        beyond = max(0, len(self.candidate.free) - 3) + self.candidate.extra
        return beyond * math.log(comparisons) / comparisons

    @property
    def total(self) -> float:
        """By which models are chosen: misfit and penalty."""
        return self.score + self.penalty

    @property
    def accepted_score(self) -> float:
        """Up to this score other parameters explain the measurement as well."""
        comparisons = max(2, len(self.misfit.residuals))
        return self.score + PROFILE_DROP / comparisons * max(1.0, self.score)

    def accepted(self) -> list[Trial]:
        """The trials that explain it as well."""
        return [trial for trial in self.trials if trial.score <= self.accepted_score]


@dataclass
class Search:
    """The work on one measurement."""

    transfers: Sequence[Transfer]
    chaotic: Sequence[bool]
    """Of each transfer, whether others have most of the link."""
    simulator: Simulator
    tell: Callable[[int], None] | None = None
    """Hears how many simulations there were."""

    def evaluate(self, candidate: Candidate, model: PathModel) -> Misfit:
        """The misfit over all transfers; with several seeds, of the mean of each comparison."""
        residuals: list[Residual] = []
        for number, (transfer, chaotic) in enumerate(zip(self.transfers, self.chaotic, strict=True)):
            # What was lost then and what others did then is known of the first transfer alone.
            timed = candidate.over_time and number == 0
            replayed = number == 0
            runs = [
                self.compare(model, transfer, seed, replay=replayed, timed=timed, chaotic=chaotic)
                for seed in range(1, candidate.seeds + 1)
            ]
            mean = _mean(runs)
            if not mean.residuals:
                return mean
            residuals += mean.residuals
        if self.tell is not None:
            self.tell(self.simulator.runs)
        return Misfit(tuple(residuals))

    def compare(
        self,
        model: PathModel,
        transfer: Transfer,
        seed: int,
        *,
        replay: bool,
        timed: bool,
        chaotic: bool,
    ) -> Misfit:
        """The misfit of one simulation; arguments as of :meth:`Simulator.simulate` and :func:`misfit`."""
        simulated = self.simulator.simulate(model, transfer, seed=seed, replay=replay)
        return misfit(transfer.flows, simulated, over_time=timed, chaotic=chaotic)

    def screen(self, proposed: Iterable[tuple[Hypothesis, Candidate]]) -> list[Explanation]:
        """One evaluation of each beginning of each candidate, the best one of a candidate kept."""
        begun = [
            (hypothesis, candidate, candidate.model.with_values(start))
            for hypothesis, candidate in proposed
            for start in ({}, *candidate.starts)
        ]
        with ThreadPoolExecutor(cores()) as pool:
            scored = list(pool.map(lambda one: self.evaluate(one[1], one[2]), begun))
        best: dict[int, Explanation] = {}
        for (hypothesis, candidate, model), evaluated in zip(begun, scored, strict=True):
            one = Explanation(hypothesis, candidate, model, evaluated, [Trial(model, evaluated.score)])
            best_explanation = best.get(id(candidate))
            if best_explanation is None or one.score < best_explanation.score:
                best[id(candidate)] = one
        return sorted(best.values(), key=lambda one: one.total)

    def refine(self, one: Explanation, budget: int) -> None:
        """Searches the free parameters by the simplex of Nelder and Mead (1965), in logarithms."""
        names = one.candidate.free
        steps = np.array([step_of(one.hypothesis.name, name) for name in names])
        origin = np.log([one.model.value(name) for name in names])
        found_models: list[tuple[PathModel, Misfit]] = []

        def score(offsets: NDArray[np.float64]) -> float:
            if not np.any(offsets):
                return one.score
            values = np.exp(origin + offsets * steps)
            model = one.model.with_values(dict(zip(names, map(float, values), strict=True)))
            evaluated = self.evaluate(one.candidate, model)
            one.trials.append(Trial(model, evaluated.score))
            found_models.append((model, evaluated))
            return evaluated.score

        simplex = np.vstack([np.zeros(len(names)), np.eye(len(names))])
        minimize(
            score,
            np.zeros(len(names)),
            method="Nelder-Mead",
            options={"maxfev": budget, "xatol": 0.25, "fatol": 0.01, "initial_simplex": simplex},
        )
        begun = one.model, one.misfit
        for model, evaluated in found_models:
            if evaluated.score < one.score:
                one.model, one.misfit = model, evaluated
        if begun[1].score <= one.accepted_score:
            # As good as the best one: estimates err less than the chance by which the search prefers another.
            one.model, one.misfit = begun
        one.is_refined = True

    def profile(self, one: Explanation) -> dict[str, tuple[float, float]]:
        """For each free parameter the values around the best that explain the measurement as well.

        Steps grow twofold from half a first step; the end is put where the bound lies between two of them.
        """
        with ThreadPoolExecutor(cores()) as pool:
            asked = [(name, sign) for name in one.candidate.free for sign in (-1, 1)]
            ends = list(pool.map(lambda which: self._end(one, *which), asked))
        ranges = {}
        for name, low, high in zip(one.candidate.free, ends[::2], ends[1::2], strict=True):
            values = [trial.model.value(name) for trial in one.accepted()]
            ranges[name] = (min(low, *values), max(high, *values)) if values else (low, high)
        return ranges

    def _end(self, one: Explanation, name: str, sign: int) -> float:
        bound, value = one.accepted_score, one.model.value(name)
        step = step_of(one.hypothesis.name, name) / 2
        inside, inside_score = 0.0, one.score
        for number in range(_MOST_PROFILE_STEPS):
            offset = sign * step * 2**number
            model = one.model.with_values({name: value * math.exp(offset)})
            score = self.evaluate(one.candidate, model).score
            one.trials.append(Trial(model, score))
            if score > bound:
                share = (bound - inside_score) / max(score - inside_score, 1e-9)
                return value * math.exp(inside + share * (offset - inside))
            inside, inside_score = offset, score
        return value * math.exp(inside)


def step_of(hypothesis: str, name: str) -> float:
    """The first step of a parameter, relative."""
    key = name.partition(".")[0]
    return STEPS[key] * WIDER.get(hypothesis, {}).get(key, 1.0)


def _mean(runs: Sequence[Misfit]) -> Misfit:
    if len(runs) == 1:
        return runs[0]
    if any(not run.residuals for run in runs):
        return Misfit(())
    values: dict[str, list[float]] = {}
    for run in runs:
        for one in run.residuals:
            values.setdefault(one.name, []).append(one.errors)
    return Misfit(tuple(replace(one, errors=float(np.mean(values[one.name]))) for one in runs[0].residuals))


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
