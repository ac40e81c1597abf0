"""A load below which no routing comes, whatever it splits: by linear programs, or by prices of links.

Weights can mostly not reach it, because routers share evenly, and alike for all that goes to one destination.

Whatever arcs cost, the traffic of a routing times these costs is at least that of all traffic on cheapest
paths, and at most the highest load times the costs of all capacity: the first over the second is a bound of
the load (the dual of the maximum concurrent flow, Shahrokhi and Matula 1990). Costs that make it high are
those that the method of Frank and Wolfe (1956) meets when it makes a sum of exponential functions of the
loads small. That takes the place of the programs where these would take longer than the work allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anabranch.routing.robust import DemandBounds, FlowNetwork, all_paths
from anabranch.routing.robust.all_paths import FIRST_PATHS
from anabranch.routing.robust.budget import SEARCH_S
from anabranch.routing.router_failures import NORMAL, Failure, arcs_down
from anabranch.routing.router_network import RouterNetwork
from anabranch.routing.weights.cases import TOUCH_S, weight_cases

Floats = NDArray[np.float64]
_STEEPEST: Final = 12
"""The sum is of exponents of the loads times two to this, at most, over the highest load of the flow."""
_FINEST: Final = 2**24
"""The costliest arc, as a whole number."""


def load_bound(
    routers: RouterNetwork, failures: Sequence[Failure], failure: int, time_limit_s: float
) -> tuple[float, str]:
    """A load below which no routing comes, and the failure that it is of; of none the name is empty.

    Args:
        routers: the network with bounds of its traffic, or one matrix.
        failures: those that count; the first is that nothing is down.
        failure: the one whose bound is looked for beside that of the first, by its place.
        time_limit_s: work for each of both, about so many seconds on one core.

    Raises:
        RobustRoutingError: a solver failed.
    """
    load, where = _bound_of(routers, NORMAL, time_limit_s), ""
    if failure and (of_failure := _bound_of(routers, failures[failure], time_limit_s)) > load:
        load, where = of_failure, failures[failure].name
    return load, where


def _bound_of(routers: RouterNetwork, failure: Failure, time_limit_s: float) -> float:
    network, bounds = routers.network, routers.bounds
    capacity = np.array(network.capacity_mbps)
    capacity[arcs_down(routers, failure)] = 0.0
    left = replace(network, capacity_mbps=capacity)
    pair = np.where(_connected(left), bounds.pair_mbps, 0.0)
    if not ((pair > 0) & (bounds.ingress_mbps > 0)[:, None] & (bounds.egress_mbps > 0)).any():
        return 0.0
    within = DemandBounds(bounds.ingress_mbps, bounds.egress_mbps, pair)
    demand = routers.setup.demand
    if demand is not None and demand.matrix is not None:
        to_begin_s = FIRST_PATHS * SEARCH_S * len(within.pairs()[0])
        if to_begin_s > time_limit_s / 2:
            return price_bound(routers, failure, pair, time_limit_s)
    return all_paths(left, within, time_limit_s=max(time_limit_s, 1.0)).lower_bound


def price_bound(routers: RouterNetwork, failure: Failure, traffic_mbps: Floats, time_limit_s: float) -> float:
    """The bound of one matrix that prices prove within some work."""
    network = routers.network
    traffic = np.array(traffic_mbps)
    np.fill_diagonal(traffic, 0.0)
    up = np.array(network.capacity_mbps) > 0
    up[arcs_down(routers, failure)] = False
    down = Failure("", "", frozenset(routers.links[arc] for arc in np.flatnonzero(~up)), frozenset())
    core = weight_cases(routers, [down], DemandBounds.pipe(traffic))
    capacity = np.where(up, network.capacity_mbps, 1.0)
    tree = len(network.nodes) + network.arc_count
    rounds = max(int(time_limit_s / (tree * len(network.nodes) * TOUCH_S)), 2)
    best, price = 0.0, np.where(up, 1.0 / capacity, 0.0)
    load = np.zeros(network.arc_count)
    for number in range(rounds):
        weights = np.maximum(np.rint(price / price.max() * _FINEST), 1).astype(np.uint32)
        new = core.loads(weights)[0][0]
        mbps, costs = new * capacity, weights * np.where(up, capacity, 0.0)
        best = max(best, float(weights @ mbps) / float(costs.sum()))
        load = new if number == 0 else _between(load, new, _steepness(number, rounds) / load.max())
        steep = _steepness(number + 1, rounds) / load.max()
        price = np.where(up, np.exp(steep * (load - load.max())) / capacity, 0.0)
    return best


def _steepness(number: int, rounds: int) -> float:
    """How much the highest load counts more than others; more and more so."""
    return float(2 ** (3 + (_STEEPEST - 3) * number / rounds))


def _between(old: Floats, new: Floats, steep: float) -> Floats:
    """The flow between two for which the sum of exponents is least, by bisection of its slope."""
    low, high, step = 0.0, 1.0, new - old
    for _ in range(20):
        middle = (low + high) / 2
        load = old + middle * step
        slope = float(np.exp(steep * (load - load.max())) @ step)
        low, high = (middle, high) if slope < 0 else (low, middle)
    return old + low * step


def _connected(network: FlowNetwork) -> NDArray[np.bool_]:
    """Whether each pair has a path over arcs with capacity; a node has none to itself."""
    nodes = len(network.nodes)
    reached = np.eye(nodes, dtype=np.bool_)
    usable = np.flatnonzero(network.capacity_mbps > 0)
    tail, head = network.tail[usable], network.head[usable]
    while True:
        further = reached.copy()
        np.logical_or.at(further.T, tail, reached.T[head])
        if np.array_equal(further, reached):
            break
        reached = further
    np.fill_diagonal(reached, val=False)
    return reached
