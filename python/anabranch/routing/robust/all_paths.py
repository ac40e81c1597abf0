"""Fixed robust routing over all paths by column generation.

The program with duals knows a few paths of each pair. Its dual values price every arc for every pair; a path
that is cheaper than all the known ones of its pair joins, and the cheapest of all paths prove a lower bound
over all paths, known or not. What the first paths are decides how many rounds it takes: each is the shortest
when the arcs of those before it are made longer, so that they keep apart.

On larger networks nearly every link joins, and the program is too large for this. There the best routing
through intermediate nodes comes first (`two_phase`), and the optimum over the parts of the network between
which it finds no way around (`partition`). The two often meet; otherwise column generation goes on from them.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
from scipy import sparse

from .bound import AllPaths, Prices
from .budget import SEARCH_S, Budget, Status
from .cuts import cut_bound
from .dual_program import Mirror, mirror_of_arcs
from .errors import SolverError
from .master import SMALL, Incumbent, start, step
from .model import Candidates, DemandBounds, FlowNetwork, Ints, Solution
from .partition import Partition
from .problem import RoutingProblem
from .trees import Trees
from .two_phase import two_phase
from .worst_case import check_connected, load_of_shares

FIRST_PATHS = 6
"""Paths of each pair to begin with, at most."""

_PENALTY = 1.0
"""Hops by which an arc becomes longer with each path over it."""

_TIE = 1e-9
"""What an arc costs against ties, as a part of the mean cost of a pair."""

_MOST_PARTS = 8
"""Parts of a network whose optimum bounds that of the network."""

Pool = dict[tuple[int, int], dict[tuple[int, ...], None]]
"""The known paths of each pair, in the order in which they came."""


def all_paths(
    network: FlowNetwork,
    bounds: DemandBounds,
    *,
    tolerance: float = 1e-6,
    time_limit_s: float | Budget = math.inf,
) -> Solution:
    """The routing over all paths with the least worst-case load.

    Args:
        network: the network; arcs without capacity are not used.
        bounds: the demand bounds.
        tolerance: largest gap between load and bound, as a part of the load.
        time_limit_s: work (see `budget`) after which the best so far is returned, with status
            `time-limit`; or the budget of a caller.

    Raises:
        BoundsError: a pair that may have traffic has no path.
        SolverError: the solver failed.
    """
    budget = Budget.of(time_limit_s)
    check_connected(network, bounds)
    trees = Trees.find(network, bounds)
    if trees is None:
        return _solved(network, bounds, budget, tolerance)
    # Half of the tolerance is left for the way back.
    core = _solved(network, trees.bounds, budget, tolerance / 2)
    routing = trees.whole(network, bounds, core.routing)
    worst = load_of_shares(network, bounds, routing.source, routing.target, routing.share)
    lower = max(core.lower_bound, float(worst.load[trees.arcs].max()))
    status: Status = "optimal" if worst.max_load - lower <= tolerance * worst.max_load else core.status
    return Solution(routing, worst, lower, status, core.iterations, budget.cpu_s)


def _solved(
    network: FlowNetwork, bounds: DemandBounds, budget: Budget, tolerance: float, *, part: bool = False
) -> Solution:
    """The same for a network without trees that count as one node; ``part`` says that it is one of parts."""
    opposite = mirror_of_arcs(network, bounds)
    cheapest = AllPaths(network)
    pool = _first_paths(network, bounds, cheapest, opposite)
    problem = RoutingProblem(network, bounds, _candidates(network, pool))
    best, links = start(problem, budget)
    programs = 0
    if part or len(problem.candidates.arcs) <= SMALL:
        links = np.unique(problem.candidates.arcs)
    else:
        with suppress(SolverError):  # Columns go on without it.
            programs = _through_intermediates(problem, best, budget, tolerance)
    if not best.within(tolerance):
        best.lower_bound = max(best.lower_bound, cut_bound(network, bounds))
    status: Status = "optimal"
    while not best.within(tolerance):
        candidates = problem.candidates
        mirror = None if opposite is None else Mirror.find(problem)
        done = step(problem, links, best, budget, mirror=mirror, fill=True)
        programs += 1
        if done.prices is not None:
            tie = _TIE * best.worst_case.max_load / candidates.pair_count
            cost, paths = cheapest.cheapest(done.prices, tie)
            budget.spend(SEARCH_S * len(paths))
            best.lower_bound = max(best.lower_bound, float(cost.sum()))
            # Those that are cheaper than all the known ones of their pair.
            prices = np.minimum.reduceat(done.prices.of_paths(candidates), candidates.path_start[:-1])
            pairs = candidates.pairs()
            for pair in np.flatnonzero(cost < prices - 1e-9 * prices.mean()).tolist():
                _add(pool, pairs[pair], paths[pair], opposite)
            problem = replace(problem, candidates=_candidates(network, pool))
        if best.within(tolerance):
            break
        if budget.left_s <= 0 or done.ending == "time-limit":
            status = budget.stopped
            break
        if problem.candidates.path_count == candidates.path_count and len(done.links) == len(links):
            raise SolverError(
                "all-paths", f"stalled at a gap above {tolerance}", "ask for a larger tolerance"
            )
        links = done.links
    return best.solution(status, programs, budget)


def _through_intermediates(problem: RoutingProblem, best: Incumbent, budget: Budget, tolerance: float) -> int:
    """Offer the best routing through intermediates, and bound by the parts that it shows; the programs."""
    network, bounds = problem.network, problem.bounds
    phases = two_phase(network, bounds, budget, tolerance)
    if phases.routing is not None:
        best.offer(phases.routing, problem.worst(phases.routing, budget))
    smaller = Partition.find(network, bounds, phases.weight, _MOST_PARTS)
    if smaller is None or best.within(tolerance):
        return phases.programs
    bound = _solved(smaller.network, smaller.bounds, budget, tolerance / 2, part=True)
    best.lower_bound = max(best.lower_bound, bound.lower_bound)
    return phases.programs + bound.iterations


def _first_paths(
    network: FlowNetwork, bounds: DemandBounds, cheapest: AllPaths, opposite: Ints | None
) -> Pool:
    source, target = bounds.pairs()
    pool: Pool = {pair: {} for pair in zip(source.tolist(), target.tolist(), strict=True)}
    uses = np.zeros((len(source), network.arc_count))
    for _ in range(FIRST_PATHS):
        lengths = Prices(source, target, sparse.csr_array(uses * _PENALTY))
        _, paths = cheapest.cheapest(lengths, 1.0)
        for pair, path in enumerate(paths):
            uses[pair, path] += 1.0
            _add(pool, (int(source[pair]), int(target[pair])), path, opposite)
    return pool


def _add(pool: Pool, pair: tuple[int, int], path: list[int], opposite: Ints | None) -> None:
    """Add a path, and its mirror image where there is one."""
    pool[pair][tuple(path)] = None
    if opposite is not None:
        pool[pair[1], pair[0]][tuple(opposite[path[::-1]].tolist())] = None


def _candidates(network: FlowNetwork, pool: Pool) -> Candidates:
    return Candidates.from_paths(network, {pair: list(paths) for pair, paths in pool.items()})
