"""Fixed robust routing over candidate paths by one linear program with duals, eqs. (9) to (14)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from .alike import Alike
from .budget import Budget, Status
from .dual_program import Mirror
from .errors import SolverError
from .master import SMALL, start, step
from .model import Candidates, DemandBounds, FlowNetwork, Solution
from .problem import RoutingProblem


def single_lp(
    network: FlowNetwork,
    bounds: DemandBounds,
    candidates: Candidates,
    *,
    tolerance: float = 1e-6,
    time_limit_s: float | Budget = math.inf,
    rows: Literal["binding", "all"] = "binding",
) -> Solution:
    """The fractions over candidate paths with the least worst-case load.

    Nodes that the links cannot tell apart are grouped first (`alike`).

    Args:
        network: the network.
        bounds: the demand bounds.
        candidates: paths of every pair that may have traffic.
        tolerance: largest gap between load and bound, as a part of the load.
        time_limit_s: work (see `budget`) after which the best so far is returned, with status
            `time-limit`; or the budget of a caller.
        rows: `binding`: the links get their rows of the program when they are found to bind; `all`: the whole
            program at once.

    Raises:
        BoundsError: a pair that may have traffic has no candidates.
        CandidateError: candidates that are no paths.
        CapacityError: a candidate over a link without capacity.
        SolverError: the solver failed, or stalled above the tolerance.
    """
    budget = Budget.of(time_limit_s)
    problem = RoutingProblem.checked(network, bounds, candidates)
    alike = Alike.find(problem) if rows == "binding" else None
    if alike is None:
        return _solved(problem, budget, tolerance, rows, 0.0)
    # Half of the tolerance is left for the way back, where fractions are made one in total once more.
    part = _solved(alike.problem, budget, tolerance / 2, rows, alike.constant_load)
    _, fraction = part.routing.by_paths
    routing = problem.routing(alike.fractions(fraction))
    worst = problem.worst(routing)
    lower = max(part.lower_bound, alike.constant_load)
    return Solution(routing, worst, lower, part.status, part.iterations, budget.cpu_s)


def _solved(
    problem: RoutingProblem, budget: Budget, tolerance: float, rows: Literal["binding", "all"], floor: float
) -> Solution:
    """The program as it is; a load up to ``floor``, which other links have in any case, is good enough."""
    mirror, candidates = Mirror.find(problem), problem.candidates
    best, links = start(problem, budget)
    best.lower_bound = floor
    if rows == "all" or len(candidates.arcs) <= SMALL:
        links = np.unique(candidates.arcs)
    programs = 0
    status: Status = "optimal"
    while not best.within(tolerance):
        if budget.left_s <= 0:
            status = budget.stopped
            break
        done = step(problem, links, best, budget, mirror=mirror)
        programs += 1
        if done.ending == "time-limit" and not best.within(tolerance):
            status = budget.stopped
            break
        if len(done.links) == len(links) and not best.within(tolerance):
            raise SolverError(
                "single-lp", f"stalled at a gap above {tolerance}", "ask for a larger tolerance"
            )
        links = done.links
    return best.solution(status, programs, budget)
