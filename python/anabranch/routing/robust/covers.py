"""The least cost of a level: a lower bound for `optimal` from covers of a few links.

Fractions make the bound of its mixed program 0: a pair is a bit on each path, and each of these bits counts
as the pair on one path alone. What whole pairs put on a link is more than their bits say. They alone, without
the others, load it up to the level at most, and the dual of the worst case of whole pairs has whole numbers
(`single_path_bounds`): the link covers them by some rows and columns of the traffic matrix, R_i or C_j each,
and some pairs, w_ij each. So y_k of the pairs on the link is at most r_i + y_j + q_ij, all zero or one, whose
sum at their prices is at most the highest load under the level that whole pairs can have.

First it is asked whether all pairs can be on one path with such covers. If not, the level costs at least
the cheapest pair, and an integer program counts how many pairs must have several paths: the cheapest that
many are the bound. Each pair with several paths puts load on the links, too; that it counts for nothing here
makes the bound lower, not wrong. With all links this is hopeless, with a few of them quickly decided: those
whose prices are highest where the load is least, in one direction, and the same in the other. Pairs that have
a path around the links cost nothing there and are left out. The bounds of the two directions are added, for
each pair counts in one of them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .budget import Budget
from .dual_program import DualProgram
from .highs import solve_interior
from .mixed import HoseProgram, MixedAnswer, MixedSolver
from .model import Candidates, Floats, Ints
from .problem import RoutingProblem
from .single_path_bounds import attainable_loads, next_below

_SIZES = (5, 9)
"""Links in a set, one size after the other."""
_WORK = 0.3
"""What these programs take of the time that `mixed` counts for larger ones: 0.1 to 0.4 measured."""
_MOST_LINES = 30
"""Rows and columns of the traffic matrix on a link, up to which they are counted."""
_WHOLE_ABOVE = 1e-3
"""By how much a count may be above a whole number and count as it, for rounding."""
_ABOVE = 3e-6
"""By which part a load may be above the level and count as within it, for rounding."""


def cover_bound(problem: RoutingProblem, level: float, weight: Floats, budget: Budget) -> float:
    """A cost that no choice of pairs with several paths is below, if the load is to be at most this level.

    Args:
        problem: with candidates of every pair that may have traffic.
        level: the highest worst-case load allowed.
        weight: cost of each pair that is not on one path, shape (pairs,).
        budget: what work may be done; is spent.

    Raises:
        SolverError: the solver failed.
    """
    attainable = attainable_loads(problem.network, problem.bounds)
    above = level * (1 + _ABOVE)
    most = above if attainable is None else next_below(above, attainable) * (1 + _ABOVE)
    used = _used(problem)
    sets = _dear_links(problem, used, budget)
    forth, back = (used[:, links].sum(axis=1) for links in sets)
    groups = (forth >= back, back > forth)
    found, proved = [0.0, 0.0], [False, False]
    largest: list[_Covers | None] = [None, None]
    for size, side in itertools.product(_SIZES, (0, 1)):
        links = sets[side][:size]
        if budget.left_s <= 0 or not len(links):
            continue
        program = _Covers(problem, links, groups[side])
        largest[side] = program
        if program.needs_several(most, budget):
            proved[side] = True
            found[side] = max(found[side], program.cost_of(1, weight))
    for side, last in enumerate(largest):
        if last is not None and proved[side] and budget.left_s > 0:
            found[side] = max(found[side], last.cost_of(last.count(most, budget), weight))
    return sum(found)


def _used(problem: RoutingProblem) -> NDArray[np.bool_]:
    """Whether some candidate of a pair crosses an arc, shape (pairs, arcs)."""
    candidates = problem.candidates
    used = np.zeros((candidates.pair_count, problem.network.arc_count), np.bool_)
    pair = np.repeat(candidates.pair_of_path(), np.diff(candidates.arc_start))
    used[pair, candidates.arcs] = True
    return used


def _dear_links(problem: RoutingProblem, used: NDArray[np.bool_], budget: Budget) -> tuple[Ints, Ints]:
    """Arcs that matter most for the least load, dearest first, and those of the other direction.

    Of two directions the one is taken that most pairs cross which cross those before it.
    """
    network, candidates = problem.network, problem.candidates
    program = DualProgram(problem, np.unique(candidates.arcs))
    dual = program.duals(solve_interior(program.program, budget))
    if dual is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    price, arcs = dual[0], np.arange(network.arc_count)
    dearest = np.zeros(int(network.edge.max()) + 1)
    np.maximum.at(dearest, network.edge, price)
    crossed = np.zeros(candidates.pair_count)
    forth, back = list[int](), list[int]()
    for edge in np.argsort(-dearest, kind="stable").tolist():
        if dearest[edge] <= 0 or len(forth) == max(_SIZES):
            break
        ends = arcs[network.edge == edge].tolist()
        first = max(ends, key=lambda arc: (float(crossed @ used[:, arc]), float(price[arc]), -arc))
        crossed += used[:, first]
        forth.append(first)
        back += [arc for arc in ends if arc != first]
    return np.array(forth, np.int64), np.array(back, np.int64)


class _Covers:
    """The integer program of some links and pairs: `HoseProgram` with paths and lines zero or one."""

    def __init__(self, problem: RoutingProblem, links: Ints, counts: NDArray[np.bool_]) -> None:
        self._network, self._bounds = problem.network, problem.bounds
        self._pairs, self._parts = _parts(problem, links, counts)

    def cost_of(self, several: int, weight: Floats) -> float:
        """What so many of these pairs cost at least, by the costs of all pairs, shape (pairs,)."""
        return float(np.sort(weight[self._pairs])[:several].sum())

    def needs_several(self, load: float, budget: Budget) -> bool:
        """Whether it is proved that whole pairs cannot have a load up to this with every pair on one path."""
        if self._parts is None:
            return False
        return self._run(self._parts, load, 0, budget).ending == "infeasible"

    def count(self, load: float, budget: Budget) -> int:
        """How many pairs have several paths at least, as far as it is proved; one is known to."""
        if self._parts is None:
            return 0
        bound = self._run(self._parts, load, self._parts.pair_count, budget).bound
        return max(1, math.ceil(bound - _WHOLE_ABOVE)) if math.isfinite(bound) else 1

    def _run(self, parts: Candidates, load: float, several: int, budget: Budget) -> MixedAnswer:
        """As few pairs with several paths as there can be: none, or from one up to so many."""
        allowed = budget.left_s / _WORK
        work = Budget(allowed)
        answer = self._solver(parts, load, several).run(work)
        budget.spend((allowed - work.left_s) * _WORK)
        if work.is_late:
            budget.late()
        return answer

    def _solver(self, parts: Candidates, load: float, several: int) -> MixedSolver:
        """The program; its last columns say whether a pair has several paths.

        Single pairs q need not be whole: that makes the bound no less valid, and the search is as fast.
        """
        pairs = parts.pair_count
        program = HoseProgram.of(RoutingProblem(self._network, self._bounds, parts), extra=pairs)
        width = len(program.upper)
        spread = program.load + 1 + np.arange(pairs)
        lines = program.load - (program.matrix.shape[0] - pairs - self._network.arc_count)
        counted, most = self._counts(program, parts, load)
        either = sparse.csr_array((np.ones(pairs), (np.arange(pairs), spread)), shape=program.matrix.shape)
        some = sparse.csr_array((np.ones(pairs), (np.zeros(pairs, np.int64), spread)), shape=(1, width))
        program = replace(program, matrix=sparse.csr_array(program.matrix + either)).with_rows(
            sparse.csr_array(sparse.vstack([counted, some])),
            np.append(np.full(len(most), -np.inf), float(several > 0)), np.append(most, float(several)),
        )  # fmt: skip
        cost = np.zeros(width)
        cost[spread] = 1.0
        # Presolve saves nothing here, and with it the work hangs more on the random numbers of the solver.
        solver = MixedSolver(program, cost, mip_heuristic_effort=0.0, presolve="off")
        solver.set_bounds(np.array([program.load]), np.zeros(1), np.array([load]))
        solver.set_bounds(spread, np.zeros(pairs), np.full(pairs, float(several > 0)))
        solver.set_whole(np.append(np.arange(lines), spread))
        return solver

    def _counts(
        self, program: HoseProgram, parts: Candidates, load: float
    ) -> tuple[sparse.csr_array, Floats]:
        """Rows for how many lines (rows and columns of the traffic matrix) and single pairs cover a link.

        At the least of their prices.
        """
        arcs, width = self._network.arc_count, len(program.upper)
        uses = program.matrix.shape[0] - parts.pair_count - arcs
        first = program.load - uses
        of_columns = sparse.coo_array(program.matrix[parts.pair_count + uses :, : program.load])
        index, columns = of_columns.coords
        line_price = min(self._bounds.ingress_mbps.min(), self._bounds.egress_mbps.min())
        pair_price = float(self._bounds.pair_mbps[parts.source, parts.target].min())
        rows, most = list[sparse.csr_array](), list[float]()
        for arc in np.unique(index).tolist():
            mine = columns[index == arc]
            allowed = load * float(self._network.capacity_mbps[arc])
            for lines, pairs, limit in _facets(allowed, float(line_price), pair_price):
                row = np.where(mine < first, lines, pairs)
                rows.append(sparse.csr_array((row, (np.zeros(len(mine), np.int64), mine)), shape=(1, width)))
                most.append(limit)
        if not rows:
            return sparse.csr_array((0, width)), np.empty(0)
        return sparse.csr_array(sparse.vstack(rows)), np.array(most)


def _facets(allowed: float, line: float, pair: float) -> list[tuple[float, float, float]]:
    """The hull of the whole (n, m) with n line + m pair <= allowed, as (a, b, c) of a n + b m <= c."""
    if not line > 0 or not pair > 0 or allowed / line > _MOST_LINES:
        return []
    most = int(allowed / line)
    corners = [(n, int((allowed - (n * line if n else 0.0)) / pair)) for n in range(most + 1)]
    corners.append((most, 0))
    facets = {(1.0, 0.0, float(most))}
    for left, right in itertools.combinations(corners, 2):
        a, b = left[1] - right[1], right[0] - left[0]
        limit = a * left[0] + b * left[1]
        if b > 0 and all(a * n + b * m <= limit for n, m in corners):
            facets.add((float(a), float(b), float(limit)))
    return sorted(facets)


def _parts(problem: RoutingProblem, links: Ints, counts: NDArray[np.bool_]) -> tuple[Ints, Candidates | None]:
    """The pairs that cannot avoid the links, and what their candidates are on them; no whole paths.

    A part that has another one within it is left out: that one loads less.
    """
    candidates = problem.candidates
    inside = np.zeros(problem.network.arc_count, np.bool_)
    inside[links] = True
    pairs, of_pairs = list[int](), list[list[list[int]]]()
    for pair in np.flatnonzero(counts).tolist():
        span = range(int(candidates.path_start[pair]), int(candidates.path_start[pair + 1]))
        parts = {frozenset(arc for arc in candidates.path(path) if inside[arc]) for path in span}
        if frozenset() in parts:
            continue
        pairs.append(pair)
        least = (part for part in parts if not any(other < part for other in parts))
        of_pairs.append(sorted(sorted(part) for part in least))
    ends = candidates.pairs()
    made = Candidates.of_parts([ends[pair] for pair in pairs], of_pairs) if pairs else None
    return np.array(pairs, np.int64), made
