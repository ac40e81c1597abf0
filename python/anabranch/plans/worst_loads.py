"""How much any scheme loads each link in the worst case over the traffic matrices of ``[routing.demand]``.

The plan is made for every pair of routers that may have traffic, whether it sends in the scenario or not, and
scored by an evaluator that does not know which scheme made it. Nothing is simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anabranch.errors import Problem, ScenarioError
from anabranch.plans.failure_loads import (
    FailureEvaluator,
    FailureLoad,
    FailurePiece,
    LookProgress,
    evaluator_of,
    gathered,
    outcomes,
)
from anabranch.plans.failures import failures_of
from anabranch.plans.link_cases import BoundsCase, LinkCase
from anabranch.plans.pair_plans import is_one_matrix, matrix_case, plans_of_pairs, shares_by_any
from anabranch.plans.routes import settled
from anabranch.routing import Planned
from anabranch.routing.pair_shares import Pairs, shares_of_pairs
from anabranch.routing.robust import RobustRoutingError, TrafficSplit
from anabranch.routing.robust import worst_case as evaluate
from anabranch.routing.robust.worst_case import load_of_shares
from anabranch.routing.router_failures import Failure
from anabranch.routing.router_network import RouterNetwork, as_scenario_error
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.files import ScenarioFiles
from anabranch.text.units import with_unit

Floats = NDArray[np.float64]
Look = Callable[[FailureEvaluator, Sequence[Failure], int | None, LookProgress | None], FailurePiece]
"""Looks at failures: by so many threads, telling what is done."""
_MOST_NAMED = 5
"""Links and nodes out of service that are named in a heading."""


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """A directed link between routers, and the highest load that traffic within the bounds gives it."""

    link: str
    source: str
    destination: str
    capacity_mbps: float
    load: float
    """Traffic over capacity; 1 is a full link."""
    failed_load: float | None = None
    """The highest load in any of the failures; None if none were requested."""
    failed_by: str | None = None
    """The name of the failure with this load, the first of several; None where none loads the link more."""

    @property
    def headroom(self) -> float | None:
        """By how much all traffic may grow until the link is full, a ratio; None without traffic on it."""
        return 1 / self.load - 1 if self.load > 0 else None

    def years_until_full(self, growth_a_year: float) -> float | None:
        """When the link is full, as of :func:`years_until_full`."""
        return years_until_full(self.load, growth_a_year)


def years_until_full(load: float, growth_a_year: float) -> float | None:
    """When a link is full if all traffic grows by this ratio each year, from now on.

    0 for one that is full, None for a link without traffic, and for one with room where nothing grows.
    """
    if load <= 0 or (growth_a_year <= 0 and load < 1):
        return None
    if load >= 1:
        return 0.0
    return -math.log(load) / math.log1p(growth_a_year)


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
class MatrixLoad:
    """The highest load by one matrix of a series."""

    number: int
    """Its place in the file, from 1 on."""
    label: str
    """What the file calls it; empty for nothing."""
    demand_mbps: float
    """All its traffic."""
    load: float
    worst_link: str
    failed_load: float | None
    """The highest load in any failure; None if none were requested."""
    failed_by: str | None


@dataclass(frozen=True)
class WorstLoads:
    """The worst case of a scenario's routes, link by link."""

    title: str
    scheme: str
    links: tuple[LinkLoad, ...]
    """All links between routers, in the order of the scenario."""
    failures: tuple[FailureLoad, ...] | None
    """Of the kinds that were asked for; None if none were."""
    warnings: tuple[str, ...]
    facts: dict[str, float | int | str]
    """What the maker of the plan says of it."""
    places: dict[str, tuple[float, float] | None] = field(repr=False)
    """Latitude and longitude of each router, by name, or None."""
    _worst: LinkCase = field(repr=False)
    matrix_name: str | None = None
    """Where the traffic comes from, where there is but one matrix, so that the loads are no worst case.

    None for bounds."""
    out_of_service: tuple[str, ...] = ()
    """Links, by one of both directions, and nodes that the network is without."""
    demand_mbps: float | None = None
    """All traffic of the one matrix; None for bounds."""
    series: tuple[MatrixLoad, ...] | None = None
    """Of each matrix of a series, of which this is the one with the highest load; None without a series."""
    growth_a_year: float | None = None
    """By which ratio all traffic grows each year, for those who ask when a link is full."""

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
    def links_up(self) -> str:
        """A sentence part on the links that are up without a failure."""
        if not self.out_of_service:
            return "all links up"
        named, more = self.out_of_service[:_MOST_NAMED], len(self.out_of_service) - _MOST_NAMED
        others = f" and {more} more" if more > 0 else ""
        return f"all links up but {', '.join(named)}{others}"

    @property
    def worst_failure(self) -> FailureLoad | None:
        """The failure with the highest load, if failures were asked for."""
        return max(self.failures, key=lambda case: case.load) if self.failures else None

    @property
    def failure_kinds(self) -> tuple[str, ...]:
        """The kinds of its failures, in their order."""
        return tuple(dict.fromkeys(case.kind for case in self.failures or ()))

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
    """Where failures were looked at in both, by their names."""


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
    failed = {(case.kind, case.name): case for case in before.failures or ()}
    return LoadChanges(
        before,
        after,
        tuple(LoadChange(link.link, old[link.link], link.load) for link in after.links),
        tuple(
            LoadChange(case.name, was.load, case.load, len(was.stranded), len(case.stranded))
            for case in after.failures or ()
            if (was := failed.get((case.kind, case.name))) is not None
        ),
    )


def compare_scenarios(
    after: Scenario, loads: WorstLoads, before: Scenario, *, failures: str | None, jobs: int | None = None
) -> tuple[LoadChanges, list[str]]:
    """The effect of a change of routing, and what else differs between the scenarios.

    Args:
        after: the scenario.
        loads: its worst cases.
        before: the scenario with the routes before.
        failures: kinds of failures, as in ``loads``.
        jobs: as of :func:`worst_loads`.

    Raises:
        ScenarioError: if the other scenario cannot be run, has no bounds, or has other links.
    """
    changes = compare_loads(loads, worst_loads(before, failures=failures, jobs=jobs))
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


def worst_loads(
    scenario: Scenario,
    *,
    failures: str | None = None,
    jobs: int | None = None,
    progress: LookProgress | None = None,
    files: ScenarioFiles | None = None,
    look: Look | None = None,
) -> WorstLoads:
    """The worst case of a scenario's routes over all traffic matrices within its bounds.

    Args:
        scenario: with a table ``[routing.demand]``.
        failures: kinds of failures to look at as well, as of :func:`failures_of`: ``links,nodes``. A robust
            scheme then distributes its traffic in proportion over the remaining paths; other schemes compute
            new plans, as in a simulation.
        jobs: threads for the failures; one for each core if None.
        progress: told of the failures that are done, and of all.
        files: those of the scenario, where some have been read already.
        look: looks at the failures, where that is not done here and by threads alone.

    Raises:
        ScenarioError: if the scenario cannot be run, or has no bounds.
    """
    routers = _routers_of(scenario, files)
    try:
        return loads_of_routers(scenario, routers, failures, jobs, progress, look)
    except RobustRoutingError as error:
        raise as_scenario_error(error, scenario.origin) from None


def judge_of(scenario: Scenario, failures: str) -> tuple[FailureEvaluator, list[Failure]]:
    """The judge of failures of these kinds in a scenario, and the failures.

    Raises:
        ScenarioError: as of :func:`worst_loads`.
    """
    routers = _routers_of(scenario, None)
    pairs = np.stack(routers.bounds.pairs(), axis=1)
    try:
        planned = plans_of_pairs(routers, scenario.origin, pairs)
        return evaluator_of(routers, scenario.origin, planned, pairs), failures_of(routers, failures)
    except RobustRoutingError as error:
        raise as_scenario_error(error, scenario.origin) from None


def _routers_of(scenario: Scenario, files: ScenarioFiles | None) -> RouterNetwork:
    setup = settled(resolve(scenario, Needed.ROUTES, files), scenario.origin)
    if setup.demand is None:
        message = (
            'is missing; loads are those of a matrix, such as matrix = { from = "file:tm.csv" }, or the '
            'worst over all within bounds, such as pair = "50 Mbps"'
        )
        raise ScenarioError([Problem("routing.demand", message)], scenario.origin)
    return RouterNetwork.of(setup)


def _look(
    evaluator: FailureEvaluator, failures: Sequence[Failure], jobs: int | None, progress: LookProgress | None
) -> FailurePiece:
    return gathered(outcomes(evaluator, failures, jobs, progress))


def loads_of_routers(
    scenario: Scenario,
    routers: RouterNetwork,
    failures: str | None,
    jobs: int | None = None,
    progress: LookProgress | None = None,
    look: Look | None = None,
) -> WorstLoads:
    """The worst case of a scenario whose routers are known; their bounds count, not those of the scenario.

    Args and raises as of :func:`worst_loads`; raises errors of robust routing as well.
    """
    setup = routers.setup
    source, target = routers.bounds.pairs()
    pairs = np.stack([source, target], axis=1)
    planned = plans_of_pairs(routers, scenario.origin, pairs)
    worst = _case_of(routers, planned, pairs)
    cases, failed = None, None
    if failures is not None:
        evaluator = evaluator_of(routers, scenario.origin, planned, pairs)
        piece = (look or _look)(evaluator, failures_of(routers, failures), jobs, progress)
        cases, failed = piece.loads, _names(worst.load, piece)
    return WorstLoads(
        scenario.title,
        scenario.routing.scheme_name,
        _link_loads(routers, worst.load, failed),
        cases,
        (*planned[0].warnings, *_without_traffic(routers)),
        dict(planned[0].facts),
        {setup.nodes[node].name: _place(setup, node) for node in routers.routers},
        worst,
        None if setup.demand is None else setup.demand.matrix,
        _out_of_service(setup),
        None
        if setup.demand is None or setup.demand.matrix is None
        else float(routers.bounds.pair_mbps[source, target].sum()),
    )


def _out_of_service(setup: Setup) -> tuple[str, ...]:
    """The nodes that are out of service, and the links that are so for themselves, one direction of each."""
    nodes = [setup.nodes[node].name for node in setup.outages.nodes_out]
    links = dict[tuple[frozenset[str], str], str]()
    for link in setup.outages.links_out:
        pair, _, number = link.partition("#")
        ends = frozenset(pair.split("->"))
        if not ends & set(nodes):
            links.setdefault((ends, number), link)
    return (*nodes, *links.values())


def _names(load: Floats, piece: FailurePiece) -> tuple[Floats, list[str | None]]:
    """The highest load of each arc in any failure, with the failure's name; of none where it is no higher."""
    names = np.array([*(one.name for one in piece.loads), None], dtype=object)[piece.by]
    # Rounding alone is no higher load.
    names[piece.highest <= load * (1 + 1e-9)] = None
    return piece.highest, names.tolist()


def _link_loads(
    routers: RouterNetwork, load: Floats, failed: tuple[Floats, list[str | None]] | None
) -> tuple[LinkLoad, ...]:
    setup = routers.setup
    most, by = (load, [None] * len(load)) if failed is None else failed
    return tuple(
        LinkLoad(
            link.name, setup.nodes[link.origin].name, setup.nodes[link.to].name, link.capacity / 1e6, load,
            None if failed is None else failed_load, failed_by,
        )
        for link, load, failed_load, failed_by in zip(
            (setup.links[link] for link in routers.links), load.tolist(), most.tolist(), by, strict=True
        )
    )  # fmt: skip


def _without_traffic(routers: RouterNetwork) -> list[str]:
    """A warning where nodes are out of service whose traffic is in no load."""
    setup, demand = routers.setup, routers.setup.demand
    out = setup.outages.nodes_out
    if not out or demand is None:
        return []
    names = ", ".join(quoted(setup.nodes[node].name) for node in out)
    amount = ""
    if demand.matrix is not None:
        of_out = np.isin(routers.routers, out)
        lost = routers.bounds.pair_mbps[of_out[:, None] | of_out[None, :]].sum()
        amount = f", {with_unit(float(lost), 'Mbps')},"
    return [f"network.out_of_service: the traffic{amount} of {names} is left out of the demand"]


def _case_of(routers: RouterNetwork, planned: list[Planned], pairs: Pairs) -> LinkCase:
    """The loads by ``[routing]`` and by the routes that traffic has of its own, with all links up."""
    source, target = pairs[:, 0], pairs[:, 1]
    if is_one_matrix(routers, planned):
        return matrix_case(routers, planned[0], pairs)
    if len(planned) > 1:
        share = shares_by_any(routers, planned, pairs)
        return BoundsCase(
            load_of_shares(routers.network, routers.bounds, source, target, share), sparse.csc_array(share)
        )
    share = shares_of_pairs(routers, planned[0], pairs)
    worst = evaluate(routers.network, routers.bounds, TrafficSplit(source, target, share))
    return BoundsCase(worst, sparse.csc_array(share))


def _place(setup: Setup, node: int) -> tuple[float, float] | None:
    place = setup.nodes[node].place
    return None if place is None else (place.latitude, place.longitude)
