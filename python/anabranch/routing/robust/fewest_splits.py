"""The fewest pairs with several paths, among routings of the least worst-case load: a second program.

Many routings have the least load, and a pair that is spread over several paths without need costs its TCP
connections throughput, for packets overtake each other. So the load of the first program becomes a limit, and
these come next, in this order: as few split pairs as possible, and as little difference of delay between the
paths of a pair.

The first is a mixed integer program (fixed-charge), which is hard in general. A vertex of the linear program
with this limit has few fractions, and fewer after some rounds in which a path is the dearer, the less it had
in the round before (Candes, Wakin and Boyd 2008). Then pairs are tried one by one, a local search looks for a
start nearer to whole paths, and branch and bound takes what work is left. A pair for which the linear program
is infeasible with any of its paths alone is split in every such routing: they are the bound, unless branch
and bound proves more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .alike import Alike
from .budget import AGAIN_S, Budget, Status
from .dual_program import DualProgram
from .local_search import SinglePathSearch
from .master import SMALL
from .mixed import HoseProgram, MixedEnding, MixedSolver
from .model import Floats, Ints, Solution, TrafficSplit, WorstCase
from .problem import RoutingProblem
from .selection import path_delay_ms

Outcome = Literal["feasible", "infeasible", "stopped"]
"""Of trials to put a pair on one path."""

WHOLE = 1 - 1e-6
"""Fractions from here on count as all of a pair's traffic."""
_DUST = 1e-7
"""Fractions up to this are what the solver leaves."""
_ROOM = 1e-6
"""By which part the load may be above that of the first program, for rounding, where its tolerance allows."""
_NEAR = 0.7
"""Links with this part of the load have rows from the start on networks where not all have."""
_LARGE = 200_000
"""Arcs in all candidates, above which nodes that the links cannot tell apart are treated alike (`alike`)."""
_ROUNDS = 6
"""Linear programs that make fractions sparse, at most."""
_SOFT = 0.02
"""Fraction below which a path is cheap no longer to give up: epsilon of the reweighting."""
_DELAY = 0.1
"""What the delay of a path counts, against its fraction."""
_STEPS = 1000
"""Steps of the local search before the linear program looks again."""
_FORCED, _FIXED, _LOOKED, _BRANCHED, _SEARCHED = 0.8, 0.7, 0.6, 0.25, 0.05
"""Parts of the work that are left when the test of single pairs, the trials pair by pair, a first local
search, branch and bound, and the local search end; the rest is for the delays."""


@dataclass(frozen=True, eq=False)
class Splits:
    """A routing of few split pairs, and what is proved of their number."""

    routing: TrafficSplit
    worst_case: WorstCase
    count: int
    """Pairs with several paths."""
    lower_bound: int
    """No routing over the same paths with this load has fewer."""
    delay_difference_ms: float
    """Between the longest and the shortest path in use, mean of the split pairs; 0 without any."""
    status: Status
    improved: bool
    """Whether the work allowed was enough for a look at other routings than the one given."""

    @property
    def gap(self) -> float:
        """(count - lower bound) / count: by which part the fewest may be fewer."""
        return (self.count - self.lower_bound) / self.count if self.count else 0.0


def fewest_splits(
    problem: RoutingProblem, first: TrafficSplit, ceiling: float, time_limit_s: float | Budget
) -> Splits:
    """The routing over the candidates with the fewest split pairs, and a load up to a ceiling.

    Args:
        problem: with the candidates of the routing.
        first: a routing to begin with, with a load up to the ceiling.
        ceiling: the highest worst-case load allowed.
        time_limit_s: work (see `budget`) after which the best so far is returned, with status
            `time-limit`; or the budget of a caller.

    Raises:
        RoutingError: the routing has no paths.
        SolverError: the solver failed.
    """
    budget = Budget.of(time_limit_s)
    _, fraction = first.by_paths
    whole = _Search(problem, np.asarray(fraction), ceiling, budget)
    if whole.count and not _by_groups(whole, budget):
        whole.run()
    met = whole.count <= whole.bound
    status: Status = "optimal" if met else budget.stopped
    return Splits(
        problem.routing(whole.fraction), whole.worst, whole.count, min(whole.bound, whole.count),
        whole.delay_difference_ms, status, met or whole.looked,
    )  # fmt: skip


def _by_groups(whole: _Search, budget: Budget) -> bool:
    """Search among routings that treat alike nodes alike; whether the program is so large that this was done.

    Others may have fewer split pairs, so that nothing is proved of their number.
    """
    alike = Alike.find(whole.problem) if len(whole.problem.candidates.arcs) > _LARGE else None
    if alike is None:
        return False
    candidates, inside = alike.problem.candidates, alike.path >= 0
    fraction = np.zeros(candidates.path_count)
    fraction[alike.path[inside]] = whole.fraction[inside]
    groups = _Search(
        alike.problem, candidates.whole(fraction), whole.ceiling, budget, alike.members(), whole.level
    )
    if groups.worst.max_load > whole.ceiling:  # What was given does not treat them alike.
        return False
    groups.run()
    whole.take(alike.fractions(groups.fraction))
    whole.looked = groups.looked
    return True


def ceiling_of(solution: Solution, tolerance: float) -> float:
    """The load that counts as that of the first program: a little room for rounding, within its tolerance."""
    room = solution.load * (1 + _ROOM)
    if solution.gap <= tolerance:
        room = min(room, solution.lower_bound / (1 - tolerance))
    return max(solution.load, room)


class _Search:
    """The program with the load as a limit, what is pinned in it, and the best routing found."""

    def __init__(
        self,
        problem: RoutingProblem,
        fraction: Floats,
        ceiling: float,
        budget: Budget,
        members: Ints | None = None,
        level: float | None = None,
    ) -> None:
        """The search from these fractions on.

        Args:
            problem: with candidates.
            fraction: to begin with, shape (paths,).
            ceiling: the highest worst-case load allowed.
            budget: what work may be done; is spent.
            members: so many pairs each pair stands for, shape (pairs,); left out, one.
            level: the limit of the load in the program; left out, half of the room above that of what is
                given is left for rounding.
        """
        self.problem = problem
        self._candidates = problem.candidates
        self._budget, self._searches = budget, 0
        candidates, count = problem.candidates, problem.candidates.path_count
        self._paths = np.arange(count)
        self._spans = list(itertools.pairwise(candidates.path_start.tolist()))
        self._delay_ms = path_delay_ms(problem.network, candidates)
        least = np.minimum.reduceat(self._delay_ms, candidates.path_start[:-1])
        self._extra_ms = self._delay_ms - least[candidates.pair_of_path()]
        self._lower, self._upper = np.zeros(count), np.ones(count)
        self._cost = np.zeros(count)
        self._needed = np.zeros(candidates.pair_count, np.bool_)
        self._ending: MixedEnding = "unknown"
        self.bound = 0
        self.looked = False
        self.fraction = candidates.whole(np.where(fraction < _DUST, 0.0, fraction))
        self.worst = problem.worst(problem.routing(self.fraction), budget)
        if self.worst.max_load > ceiling:  # The dust that is gone was needed.
            self.fraction = fraction
            self.worst = problem.worst(problem.routing(fraction), budget)
        self.ceiling = ceiling
        self.level = (ceiling + self.worst.max_load) / 2 if level is None else level
        self._members = np.ones(candidates.pair_count, np.int64) if members is None else members
        self.split = self._split(self.fraction)
        self._solver: MixedSolver | None = None

    @property
    def count(self) -> int:
        """Split pairs of the best routing."""
        return int(self._members[self.split].sum())

    @property
    def delay_difference_ms(self) -> float:
        """Between the paths in use of its split pairs, on average."""
        return self._rank(self.fraction, self.split)[1] / self.count if self.count else 0.0

    def run(self) -> None:
        """Look for fewer split pairs until none is left, or the work is done."""
        self._whole_program = len(self._candidates.arcs) <= SMALL
        self._set_links(self._first_links())
        self._sparse()
        begin_s = self._budget.left_s
        steps: tuple[tuple[Callable[[float], None], float], ...] = (
            (self._forced, _FORCED), (self._fix, _FIXED), (self._from_whole, _LOOKED),
            (self._branch, _BRANCHED), (self._from_whole, _SEARCHED),
        )  # fmt: skip
        for step, left in steps:
            if self.count <= self.bound or self._budget.left_s <= 0:
                break
            step(left * begin_s)
        if self.count and self._budget.left_s > 0:
            self._narrow()

    def _first_links(self) -> Ints:
        """The links with rows: on a small network all that any fractions overload, else those near that."""
        if not self._whole_program:
            return np.flatnonzero(self.worst.load >= _NEAR * self.ceiling)
        candidates, network = self._candidates, self.problem.network
        by_pair = sparse.csr_array(
            (np.ones(len(self._paths)), self._paths, candidates.path_start),
            shape=(candidates.pair_count, len(self._paths)),
        )
        most = sparse.csr_array(by_pair @ candidates.incidence(network.arc_count))
        most.data[:] = 1.0
        every = self.problem.worst(TrafficSplit(candidates.source, candidates.target, most), self._budget)
        return np.flatnonzero(every.load > self.ceiling * (1 - 1e-9))

    def _split(self, fraction: Floats) -> NDArray[np.bool_]:
        """Pairs with several paths."""
        return np.asarray(np.maximum.reduceat(fraction, self._candidates.path_start[:-1]) < WHOLE)

    def _differences(self, fraction: Floats) -> Floats:
        """Between the longest and the shortest path in use of each pair, in ms."""
        starts, used = self._candidates.path_start[:-1], fraction > _DUST
        longest = np.maximum.reduceat(np.where(used, self._delay_ms, -np.inf), starts)
        shortest = np.minimum.reduceat(np.where(used, self._delay_ms, np.inf), starts)
        return np.asarray(longest - shortest)

    def _rank(self, fraction: Floats, split: NDArray[np.bool_]) -> tuple[int, float]:
        """What is to be least: split pairs, then the sum of their differences of delay."""
        members = self._members[split]
        return int(members.sum()), round(float(self._differences(fraction)[split] @ members), 6)

    def _set_links(self, links: Ints) -> None:
        """These links have rows. A pair with a path around all of them takes it: it has no columns."""
        candidates = self._candidates
        crosses = np.zeros(self.problem.network.arc_count)
        crosses[links] = 1.0
        around = candidates.incidence(len(crosses)) @ crosses == 0
        free = np.logical_or.reduceat(around, candidates.path_start[:-1])
        order = np.lexsort((self._paths, self._delay_ms, ~around, candidates.pair_of_path()))
        self._apart = np.zeros(len(self._paths))
        self._apart[order[candidates.path_start[:-1]][free]] = 1.0
        inside = ~free[candidates.pair_of_path()]
        self._links, self._columns, self._solver = links, self._paths[inside], None
        self._column = np.where(inside, np.cumsum(inside) - 1, -1)

    def _program(self) -> MixedSolver:
        """The program, with its rows, pins and costs as they stand."""
        if self._solver is None:
            program, columns = self._rows(), np.arange(len(self._columns))
            self._solver = MixedSolver(
                program, np.zeros(len(program.upper)), most_s=AGAIN_S,
                solver="simplex", primal_feasibility_tolerance=1e-9,
            )  # fmt: skip
            self._solver.set_bounds(np.array([program.load]), np.zeros(1), np.array([self.level]))
            self._solver.set_bounds(columns, self._lower[self._columns], self._upper[self._columns])
            self._solver.set_cost(columns, self._cost[self._columns])
        return self._solver

    def _rows(self) -> HoseProgram:
        """Eqs. (9) to (14) for the links that have rows and the pairs that need them."""
        inside = self._column >= 0
        asked = replace(self.problem, candidates=self._candidates.kept(inside))
        program = DualProgram(asked, self._links).program
        columns = program.matrix.shape[1]
        return HoseProgram(
            sparse.csr_array(program.matrix), program.row_lower, program.row_upper,
            np.full(columns, np.inf), columns - 1,
        )  # fmt: skip

    def _set_cost(self, cost: Floats) -> None:
        self._cost = cost
        if self._solver is not None:
            self._solver.set_cost(np.arange(len(self._columns)), cost[self._columns])

    def _pin(self, pair: int, lower: Floats, upper: Floats) -> None:
        """Bounds of the fractions of a pair."""
        first, end = self._spans[pair]
        self._lower[first:end], self._upper[first:end] = lower, upper
        if self._solver is not None and self._column[first] >= 0:
            self._solver.set_bounds(self._column[first:end], self._lower[first:end], self._upper[first:end])

    def _choose(self, pair: int, choice: int) -> None:
        """Put a pair on one path, by its place among those of the pair."""
        first, end = self._spans[pair]
        alone = np.zeros(end - first)
        alone[choice] = 1.0
        self._pin(pair, alone, alone)

    def _release(self, pair: int) -> None:
        first, end = self._spans[pair]
        self._pin(pair, np.zeros(end - first), np.ones(end - first))

    def _release_all(self) -> None:
        for pair in range(self._candidates.pair_count):
            self._release(pair)

    def _solve(self) -> Floats | None:
        """Fractions of least cost within the load, which are offered; None where there are none."""
        while True:
            primal = np.empty(0)
            if len(self._columns):
                answer = self._program().run(self._budget)
                self._ending, primal = answer.ending, answer.primal
                if answer.ending != "optimal":
                    return None
            fraction = self._fractions(primal)
            self.looked = True
            if self._whole_program and not self._is_better(fraction):
                return fraction
            above = self._offer(fraction)
            if not len(above):
                return fraction
            joining = np.setdiff1d(above, self._links)
            if not len(joining):
                self._ending = "unknown"
                return None
            self._set_links(np.union1d(self._links, joining))

    def _fractions(self, primal: Floats) -> Floats:
        """Fractions of the paths from a point of the program, without dust and with sum 1."""
        fraction = self._apart.copy()
        fraction[self._columns] = primal[: len(self._columns)]
        return self._candidates.whole(np.where(fraction < _DUST, 0.0, fraction))

    def _is_better(self, fraction: Floats) -> bool:
        return self._rank(fraction, self._split(fraction)) < self._rank(self.fraction, self.split)

    def take(self, fraction: Floats) -> None:
        """Take a routing that was found elsewhere if it is better and within the load."""
        self._offer(fraction)

    def _offer(self, fraction: Floats) -> Ints:
        """Take a routing if it is better and within the load; the links above it."""
        worst = self.problem.worst(self.problem.routing(fraction), self._budget)
        above = np.flatnonzero(worst.load > self.ceiling)
        if not len(above) and self._is_better(fraction):
            self.fraction, self.worst, self.split = fraction, worst, self._split(fraction)
        return above

    def _reweighted(self, fraction: Floats) -> None:
        """Fewer fractions from round to round, from these on."""
        weight = 1 + _DELAY * self._extra_ms / max(float(self._extra_ms.max()), 1e-12)
        weight = weight * self._members[self._candidates.pair_of_path()]
        for _ in range(_ROUNDS):
            self._set_cost(weight / (fraction + _SOFT))
            before, next_fraction = fraction, self._solve()
            if (
                next_fraction is None
                or not self._split(next_fraction).any()
                or np.abs(next_fraction - before).max() < 1e-6
            ):
                return
            fraction = next_fraction

    def _sparse(self) -> None:
        """A vertex with few fractions."""
        self._reweighted(self._candidates.even())

    def _forced(self, end_s: float) -> None:
        """Count the pairs that no single path is enough for; what comes up on the way is offered."""
        for pair in np.flatnonzero(self.split).tolist():
            if not self.split[pair]:
                continue
            outcome = self._tried(pair, end_s)
            self._release(pair)
            if outcome == "infeasible":
                self._needed[pair] = True
                self.bound += int(self._members[pair])
            elif outcome == "stopped":
                return

    def _tried(self, pair: int, end_s: float) -> Outcome:
        """Pin a pair to one path after the other until a routing is left: its pin stays."""
        first, end = self._spans[pair]
        for choice in (-self.fraction[first:end]).argsort(kind="stable").tolist():
            if self._budget.left_s <= end_s:
                return "stopped"
            self._choose(pair, choice)
            if self._solve() is not None:
                return "feasible"
            if self._ending != "infeasible":
                return "stopped"
        return "infeasible"

    def _fix(self, end_s: float) -> None:
        """Pin the pairs on one path, then the others one by one while a routing is left."""
        for pair in np.flatnonzero(~self.split).tolist():
            self._choose(pair, self._place(pair))
        tried = self._needed.copy()
        while len(open_pairs := np.flatnonzero(self.split & ~tried)):
            pair = int(open_pairs[0])
            tried[pair] = True
            outcome = self._tried(pair, end_s)
            if outcome != "feasible":
                self._release(pair)
            if outcome == "stopped":
                break
        self._release_all()

    def _place(self, pair: int) -> int:
        """The path of a pair with the largest fraction, by its place among those of the pair."""
        first, end = self._spans[pair]
        return int(self.fraction[first:end].argmax())

    def _from_whole(self, end_s: float) -> None:
        """From routings of whole paths near the best one: each is the start of linear programs."""
        self._searches += 1
        search = SinglePathSearch(self.problem, self._searches)
        search.choose([first + self._place(pair) for pair, (first, _) in enumerate(self._spans)])
        while self._budget.left_s > end_s and self.count > self.bound:
            walk = search.run(self.level, _STEPS, self._budget)
            whole = np.zeros(len(self._paths))
            whole[list(walk.path)] = 1.0
            if walk.excess <= 0:
                self._offer(whole)
                return
            before = self.count
            self._reweighted(whole)
            if self.count < before:
                self._fix(end_s)

    def _branch(self, end_s: float) -> None:
        """Branch and bound over which pair is on which path alone."""
        work_s = self._budget.left_s - end_s
        if work_s <= 0:
            return
        pair_of = self._candidates.pair_of_path()
        inside = self._column[self._candidates.path_start[:-1]] >= 0
        several = (np.diff(self._candidates.path_start) > 1) & ~self._needed & inside
        chosen = self._paths[several[pair_of]]
        if not len(chosen):
            return
        base, count = self._rows(), len(chosen)
        columns = base.matrix.shape[1]
        whole = columns + np.arange(count)
        matrix = sparse.csr_array(
            sparse.hstack([base.matrix, sparse.csr_array((base.matrix.shape[0], count))])
        )
        program = HoseProgram(
            matrix, base.row_lower, base.row_upper, np.append(base.upper, np.ones(count)), base.load
        )
        # x_p >= y_p, and y_p = 1 says that the pair is on path p alone.
        both = np.append(self._column[chosen], whole)
        link = sparse.csr_array(
            (np.repeat([1.0, -1.0], count), (np.tile(np.arange(count), 2), both)),
            shape=(count, columns + count),
        )
        cost = np.append(np.zeros(columns), -self._members[pair_of[chosen]].astype(np.float64))
        solver = MixedSolver(
            program.with_rows(link, np.zeros(count), np.full(count, np.inf)), cost,
            mip_rel_gap=0.0, mip_abs_gap=0.999, mip_feasibility_tolerance=1e-9,
            primal_feasibility_tolerance=1e-9,
        )  # fmt: skip
        solver.set_bounds(np.array([base.load]), np.zeros(1), np.array([self.level]))
        solver.set_whole(whole)
        begin = np.append(self.fraction[self._columns], (self.fraction[chosen] >= WHOLE).astype(np.float64))
        solver.start_from(np.append(np.arange(len(self._columns)), whole), begin)
        part = Budget(work_s)
        answer = solver.run(part)
        if answer.ending != "time-limit" or math.isfinite(answer.bound):  # It was begun.
            self._budget.spend(work_s - part.left_s)
        if len(answer.primal):
            # A whole number misses by the solver's tolerance, and so does the load: both are made exact.
            for path in chosen[answer.primal[whole] > 1 / 2].tolist():
                pair = int(pair_of[path])
                self._choose(pair, path - self._spans[pair][0])
            self._solve()
            self._release_all()
        needed = int(self._members[several | self._needed].sum()) + answer.bound
        if math.isfinite(needed):
            self.bound = min(max(self.bound, math.ceil(needed - 1e-6)), self.count)

    def _narrow(self) -> None:
        """Give split pairs the paths whose delays are nearest to each other, while a routing is left."""
        self._set_cost(self._extra_ms)
        for pair in np.flatnonzero(~self.split).tolist():
            self._choose(pair, self._place(pair))
        split, difference = np.flatnonzero(self.split).tolist(), self._differences(self.fraction)
        for pair in split:
            first, end = self._spans[pair]
            used = self._delay_ms[first:end][self.fraction[first:end] > _DUST]
            self._allow(pair, float(used.min()), float(used.max()))
        for pair in sorted(split, key=lambda pair: -difference[pair]):
            self._nearest(pair)

    def _allow(self, pair: int, least_ms: float, most_ms: float) -> None:
        """Leave a pair the paths whose delay is within these."""
        first, end = self._spans[pair]
        delay_ms = self._delay_ms[first:end]
        within = (delay_ms >= least_ms) & (delay_ms <= most_ms)
        self._pin(pair, np.zeros(end - first), within.astype(np.float64))

    def _nearest(self, pair: int) -> None:
        """Look for paths of a split pair with less difference of delay, the least first."""
        first, end = self._spans[pair]
        before, upper = float(self._differences(self.fraction)[pair]), self._upper[first:end].copy()
        delays = sorted(self._delay_ms[first:end].tolist())
        windows = itertools.combinations(delays, 2)
        for least_ms, most_ms in sorted(windows, key=lambda ends: (ends[1] - ends[0], ends)):
            if most_ms - least_ms >= before - 1e-9 or self._budget.left_s <= 0:
                break
            self._allow(pair, least_ms, most_ms)
            if self._solve() is not None and self._differences(self.fraction)[pair] < before:
                return
        self._pin(pair, np.zeros(end - first), upper)
