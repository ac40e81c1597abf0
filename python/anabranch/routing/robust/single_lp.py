"""Fixed robust routing over candidate paths by one linear program with duals, eqs. (9) to (14)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from .dual_program import Mirror
from .errors import SolverError
from .master import SMALL, Budget, start, step
from .model import Candidates, DemandBounds, FlowNetwork, Solution, Status
from .worst_case import check_covered


def single_lp(
    network: FlowNetwork,
    bounds: DemandBounds,
    candidates: Candidates,
    *,
    tolerance: float = 1e-6,
    time_limit_s: float = math.inf,
    rows: Literal["binding", "all"] = "binding",
) -> Solution:
    """The fractions over candidate paths with the least worst-case load.

    Args:
        network: the network.
        bounds: the demand bounds.
        candidates: paths of every pair that may have traffic.
        tolerance: largest gap between load and bound, as a part of the load.
        time_limit_s: wall time after which the best so far is returned, with status `time-limit`.
        rows: `binding`: the links get their rows of the program when they are found to bind; `all`: the whole
            program at once.

    Raises:
        BoundsError: a pair that may have traffic has no candidates.
        CandidateError: candidates that are no paths.
        CapacityError: a candidate over a link without capacity.
        SolverError: the solver failed, or stalled above the tolerance.
    """
    budget = Budget(time_limit_s)
    candidates.check(network)
    check_covered(network, bounds, candidates.source, candidates.target)
    mirror = Mirror.find(network, bounds, candidates)
    best, links = start(network, bounds, candidates)
    if rows == "all" or len(candidates.arcs) <= SMALL:
        links = np.unique(candidates.arcs)
    programs = 0
    status: Status = "optimal"
    while not best.within(tolerance):
        if budget.left_s <= 0:
            status = "time-limit"
            break
        done = step(network, bounds, candidates, links, best, budget.left_s, mirror=mirror)
        programs += 1
        if done.ending == "time-limit" and not best.within(tolerance):
            status = "time-limit"
            break
        if len(done.links) == len(links) and not best.within(tolerance):
            raise SolverError(
                "single-lp", f"stalled at a gap above {tolerance}", "ask for a larger tolerance"
            )
        links = done.links
    return Solution(
        best.routing, best.worst_case, best.lower_bound, status, "single-lp", programs, budget.cpu_s
    )
