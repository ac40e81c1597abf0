"""The routes of a scenario: computed by the core, named and measured here; nothing is simulated."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, TypedDict

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.routing import PLANNERS, Planned
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup, resolve
from anabranch.setup.model import LinkSetup

_PS_PER_MS = 1e9


@dataclass(frozen=True, slots=True)
class PathRow:
    """One path of a pair, with the share of packets that takes it."""

    nodes: tuple[str, ...]
    links: tuple[str, ...]
    weight: float
    hops: int
    delay_ms: float
    """Sum of the propagation delays."""
    bottleneck_mbps: float
    """Smallest capacity."""
    loss: float
    """Probability that a packet is lost at random on the way, in the long run."""


@dataclass(frozen=True, slots=True)
class Hop:
    """Where one node may send packets to a destination, each with the same share."""

    node: str
    next_nodes: tuple[str, ...]
    share: float
    """Share of the pair's packets that comes through the node."""


@dataclass(frozen=True, slots=True)
class PairRoutes:
    """The routes from one node to another: paths, or forwarding hop by hop."""

    source: str
    destination: str
    carries: str
    """``data`` of some flow, or only the ``acknowledgments`` of one."""
    paths: tuple[PathRow, ...]
    hop_by_hop: tuple[Hop, ...]
    """From the source on; empty where there are paths."""


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of all pairs that send data or acknowledgments."""

    scheme: str
    """Name of the scheme, or of the controller's application."""
    metric: str
    pairs: tuple[PairRoutes, ...]
    warnings: tuple[str, ...] = ()
    """What must be known about the plan as a whole."""
    facts: dict[str, float | int | str] = field(default_factory=dict)
    """About the plan as a whole, such as its worst-case load; units at the end of the names."""

    def data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


class _WeightedPath(TypedDict):
    links: list[int]
    weight: float


_Table = dict[int, list[int]]
"""Next hops towards one destination: for each node that has some, its links."""


def plan(setup: Setup, origin: str | None, *, setup_json: str | None = None) -> Planned:
    """The plan of a setup: the core's where it has a scheme, and else its planner's.

    Args:
        setup: what to plan for.
        origin: name of the scenario's file, for messages.
        setup_json: the setup as the core reads it, where that is at hand: a large one takes
            its time to write.

    Raises:
        ScenarioError: if there is something wrong with the setup that only routing can find.
    """
    if setup.planner is not None:
        return PLANNERS[str(setup.planner["name"])](setup, setup.planner)
    try:
        return Planned(_core.plan(setup.json() if setup_json is None else setup_json))
    except _core.SetupError as error:
        raise refused(error, origin) from None


def refused(error: _core.SetupError, origin: str | None) -> ScenarioError:
    """What the core refused, as an error of the scenario."""
    place, message = error.args if len(error.args) == 2 else ("", str(error))
    return ScenarioError([Problem(str(place), str(message))], origin)


def routes(scenario: Scenario) -> Routes:
    """The routes of all pairs of a scenario.

    Raises:
        ScenarioError: if the scenario cannot be run.
    """
    setup = resolve(scenario)
    planned = plan(setup, scenario.origin)
    found = json.loads(planned.json)
    sends_data = {(flow.origin, flow.to) for flow in setup.flows}
    tables: dict[int, _Table] = {table["to"]: dict(table["next"]) for table in found["tables"]}
    pairs = [
        _pair(setup, route, tables, (route["from"], route["to"]) in sends_data) for route in found["routes"]
    ]
    # Data first: that is what one asks for.
    pairs.sort(key=lambda pair: pair.carries != "data")
    scheme: str
    metric: str
    if scenario.controller is not None:
        scheme, metric = scenario.controller.application, scenario.controller.path_metric()
    else:
        scheme, metric = scenario.routing.scheme, scenario.routing.metric
    return Routes(scheme, metric, tuple(pairs), planned.warnings, dict(planned.facts))


def _pair(setup: Setup, route: dict[str, Any], tables: dict[int, _Table], has_data: bool) -> PairRoutes:
    origin, to = route["from"], route["to"]
    return PairRoutes(
        source=setup.nodes[origin].name,
        destination=setup.nodes[to].name,
        carries="data" if has_data else "acknowledgments",
        paths=tuple(_path(setup, path) for path in route["paths"]),
        hop_by_hop=() if route["paths"] else _hops(setup, origin, to, tables[to]),
    )


def _path(setup: Setup, path: _WeightedPath) -> PathRow:
    links = [setup.links[link] for link in path["links"]]
    return PathRow(
        nodes=tuple(setup.nodes[node].name for node in (links[0].origin, *(link.to for link in links))),
        links=tuple(link.name for link in links),
        weight=path["weight"],
        hops=len(links),
        delay_ms=sum(link.delay for link in links) / _PS_PER_MS,
        bottleneck_mbps=min(link.capacity for link in links) / 1e6,
        loss=1 - math.prod(1 - _long_run_loss(link) for link in links),
    )


def warnings(setup: Setup, plan_json: str) -> list[str]:
    """What will run and yet cannot be meant: a FastRTO that ends before the first ACK can be back.

    A line for each transport whose ``fastrto_max`` is below the round trip of one of its flows, with both
    numbers; the round trip is that of the slowest paths there and back, without queues.
    """
    bounds = {
        index: detection["fastrto_max"]
        for index, transport in enumerate(setup.transports)
        if "fastrto_max" in (detection := transport.config.get("loss_detection", {}))
    }
    if not bounds:
        return []
    found = json.loads(plan_json)
    tables: dict[int, _Table] = {table["to"]: dict(table["next"]) for table in found["tables"]}
    routes: dict[tuple[int, int], list[_WeightedPath]] = {
        (route["from"], route["to"]): route["paths"] for route in found["routes"]
    }

    @cache
    def slowest(origin: int, to: int) -> int:
        """Delay of the slowest path of a pair in ps."""
        if paths := routes[origin, to]:
            return max(sum(setup.links[link].delay for link in path["links"]) for path in paths)
        return _slowest_hop_by_hop(setup, origin, to, tables[to])

    worst: dict[int, tuple[int, str]] = {}
    for flow in setup.flows:
        if flow.transport in bounds:
            rtt = slowest(flow.origin, flow.to) + slowest(flow.to, flow.origin)
            if rtt > bounds[flow.transport]:
                worst[flow.transport] = max(worst.get(flow.transport, (0, "")), (rtt, flow.name))
    return [
        f"transport.{setup.transports[index].name}.fastrto_max: {bounds[index] / _PS_PER_MS:g} ms is below "
        f"the round trip of {quoted(name)}, {rtt / _PS_PER_MS:g} ms without queues: segments are sent again "
        "before they can be acknowledged"
        for index, (rtt, name) in sorted(worst.items())
    ]


def _slowest_hop_by_hop(setup: Setup, origin: int, to: int, table: _Table) -> int:
    """Delay of the slowest way along a table in ps."""
    delay = {origin: 0}
    for node in _topological(setup, origin, to, table):
        for link in [] if node == to else table[node]:
            after = delay[node] + setup.links[link].delay
            delay[setup.links[link].to] = max(delay.get(setup.links[link].to, 0), after)
    return delay[to]


def _long_run_loss(link: LinkSetup) -> float:
    """Share of packets that the link's random loss takes in the long run."""
    loss: dict[str, Any] = dict(link.loss)
    if loss["model"] == "bernoulli":
        return float(loss["probability"])
    if loss["model"] == "gilbert-elliott":
        moves = loss["to_bad"] + loss["to_good"]
        bad = loss["to_bad"] / moves if moves > 0 else 0.0
        return float((1 - bad) * loss["loss_good"] + bad * loss["loss_bad"])
    return 0.0


def _hops(setup: Setup, origin: int, to: int, table: _Table) -> tuple[Hop, ...]:
    """The nodes that packets from ``origin`` can come through, nearest first, with their shares.

    Every node splits what comes through it equally over its next hops (hop-by-hop ECMP).
    """
    order = _topological(setup, origin, to, table)
    share = dict.fromkeys(order, 0.0)
    share[origin] = 1.0
    hops = []
    for node in order:
        links = [] if node == to else table[node]
        for link in links:
            share[setup.links[link].to] += share[node] / len(links)
        if node != to:
            names = tuple(setup.nodes[setup.links[link].to].name for link in links)
            hops.append(Hop(setup.nodes[node].name, names, share[node]))
    return tuple(hops)


def _topological(setup: Setup, origin: int, to: int, table: _Table) -> list[int]:
    """Nodes reachable along the table, each after all nodes that lead to it; tables have no loops."""
    finished: list[int] = []
    seen: set[int] = set()
    stack: list[tuple[int, bool]] = [(origin, False)]
    while stack:
        node, done = stack.pop()
        if done:
            finished.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            following = [] if node == to else [setup.links[link].to for link in table[node]]
            stack.extend((neighbour, False) for neighbour in reversed(following) if neighbour not in seen)
    return finished[::-1]
