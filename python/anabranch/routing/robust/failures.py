"""The worst case of a routing when any single link fails.

The paths over what failed carry nothing; the pair's traffic goes to its other paths in proportion to their
fractions, as the engine does when it drops dead paths from a plan. A pair whose paths all failed is stranded:
its traffic is lost, and it is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .model import Candidates, DemandBounds, Floats, FlowNetwork, Ints, TrafficSplit, WorstCase
from .problem import RoutingProblem
from .worst_case import check_covered

FailureUnit = Literal["edge", "arc"]
"""What fails at once: both directions of an edge, or a single arc."""

_NOTHING = 1e-9
"""Fractions that together are at most this are the dust of a solver: nothing can be spread over them."""


@dataclass(frozen=True, eq=False)
class FailureCase:
    """The outcome of one failure."""

    arcs: Ints
    """The arcs that fail together."""
    worst_case: WorstCase
    stranded: Ints
    """Indices of the pairs that are left without a path."""


@dataclass(frozen=True, eq=False)
class FailureWorstCase:
    """The worst case without a failure, and under each."""

    normal: WorstCase
    cases: tuple[FailureCase, ...]

    @property
    def max_load(self) -> float:
        """The highest load of any link, with all links up or any one of them down."""
        return max([self.normal.max_load, *(case.worst_case.max_load for case in self.cases)])

    @property
    def worst(self) -> FailureCase | None:
        """The failure with the highest load, the first of several; None where none adds to the load."""
        worst = max(self.cases, key=lambda case: case.worst_case.max_load)
        return worst if worst.worst_case.max_load > self.normal.max_load else None


def single_failures(network: FlowNetwork, unit: FailureUnit = "edge") -> tuple[Ints, ...]:
    """The arcs of every single failure."""
    if unit == "arc":
        return tuple(np.array([arc]) for arc in range(network.arc_count))
    return tuple(np.flatnonzero(network.edge == edge) for edge in range(int(network.edge.max()) + 1))


def hit_paths(candidates: Candidates, arcs: Ints, arc_count: int) -> Ints:
    """A truth value for each path: whether it uses any of these arcs."""
    failed = np.zeros(arc_count)
    failed[arcs] = 1.0
    return np.asarray((candidates.incidence(arc_count) @ failed) > 0)


def fractions_after(candidates: Candidates, fraction: Floats, hit: Ints) -> tuple[Floats, Ints]:
    """Fractions when the hit paths are gone, in proportion, and the pairs that are stranded."""
    alive = np.where(hit, 0.0, np.maximum(fraction, 0.0))
    left = candidates.sums(alive)
    stranded = left <= _NOTHING
    scale = np.where(stranded, 0.0, 1.0 / np.where(stranded, 1.0, left))
    return np.asarray(alive * scale[candidates.pair_of_path()]), np.flatnonzero(stranded)


def worst_case_under_failures(
    network: FlowNetwork, bounds: DemandBounds, routing: TrafficSplit, unit: FailureUnit = "edge"
) -> FailureWorstCase:
    """The worst case of a routing over paths with all links up, and with each one down.

    Raises:
        RoutingError: the routing has no paths, or its shares are no routing.
        BoundsError: a pair may have traffic by the bounds and has no route.
        CapacityError: a link without capacity is used.
    """
    candidates, fraction = routing.by_paths
    routing.check(network)
    check_covered(network, bounds, routing.source, routing.target)
    problem = RoutingProblem(network, bounds, candidates)
    return under_failures(problem, fraction, single_failures(network, unit))


def under_failures(problem: RoutingProblem, fraction: Floats, failures: tuple[Ints, ...]) -> FailureWorstCase:
    """`worst_case_under_failures` of fractions that are known to fit."""
    cases = []
    for arcs in failures:
        hit = hit_paths(problem.candidates, arcs, problem.network.arc_count)
        after, stranded = fractions_after(problem.candidates, fraction, hit)
        cases.append(FailureCase(arcs, problem.worst(problem.routing(after)), stranded))
    return FailureWorstCase(problem.worst(problem.routing(fraction)), tuple(cases))
