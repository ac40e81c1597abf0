"""Numbers without simulation: worst-case loads of a system's routes, and what its routers must know.

Both are about all pairs of routers that may have traffic, since a network must be ready for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anabranch.plans.pair_plans import plan_of_all_pairs
from anabranch.plans.worst_loads import worst_loads
from anabranch.routing import Planned
from anabranch.routing.router_network import RouterNetwork
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve
from anabranch_publications.comparison.subjects import SENDER, Subject
from anabranch_publications.comparison.systems import LOAD_MARGIN, OPTIMAL_TIME_S, PATHS, System


@dataclass(frozen=True, slots=True)
class Static:
    """Of one system on one network."""

    load: float
    """Worst-case maximum link load over the traffic within the bounds; 1 is a full link."""
    failure_load: float | None
    """The same in the worst failure of a single edge, with routes as they are after it; None where that was
    not asked for, or no two routers have a route then."""
    stranded_percent: float | None
    """Pairs of routers without a route in the failure that leaves most without one."""
    entries_mean: float | None
    """Entries per router on the mean; None where they hang on the flows."""
    entries_max: float | None
    """Entries of the router that has most."""


def least_load(subject: Subject) -> float:
    """The least worst-case load over the candidates of the robust schemes.

    Raises:
        ScenarioError: if there is none.
    """
    return worst_loads(_scenario(subject, {"scheme": {"algorithm": "robust", "k": PATHS}})).max_load


def routing_of(system: System, subject: Subject, least: float | None) -> dict[str, Any]:
    """The table ``[routing]`` of a system; with a controller, the one that gives the controller's paths."""
    routing: dict[str, Any] = dict(system.routing)
    if subject.reaction is not None and system.controller is None:
        routing.setdefault("reaction", subject.reaction)
    if system.needs_demand:
        routing["demand"] = subject.demand
    if system.scheme == "robust-optimal" and least is not None:
        limits = {"level": LOAD_MARGIN * least, "time_limit": f"{OPTIMAL_TIME_S} s", "gap": 0.01}
        routing["scheme"] = {**routing["scheme"], **limits}
    return routing


def statics(system: System, subject: Subject, routing: Mapping[str, Any], *, failures: bool) -> Static:
    """Worst-case loads and entries of a system.

    Args:
        system: the system.
        subject: the network.
        routing: :func:`routing_of`.
        failures: look at the failure of each edge as well.

    Raises:
        ScenarioError: if its routes cannot be planned.
    """
    scenario = _scenario(subject, routing, system.provenance)
    loads = worst_loads(scenario, failures="links" if failures else None)
    worst = loads.worst_failure
    if worst is not None and not worst.load > 0:
        # What has no route is in no load: that is no good answer, but none.
        worst = None
    pairs = len(loads.routers) * (len(loads.routers) - 1)
    stranded = None
    if loads.failures:
        stranded = 100 * max(len(case.stranded) for case in loads.failures) / pairs
    mean = most = None
    if system.entries != "flow":
        routers = RouterNetwork.of(resolve(scenario, Needed.ROUTES))
        planned = plan_of_all_pairs(routers, subject.origin)
        paths = _paths(routers, planned)
        counts = (destination_entries if system.entries == "destination" else path_entries)(paths)
        counts_of_routers = [counts.get(router, 0) for router in routers.routers]
        mean, most = sum(counts_of_routers) / len(counts_of_routers), max(counts_of_routers)
    return Static(loads.max_load, None if worst is None else worst.load, stranded, mean, most)


def destination_entries(paths: Iterable[Sequence[int]]) -> dict[int, int]:
    """Destinations that each router must know the next hop of, for paths as nodes from end to end.

    A path puts its last node among the destinations of every node before it.
    """
    ends_of_node: dict[int, set[int]] = {}
    for nodes in paths:
        for node in nodes[:-1]:
            ends_of_node.setdefault(node, set()).add(nodes[-1])
    return {node: len(ends) for node, ends in ends_of_node.items()}


def path_entries(paths: Iterable[Sequence[int]]) -> dict[int, int]:
    """Paths that each router must know the next hop of: all that begin there or lead through it."""
    counts: dict[int, int] = {}
    for nodes in paths:
        for node in nodes[:-1]:
            counts[node] = counts.get(node, 0) + 1
    return counts


def _paths(routers: RouterNetwork, planned: Planned) -> list[list[int]]:
    links = routers.setup.links
    return [
        [route["from"], *(links[link].to for link in path["links"])]
        for route in planned.plan.data()["routes"]
        for path in route["paths"]
    ]


def _scenario(subject: Subject, routing: Mapping[str, Any], provenance: Provenance | None = None) -> Scenario:
    fields = {
        "routing": {**routing, "demand": subject.demand},
        "transport": {SENDER: {"preset": "cubic"}},
        "event": [],
    }
    return subject.scenario(None, fields, provenance)
