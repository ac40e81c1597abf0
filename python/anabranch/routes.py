"""The routes of a scenario: computed by the core, named and measured here; nothing is simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from typing import Any, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.path_metrics import METRICS_OF_LOSS, METRICS_TIMES_DELAY, PATH_METRICS
from anabranch.plan_paths import NextHops, Pair, WeightedPath, tables_of, unrolled, walked
from anabranch.predictions import (
    MOST_PATHS,
    ThroughputPrediction,
    application_of,
    path_loss,
    predictions,
)
from anabranch.routing import Planned, pairs_of, plan_of, planner_of
from anabranch.routing.path_limits import limits_of, without_path
from anabranch.scenario.algorithm import PYTHON
from anabranch.scenario.algorithms.loss_detection import Fastrto
from anabranch.scenario.algorithms.protocol import TcpProtocol
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.flow_columns import pair_code
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
    """Probability that a packet is lost at random on its path, in the long run."""
    capacities_mbps: tuple[float, ...]
    """Capacity of each link."""
    igp_cost: int | None = None
    """Sum of the links' weights; None where one has none."""
    metric_value: float | None = None
    """Value of the routing metric, with the unit that ends ``Routes.metric_column``; None where infinite."""


@dataclass(frozen=True, slots=True)
class Hop:
    """The next hops of one node to a destination, each with the same share."""

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
    predictions: tuple[ThroughputPrediction, ...]
    """Throughput of a flow with each transport that sends data here; empty where none does."""


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
        plain = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        plain |= {"pairs": [asdict(pair) for pair in self.pairs], "facts": dict(self.facts)}
        return plain | {"others": [other.data() for other in self.others]}

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
    told = tuple(warning for planned in (first, *others) for warning in planned.warnings)
    return Planned(first.plan.with_others([other.plan for other in others]), told, first.facts)


def plans(
    setup: Setup, origin: str | None, progress: Callable[[int, int], None] | None = None
) -> list[Planned]:
    """The plan of ``[routing]``, and those of traffic that has routes of its own, one by one.

    Args and raises as :func:`plan`.
    """
    made = [_plan(setup, 0, setup.planner, (origin, progress))]
    for number, own in enumerate(setup.own_routes, start=1):
        try:
            planned = _plan(setup, number, own.planner, (origin, progress))
        except ScenarioError as error:
            moved = [replace(problem, place=_moved(problem.place, own.place)) for problem in error.problems]
            raise ScenarioError(moved, origin) from None
        told = tuple(_moved(warning, own.place) for warning in planned.warnings)
        made.append(replace(planned, warnings=told))
    return made


def _moved(text: str, place: str) -> str:
    """Where a planner speaks of ``routing``, the place of the routes that it plans."""
    return f"{place}{text.removeprefix('routing')}" if text.startswith("routing.") else text


def _plan(
    setup: Setup,
    routing: int,
    planner: PlannerSetup | None,
    told: tuple[str | None, Callable[[int, int], None] | None],
) -> Planned:
    origin, progress = told
    if planner is None:
        try:
            found = setup.core().plan(progress, routing)
        except _core.SetupError as error:
            raise refused(error, origin, setup) from None
        scheme = [setup.routing.scheme, *setup.routing.others][routing]
        limits = limits_of(scheme)
        if limits and (without := setup.core().without_route(found, routing)):
            raise ScenarioError(without_path(setup, limits, without), origin)
        return Planned(found, _says_nothing(setup, routing))
    own = setup.of_routing(routing)
    if setup.own_routes and not pairs_of(own):
        return Planned(plan_of({}))
    try:
        name = PYTHON if isinstance(planner.scheme, OwnScheme) else planner.scheme.algorithm
        return planner_of(name)(own, planner)
    except ScenarioError as error:
        # A planner does not know the file's name.
        raise ScenarioError(error.problems, origin) from None


def _says_nothing(setup: Setup, routing: int) -> tuple[str, ...]:
    """A warning where the metric is the same on all paths, because no link loses packets or has a delay."""
    scheme = [setup.routing.scheme, *setup.routing.others][routing]
    metric = "hops" if scheme is None else scheme.metric
    place, control = "routing.metric", None
    if setup.controller is not None:
        if application_of(setup) == PYTHON:
            return ()
        place, control = "controller.metric", setup.controller.node
    if metric in METRICS_TIMES_DELAY and not any(
        link.delay for link in setup.links if control not in (link.origin, link.to)
    ):
        why, least = "has a delay", "fewest hops"
    elif metric in METRICS_OF_LOSS and (instead := setup.core().metric_fallback(metric)) is not None:
        why, least = "loses packets", {"delay": "least delay", "hops": "fewest hops"}[instead]
    else:
        return ()
    return (
        f"{place}: no link {why}, so that {quoted(metric)} tells no paths apart; routes are those of {least}",
    )


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
    setup = resolve(scenario, Needed.ROUTES)
    scheme = scenario.routing.scheme_name
    metric: str = scenario.routing.metric
    if scenario.controller is not None:
        scheme, metric = scenario.controller.application_name, scenario.controller.path_metric()
    first, *others = plans(setup, scenario.origin, progress)
    own = tuple(
        replace(
            _named(setup.of_routing(number), planned, routes.scheme, routes.metric), traffic=routes.traffic
        )
        for number, (planned, routes) in enumerate(zip(others, setup.own_routes, strict=True), start=1)
    )
    return replace(_named(setup.of_routing(0), first, scheme, metric), others=own)


def _named(setup: Setup, planned: Planned, scheme: str, metric: str) -> Routes:
    """The routes of all traffic of a setup, in names."""
    origins, to, paths = planned.plan.ends()
    namer = _Namer(setup, planned.plan, metric)
    carries_data = namer.sends_data(pair_code(origins, to))
    # Data first: that is what one asks for.
    order = np.argsort(~carries_data, kind="stable")
    ends = np.stack([origins, to], axis=1)
    pairs = PairSequence(namer.pair, ends[order], carries_data[order], paths[order] > 0)
    return Routes(scheme, metric, PATH_METRICS[metric].column, pairs, planned.warnings, dict(planned.facts))


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
    hops = [
        (names[table["to"]], names[node], links)
        for table in plan.tables()
        for node, links in table["next"]
        if node != table["to"]
    ]
    return _marked(pl.DataFrame(hops, schema=_NEXT_HOPS, orient="row"), routing)


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


class _Namer:
    """Routes of the core's, in names, with their numbers."""

    def __init__(self, setup: Setup, plan: _core.Plan, metric: str) -> None:
        self._setup = setup
        self._plan = plan
        self._tables = tables_of(plan.tables())
        self._metric = PATH_METRICS[metric]
        self._datagrams = {(flow.origin, flow.to) for flow in setup.datagrams}

    def sends_data(self, pairs: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether each of these pairs carries data of some flow."""
        datagrams = np.array([*self._datagrams], dtype=np.uint32).reshape(-1, 2)
        return self._setup.flows.connect(pairs) | np.isin(pairs, pair_code(datagrams[:, 0], datagrams[:, 1]))

    def pair(self, origin: int, to: int) -> PairRoutes:
        """The routes of a pair."""
        setup = self._setup
        paths = self._plan.paths(origin, to)
        connects = bool(setup.flows.between(origin, to))
        has_data = connects or (origin, to) in self._datagrams
        told = (
            predictions(
                setup, (origin, to), self._weighted_paths(origin, to), self._weighted_paths(to, origin)
            )
            if connects
            else ()
        )
        return PairRoutes(
            source=setup.nodes[origin].name,
            destination=setup.nodes[to].name,
            carries="data" if has_data else "acknowledgments",
            paths=tuple(self._path(*path) for path in paths or ()),
            hop_by_hop=() if paths else _hops(setup, (origin, to), self._tables[to]),
            predictions=told,
        )

    def _path(self, found: list[int], weight: float) -> PathRow:
        links = [self._setup.links[link] for link in found]
        nodes = (links[0].origin, *(link.to for link in links))
        capacities = tuple(link.capacity / 1e6 for link in links)
        weights = [link.weight for link in links]
        row = PathRow(
            nodes=tuple(self._setup.nodes[node].name for node in nodes),
            links=tuple(link.name for link in links),
            weight=weight,
            hops=len(links),
            delay_ms=sum(link.delay for link in links) / _PS_PER_MS,
            bottleneck_mbps=min(capacities),
            loss=path_loss(links),
            capacities_mbps=capacities,
            igp_cost=None if None in weights else sum(weight or 0 for weight in weights),
        )
        value = self._metric.of(row)
        return replace(row, metric_value=value if math.isfinite(value) else None)

    def _weighted_paths(self, origin: int, to: int) -> list[WeightedPath] | None:
        """Every path of a pair with its share; None if hop-by-hop forwarding has too many."""
        if paths := self._plan.paths(origin, to):
            return [WeightedPath(tuple(links), weight) for links, weight in paths]
        return unrolled(self._setup.links, self._tables[to], (origin, to), MOST_PATHS)


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
    found = [planned, *planned.others()]
    tables = [tables_of(plan.tables()) for plan in found]

    @cache
    def slowest(routing: int, origin: int, to: int) -> int:
        """Delay of the slowest path of a pair in ps."""
        if paths := found[routing].paths(origin, to):
            return max(sum(setup.links[link].delay for link in links) for links, _ in paths)
        return _slowest_hop_by_hop(setup, (origin, to), tables[routing][to])

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


def _slowest_hop_by_hop(setup: Setup, pair: Pair, next_hops: NextHops) -> int:
    """Delay of the slowest path along a table in ps."""
    origin, to = pair
    delay = {origin: 0}
    for link in map(setup.links.__getitem__, walked(setup.links, next_hops, pair)[1]):
        delay[link.to] = max(delay.get(link.to, 0), delay[link.origin] + link.delay)
    return delay[to]


def _hops(setup: Setup, pair: Pair, next_hops: NextHops) -> tuple[Hop, ...]:
    """The nodes that packets of a pair can come through, nearest first, with their shares."""
    nodes, _ = walked(setup.links, next_hops, pair)

    def following(node: int) -> tuple[str, ...]:
        return tuple(setup.nodes[setup.links[link].to].name for link in next_hops[node])

    return tuple(
        Hop(setup.nodes[node].name, following(node), share)
        for node, share in nodes.items()
        if node != pair[1]
    )
