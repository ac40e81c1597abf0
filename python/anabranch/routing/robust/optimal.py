"""Robust-optimal selection: which pairs stay on one path, and which, to lose least TCP throughput.

In place of the paper's rule (the top X percent by delay, each on its shortest path) a mixed integer program
chooses: a pair that is not on one path costs what spreading it evenly over its candidates is predicted to
cost, and the worst-case load stays at or below a level. Fractions of the pairs with several paths are free.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .budget import Budget, Status
from .errors import RoutingError, SolverError
from .local_search import SinglePathSearch
from .mixed import HoseProgram, MixedSolver
from .model import Candidates, DemandBounds, Floats, FlowNetwork, Ints, TrafficSplit, WorstCase
from .problem import RoutingProblem
from .selection import SelectionError, path_delay_ms
from .single_lp import single_lp
from .single_path import single_path_routing
from .throughput import PAPER_CONNECTION, Connection, pair_throughput_mbps, throughput_mbps
from .worst_case import worst_case

_WHOLE = 1 - 1e-6
"""Fractions from here on count as all of a pair's traffic."""
_ROUNDS = 8
"""Linear programs of the heuristic that makes fractions sparse."""
_SOFT = 0.02
"""Fraction below which a path is cheap no longer to give up: epsilon of the reweighting."""


@dataclass(frozen=True, eq=False)
class OptimalSelection:
    """A routing with a load up to the level, and what its pairs with several paths cost.

    The cost of a pair is fixed beforehand, by even shares; that is what the bound is for. What the routing's
    own fractions are predicted to give is `throughput_mbps`.
    """

    routing: TrafficSplit
    worst_case: WorstCase
    level: float
    single: NDArray[np.bool_]
    """Pairs with all their traffic on one path, shape (pairs,)."""
    weight_mbps: Floats
    """What each pair costs if it is not, shape (pairs,)."""
    lost_bound_mbps: float
    """No selection at this level costs less."""
    throughput_mbps: Floats
    """Predicted TCP throughput of one connection of each pair, shape (pairs,)."""
    status: Status
    iterations: int
    """Linear and mixed programs solved."""
    cpu_s: float
    """CPU time of all threads, in seconds."""

    @property
    def load(self) -> float:
        """The worst-case maximum link load t."""
        return self.worst_case.max_load

    @property
    def lost_mbps(self) -> float:
        """Cost of all pairs with several paths."""
        return float(self.weight_mbps[~self.single].sum())

    @property
    def gap(self) -> float:
        """(cost - bound) / cost: by which part the least cost may be lower."""
        lost = self.lost_mbps
        return (lost - self.lost_bound_mbps) / lost if lost else 0.0

    def or_better(
        self,
        network: FlowNetwork,
        bounds: DemandBounds,
        routing: TrafficSplit,
        connection: Connection = PAPER_CONNECTION,
    ) -> OptimalSelection:
        """The selection, or a routing over some of its candidates that is within the level and costs less.

        Of equal cost the one with fewer split pairs is better.
        """
        candidates, _ = self.routing.by_paths
        other = over(network, candidates, routing)
        worst = worst_case(network, bounds, other)
        single = _singles(candidates, np.asarray(other.fraction))
        lost = float(self.weight_mbps[~single].sum())
        here = self.lost_mbps, int((~self.single).sum())
        if worst.max_load > self.level * (1 + 1e-6) or (lost, int((~single).sum())) >= here:
            return self
        return replace(
            self, routing=other, worst_case=worst, single=single,
            lost_bound_mbps=min(self.lost_bound_mbps, lost),
            throughput_mbps=throughput_mbps(network, other, connection),
        )  # fmt: skip

    @property
    def mean_throughput_mbps(self) -> float:
        """Predicted TCP throughput of a connection, on average over the pairs."""
        return float(self.throughput_mbps.mean())


def even_split_loss_mbps(
    network: FlowNetwork, candidates: Candidates, connection: Connection = PAPER_CONNECTION
) -> Floats:
    """The predicted loss of each pair over all its candidates in equal shares, in Mbps."""
    delay_ms = path_delay_ms(network, candidates)
    return np.array(
        [
            connection.application_mbps
            - pair_throughput_mbps(delay_ms[first:end], np.full(end - first, 1 / (end - first)), connection)
            for first, end in itertools.pairwise(candidates.path_start.tolist())
        ]
    )


def robust_optimal(
    network: FlowNetwork,
    bounds: DemandBounds,
    candidates: Candidates,
    level: float,
    *,
    connection: Connection = PAPER_CONNECTION,
    weight_mbps: ArrayLike | None = None,
    tolerance: float = 1e-6,
    time_limit_s: float | Budget = 60.0,
    steps: int = 10_000,
    seed: int = 0,
    begin: TrafficSplit | None = None,
) -> OptimalSelection:
    """The routing that keeps pairs on one path at least cost, with a worst-case load up to the level.

    Args:
        network: the network.
        bounds: the demand bounds.
        candidates: paths of every pair that may have traffic.
        level: the highest worst-case load allowed.
        connection: what sends, one for each pair.
        weight_mbps: cost of each pair with several paths; left out: `even_split_loss_mbps`.
        tolerance: largest gap between cost and bound, as a part of the cost.
        time_limit_s: work (see `budget`), or the budget of a caller; over, the status is `time-limit`.
        steps: of the local search that looks for a routing with one path for every pair.
        seed: of the local search.
        begin: a routing to begin with, over some of the candidates.

    Raises:
        BoundsError: a pair that may have traffic has no candidates.
        CandidateError: candidates that are no paths.
        CapacityError: a candidate over a link without capacity.
        SelectionError: no routing has a load as low as the level; or a level or weights that are none.
        SolverError: the solver failed, or found no routing within the level before time was over.
    """
    budget = Budget.of(time_limit_s)
    if not level > 0:
        raise SelectionError("level", f"{level}", "give the highest load allowed, above 0")
    asked = RoutingProblem.checked(network, bounds, candidates)
    costs = even_split_loss_mbps(network, candidates, connection) if weight_mbps is None else weight_mbps
    weight = _checked(np.asarray(costs, np.float64), candidates.pair_count)
    spread = single_lp(network, bounds, candidates, time_limit_s=budget)
    if spread.lower_bound > level * (1 + tolerance):
        raise SelectionError(
            "level", f"no fractions over the candidates have a worst-case load up to {level}",
            f"the least possible is {spread.load:.6g}; allow it, or give more candidates",
        )  # fmt: skip
    problem = _Problem(asked, level, weight, budget)
    problem.offer(spread.routing)
    if begin is not None:
        problem.offer(over(network, candidates, begin))
    shortest = single_path_routing(network, candidates, tuple(candidates.path_start[:-1].tolist()))
    programs = problem.improve(shortest)
    if problem.is_open and steps > 0:
        # The better start where nearly every pair can have one path; where not, much work for little.
        searched = SinglePathSearch(asked, seed).run(level * (1 + 1e-9), steps, budget).path
        programs += problem.improve(single_path_routing(network, candidates, searched))
    programs += problem.sparse()
    bound = 0.0
    if problem.is_open:
        programs, bound = programs + 1, problem.prove(tolerance)
    routing, worst = problem.result(spread.load)
    single = _singles(candidates, np.asarray(routing.fraction))
    bound = min(bound, float(weight[~single].sum()))
    met = problem.lost - bound <= tolerance * problem.lost
    return OptimalSelection(
        routing, worst, level, single, weight, bound, throughput_mbps(network, routing, connection),
        "optimal" if met else budget.stopped, spread.iterations + programs, budget.cpu_s,
    )  # fmt: skip


def _checked(weight: Floats, pairs: int) -> Floats:
    """The costs of pairs, if they are any."""
    if weight.shape != (pairs,) or not ((weight >= 0) & np.isfinite(weight)).all():
        raise SelectionError("weight_mbps", "are no costs", "one number for each pair, 0 or more")
    return weight


def over(network: FlowNetwork, candidates: Candidates, routing: TrafficSplit) -> TrafficSplit:
    """A routing over some of these candidates as one over all of them.

    Raises:
        RoutingError: it uses a path that is none of them.
    """
    paths, fraction = routing.by_paths
    number = {
        (int(pair), tuple(candidates.path(path))): path
        for path, pair in enumerate(_keys(network, candidates)[candidates.pair_of_path()])
    }
    made = np.zeros(candidates.path_count)
    for path, pair in enumerate(_keys(network, paths)[paths.pair_of_path()]):
        place = number.get((int(pair), tuple(paths.path(path))))
        if place is not None:
            made[place] += fraction[path]
        elif fraction[path] > 0:
            raise RoutingError("routing", f"path {paths.path(path)} is no candidate", "take its candidates")
    return candidates.routing(network.arc_count, made)


def _keys(network: FlowNetwork, candidates: Candidates) -> Ints:
    """A number for each pair, by its nodes."""
    return np.asarray(candidates.source * len(network.nodes) + candidates.target)


def _singles(candidates: Candidates, fraction: Floats) -> NDArray[np.bool_]:
    """Pairs with all their traffic on one path."""
    return np.asarray(np.maximum.reduceat(fraction, candidates.path_start[:-1]) >= _WHOLE)


class _Problem:
    """The mixed program of one level, and the best routing found for it."""

    def __init__(self, asked: RoutingProblem, level: float, weight: Floats, budget: Budget) -> None:
        self._asked, self._candidates = asked, asked.candidates
        self._level, self._weight, self._budget = level, weight, budget
        self._best: tuple[TrafficSplit, WorstCase] | None = None
        self._paths = np.arange(self._candidates.path_count)
        self._path_weight = weight[self._candidates.pair_of_path()]
        self.lost = np.inf
        """Cost of the best routing."""

    def offer(self, routing: TrafficSplit) -> None:
        """Take a routing that the evaluator finds within the level, if it costs less."""
        routing.check(self._asked.network)
        worst = self._asked.worst(routing, self._budget)
        single = _singles(self._candidates, np.asarray(routing.fraction))
        lost = float(self._weight[~single].sum())
        if worst.max_load <= self._level * (1 + 1e-6) and lost < self.lost:
            self._best, self.lost = (routing, worst), lost

    def result(self, least: float) -> tuple[TrafficSplit, WorstCase]:
        """The best routing.

        Raises:
            SolverError: there is none.
        """
        if self._best is None:
            raise SolverError(
                "robust-optimal", f"no routing with a load up to {self._level} before time was over",
                f"the best found has {least:.6g}: allow more time, or that load",
            )  # fmt: skip
        return self._best

    @property
    def is_open(self) -> bool:
        """Whether something may cost less, and there is work left to look for it."""
        return self.lost > 0 and self._budget.left_s > 0

    def improve(self, alone: TrafficSplit) -> int:
        """Offer a routing with one path for each pair, and if that is above the level one near to it.

        Returns how many programs that took.
        """
        self.offer(alone)
        return self._around(alone) if self.is_open else 0

    def _around(self, alone: TrafficSplit) -> int:
        """Give back their paths to the pairs on the most loaded links, as few as make the level possible."""
        candidates = self._candidates
        loads = self._asked.worst(alone).load
        fraction = np.asarray(alone.fraction)
        solver = self._solver()
        solver.set_bounds(self._paths, fraction, fraction)
        for done, part in enumerate(np.linspace(1.0, 0.0, _ROUNDS + 1)):
            free = (alone.share @ (loads > part * self._level * (1 + 1e-9))) > 0
            columns = self._paths[free[candidates.pair_of_path()]]
            solver.set_bounds(columns, np.zeros(len(columns)), np.ones(len(columns)))
            solver.set_cost(columns, self._path_weight[columns] * (1 - fraction[columns]))
            answer = solver.run(self._budget)
            if answer.ending == "optimal":
                fraction = self._fractions(answer.primal)
                self.offer(self._asked.routing(fraction))
                return done + 1 + self._fix(solver, fraction)
            if answer.ending == "time-limit":
                break
        return done + 1

    def _solver(self) -> MixedSolver:
        """The program at the level, with fractions."""
        program = HoseProgram.of(self._asked)
        solver = MixedSolver(program, np.zeros(len(program.upper)), solver="simplex")
        solver.set_bounds(np.array([program.load]), np.zeros(1), np.array([self._level]))
        return solver

    def sparse(self) -> int:
        """Offer few fractions by linear programs, each dearer where the last one had little; then by pair.

        A path with fraction x costs weight / (x + epsilon) in the next program, a step of the minimisation of
        the concave sum of weight log(x + epsilon) (reweighting after Candes, Wakin and Boyd 2008).
        """
        if not self.is_open:
            return 0
        solver = self._solver()
        fraction = self._fractions(self._candidates.even())
        for done in range(_ROUNDS):
            solver.set_cost(self._paths, self._path_weight / (fraction + _SOFT))
            answer = solver.run(self._budget)
            if answer.ending != "optimal":
                return done + 1
            before, fraction = fraction, self._fractions(answer.primal)
            self.offer(self._asked.routing(fraction))
            if np.abs(before - fraction).max() < 1e-6:
                break
        return done + 1 + self._fix(solver, fraction)

    def _fix(self, solver: MixedSolver, fraction: Floats) -> int:
        """Put pairs on one path for good, single ones first, then dear ones, while a routing remains."""
        programs = 0
        single = _singles(self._candidates, fraction)
        for pair in np.lexsort((-self._weight, ~single)).tolist():
            first, end = self._candidates.path_start[pair : pair + 2].tolist()
            columns = np.arange(first, end)
            for choice in (-fraction[first:end]).argsort(kind="stable").tolist():
                lower = np.zeros(end - first)
                lower[choice] = 1.0
                solver.set_bounds(columns, lower, lower)
                if single[pair]:
                    break
                answer = solver.run(self._budget)
                programs += 1
                if answer.ending == "optimal":
                    fraction = self._fractions(answer.primal)
                    self.offer(self._asked.routing(fraction))
                    single = single | _singles(self._candidates, fraction)
                    break
                if answer.ending != "infeasible":
                    return programs
            else:
                solver.set_bounds(columns, np.zeros(end - first), np.ones(end - first))
        return programs

    def prove(self, tolerance: float) -> float:
        """Solve the mixed program, begun at the best routing; its bound of the cost."""
        paths = self._candidates.path_count
        program = HoseProgram.of(self._asked, extra=paths)
        whole = program.load + 1 + self._paths
        # x_p >= y_p, and y_p = 1 says that the pair is on path p alone.
        both = np.concatenate([self._paths, self._paths])
        link = sparse.csr_array(
            (np.repeat([1.0, -1.0], paths), (both, np.concatenate([self._paths, whole]))),
            shape=(paths, len(program.upper)),
        )
        program = program.with_rows(link, np.zeros(paths), np.full(paths, np.inf))
        cost = np.zeros(len(program.upper))
        cost[whole] = -self._path_weight
        solver = MixedSolver(program, cost, mip_rel_gap=0.0, mip_abs_gap=tolerance * self._weight.sum() / 10)
        solver.set_bounds(np.array([program.load]), np.zeros(1), np.array([self._level]))
        solver.set_whole(whole)
        if self._best is not None:
            fraction = np.asarray(self._best[0].fraction)
            begin = np.concatenate([fraction, (fraction >= _WHOLE).astype(np.float64)])
            solver.start_from(np.concatenate([self._paths, whole]), begin)
        answer = solver.run(self._budget)
        if len(answer.primal):
            fraction = answer.primal[:paths].copy()
            alone = answer.primal[whole] > 0.5
            fraction[alone] = 1.0
            self.offer(self._asked.routing(self._fractions(fraction)))
        return max(float(self._weight.sum()) + answer.bound, 0.0)

    def _fractions(self, primal: Floats) -> Floats:
        """Fractions of the paths from a point of the program, without dust and with sum 1."""
        fraction = np.where(primal[: len(self._paths)] < 1e-7, 0.0, primal[: len(self._paths)])
        return self._candidates.whole(fraction)
