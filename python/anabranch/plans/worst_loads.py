"""How much any scheme loads each link in the worst case over the traffic matrices of ``[routing.demand]``.

The plan is made for every pair of routers that may have traffic, whether it sends in the scenario or not, and
scored by an evaluator that does not know which scheme made it. Nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.plans.link_cases import BoundsCase, LinkCase, MatrixCase
from anabranch.plans.paths import link_ends
from anabranch.plans.routes import plans
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
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.flow_columns import FlowColumns, pair_code
from anabranch.setup.model import LinkSetup
from anabranch.setup.reach import Reach

Pairs = NDArray[np.int64]
"""Pairs of routers by their places, a row for each."""


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
    _worst: LinkCase = field(repr=False)
    matrix_name: str | None = None
    """Where the traffic comes from, where there is but one matrix, so that the loads are no worst case.

    None for bounds."""

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
        """The load that it is proved not to exceed; the same but for what the evaluator leaves open."""
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
        matrix = np.zeros((len(self.routers), len(self.routers)))
        crossing = self._worst.crossing(self._arc(link))
        matrix[crossing.source, crossing.target] = crossing.mbps
        return matrix

    def matrix(self, link: str) -> tuple[PairTraffic, ...]:
        """The traffic as a list, what loads the link most first.

        Raises:
            KeyError: no link between routers has this name.
        """
        crossing = self._worst.crossing(self._arc(link))
        columns = (crossing.source, crossing.target, crossing.mbps, crossing.share)
        entries = [
            PairTraffic(self.routers[source], self.routers[target], mbps, share)
            for source, target, mbps, share in zip(*(column.tolist() for column in columns), strict=True)
            if mbps > 0
        ]
        return tuple(sorted(entries, key=lambda entry: -entry.mbps * entry.share))

    def _arc(self, link: str) -> int:
        for arc, arc_link in enumerate(self.links):
            if arc_link.link == link:
                return arc
        raise KeyError(f"no link {link!r} between routers")


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

    @property
    def cut_change(self) -> int:
        """How many more pairs are cut off: with a difference the loads are of unlike traffic."""
        return self.cut_after - self.cut_before


@dataclass(frozen=True, slots=True)
class LoadChanges:
    """Two plans for the links of one network."""

    before: WorstLoads
    after: WorstLoads
    links: tuple[LoadChange, ...]
    """In the order of the network."""
    failures: tuple[LoadChange, ...]
    """Where failures were looked at in both, by the name of their first link."""


def compare_loads(after: WorstLoads, before: WorstLoads) -> LoadChanges:
    """The effect of a change of routing on the worst cases.

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
    """The effect of a change of routing, and what else differs between the scenarios.

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
    setup = resolve(scenario, Needed.ROUTES)
    if setup.demand is None:
        message = (
            'is missing; loads are those of a matrix, such as matrix = { from = "file:tm.csv" }, or the '
            'worst over all within bounds, such as pair = "50 Mbps"'
        )
        raise ScenarioError([Problem("routing.demand", message)], scenario.origin)
    routers = RouterNetwork.of(setup)
    try:
        return _score(scenario, setup, routers, failures=failures)
    except RobustRoutingError as error:
        raise as_scenario_error(error, scenario.origin) from None


def plan_of_all_pairs(routers: RouterNetwork, origin: str | None) -> Planned:
    """The plan of every pair of routers that may have traffic, whether it sends or not.

    Raises:
        ScenarioError: if there is something wrong with the setup that only routing can find.
    """
    return _plans(routers, origin, np.stack(routers.bounds.pairs(), axis=1))[0]


def _plans(routers: RouterNetwork, origin: str | None, pairs: Pairs) -> list[Planned]:
    """The plan of these pairs of routers by ``[routing]``, and by the routes that traffic has of its own."""
    setup = routers.setup
    return [
        plans(_sending(routers, setup, pairs, place), origin)[place]
        for place in range(1 + len(setup.own_routes))
    ]


def _score(scenario: Scenario, setup: Setup, routers: RouterNetwork, *, failures: bool) -> WorstLoads:
    source, target = routers.bounds.pairs()
    pairs = np.stack([source, target], axis=1)
    planned, *others = _plans(routers, scenario.origin, pairs)
    worst = _case_of(routers, [planned, *others], pairs)
    names = [setup.links[link] for link in routers.links]
    cases = None
    if failures:
        if others and (setup.planner or any(routes.planner for routes in setup.own_routes)):
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
        None if setup.demand is None else setup.demand.matrix,
    )


def _case_of(routers: RouterNetwork, planned: list[Planned], pairs: Pairs) -> LinkCase:
    """The loads by ``[routing]`` and by the routes that traffic has of its own, with all links up."""
    source, target = pairs[:, 0], pairs[:, 1]
    if _is_one_matrix(routers, planned):
        return _matrix_case(routers, planned[0], pairs)
    if len(planned) > 1:
        share = _by_any(routers, planned, pairs)
        return BoundsCase(
            load_of_shares(routers.network, routers.bounds, source, target, share), sparse.csc_array(share)
        )
    share = _shares(routers, planned[0], pairs)
    worst = evaluate(routers.network, routers.bounds, TrafficSplit(source, target, share))
    return BoundsCase(worst, sparse.csc_array(share))


def _is_one_matrix(routers: RouterNetwork, planned: list[Planned]) -> bool:
    """Whether the traffic is known, and goes by one plan."""
    demand = routers.setup.demand
    return len(planned) == 1 and demand is not None and demand.matrix is not None


def _matrix_case(routers: RouterNetwork, planned: Planned, pairs: Pairs) -> MatrixCase:
    """The loads of the one matrix."""
    links, nodes = routers.setup.links, _ends(routers, pairs)
    routes, count = _routes_of(planned, nodes)
    case = MatrixCase.of(routers, planned.plan.over(link_ends(links)), (routes, count), pairs)
    if case.astray is not None:
        pair, link = case.astray
        _refuse_host(routers, pairs[pair], links[link])
    return case


def _routes_of(planned: Planned, nodes: NDArray[np.int64]) -> tuple[NDArray[np.intp], int]:
    """The route of each pair of nodes among those of a plan, and how many there are."""
    origins, to, _ = planned.plan.ends()
    return np.searchsorted(pair_code(origins, to), pair_code(*nodes.T)), len(origins)


def _place(setup: Setup, node: int) -> tuple[float, float] | None:
    place = setup.nodes[node].place
    return None if place is None else (place.latitude, place.longitude)


def _by_any(routers: RouterNetwork, planned: list[Planned], pairs: Pairs) -> sparse.csr_array:
    """Highest share of each pair on each arc by any of several plans.

    Any part of a pair's traffic may be of the entries that go by either: a link has most if all of it goes by
    the plan that sends the greatest share over it.
    """
    first, *others = (_shares(routers, plan, pairs) for plan in planned)
    for other in others:
        first = first.maximum(other)
    return first


def _sending(routers: RouterNetwork, setup: Setup, pairs: Pairs, routing: int = 0) -> Setup:
    """The setup with a flow for each of these pairs of routers, and nothing that happens in it."""
    ends = _ends(routers, pairs)
    quiet = setup.without_traffic()
    if not setup.flows and not setup.datagrams:
        return quiet.replace(flows=FlowColumns.of_pairs(ends, routing))
    if not setup.flows:
        ping = setup.datagrams[0]
        datagrams = [
            replace(ping, name=f"pair.{number}", origin=origin, to=to, routing=routing)
            for number, (origin, to) in enumerate(ends.tolist())
        ]
        return quiet.replace(datagrams=datagrams)
    return quiet.replace(flows=setup.flows.like_first(ends, routing))


def _ends(routers: RouterNetwork, pairs: Pairs) -> NDArray[np.int64]:
    """The nodes of these pairs of routers."""
    return np.array(routers.routers, np.int64)[pairs]


def _shares(routers: RouterNetwork, planned: Planned, pairs: Pairs) -> sparse.csr_array:
    """Share of each pair on each arc."""
    links = routers.setup.links
    routes, _ = _routes_of(planned, _ends(routers, pairs))
    share = sparse.coo_array(_on_links(planned.plan, links)[routes])
    arcs = np.array(routers.links)
    arc_of = np.full(len(links), -1)
    arc_of[arcs[arcs >= 0]] = np.flatnonzero(arcs >= 0)
    arc = arc_of[share.col]
    if len(astray := np.flatnonzero(arc < 0)):
        _refuse_host(routers, pairs[share.row[astray[0]]], links[share.col[astray[0]]])
    return sparse.csr_array((share.data, (share.row, arc)), shape=(len(pairs), routers.network.arc_count))


def _refuse_host(routers: RouterNetwork, pair: NDArray[np.int64], link: LinkSetup) -> NoReturn:
    """Refuses a route that leads through a host."""
    message = f"the route from {routers.network.pair_name(*pair)} leads through the host at the link"
    sentence = f"{message} {link.name}; loads are known between routers only"
    raise ScenarioError([Problem("routing", sentence)])


def _on_links(plan: _core.Plan, links: Sequence[LinkSetup]) -> sparse.csr_array:
    """Share of each route's packets on each link."""
    route, link, share = plan.over(link_ends(links)).link_shares()
    return sparse.csr_array((share, (route, link)), shape=(len(plan.ends()[0]), len(links)))


def _by_paths(routers: RouterNetwork, planned: Planned, pairs: Pairs) -> TrafficSplit:
    """A plan of paths as fractions of candidate paths."""
    arc_of = {link: arc for arc, link in enumerate(routers.links)}
    routes = {(route["from"], route["to"]): route["paths"] for route in planned.plan.data()["routes"]}
    paths: dict[tuple[int, int], list[list[int]]] = {}
    fractions = list[float]()
    for a, b in pairs.tolist():
        paths_of_pair = routes[routers.routers[a], routers.routers[b]]
        if not paths_of_pair:
            message = (
                f"{routers.network.pair_name(a, b)} is forwarded hop by hop, and what a failure does to such "
                "a plan is not known here; leave --failures out, or give paths"
            )
            raise ScenarioError([Problem("routing.paths", message)])
        paths[a, b] = [[arc_of[link] for link in path["links"]] for path in paths_of_pair]
        fractions += [path["weight"] for path in paths_of_pair]
    candidates = Candidates.from_paths(routers.network, paths)
    return candidates.routing(routers.network.arc_count, fractions)


def _after_pruning(routers: RouterNetwork, routing: TrafficSplit) -> tuple[FailureLoad, ...]:
    """The worst case of each failure where the paths that are left share the traffic in proportion."""
    worst = worst_case_under_failures(routers.network, routers.bounds, routing)
    cases = []
    for case in worst.cases:
        stranded = [(int(routing.source[pair]), int(routing.target[pair])) for pair in case.stranded]
        cases.append(_case(routers, case.arcs.tolist(), case.worst_case, stranded))
    return tuple(cases)


def _after_planning(routers: RouterNetwork, origin: str | None, pairs: Pairs) -> tuple[FailureLoad, ...]:
    """The worst case of each failure where the scheme plans anew without the failed links."""
    setup, network = routers.setup, routers.network
    cases = []
    for edge in range(int(network.edge.max()) + 1):
        arcs = np.flatnonzero(network.edge == edge)
        failed = {routers.links[arc] for arc in arcs}
        # An arc that is down keeps its number here, and has no traffic.
        kept = [number for number in range(len(setup.links)) if number not in failed]
        place_of = {number: place for place, number in enumerate(kept)}
        links = [setup.links[number] for number in kept]
        after = replace(
            routers,
            setup=setup.replace(links=links),
            links=tuple(place_of.get(link, -1) for link in routers.links),
        )
        stranded = _stranded(after, pairs)
        left = pairs[~stranded]
        planned = _plans(after, origin, left)
        worst: LinkCase | WorstCase
        if _is_one_matrix(after, planned):
            worst = _matrix_case(after, planned[0], left)
        else:
            share = _by_any(after, planned, left)
            worst = load_of_shares(network, routers.bounds, left[:, 0], left[:, 1], share)
        cases.append(_case(routers, arcs.tolist(), worst, pairs[stranded].tolist()))
    return tuple(cases)


def _stranded(routers: RouterNetwork, pairs: Pairs) -> NDArray[np.bool_]:
    """Which pairs have no way, or no path within the limits of every scheme, in one of both directions."""
    setup = routers.setup
    there = _ends(routers, pairs)
    # The acknowledgments need a way, too: the core refuses a flow without one.
    both = np.concatenate([there, there[:, ::-1]])
    stranded = np.zeros(len(both), np.bool_)
    stranded[Reach(setup.links).cut_off(*both.T)] = True
    quiet = setup.without_traffic()
    for limits in filter(None, map(limits_of, [setup.routing.scheme, *setup.routing.others])):
        candidates = quiet.core().candidate_paths(
            1, "delay", [(a, b) for a, b in both.tolist()], **limits.core()
        )
        stranded |= [not paths for _, _, paths in candidates]
    return stranded[: len(pairs)] | stranded[len(pairs) :]


def _case(
    routers: RouterNetwork, arcs: list[int], worst: LinkCase | WorstCase, stranded: Iterable[Sequence[int]]
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
