"""``igp-weights``: ECMP by weights of links that a search finds for the bounds of ``[routing.demand]``.

The weights are those that ``anabranch weights`` finds within the same limits. Where all traffic goes by them
the setup gets them, and the core computes routes by them, as routers do, anew after each failure.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np

from anabranch.routing.answers import answer_to
from anabranch.routing.planned import Planned
from anabranch.routing.robust import RobustRoutingError
from anabranch.routing.router_failures import NORMAL, single_links
from anabranch.routing.router_network import RouterNetwork, as_scenario_error
from anabranch.routing.weights import EQUAL_WEIGHT, FoundWeights, WeightLimits, find_weights, with_weights
from anabranch.scenario.algorithms.scheme import IgpWeights
from anabranch.scenario.record import core_value
from anabranch.setup.model import PlannerSetup, Settled, Setup

_PS_PER_S: Final = 1e12
_THREADS: Final = 4
"""As many as there are searches in a round."""
_ROUNDING: Final = 1e-9


def plan(setup: Setup, planner: PlannerSetup) -> Planned:
    """The routes by the weights.

    Raises:
        ScenarioError: if bounds, paths or a weight cannot be.
    """
    settled_setup = settled(setup, planner)
    assert settled_setup.planner is not None  # noqa: S101 - it says what it has settled
    assert settled_setup.planner.settled is not None  # noqa: S101 - as above
    places = {*setup.flows.routing.tolist(), *(flow.routing for flow in setup.datagrams)}
    # Traffic with routes of its own comes alone.
    made = settled_setup.core().plan(None, max(places, default=0))
    return Planned(made, settled_setup.planner.settled.warnings, settled_setup.planner.settled.facts)


def settled(setup: Setup, planner: PlannerSetup) -> Setup:
    """The setup with the weights that are found, and ECMP by them.

    Raises:
        ScenarioError: as of :func:`plan`.
    """
    scheme = planner.scheme
    assert isinstance(scheme, IgpWeights)  # noqa: S101 - it is of this planner
    routers = RouterNetwork.of(setup)
    answer = _found(routers, scheme)
    weights = answer.weights
    facts: dict[str, float | int | str] = {
        "worst_case_load": weights.load,
        "worst_failure": answer.failure or "none",
        "load_before": weights.load_before,
        "changes": len(weights.changes),
        "seconds": answer.seconds,
    }
    said = Settled(tuple(_warnings(setup, scheme, weights)), facts)
    return with_weights(setup, routers, weights.weights).replace(planner=replace(planner, settled=said))


@dataclass(frozen=True)
class _Answer:
    weights: FoundWeights
    failure: str
    """Name of the failure with the highest load; empty for none."""
    seconds: float
    """Wall time that it took."""


def _found(routers: RouterNetwork, scheme: IgpWeights) -> _Answer:
    """The weights; asked once for setups that differ in nothing that counts for them."""
    setup = routers.setup
    by_weight = scheme.metric == "weight"
    links = [setup.links[link] for link in routers.links]
    present = [link.weight if by_weight and link.weight else EQUAL_WEIGHT for link in links]
    parameters = {name: core_value(value) for name, value in scheme.items()}

    def solve() -> _Answer:
        begin = time.perf_counter()
        failures = (NORMAL, *(single_links(routers) if scheme.failures == "single-link" else ()))
        limits = WeightLimits(
            scheme.max_changes, scheme.max_weight, scheme.symmetric, scheme.time_limit / _PS_PER_S
        )
        try:
            weights = find_weights(routers, failures, np.array(present, np.uint32), limits, _THREADS)
        except RobustRoutingError as error:
            raise as_scenario_error(error) from None
        return _Answer(weights, failures[weights.failure].name, time.perf_counter() - begin)

    arcs = [(link.origin, link.to, link.capacity) for link in links]
    bounds = None if setup.demand is None else asdict(setup.demand)
    question = ["igp-weights", routers.network.nodes, arcs, present, bounds, parameters]
    answer: _Answer = answer_to(json.dumps(question), solve)
    return answer


def _warnings(setup: Setup, scheme: IgpWeights, weights: FoundWeights) -> list[str]:
    """What is to be known of the weights."""
    warnings = []
    if scheme.metric == "hops" and all(link.weight is not None for link in setup.links):
        warnings.append(
            "routing.metric: the links have weights, and the search begins with one weight for all, as hops "
            'say; give metric = "weight" to begin with theirs'
        )
    if weights.load > 1 + _ROUNDING:
        warnings.append(
            "routing.demand: some traffic within the bounds overloads links: the worst-case load is "
            f"{weights.load:.6g}"
        )
    return warnings
