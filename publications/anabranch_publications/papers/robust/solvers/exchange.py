"""Fixed robust routing over candidate paths by the exchange method: a master program over growing matrices.

The master knows (5) for some links and matrices; the evaluator finds, by eqs. (6) to (8), the matrices that
the master's routing has not been prepared for. Each joins for the link that it overloads. The next routing to
be looked at lies between the best one and the master's, which overshoots: in-out separation, Ben-Ameur and
Neto, Acceleration of cutting-plane and column generation algorithms, 2007.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from anabranch.routing.robust.bound import prices
from anabranch.routing.robust.budget import Budget, Status
from anabranch.routing.robust.errors import SolverError
from anabranch.routing.robust.highs import Answer, Entries, Program, solve_interior
from anabranch.routing.robust.master import start
from anabranch.routing.robust.model import (
    Candidates,
    DemandBounds,
    Floats,
    FlowNetwork,
    Ints,
    Solution,
    WorstCase,
)
from anabranch.routing.robust.problem import RoutingProblem

_TOWARDS_BEST = 0.8
"""Weight of the best routing in the one that is looked at."""


@dataclass(frozen=True)
class _Cut:
    """(5) for one link and matrix: paths over the link, and what the whole pair on them adds to its load."""

    arc: int
    paths: Ints
    weight: Floats

    def load(self, fraction: Floats) -> float:
        """Load of the link by these fractions of all paths."""
        return float(fraction[self.paths] @ self.weight)


def exchange(
    network: FlowNetwork,
    bounds: DemandBounds,
    candidates: Candidates,
    *,
    tolerance: float = 1e-6,
    time_limit_s: float | Budget = math.inf,
) -> Solution:
    """The fractions over candidate paths with the least worst-case load, as `single_lp` finds them.

    Arguments and errors are those of `single_lp`. On networks of more than some twenty nodes it is slower by
    orders of magnitude; it is here because it shares nothing with the program with duals but the evaluator.
    """
    budget = Budget.of(time_limit_s)
    problem = RoutingProblem.checked(network, bounds, candidates)
    best, _ = start(problem, budget)
    best_fraction = candidates.even()
    master = _Master(problem)
    master.add(master.cuts(best.worst_case))
    rounds = 0
    status: Status = "optimal"
    while True:
        answer = master.solve(budget)
        rounds += 1
        if answer is None:
            status = budget.stopped
            break
        fraction = candidates.whole(np.maximum(answer.primal[:-1], 0.0))
        load_found = float(answer.primal[-1])
        best.lower_bound = max(best.lower_bound, master.bound(answer))
        if best.within(tolerance):
            break
        # First between the two; where that finds nothing new, at the master's own routing.
        for weight in (_TOWARDS_BEST, 0.0):
            trial = weight * best_fraction + (1 - weight) * fraction
            routing = problem.routing(trial)
            worst = problem.worst(routing, budget)
            if worst.max_load < best.worst_case.max_load:
                best_fraction = trial
            best.offer(routing, worst)
            new = [cut for cut in master.cuts(worst) if cut.load(fraction) > load_found * (1 + 1e-9)]
            if new:
                break
        if best.within(tolerance):
            break
        if not new:
            raise SolverError("exchange", f"stalled at a gap above {tolerance}", "ask for a larger tolerance")
        master.add(new)
    return best.solution(status, rounds, budget)


class _Master:
    """min t with (4) for all pairs and (5) for the matrices found so far.

    It is solved by the interior point method: a point in the middle of the master's optimal solutions meets
    far more of the matrices yet unknown than a vertex does.
    """

    def __init__(self, problem: RoutingProblem) -> None:
        self._network, self._bounds, self._candidates = problem.network, problem.bounds, problem.candidates
        self._by_arc = sparse.csc_array(self._candidates.incidence(self._network.arc_count))
        self._pair_of_path = self._candidates.pair_of_path()
        self._cuts = list[_Cut]()

    def _cut(self, worst: WorstCase, arc: int) -> _Cut:
        paths = self._by_arc.indices[self._by_arc.indptr[arc] : self._by_arc.indptr[arc + 1]].astype(np.int64)
        row = slice(worst.traffic_mbps.indptr[arc], worst.traffic_mbps.indptr[arc + 1])
        pairs, traffic = worst.traffic_mbps.indices[row].astype(np.int64), worst.traffic_mbps.data[row]
        of_pair = np.zeros(self._candidates.pair_count)
        of_pair[pairs] = traffic / max(self._network.capacity_mbps[arc], np.finfo(float).tiny)
        used = of_pair[self._pair_of_path[paths]] > 0
        paths = paths[used]
        return _Cut(arc, paths, of_pair[self._pair_of_path[paths]])

    def cuts(self, worst: WorstCase) -> list[_Cut]:
        """(5) for each link under the matrix that loads it most."""
        cuts = (self._cut(worst, arc) for arc in range(self._network.arc_count))
        return [cut for cut in cuts if len(cut.paths)]

    def add(self, cuts: list[_Cut]) -> None:
        """Prepare for these matrices."""
        self._cuts += cuts

    def solve(self, budget: Budget) -> Answer | None:
        """The optimum for the matrices so far, or None when time is over."""
        if budget.left_s <= 0:
            return None
        paths, pairs = self._candidates.path_count, self._candidates.pair_count
        entries = Entries()
        entries.add(self._pair_of_path, np.arange(paths), 1.0)
        for number, cut in enumerate(self._cuts):
            entries.add(pairs + number, np.append(cut.paths, paths), np.append(cut.weight, -1.0))
        matrix = entries.matrix(pairs + len(self._cuts), paths + 1)
        lower, upper = np.full(matrix.shape[0], -np.inf), np.zeros(matrix.shape[0])
        lower[:pairs] = upper[:pairs] = 1.0
        cost = np.zeros(paths + 1)
        cost[-1] = 1.0
        answer = solve_interior(Program(matrix, lower, upper, cost), budget)
        return answer if answer.ending == "optimal" else None

    def bound(self, answer: Answer) -> float:
        """What the dual values of (5) prove: for each arc the mean of its matrices, weighted by them."""
        dual = np.maximum(-answer.row_dual[self._candidates.pair_count :], 0.0)
        weight = np.zeros(self._network.arc_count)
        entries = Entries()
        for cut, price in zip(self._cuts, dual.tolist(), strict=True):
            weight[cut.arc] += price
            pairs, first = np.unique(self._pair_of_path[cut.paths], return_index=True)
            entries.add(pairs, np.full(len(pairs), cut.arc), cut.weight[first] * price)
        of_uses = entries.matrix(self._candidates.pair_count, self._network.arc_count)
        source, target = self._candidates.source, self._candidates.target
        return prices(self._network, self._bounds, source, target, weight, of_uses).bound(self._candidates)
