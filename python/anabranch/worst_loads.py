"""How much any scheme loads each link in the worst case over the traffic matrices of ``[routing.demand]``.

The plan is made for every pair of routers that may have traffic, whether it sends in the scenario or not, and
scored by an evaluator that does not know which scheme made it. Nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anabranch.errors import Problem, ScenarioError
from anabranch.plan_paths import PlanPaths
from anabranch.routes import plans
from anabranch.routing import Planned
from anabranch.routing.path_limits import limits_of
from anabranch.routing.robust import (
    Candidates,
    RobustRoutingError,
    TrafficSplit,
    WorstCase,
    worst_case_under_failures,
)
from anabranch.routing.robust import worst_case as evaluate
from anabranch.routing.robust.worst_case import load_of_shares
from anabranch.routing.router_network import RouterNetwork, as_scenario_error
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup, resolve
from anabranch.setup.flow_columns import FlowColumns
from anabranch.setup.model import LinkSetup
from anabranch.setup.reach import Reach


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """A directed link between routers, and the highest load that traffic within the bounds gives it."""

    link: str
    source: str
    destination: str
    capacity_mbps: float
    load: float
    """Traffic over capacity; 1 is a full link."""


@dataclass(frozen=True, slots=True)
class PairTraffic:
    """An entry of a traffic matrix."""

    source: str
    destination: str
    mbps: float
    """Traffic of the pair."""
    share: float
    """Share of it that crosses the link whose matrix it is."""


@dataclass(frozen=True, slots=True)
class FailureLoad:
    """The worst case while some links are down."""

    links: tuple[str, ...]
    """The links that are down together: both directions of an edge."""
    load: float
    worst_link: str
    stranded: tuple[tuple[str, str], ...]
    """Pairs without a route meanwhile; their traffic is in no load."""


@dataclass(frozen=True)
class WorstLoads:
    """The worst case of a scenario's routes, link by link."""

    title: str
    scheme: str
    links: tuple[LinkLoad, ...]
    """All links between routers, in the order of the scenario."""
    failures: tuple[FailureLoad, ...] | None
    """For each edge that may fail; None if failures were not requested."""
    warnings: tuple[str, ...]
    facts: dict[str, float | int | str]
    """What the maker of the plan says of it."""
    places: dict[str, tuple[float, float] | None] = field(repr=False)
    """Latitude and longitude of each router, by name, or None."""
    _worst: WorstCase = field(repr=False)
    _share: sparse.csr_array = field(repr=False)

    @property
    def routers(self) -> tuple[str, ...]:
        """Names of the routers, in the order of the rows and columns of a matrix."""
        return tuple(self.places)

    @property
    def worst(self) -> LinkLoad:
        """The link with the highest load; of several the first."""
        return self.links[self._worst.worst_arc]

    @property
    def max_load(self) -> float:
        """The worst-case maximum link load with all links up."""
        return self.worst.load

    @property
    def proved_load(self) -> float:
        """What that is proved not to exceed; it is the same but for what the evaluator leaves open."""
        return self._worst.proved_load

    @property
    def worst_failure(self) -> FailureLoad | None:
        """The failure with the highest load, if failures were asked for."""
        return max(self.failures, key=lambda case: case.load) if self.failures else None

    def matrix_mbps(self, link: str) -> NDArray[np.float64]:
        """A traffic matrix that gives a link its highest load: from row to column, in Mbps.

        Raises:
            KeyError: no link between routers has this name.
        """
        return self._worst.matrix_mbps(self._arc(link), len(self.routers))

    def matrix(self, link: str) -> tuple[PairTraffic, ...]:
        """The same as a list, what loads the link most first.

        Raises:
            KeyError: no link between routers has this name.
        """
        arc = self._arc(link)
        row = self._worst.traffic_mbps[[arc], :].tocoo()
        entries = [
            PairTraffic(
                self.routers[self._worst.source[pair]],
                self.routers[self._worst.target[pair]],
                float(mbps),
                float(self._share[pair, arc]),
            )
            for pair, mbps in zip(row.col.tolist(), row.data.tolist(), strict=True)
            if mbps > 0
        ]
        return tuple(sorted(entries, key=lambda entry: -entry.mbps * entry.share))

    def _arc(self, link: str) -> int:
        for arc, known in enumerate(self.links):
            if known.link == link:
                return arc
        raise KeyError(f"no link {link!r} between routers")

    def data(self) -> dict[str, Any]:
        """Plain data for JSON: each link with its load and the matrix that causes it, as [from, to, Mbps]."""
        return {
            "title": self.title,
            "scheme": self.scheme,
            "worst_case_load": self.max_load,
            "proved_load": self.proved_load,
            "worst_link": self.worst.link,
            "links": [
                {
                    "link": link.link,
                    "from": link.source,
                    "to": link.destination,
                    "capacity_mbps": link.capacity_mbps,
                    "load": link.load,
                    "matrix": [[e.source, e.destination, e.mbps] for e in self.matrix(link.link)],
                }
                for link in self.links
            ],
            "failures": None
            if self.failures is None
            else [
                {
                    "links": list(case.links),
                    "load": case.load,
                    "worst_link": case.worst_link,
                    "stranded": [list(pair) for pair in case.stranded],
                }
                for case in self.failures
            ],
            "facts": dict(self.facts),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class LoadChange:
    """A link, or a failure, with its worst-case load by two plans."""

    name: str
    before: float
    after: float
    cut_before: int = 0
    """Pairs that a failure cuts off, whose traffic is in no load."""
    cut_after: int = 0

    @property
    def change(self) -> float:
        """How much the load rises."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class LoadChanges:
    """Two plans for the links of one network."""

    before: WorstLoads
    after: WorstLoads
    links: tuple[LoadChange, ...]
    """In the order of the network."""
    failures: tuple[LoadChange, ...]
    """Where failures were looked at in both, by the name of their first link."""

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "scheme": self.before.scheme,
            "worst_case_load": self.before.max_load,
            "worst_link": self.before.worst.link,
            "links": [[entry.name, entry.before, entry.after] for entry in self.links],
            "failures": [
                [entry.name, entry.before, entry.after, entry.cut_before, entry.cut_after]
                for entry in self.failures
            ],
        }


def compare_loads(after: WorstLoads, before: WorstLoads) -> LoadChanges:
    """What a change of routing does to the worst cases.

    Raises:
        ScenarioError: if the two networks have other links.
    """
    names = [{link.link for link in loads.links} for loads in (after, before)]
    if names[0] != names[1]:
        which = sorted(names[0] ^ names[1])
        where = "the scenario" if which[0] in names[0] else "it"
        more = f" (and {len(which) - 1} more)" if len(which) > 1 else ""
        message = f'is of another network: only {where} has the link "{which[0]}"{more}'
        raise ScenarioError([Problem("--against", message)])
    old = {link.link: link.load for link in before.links}
    failed = {case.links: case for case in before.failures or ()}
    return LoadChanges(
        before,
        after,
        tuple(LoadChange(link.link, old[link.link], link.load) for link in after.links),
        tuple(
            LoadChange(case.links[0], was.load, case.load, len(was.stranded), len(case.stranded))
            for case in after.failures or ()
            if (was := failed.get(case.links)) is not None
        ),
    )


def compare_scenarios(
    after: Scenario, loads: WorstLoads, before: Scenario, *, failures: bool
) -> tuple[LoadChanges, list[str]]:
    """What a change of routing does, and what else differs between the scenarios, so that loads change by it.

    Args:
        after: the scenario.
        loads: its worst cases.
        before: the scenario with the routes before.
        failures: look at failures as well, as in ``loads``.

    Raises:
        ScenarioError: if the other scenario cannot be run, has no bounds, or has other links.
    """
    changes = compare_loads(loads, worst_loads(before, failures=failures))
    cautions = [f"--against: {warning}" for warning in changes.before.warnings]
    if after.routing.demand != before.routing.demand:
        cautions.append(
            "--against: its routing.demand is another one, so that not routes alone make the change"
        )
    capacity = {link.link: link.capacity_mbps for link in changes.before.links}
    other = [link.link for link in changes.after.links if capacity[link.link] != link.capacity_mbps]
    if other:
        more = f" and {len(other) - 1} more links" if len(other) > 1 else ""
        cautions.append(f'--against: "{other[0]}"{more} had another capacity')
    return changes, cautions


def worst_loads(scenario: Scenario, *, failures: bool = False) -> WorstLoads:
    """The worst case of a scenario's routes over all traffic matrices within its bounds.

    Args:
        scenario: with a table ``[routing.demand]``.
        failures: look at every failure of a single edge (both directions of a link) as well. A robust
            scheme then distributes its traffic in proportion over the remaining paths; other schemes compute
            new plans, as in a simulation.

    Raises:
        ScenarioError: if the scenario cannot be run, or has no bounds.
    """
    setup = resolve(scenario)
    if setup.demand is None:
        message = 'is missing; the worst case is over the matrices within bounds, such as pair = "50 Mbps"'
        raise ScenarioError([Problem("routing.demand", message)], scenario.origin)
    routers = RouterNetwork.of(setup)
    try:
        return _score(scenario, setup, routers, failures=failures)
    except RobustRoutingError as error:
        raise as_scenario_error(error, scenario.origin) from None


def plan_of_all_pairs(routers: RouterNetwork, origin: str | None) -> tuple[Planned, list[tuple[int, int]]]:
    """The plan of every pair of routers that may have traffic, whether it sends or not; and these pairs.

    Raises:
        ScenarioError: if there is something wrong with the setup that only routing can find.
    """
    source, target = routers.bounds.pairs()
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    return _plans(routers, origin, pairs)[0], pairs


def _plans(routers: RouterNetwork, origin: str | None, pairs: list[tuple[int, int]]) -> list[Planned]:
    """The plan of these pairs of routers by ``[routing]``, and by the routes that traffic has of its own."""
    setup = routers.setup
    return [
        plans(_sending(routers, setup, pairs, place), origin)[place]
        for place in range(1 + len(setup.own_routes))
    ]


def _score(scenario: Scenario, setup: Setup, routers: RouterNetwork, *, failures: bool) -> WorstLoads:
    sources, targets = routers.bounds.pairs()
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    planned, *others = _plans(routers, scenario.origin, pairs)
    source, target = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    share = _shares(routers, planned, pairs)
    if others:
        share = _by_any(routers, [planned, *others], pairs)
        worst = load_of_shares(routers.network, routers.bounds, source, target, share)
    else:
        worst = evaluate(routers.network, routers.bounds, TrafficSplit(source, target, share))
    names = [setup.links[link] for link in routers.links]
    cases = None
    if failures:
        if others and (setup.planner or any(own.planner for own in setup.own_routes)):
            message = (
                "traffic has routes of its own, and some are made by a planner; what is left of both after a "
                "failure is not known here; leave --failures out"
            )
            raise ScenarioError([Problem(setup.own_routes[0].place, message)], scenario.origin)
        if setup.planner is not None:
            cases = _after_pruning(routers, _by_paths(routers, planned, pairs))
        else:
            cases = _after_planning(routers, scenario.origin, pairs)
    return WorstLoads(
        scenario.title,
        scenario.routing.scheme_name,
        tuple(
            LinkLoad(
                link.name, setup.nodes[link.origin].name, setup.nodes[link.to].name, link.capacity / 1e6, load
            )
            for link, load in zip(names, worst.load.tolist(), strict=True)
        ),
        cases,
        planned.warnings,
        dict(planned.facts),
        {setup.nodes[node].name: _place(setup, node) for node in routers.routers},
        worst,
        share,
    )


def _place(setup: Setup, node: int) -> tuple[float, float] | None:
    place = setup.nodes[node].place
    return None if place is None else (place["latitude"], place["longitude"])


def _by_any(routers: RouterNetwork, planned: list[Planned], pairs: list[tuple[int, int]]) -> sparse.csr_array:
    """Highest share of each pair on each arc by any of several plans.

    Any part of a pair's traffic may be of the entries that go by either: a link has most if all of it goes by
    the plan that sends the greatest share over it.
    """
    first, *others = (_shares(routers, plan, pairs) for plan in planned)
    for other in others:
        first = first.maximum(other)
    return first


def _sending(
    routers: RouterNetwork, setup: Setup, pairs: Iterable[tuple[int, int]], routing: int = 0
) -> Setup:
    """The setup with a flow for each of these pairs of routers, and nothing that happens in it."""
    ends = [(routers.routers[a], routers.routers[b]) for a, b in pairs]
    quiet = replace(setup, events=[], captures=[], probes=replace(setup.probes, sequences=[]))
    if not setup.flows:
        ping = setup.datagrams[0]
        datagrams = [
            replace(ping, name=f"pair.{number}", origin=origin, to=to, routing=routing)
            for number, (origin, to) in enumerate(ends)
        ]
        return replace(quiet, datagrams=datagrams)
    return replace(quiet, flows=setup.flows.like_first(ends, routing), datagrams=[])


def _shares(routers: RouterNetwork, planned: Planned, pairs: list[tuple[int, int]]) -> sparse.csr_array:
    """Share of each pair on each arc."""
    found = PlanPaths.of(planned.plan.data()).shares(routers.setup.links)
    arc_of = {link: arc for arc, link in enumerate(routers.links)}
    rows, columns, values = list[int](), list[int](), list[float]()
    for number, (a, b) in enumerate(pairs):
        for link, share in found[routers.routers[a], routers.routers[b]].items():
            if link not in arc_of:
                name = routers.network.pair_name(a, b)
                at = routers.setup.links[link].name
                message = f"the route from {name} leads through the host at the link {at}"
                raise ScenarioError([Problem("routing", f"{message}; loads are known between routers only")])
            rows.append(number)
            columns.append(arc_of[link])
            values.append(share)
    shape = (len(pairs), routers.network.arc_count)
    return sparse.csr_array((values, (rows, columns)), shape=shape)


def _by_paths(routers: RouterNetwork, planned: Planned, pairs: list[tuple[int, int]]) -> TrafficSplit:
    """A plan of paths as fractions of candidate paths."""
    arc_of = {link: arc for arc, link in enumerate(routers.links)}
    routes = {(route["from"], route["to"]): route["paths"] for route in planned.plan.data()["routes"]}
    paths: dict[tuple[int, int], list[list[int]]] = {}
    fractions = list[float]()
    for a, b in pairs:
        found = routes[routers.routers[a], routers.routers[b]]
        if not found:
            message = (
                f"{routers.network.pair_name(a, b)} is forwarded hop by hop, and what a failure does to such "
                "a plan is not known here; leave --failures out, or give paths"
            )
            raise ScenarioError([Problem("routing.paths", message)])
        paths[a, b] = [[arc_of[link] for link in path["links"]] for path in found]
        fractions += [path["weight"] for path in found]
    candidates = Candidates.from_paths(routers.network, paths)
    return candidates.routing(routers.network.arc_count, fractions)


def _after_pruning(routers: RouterNetwork, routing: TrafficSplit) -> tuple[FailureLoad, ...]:
    """The worst case of each failure where the paths that are left share the traffic in proportion."""
    found = worst_case_under_failures(routers.network, routers.bounds, routing)
    cases = []
    for case in found.cases:
        stranded = [(int(routing.source[pair]), int(routing.target[pair])) for pair in case.stranded]
        cases.append(_case(routers, case.arcs.tolist(), case.worst_case, stranded))
    return tuple(cases)


def _after_planning(
    routers: RouterNetwork, origin: str | None, pairs: list[tuple[int, int]]
) -> tuple[FailureLoad, ...]:
    """The worst case of each failure where the scheme plans anew without the failed links."""
    setup, network = routers.setup, routers.network
    cases = []
    for edge in range(int(network.edge.max()) + 1):
        arcs = np.flatnonzero(network.edge == edge)
        failed = {routers.links[arc] for arc in arcs}
        # An arc that is down keeps its number here, and has no traffic.
        kept = [number for number in range(len(setup.links)) if number not in failed]
        links = [setup.links[number] for number in kept]
        connected, stranded = _connected(routers, links, pairs)
        connected, beyond = _within_limits(routers, links, connected)
        stranded = sorted(stranded + beyond)
        after = replace(
            routers,
            setup=replace(setup, links=links),
            links=tuple(kept.index(link) if link not in failed else -1 for link in routers.links),
        )
        share = _by_any(after, _plans(after, origin, connected), connected)
        source, target = (np.array([pair[side] for pair in connected], np.int64) for side in (0, 1))
        worst = load_of_shares(network, routers.bounds, source, target, share)
        cases.append(_case(routers, arcs.tolist(), worst, stranded))
    return tuple(cases)


def _connected(
    routers: RouterNetwork, links: list[LinkSetup], pairs: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Pairs that have a way over these links, and those that have none."""
    reach = Reach(links)
    groups: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for a, b in pairs:
        ends = routers.routers[a], routers.routers[b]
        # The acknowledgments need a way, too: the core refuses a flow without one.
        there = reach.connected(*ends) and reach.connected(*ends[::-1])
        groups[0 if there else 1].append((a, b))
    return groups


def _within_limits(
    routers: RouterNetwork, links: list[LinkSetup], pairs: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Pairs that have paths within the limits of every scheme over these links, both ways, and the others."""
    setup = routers.setup
    schemes = [setup.routing.scheme, *setup.routing.others]
    quiet = replace(setup, links=links, flows=FlowColumns.joined([]), datagrams=[], events=[], captures=[])
    ends = [(routers.routers[a], routers.routers[b]) for a, b in pairs]
    both = [*ends, *(pair[::-1] for pair in ends)]
    without: set[tuple[int, int]] = set()
    for limits in filter(None, map(limits_of, schemes)):
        found = quiet.core().candidate_paths(1, "delay", both, **limits)
        without |= {pair for a, b, paths in found if not paths for pair in ((a, b), (b, a))}
    groups: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for pair, nodes in zip(pairs, ends, strict=True):
        groups[nodes in without].append(pair)
    return groups


def _case(
    routers: RouterNetwork, arcs: list[int], worst: WorstCase, stranded: list[tuple[int, int]]
) -> FailureLoad:
    def name(arc: int) -> str:
        return routers.setup.links[routers.links[arc]].name

    nodes = routers.network.nodes
    return FailureLoad(
        tuple(name(arc) for arc in arcs),
        worst.max_load,
        name(worst.worst_arc),
        tuple((nodes[a], nodes[b]) for a, b in stranded),
    )
