"""The routes of a scenario: computed by the core, named and measured here; nothing is simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from typing import Any, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.plans.named import NamedPlan, PairRoutes
from anabranch.routing import Planned, pairs_of, plan_of, planner_of, settled_setup
from anabranch.routing.nodes_between import links_between_ends
from anabranch.routing.path_limits import limits_of, without_path
from anabranch.routing.path_metrics import METRICS_OF_LOSS, METRICS_TIMES_DELAY
from anabranch.routing.path_throughput import application_of
from anabranch.routing.planned import link_ends
from anabranch.scenario.algorithms.loss_detection import Fastrto
from anabranch.scenario.algorithms.protocol import TcpProtocol
from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.flow_columns import FlowColumns, pair_code
from anabranch.setup.model import OwnScheme, PlannerSetup
from anabranch.setup.problems import refused

_PS_PER_MS = 1e9
_LINKS = pl.List(pl.UInt64)
_Schema = dict[str, pl.DataType | type[pl.DataType]]
_ROUTES: _Schema = {
    "from": pl.String,
    "to": pl.String,
    "path": pl.UInt64,
    "weight": pl.Float64,
    "links": _LINKS,
}
_NEXT_HOPS: _Schema = {"to": pl.String, "node": pl.String, "links": _LINKS}
_TABLES_AT_ONCE = 64
"""Destinations whose next hops are grouped together."""


@dataclass(frozen=True, eq=False)
class PairSequence(Sequence[PairRoutes]):
    """The routes of many pairs, each made when it is asked for; a part of them is one, too."""

    make: Callable[[int, int], PairRoutes] = field(repr=False)
    ends: NDArray[np.uint32] = field(repr=False)
    """Origin and destination of each pair."""
    carries_data: NDArray[np.bool_] = field(repr=False)
    by_path: NDArray[np.bool_] = field(repr=False)
    """Whether each has paths; the others are forwarded hop by hop."""

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> PairRoutes: ...
    @overload
    def __getitem__(self, index: slice) -> PairSequence: ...
    def __getitem__(self, index: int | slice) -> PairRoutes | PairSequence:
        if isinstance(index, slice):
            return self.where(index)
        origin, to = self.ends[index].tolist()
        return self.make(origin, to)

    def where(self, which: slice | NDArray[np.bool_]) -> PairSequence:
        """Some of them."""
        return PairSequence(self.make, self.ends[which], self.carries_data[which], self.by_path[which])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of all pairs that send data or acknowledgments."""

    scheme: str
    """Name of the scheme, or of the controller's application."""
    metric: str
    metric_column: str
    """Name of the metric's value with its unit."""
    pairs: PairSequence
    """Those that carry data first."""
    names: NamedPlan = field(repr=False, compare=False)
    """The plan behind them."""
    warnings: tuple[str, ...] = ()
    """What must be known about the plan as a whole."""
    facts: dict[str, float | int | str] = field(default_factory=dict)
    """About the plan as a whole, such as its worst-case load; units at the end of the names."""
    traffic: tuple[str, ...] = ()
    """Names of the traffic entries that go by these routes of their own; none for those of ``[routing]``."""
    others: tuple[Routes, ...] = ()
    """The routes of traffic that has some of its own."""

    def data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        plain = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "names"}
        plain |= {"pairs": [asdict(pair) for pair in self.pairs], "facts": dict(self.facts)}
        return plain | {"others": [other.data() for other in self.others]}

    def csv(self) -> str:
        """Returns these routes as CSV, which ``routing.paths`` reads; those of ``others`` are not in it."""
        return self.names.csv()

    @property
    def caption(self) -> str:
        """The heading, which says what routes these are."""
        by = f"{self.scheme} by {self.metric}"
        return f"{by}, for {', '.join(self.traffic)}" if self.traffic else by


def plan(setup: Setup, origin: str | None, progress: Callable[[int, int], None] | None = None) -> Planned:
    """The plan of a setup: the core's where it has a scheme, and else its planner's.

    Routes of traffic that has some of its own are the others of the plan.

    Args:
        setup: what to plan for.
        origin: name of the scenario's file, for messages.
        progress: told of the core's progress; planners have none to tell.

    Raises:
        ScenarioError: if there is something wrong with the setup that only routing can find.
    """
    first, *others = plans(setup, origin, progress)
    if not others:
        return first
    warnings = tuple(warning for planned in (first, *others) for warning in planned.warnings)
    return Planned(first.plan.with_others([other.plan for other in others]), warnings, first.facts)


def settled(setup: Setup, origin: str | None) -> Setup:
    """The setup in which its planner has settled what it may (:func:`anabranch.routing.settled_setup`).

    Args:
        setup: a scenario, resolved.
        origin: name of the scenario's file, for messages.

    Raises:
        ScenarioError: if the planner finds something wrong.
    """
    try:
        return settled_setup(setup)
    except ScenarioError as error:
        # A planner does not know the file's name.
        raise ScenarioError(error.problems, origin) from None
    except _core.SetupError as error:
        raise refused(error, origin, setup) from None


def plans(
    setup: Setup, origin: str | None, progress: Callable[[int, int], None] | None = None
) -> list[Planned]:
    """The plan of ``[routing]``, and those of traffic that has routes of its own, one by one.

    Args and raises as :func:`plan`.
    """
    made = [_plan(setup, 0, setup.planner, (origin, progress))]
    for number, routes in enumerate(setup.own_routes, start=1):
        try:
            planned = _plan(setup, number, routes.planner, (origin, progress))
        except ScenarioError as error:
            moved = [
                replace(problem, place=_moved(problem.place, routes.place)) for problem in error.problems
            ]
            raise ScenarioError(moved, origin) from None
        warnings = tuple(_moved(warning, routes.place) for warning in planned.warnings)
        made.append(replace(planned, warnings=warnings))
    return made


def _moved(text: str, place: str) -> str:
    """Where a planner speaks of ``routing``, the place of the routes that it plans."""
    return f"{place}{text.removeprefix('routing')}" if text.startswith("routing.") else text


def _plan(
    setup: Setup,
    routing: int,
    planner: PlannerSetup | None,
    origin_and_progress: tuple[str | None, Callable[[int, int], None] | None],
) -> Planned:
    origin, progress = origin_and_progress
    if planner is None or planner.settled is not None:
        try:
            plan = setup.core().plan(progress, routing)
        except _core.SetupError as error:
            raise refused(error, origin, setup) from None
        scheme = [setup.routing.scheme, *setup.routing.others][routing]
        limits = limits_of(scheme)
        if limits and (without := setup.core().without_route(plan, routing)):
            raise ScenarioError(without_path(setup, limits, without), origin)
        if planner is not None and planner.settled is not None:
            return Planned(plan, planner.settled.warnings, planner.settled.facts)
        return Planned(plan, _says_nothing(setup, routing))
    setup_of_routing = setup.of_routing(routing)
    if setup.own_routes and not pairs_of(setup_of_routing):
        return Planned(plan_of({}))
    try:
        name = PYTHON if isinstance(planner.scheme, OwnScheme) else planner.scheme.algorithm
        return planner_of(name)(setup_of_routing, planner)
    except ScenarioError as error:
        # A planner does not know the file's name.
        raise ScenarioError(error.problems, origin) from None
    except _core.SetupError as error:
        raise refused(error, origin, setup) from None


def _says_nothing(setup: Setup, routing: int) -> tuple[str, ...]:
    """A warning where the metric is the same on all paths, because no link loses packets or has a delay."""
    scheme = [setup.routing.scheme, *setup.routing.others][routing]
    metric = "hops" if scheme is None else scheme.metric
    place = "routing.metric"
    if setup.controller is not None:
        if application_of(setup) == PYTHON:
            return ()
        place = "controller.metric"
    where, tie = "", _tie(setup, metric, None)
    # What the metric asks for may lie where no data can come by. To find that takes longer.
    if tie is None and metric in {*METRICS_OF_LOSS, *METRICS_TIMES_DELAY}:
        links = links_between_ends(setup.of_routing(routing))
        where, tie = " between the ends of traffic", _tie(setup, metric, links)
    if tie is None:
        return ()
    why, least = tie
    return (
        f"{place}: no link{where} {why}, so that {quoted(metric)} tells no paths apart; routes are those of "
        f"{least}",
    )


def _tie(setup: Setup, metric: str, links: Sequence[int] | None) -> tuple[str, str] | None:
    """What links lack, all of data or some, so that all paths are equal by a metric; and which it takes.

    None where it tells paths apart.
    """
    control = None if setup.controller is None else setup.controller.node
    of_data = setup.links if links is None else [setup.links[number] for number in links]
    if metric in METRICS_TIMES_DELAY and not any(
        link.delay for link in of_data if control not in (link.origin, link.to)
    ):
        return "has a delay", "fewest hops"
    if metric in METRICS_OF_LOSS and (instead := setup.core().metric_fallback(metric, links)) is not None:
        return "loses packets", {"delay": "least delay", "hops": "fewest hops"}[instead]
    return None


def require_known_paths(scenario: Scenario) -> None:
    """Refuses to say which paths a class of the user's own will choose, with a controller.

    Raises:
        ScenarioError: with such a class.
    """
    if scenario.controller is not None and scenario.controller.is_own:
        message = "the class chooses the paths while a run is under way, and nobody knows them before"
        raise ScenarioError([Problem("controller.application", message)], scenario.origin)


def routes(scenario: Scenario, progress: Callable[[int, int], None] | None = None) -> Routes:
    """The routes of all pairs of a scenario.

    Args:
        scenario: whose routes.
        progress: called now and then with the pairs that have routes and all pairs.

    Raises:
        ScenarioError: if the scenario cannot be run.
    """
    require_known_paths(scenario)
    resolved = settled(resolve(scenario, Needed.ROUTES), scenario.origin)
    setup = _sending(resolved, scenario.origin)
    scheme = scenario.routing.scheme_name
    metric: str = scenario.routing.metric
    if scenario.controller is not None:
        scheme, metric = scenario.controller.application_name, scenario.controller.path_metric()
    first, *others = plans(setup, scenario.origin, progress)
    of_traffic = tuple(
        replace(
            _named(setup.of_routing(number), planned, routes.scheme, routes.metric), traffic=routes.traffic
        )
        for number, (planned, routes) in enumerate(zip(others, setup.own_routes, strict=True), start=1)
    )
    return replace(_named(setup.of_routing(0), first, scheme, metric), others=of_traffic)


def _sending(setup: Setup, origin: str | None) -> Setup:
    """The setup; one without traffic gets a flow for each pair that may send by ``routing.demand``.

    Raises:
        ScenarioError: if there is neither.
    """
    if setup.flows or setup.datagrams:
        return setup
    if setup.demand is None:
        message = (
            "is missing, and so is routing.demand: routes are those of pairs that send; give [[traffic]], or "
            'matrix = { from = "file:tm.csv" } in [routing.demand]'
        )
        raise ScenarioError([Problem("traffic", message)], origin)
    ingress, egress, pair = setup.demand.arrays()
    may_send = (pair > 0) & (ingress > 0)[:, None] & (egress > 0)[None, :]
    np.fill_diagonal(may_send, val=False)
    ends = np.array(setup.demand.routers)[np.argwhere(may_send)]
    return setup.replace(flows=FlowColumns.of_pairs(ends))


def _named(setup: Setup, planned: Planned, scheme: str, metric: str) -> Routes:
    """The routes of all traffic of a setup, in names."""
    origins, to, paths = planned.plan.ends()
    named = NamedPlan(setup, planned.plan, metric)
    carries_data = named.sends_data(pair_code(origins, to))
    # Data first: that is what one asks for.
    order = np.argsort(~carries_data, kind="stable")
    ends = np.stack([origins, to], axis=1)
    pairs = PairSequence(named.pair, ends[order], carries_data[order], paths[order] > 0)
    return Routes(scheme, metric, named.metric_column, pairs, named, planned.warnings, dict(planned.facts))


def route_tables(setup: Setup, planned: _core.Plan) -> dict[str, pl.DataFrame]:
    """Tables of a result that say what the network is and how packets begin to cross it.

    ``nodes`` has their places, ``routes`` a row for each path, ``next_hops`` a row for each node and
    destination where forwarding goes hop by hop; links are numbers as in the table ``links``. ``routing``
    is 0 for the routes of ``[routing]``, and counts those that traffic has of its own. Tables without rows
    are left out.
    """
    names = [node.name for node in setup.nodes]
    plans = [planned, *planned.others()]
    hops = [_next_hops(names, plan, number) for number, plan in enumerate(plans)]
    paths = [_path_table(names, plan, number) for number, plan in enumerate(plans)]
    latitudes = [None if node.place is None else node.place.latitude for node in setup.nodes]
    longitudes = [None if node.place is None else node.place.longitude for node in setup.nodes]
    tables = {
        "nodes": pl.DataFrame(
            {
                "node": pl.Series(range(len(names)), dtype=pl.UInt64),
                "name": names,
                "latitude_deg": pl.Series(latitudes, dtype=pl.Float64),
                "longitude_deg": pl.Series(longitudes, dtype=pl.Float64),
            }
        ),
        "routes": pl.concat(paths),
        "next_hops": pl.concat(hops),
    }
    if application_of(setup) == PYTHON:
        # The class has chosen others, and perhaps several for a pair.
        del tables["routes"]
    return {name: table for name, table in tables.items() if not table.is_empty()}


def _next_hops(names: list[str], plan: _core.Plan, routing: int) -> pl.DataFrame:
    """A row for each node and destination."""
    # By parts: a fabric has millions of hops, and grouping all of them at once takes five times the table.
    parts = [
        _hops_of_tables(names, plan.hops(first, _TABLES_AT_ONCE))
        for first in range(0, plan.table_count(), _TABLES_AT_ONCE)
    ]
    return _marked(pl.concat(parts) if parts else pl.DataFrame(schema=_NEXT_HOPS), routing)


def _hops_of_tables(names: list[str], columns: Sequence[NDArray[np.uint32]]) -> pl.DataFrame:
    """Those of some tables, of which destination, node, number of links, and all links are given."""
    *of_rows, links = columns
    to, node, counts = (pl.Series(column[of_rows[2] > 0]) for column in of_rows)
    named = pl.Series(names, dtype=pl.String)
    numbers = np.repeat(np.arange(len(to), dtype=np.uint32), counts)
    hops = pl.DataFrame({"row": numbers, "links": links})
    grouped = hops.group_by("row", maintain_order=True).agg(pl.col("links").cast(_LINKS.inner))
    table = pl.DataFrame({"to": named.gather(to), "node": named.gather(node), "links": grouped["links"]})
    return table.filter(to != node).cast(pl.Schema(_NEXT_HOPS))


def _marked(table: pl.DataFrame, routing: int) -> pl.DataFrame:
    """The table with the place of the routes that it has."""
    return table.with_columns(pl.Series("routing", [routing] * table.height, dtype=pl.UInt64))


def _path_table(names: list[str], plan: _core.Plan, routing: int) -> pl.DataFrame:
    """A row for each path."""
    origins, to, counts = plan.ends()
    weights, hops, links = plan.columns()
    route = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(route))
    first = np.cumsum(counts, dtype=np.int64) - counts
    node = pl.Series(names, dtype=pl.String)
    crossed = pl.DataFrame({"path": np.repeat(number, hops), "links": links})
    columns = [
        node.gather(origins[route]),
        node.gather(to[route]),
        pl.Series(number - first[route]),
        pl.Series(weights),
        crossed.group_by("path", maintain_order=True).agg("links")["links"].rechunk(),
    ]
    table = pl.DataFrame(
        [column.cast(kind).alias(name) for column, (name, kind) in zip(columns, _ROUTES.items(), strict=True)]
    )
    return _marked(table, routing)


def warnings(setup: Setup, planned: _core.Plan) -> list[str]:
    """Warnings of what will run and yet cannot be meant: a largest FastRTO before the first ACK can be back.

    A line for each transport whose ``fastrto_max`` is below the round trip of one of its flows, with both
    numbers; the round trip is that of the slowest paths there and back, without queues. The transport then
    goes by gamma times the round trips that it measures.
    """
    bounds = {
        index: transport.config.loss_detection.fastrto_max
        for index, transport in enumerate(setup.transports)
        if isinstance(transport.config, TcpProtocol) and isinstance(transport.config.loss_detection, Fastrto)
    }
    if not bounds:
        return []
    behind = link_ends(setup.links)
    paths = [plan.over(behind) for plan in (planned, *planned.others())]
    delays_ps = np.array([link.delay for link in setup.links], dtype=np.uint64)

    @cache
    def slowest(routing: int, origin: int, to: int) -> int:
        """Delay of the slowest path of a pair in ps."""
        return paths[routing].longest(origin, to, delays_ps)

    worst: dict[int, tuple[int, str]] = {}
    for flow in setup.flows:
        if flow.transport in bounds:
            ends = (flow.origin, flow.to)
            rtt = slowest(flow.routing, *ends) + slowest(flow.routing, *ends[::-1])
            if rtt > bounds[flow.transport]:
                worst[flow.transport] = max(worst.get(flow.transport, (0, "")), (rtt, flow.name))
    return [
        f"transport.{setup.transports[index].name}.loss_detection.fastrto_max: "
        f"{bounds[index] / _PS_PER_MS:g} ms is below the round trip of {quoted(name)}, "
        f"{rtt / _PS_PER_MS:g} ms without queues: "
        "the timer follows the measured round trips, and this bound does nothing"
        for index, (rtt, name) in sorted(worst.items())
    ]
