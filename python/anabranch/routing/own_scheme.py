"""Routing schemes of the user's own: the planner of ``scheme = { python = "module:Class" }``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from anabranch.errors import OwnCodeError
from anabranch.own.check import Chosen
from anabranch.own.failure import place_of_mistake
from anabranch.own.routing import Pair, RoutingNetwork, RoutingScheme
from anabranch.own.running import own_code_runs
from anabranch.routing.planned import Planned, WeightedPath, pairs_of, plan_of
from anabranch.scenario.loss import long_run_loss
from anabranch.setup.model import OwnScheme, PlannerSetup, Setup

_PS_PER_S = 1e12


def plan(setup: Setup, planner: PlannerSetup) -> Planned:
    """The paths that a class of the user's gives.

    Args:
        setup: the scenario, resolved.
        planner: the class with its parameters, and what may run.

    Raises:
        OwnCodeError: if it fails, or gives no paths of these pairs.
    """
    assert isinstance(planner.scheme, OwnScheme)  # noqa: S101 - it is no scheme of the program's
    chosen = planner.scheme.code
    assert isinstance(chosen, Chosen)  # noqa: S101 - of setup/own.py, for Needed.ROUTES
    answers = chosen.cls.paths if chosen.cls.routes is RoutingScheme.routes else chosen.cls.routes
    network = _network(setup)
    try:
        with own_code_runs(planner.scheme.agreement):
            routes = chosen.make().routes(network)
            checked = {pair: _checked(network, pair, routes) for pair in network.pairs}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises
        raise OwnCodeError(place_of_mistake(error, answers.__qualname__, answers)) from None
    return Planned(plan_of(checked))


def _network(setup: Setup) -> RoutingNetwork:
    links = setup.links
    return RoutingNetwork(
        nodes=tuple(node.name for node in setup.nodes),
        link_from=np.array([link.origin for link in links], dtype=np.int64),
        link_to=np.array([link.to for link in links], dtype=np.int64),
        capacity_bps=np.array([link.capacity for link in links], dtype=float),
        delay_s=np.array([link.delay / _PS_PER_S for link in links], dtype=float),
        loss=np.array([long_run_loss(link.loss) for link in links], dtype=float),
        pairs=tuple(pairs_of(setup)),
    )


def _checked(network: RoutingNetwork, pair: Pair, routes: Mapping[Pair, Any]) -> list[WeightedPath]:
    """The paths of a pair.

    Raises:
        ValueError: if there is none, or one does not lead from its one end to the other.
    """
    name = " to ".join(network.nodes[node] for node in pair)
    paths: Sequence[tuple[Iterable[int], float]] = list(routes.get(pair, ()))
    if not paths:
        raise ValueError(f"gives no path from {name}")
    weighted = []
    for links, weight in paths:
        path = tuple(map(int, links))
        share = float(weight)
        if not 0 < share < float("inf"):
            raise ValueError(f"gives a path from {name} the weight {weight!r}; it must be above 0")
        if not all(0 <= link < len(network.link_from) for link in path):
            raise ValueError(f"gives links from {name} that are none: {list(path)}")
        nodes = [pair[0], *(int(network.link_to[link]) for link in path)]
        broken = any(int(network.link_from[link]) != node for link, node in zip(path, nodes, strict=False))
        if broken or nodes[-1] != pair[1] or len(set(nodes)) < len(nodes):
            names = ", ".join(network.nodes[node] for node in nodes)
            raise ValueError(f"gives links from {name} that are no path without a loop: {names}")
        weighted.append(WeightedPath(path, share))
    return weighted
