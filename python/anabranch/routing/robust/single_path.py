"""The least worst-case load with one path for every pair: local search, and an integer program as proof."""

from __future__ import annotations

import itertools

import numpy as np

from .budget import Budget, Status
from .local_search import SinglePaths, SinglePathSearch
from .mixed import HoseProgram, MixedSolver
from .model import Candidates, DemandBounds, Floats, FlowNetwork, Solution, TrafficSplit
from .problem import RoutingProblem
from .selection import SelectionError
from .single_lp import single_lp
from .single_path_bounds import attainable_loads, next_below, pair_count_bound, round_up
from .worst_case import worst_case


def least_single_path(
    network: FlowNetwork,
    bounds: DemandBounds,
    candidates: Candidates,
    *,
    tolerance: float = 1e-6,
    time_limit_s: float | Budget = 60.0,
    steps: int = 20_000,
    seed: int = 0,
) -> Solution:
    """One candidate for each pair, such that the worst-case load is least.

    The bound is the largest of three, each raised to a load that a link can have: the optimum with fractions
    over the same candidates, a count over cuts, and that of the integer program. The second holds for any
    paths, the others for these candidates: with all paths as candidates for any.

    Arguments and errors are those of `single_lp`; `steps` and `seed` are of the local search that comes
    before the integer program, and fewer than no steps are a SelectionError.
    """
    if steps < 0:
        raise SelectionError("steps", f"{steps} steps of local search", "give 0 or more")
    budget = Budget.of(time_limit_s)
    problem = RoutingProblem.checked(network, bounds, candidates)
    attainable = attainable_loads(network, bounds)
    spread = single_lp(network, bounds, candidates, time_limit_s=budget)
    lower = max(round_up(spread.lower_bound, attainable), pair_count_bound(network, bounds, attainable))
    search = SinglePathSearch(problem, seed)
    best = _search(search, lower, attainable, steps, budget, tolerance)
    path, programs = best.path, spread.iterations
    if best.load > lower * (1 + tolerance) and budget.left_s > 0:
        ceiling = next_below(best.load, attainable)
        better, proven = _improve(problem, ceiling, budget)
        programs += 1
        lower = max(lower, best.load if np.isinf(proven) else round_up(proven, attainable))
        path = path if better is None else better
    routing = single_path_routing(network, candidates, path)
    worst = worst_case(network, bounds, routing)
    lower = min(lower, worst.max_load)  # They may differ in the last digit.
    met = worst.max_load - lower <= tolerance * worst.max_load
    status: Status = "optimal" if met else budget.stopped
    return Solution(routing, worst, lower, status, programs, budget.cpu_s)


def single_path_routing(network: FlowNetwork, candidates: Candidates, path: tuple[int, ...]) -> TrafficSplit:
    """The routing that sends all of each pair over one path, given by its index among all candidates."""
    fraction = np.zeros(candidates.path_count)
    fraction[list(path)] = 1.0
    return candidates.routing(network.arc_count, fraction)


def _search(
    search: SinglePathSearch,
    lower: float,
    attainable: Floats | None,
    steps: int,
    budget: Budget,
    tolerance: float,
) -> SinglePaths:
    """Aim below the best load again and again, until the steps are used up or the bound is reached."""
    best, left = search.routing(0), steps
    while left > 0 and best.load > lower * (1 + tolerance) and budget.left_s > 0:
        level = next_below(best.load, attainable)
        walk = search.run(level * (1 + 1e-9), left, budget)
        left -= max(walk.steps, 1) if walk.excess <= 0 else left
        if walk.load < best.load:
            best = walk
    return best


def _improve(problem: RoutingProblem, ceiling: float, budget: Budget) -> tuple[tuple[int, ...] | None, float]:
    """The best single paths up to a load, if any are found, and the load proven: infinite if none are."""
    program, candidates = HoseProgram.of(problem), problem.candidates
    cost = np.zeros(len(program.upper))
    cost[program.load] = 1.0
    solver = MixedSolver(program, cost, mip_rel_gap=1e-6)
    # A little above the ceiling, so that rounding does not exclude it; loads are further apart than that.
    most = np.array([ceiling * (1 + 1e-7)])
    solver.set_bounds(np.array([program.load]), np.zeros(1), most)
    solver.set_whole(np.arange(candidates.path_count))
    answer = solver.run(budget)
    if answer.ending == "infeasible":
        return None, np.inf
    if not len(answer.primal):
        return None, max(answer.bound, 0.0)
    chosen = [
        int(first + answer.primal[first:end].argmax())
        for first, end in itertools.pairwise(candidates.path_start.tolist())
    ]
    return tuple(chosen), max(answer.bound, 0.0)
