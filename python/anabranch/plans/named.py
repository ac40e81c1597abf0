"""A plan in names: the routes of each pair with what they are worth, and the file that a scenario reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.plans.paths import PlanPaths
from anabranch.routing.path_metrics import PATH_METRICS
from anabranch.routing.path_throughput import path_loss
from anabranch.setup import Setup
from anabranch.setup.flow_columns import pair_code
from anabranch.setup.route_csv import COLUMNS, NEXT_HOP, PATH, path_names
from anabranch.text.csv_cells import csv_text

if TYPE_CHECKING:
    from anabranch.plans.predictions import ThroughputPrediction

_PS_PER_MS: Final = 1e9
MEASURES: Final = ("hops", "delay_ms", "bottleneck_mbps", "loss")
"""What every path has, whatever the metric."""


@dataclass(frozen=True, slots=True)
class PathRow:
    """One path of a pair, with the share of packets that takes it."""

    nodes: tuple[str, ...]
    links: tuple[str, ...]
    path: str
    """The nodes as one text, as ``routing.paths`` and results have it."""
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


class NamedPlan:
    """A plan in names: the routes of each pair, and what its paths are worth."""

    def __init__(self, setup: Setup, plan: _core.Plan, metric: str) -> None:
        """Prepares the names.

        Args:
            setup: what the plan is for.
            plan: the routes of traffic, without those that some has of its own.
            metric: of whose values the paths have one.
        """
        self._setup = setup
        self._plan = self.plan = plan
        self._paths = PlanPaths.of(plan, setup.links)
        self._names = path_names([node.name for node in setup.nodes], setup.links)
        self._metric = PATH_METRICS[metric]
        self._datagrams = {(flow.origin, flow.to) for flow in setup.datagrams}

    @property
    def metric_column(self) -> str:
        """Name of the metric's value with its unit."""
        return self._metric.column

    def sends_data(self, pairs: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether each of these pairs carries data of some flow."""
        datagrams = np.array([*self._datagrams], dtype=np.uint32).reshape(-1, 2)
        return self._setup.flows.connect(pairs) | np.isin(pairs, pair_code(datagrams[:, 0], datagrams[:, 1]))

    def pair(self, origin: int, to: int) -> PairRoutes:
        """The routes of a pair."""
        # A run knows its routes in names, and asks for none of what they are worth.
        from anabranch.plans.predictions import MOST_PATHS, predictions  # noqa: PLC0415 - see above

        setup = self._setup
        paths = self._plan.paths(origin, to)
        connects = bool(setup.flows.between(origin, to))
        of_directions = (
            predictions(
                setup,
                (origin, to),
                self._paths.of_pair((origin, to), MOST_PATHS),
                self._paths.of_pair((to, origin), MOST_PATHS),
            )
            if connects
            else ()
        )
        return PairRoutes(
            source=setup.nodes[origin].name,
            destination=setup.nodes[to].name,
            carries=self._carries(origin, to),
            paths=tuple(self._path(*path) for path in paths or ()),
            hop_by_hop=() if paths else tuple(self._hops(origin, to)),
            predictions=of_directions,
        )

    def csv(self) -> str:
        """Returns the plan as ``routing.paths`` reads it, a row for each path and each next hop.

        A share has all its digits, so that the plan comes back as it was. Columns that nobody reads say what
        the pair carries, and what its paths are worth.
        """
        names = self._names
        metric = () if self.metric_column in MEASURES else (self.metric_column,)
        rows: list[Sequence[object]] = []
        for origin, to in self._paths.pairs:
            carries = self._carries(origin, to)
            for links, weight in self._plan.paths(origin, to) or ():
                path = self._path(links, weight)
                measures = [getattr(path, measure) for measure in MEASURES]
                value = [path.metric_value] * len(metric)
                ends = names.node(origin), names.node(to)
                rows.append((*ends, PATH, weight, path.path, carries, *measures, *value))
        empty = [""] * (1 + len(MEASURES) + len(metric))
        for to, table in self._paths.next_hops().items():
            for node, out in table.items():
                ends = names.node(node), names.node(to)
                rows += [(*ends, NEXT_HOP, 1 / len(out), names.text([link]), *empty) for link in out]
        return csv_text((*COLUMNS, "carries", *MEASURES, *metric), rows)

    def _carries(self, origin: int, to: int) -> str:
        has_data = bool(self._setup.flows.between(origin, to)) or (origin, to) in self._datagrams
        return "data" if has_data else "acknowledgments"

    def _path(self, link_numbers: list[int], weight: float) -> PathRow:
        links = [self._setup.links[link] for link in link_numbers]
        nodes = (links[0].origin, *(link.to for link in links))
        capacities = tuple(link.capacity / 1e6 for link in links)
        weights = [link.weight for link in links]
        row = PathRow(
            nodes=tuple(self._setup.nodes[node].name for node in nodes),
            links=tuple(link.name for link in links),
            path=self._names.text(link_numbers),
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

    def _hops(self, origin: int, to: int) -> Iterator[Hop]:
        """The nodes that packets of a pair can come through, nearest first, with their shares."""
        nodes, links = self._setup.nodes, self._setup.links
        for node, share, out in self._paths.core.hops(origin, to):
            yield Hop(nodes[node].name, tuple(nodes[links[link].to].name for link in out), share)
