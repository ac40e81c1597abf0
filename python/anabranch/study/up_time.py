"""Shares of throughput, utilization and queue while there is something to do: Gholizadeh 2019, section 5.1.1.

Columns that metrics may name beside those of the tables ``flows`` and ``links``. They are made only where a
metric names them, of the tables and of the routes of a run. Where it is not certain which links a flow has
crossed, as where a pair has several paths, they are NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.results.result import Column
from anabranch.routing.path_throughput import application_of, packet_sizes
from anabranch.scenario.algorithms.protocol import AnyProtocol, MptcpProtocol
from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.leaves import PingDatagramSource
from anabranch.setup import Setup
from anabranch.study.description import Metric

_PS_PER_S = 1e12
_DSS_BYTES = 20
"""The option that maps data of a multipath connection (RFC 8684 section 3.3), its numbers of 32 bits."""

Floats = NDArray[np.float64]
Columns = Mapping[str, Column]
Tables = Mapping[str, Columns]


@dataclass(frozen=True, slots=True)
class PairWay:
    """The links from one node to another."""

    links: tuple[int, ...]
    certain: bool
    """Whether a packet crosses all of them; otherwise, all that it may cross."""


@dataclass(frozen=True)
class MeasuredRun:
    """A run whose metrics are wanted."""

    setup: Setup
    plan: _core.Plan
    tables: Tables
    ended_s: float

    @cached_property
    def _known(self) -> _Ways:
        return _Ways(self.setup, self.plan)

    @cached_property
    def _ways(self) -> list[tuple[PairWay, PairWay]]:
        """For each flow, the way of its data and that of its acknowledgments."""
        flows, path = self.setup.flows, self._known.way
        ends = zip(flows.routing.tolist(), flows.origin.tolist(), flows.to.tolist(), strict=True)
        return [(path(routing, a, z), path(routing, z, a)) for routing, a, z in ends]

    @cached_property
    def _lives(self) -> tuple[Floats, Floats]:
        """When each flow begins, and when its FIN is sent and its last byte is there, or the run ends; s."""
        flows = self.tables["flows"]
        start, fin = _floats(flows, "start_s"), _floats(flows, "fin_s")
        end = start + np.fmax(_floats(flows, "completion_s"), fin)
        over = ~np.isnan(_floats(flows, "completion_s"))
        return start, np.where(over, end, self.ended_s)

    @cached_property
    def _acknowledged(self) -> Floats:
        """Bytes of the packets that the delivered data of each flow needs, each once."""
        sizes = [_sizes(transport.config) for transport in self.setup.transports]
        payload = np.array([size[0] for size in sizes])[self.setup.flows.transport]
        headers = np.array([size[1] for size in sizes])[self.setup.flows.transport]
        delivered = _floats(self.tables["flows"], "delivered_bytes")
        acknowledged: Floats = delivered + np.ceil(delivered / payload) * headers
        return acknowledged

    @cached_property
    def _capacity(self) -> Floats:
        """Of each link at the beginning, in bits per second."""
        return np.array([link.capacity for link in self.setup.links], dtype=np.float64)

    @cached_property
    def throughput_percent(self) -> Floats:
        """Equation 5.1 for each flow: the time of its data at its slowest link, over its lifetime."""
        start, end = self._lives
        slowest = [
            min(self._capacity[link] for link in data.links) if data.certain and data.links else np.nan
            for data, _ in self._ways
        ]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self._acknowledged * 8 / np.array(slowest, dtype=np.float64) / (end - start)
        return np.where(end > start, 100 * share, np.nan)

    @cached_property
    def up_time_s(self) -> Floats:
        """Of each link: from the start of the first flow that crosses it to the end of the last one."""
        first = np.full(len(self._capacity), np.inf)
        last = np.full(len(self._capacity), -np.inf)
        unknown = np.zeros(len(self._capacity), dtype=np.bool_)

        def note(path: PairWay, start_s: float, end_s: float) -> None:
            links = list(path.links)
            if not path.certain:
                unknown[links] = True
            elif start_s < end_s:
                first[links] = np.minimum(first[links], start_s)
                last[links] = np.maximum(last[links], end_s)

        for ways, start_s, end_s in zip(self._ways, *(each.tolist() for each in self._lives), strict=True):
            for path in ways:
                note(path, start_s, end_s)
        network = self._known
        for flow in self.setup.datagrams:
            end_s = self.ended_s if flow.stop is None else min(flow.stop / _PS_PER_S, self.ended_s)
            note(network.way(flow.routing, flow.origin, flow.to), flow.start / _PS_PER_S, end_s)
            if isinstance(flow.source, PingDatagramSource):
                note(network.way(flow.routing, flow.to, flow.origin), flow.start / _PS_PER_S, end_s)
        return np.where(unknown | (last <= first), np.nan, last - first)

    @cached_property
    def acknowledged_percent(self) -> Floats:
        """Equation 5.2 for each link: acknowledged data over what it could send in its up-time."""
        carried = np.zeros(len(self._capacity))
        for (data, _), amount in zip(self._ways, self._acknowledged.tolist(), strict=True):
            carried[list(data.links)] += amount
        return 100 * carried * 8 / self._capacity / self.up_time_s

    @cached_property
    def queue_mean_up_packets(self) -> Floats:
        """Equation 5.4 for each link: the mean queue over its up-time. Outside of it no queue is expected."""
        return _floats(self.tables["links"], "queue_mean_packets") * self.ended_s / self.up_time_s


MEASURES: Mapping[str, tuple[str, ...]] = {
    "flows": ("throughput_percent",),
    "links": ("up_time_s", "acknowledged_percent", "queue_mean_up_packets"),
}
"""By table: columns that a metric may name, which are properties of :class:`MeasuredRun`."""


def with_measures(
    metrics: Sequence[Metric], tables: Tables, setup: Setup, plan: _core.Plan, ended_s: float
) -> dict[str, Any]:
    """The tables of a run, with the measures among the metrics' columns.

    Args:
        metrics: what is wanted of the run.
        tables: its tables, as columns.
        setup: what was run.
        plan: its routes.
        ended_s: when it ended.
    """
    changed: dict[str, Any] = dict(tables)
    run = MeasuredRun(setup, plan, tables, ended_s)
    for metric in metrics:
        columns = changed.get(metric.table, {})
        if metric.column in MEASURES.get(metric.table, ()) and metric.column not in columns:
            is_own = application_of(setup) == PYTHON
            # A controller of the user's own chooses the paths while the run is under way.
            rows = len(next(iter(columns.values())))
            values = np.full(rows, np.nan) if is_own else getattr(run, metric.column)
            changed[metric.table] = {**columns, metric.column: values}
    return changed


class _Ways:
    """The ways of pairs under a plan, each looked up once."""

    def __init__(self, setup: Setup, plan: _core.Plan) -> None:
        self._to = [link.to for link in setup.links]
        self._plans = [plan, *plan.others()]
        self._tables = [{each["to"]: dict(each["next"]) for each in one.tables()} for one in self._plans]
        self._known: dict[tuple[int, int, int], PairWay] = {}

    def way(self, routing: int, origin: int, to: int) -> PairWay:
        """The way between two nodes by the routes at a place."""
        key = (routing, origin, to)
        if key not in self._known:
            self._known[key] = self._found(*key)
        return self._known[key]

    def _found(self, routing: int, origin: int, to: int) -> PairWay:
        if paths := self._plans[routing].paths(origin, to):
            links = dict.fromkeys(link for path, _ in paths for link in path)
            return PairWay(tuple(links), len(paths) == 1)
        # Hop by hop: all that can be reached along the next hops.
        table, seen, waiting, crossed = self._tables[routing].get(to, {}), {origin}, [origin], list[int]()
        while waiting:
            node = waiting.pop()
            for link in () if node == to else table.get(node, ()):
                crossed.append(link)
                if self._to[link] not in seen:
                    seen.add(self._to[link])
                    waiting.append(self._to[link])
        return PairWay(tuple(crossed), len(crossed) == len(seen) - 1 and len(crossed) > 0)


def _sizes(config: AnyProtocol) -> tuple[int, int]:
    """Payload of a full segment of a transport, and the headers of one with data, in bytes."""
    sizes = packet_sizes(config)
    payload = sizes.payload - (_DSS_BYTES if isinstance(config, MptcpProtocol) else 0)
    return payload, sizes.data_packet - payload


def _floats(columns: Columns, name: str) -> Floats:
    column = columns[name]
    assert isinstance(column, np.ndarray)  # noqa: S101 - it is a column of numbers
    return column.astype(np.float64, copy=False)
