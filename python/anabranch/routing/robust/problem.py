"""A problem of fixed robust routing over candidate paths: what its solvers are asked."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from .budget import Budget
from .model import Candidates, DemandBounds, FlowNetwork, TrafficSplit, WorstCase
from .worst_case import check_covered, load_of_shares


@dataclass(frozen=True, eq=False)
class RoutingProblem:
    """The problem of fractions over candidate paths of the least worst-case load within bounds."""

    network: FlowNetwork
    bounds: DemandBounds
    candidates: Candidates

    @classmethod
    def checked(cls, network: FlowNetwork, bounds: DemandBounds, candidates: Candidates) -> RoutingProblem:
        """The problem of a caller.

        Raises:
            BoundsError: a pair that may have traffic has no candidates.
            CandidateError: candidates that are no paths.
            CapacityError: a candidate over a link without capacity.
        """
        candidates.check(network)
        check_covered(network, bounds, candidates.source, candidates.target)
        return cls(network, bounds, candidates)

    def routing(self, fraction: ArrayLike) -> TrafficSplit:
        """The routing with these fractions of all paths."""
        return self.candidates.routing(self.network.arc_count, fraction)

    def worst(self, routing: TrafficSplit, budget: Budget | None = None) -> WorstCase:
        """The worst case of a routing that is known to be one; with a budget this counts as work."""
        worst = load_of_shares(self.network, self.bounds, routing.source, routing.target, routing.share)
        if budget is not None:
            budget.spend_evaluation(self.network.arc_count, routing.share.nnz)
        return worst
