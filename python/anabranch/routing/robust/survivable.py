"""Fractions over candidate paths that keep the worst-case load low when any single link fails.

A router that lost a path spreads in proportion to the fractions that it was given: in the words of Suchara,
Xu, Doverspike, Johnson and Rexford, Network Architecture for Joint Failure Recovery and Traffic Engineering,
2011, splitting is state-independent. Its optimum is a problem that is not convex. Were the fractions chosen
anew for each failure (state-dependent splitting), each failure would be a linear program of its own; since
proportional spreading is one choice among them, the highest of those optima is a lower bound, which is proved
here. From the mean of their fractions, the remedy of that paper, and from the optimum without failures a
search descends: loads are linear in the fractions nearby, and a linear program in a shrinking box around the
best fractions finds the next ones. Every step counts only if the evaluator finds it better, so the result
holds as it is, and the gap to the bound says what may be left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from .budget import ARC_S, SHARE_S, Budget, Status
from .failures import (
    FailureUnit,
    FailureWorstCase,
    fractions_after,
    hit_paths,
    single_failures,
    under_failures,
)
from .highs import Entries, Program, solve_simplex
from .model import Candidates, DemandBounds, Floats, FlowNetwork, Ints, TrafficSplit, WorstCase
from .problem import RoutingProblem
from .single_lp import single_lp

_FIRST_BOX = 0.25
_LAST_BOX = 1e-3
"""By how much a fraction may change in one step, at first and at last."""

_KEPT = 1e-4
"""What stays of every fraction that was larger."""

_NEAR = 0.8
"""Links above this part of the highest load take part in a step."""


@dataclass(frozen=True, eq=False)
class SurvivableSolution:
    """Fractions for all failures, with a bound that no fractions over the same paths can beat."""

    routing: TrafficSplit
    worst_case: FailureWorstCase
    lower_bound: float
    status: Status | Literal["local-optimum"]
    """`local-optimum`: the search found nothing better nearby; the gap says how far the bound is."""
    programs: int
    """Linear programs solved."""
    cpu_s: float
    """CPU time, in seconds."""

    @property
    def load(self) -> float:
        """The worst-case maximum link load over all failures and none."""
        return self.worst_case.max_load

    @property
    def gap(self) -> float:
        """(load - lower bound) / load."""
        return (self.load - self.lower_bound) / self.load if self.load else 0.0


def survivable(
    network: FlowNetwork,
    bounds: DemandBounds,
    candidates: Candidates,
    *,
    unit: FailureUnit = "edge",
    tolerance: float = 1e-6,
    time_limit_s: float | Budget = math.inf,
) -> SurvivableSolution:
    """Fractions with a low worst-case load when no link or any single one is down.

    Arguments and errors are those of `single_lp`; `unit` says what fails at once. A pair all of whose
    candidates use one link is stranded by its failure, whatever the fractions; see `FailureCase.stranded`.
    When time is over before every failure has been bounded, the bound is that of those that were.
    """
    budget = Budget.of(time_limit_s)
    problem = RoutingProblem.checked(network, bounds, candidates)
    search = _Search(problem, single_failures(network, unit))
    lower, programs, starts = search.state_dependent(budget, tolerance)
    best, worst = search.first(starts, budget)
    box = _FIRST_BOX
    while box >= _LAST_BOX and worst.max_load - lower > tolerance * worst.max_load and budget.left_s > 0:
        trial = search.step(best, worst, box, budget)
        programs += 1
        if trial is None:
            break
        looked = search.evaluate(trial)
        budget.spend(search.evaluation_s)
        if looked.max_load < worst.max_load * (1 - 1e-9):
            best, worst = trial, looked
        else:
            box /= 2
    if worst.max_load - lower <= tolerance * worst.max_load:
        status: Status | Literal["local-optimum"] = "optimal"
    else:
        status = budget.stopped if budget.left_s <= 0 else "local-optimum"
    routing = problem.routing(best)
    return SurvivableSolution(routing, worst, lower, status, programs, budget.cpu_s)


class _Search:
    """Bound, first fractions and steps of the search."""

    def __init__(self, problem: RoutingProblem, failures: tuple[Ints, ...]) -> None:
        self._problem, self._failures = problem, failures
        self._bounds, self._candidates = problem.bounds, problem.candidates
        self._network = network = problem.network
        candidates = problem.candidates
        self._hit = [hit_paths(candidates, arcs, network.arc_count) for arcs in failures]
        self._incidence = sparse.csc_array(candidates.incidence(network.arc_count))
        self._pair_of_path = candidates.pair_of_path()
        uses = len(failures) + 1
        self.evaluation_s = uses * (network.arc_count * ARC_S + len(candidates.arcs) * SHARE_S)
        """Work of a look of the evaluator at all failures."""

    def evaluate(self, fraction: Floats) -> FailureWorstCase:
        """The exact worst case of these fractions."""
        return under_failures(self._problem, fraction, self._failures)

    def state_dependent(self, budget: Budget, tolerance: float) -> tuple[float, int, list[Floats]]:
        """The bound, the programs it took, and the optimal fractions without and under each failure."""
        lower, programs = 0.0, 0
        fractions = list[Floats]()
        for hit in [np.zeros(self._candidates.path_count, bool), *self._hit]:
            if budget.left_s <= 0:
                break
            part = self._candidates.kept(~hit)
            bounds = self._without_stranded(part)
            solution = single_lp(self._network, bounds, part, tolerance=tolerance, time_limit_s=budget)
            lower = max(lower, solution.lower_bound)
            programs += solution.iterations
            fraction = np.zeros(self._candidates.path_count)
            _, fraction[~hit] = solution.routing.by_paths
            fractions.append(fraction)
        return lower, programs, fractions

    def _without_stranded(self, part: Candidates) -> DemandBounds:
        pair_mbps = np.zeros(self._bounds.pair_mbps.shape)
        pair_mbps[part.source, part.target] = self._bounds.pair_mbps[part.source, part.target]
        return DemandBounds(self._bounds.ingress_mbps, self._bounds.egress_mbps, pair_mbps)

    def first(self, fractions: list[Floats], budget: Budget) -> tuple[Floats, FailureWorstCase]:
        """The better of the mean of all optima and the one without failures; evenly spread if none."""
        trials = [self._candidates.even()]
        if fractions:
            trials = [self._candidates.whole(np.mean(fractions, axis=0)), fractions[0]]
        looked = [(trial, self.evaluate(trial)) for trial in trials]
        budget.spend(len(trials) * self.evaluation_s)
        # A pair that is stranded more often than it must be has no load and is no good: the mean spares it.
        return min(looked, key=lambda pair: (_stranded(pair[1]), pair[1].max_load))

    def step(self, best: Floats, worst: FailureWorstCase, box: float, budget: Budget) -> Floats | None:
        """The fractions within the box that are best where loads are linear; None without an answer."""
        entries, upper = Entries(), list[float]()
        floor = _NEAR * worst.max_load
        paths, pairs = self._candidates.path_count, self._candidates.pair_count
        none = np.zeros(paths, bool)
        for hit, case in [
            (none, worst.normal),
            *zip(self._hit, (c.worst_case for c in worst.cases), strict=True),
        ]:
            for arc in np.flatnonzero(case.load >= floor).tolist():
                slope, constant = self._slope(best, hit, case, arc)
                used = np.flatnonzero(slope)
                entries.add(pairs + len(upper), np.append(used, paths), np.append(slope[used], -1.0))
                upper.append(-constant)
        entries.add(self._pair_of_path, np.arange(paths), 1.0)
        program = Program(
            entries.matrix(pairs + len(upper), paths + 1),
            np.append(np.ones(pairs), np.full(len(upper), -np.inf)), np.append(np.ones(pairs), upper),
            cost=np.append(np.zeros(paths), 1.0),
            # The smallest fraction stays above nothing where it was so, lest a failure strand the pair.
            lower=np.append(np.maximum(best - box, np.minimum(best, _KEPT)), 0.0),
            upper=np.append(np.minimum(best + box, 1.0), np.inf),
        )  # fmt: skip
        answer = solve_simplex(program, budget)
        if answer.ending != "optimal":
            return None
        return self._candidates.whole(np.maximum(answer.primal[:paths], 0.0))

    def _slope(self, best: Floats, hit: Ints, case: WorstCase, arc: int) -> tuple[Floats, float]:
        """Load of an arc under its worst matrix, as slope x + constant near the best fractions."""
        traffic = case.traffic_mbps[[arc], :].toarray()[0][self._pair_of_path]
        over = np.zeros(self._candidates.path_count)
        over[self._incidence.indices[self._incidence.indptr[arc] : self._incidence.indptr[arc + 1]]] = 1.0
        after, _ = fractions_after(self._candidates, best, hit)
        alive = np.where(hit, 0.0, best)
        left = self._candidates.sums(alive)[self._pair_of_path]
        # y_p = x_p / (sum of the survivors' x): each x_q takes y_p from the load of its pair, adds its own.
        mean = self._candidates.sums(after * over)[self._pair_of_path]
        living = ~hit & (left > 0)
        slope = np.where(living, traffic * (over - mean) / np.where(living, left, 1.0), 0.0)
        slope /= self._network.capacity_mbps[arc]
        value = float((after * over) @ traffic) / self._network.capacity_mbps[arc]
        return slope, value - float(slope @ best)


def _stranded(worst: FailureWorstCase) -> int:
    return sum(len(case.stranded) for case in worst.cases)
