"""A run as plain data, in the form that the core reads (crates/engine/src/setup.rs).

Every name is resolved to an index and every number is in base units: picoseconds, bits per second, bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json

from anabranch import _core
from anabranch.scenario.algorithms.protocol import AnyProtocol, MptcpProtocol, TcpProtocol
from anabranch.scenario.leaves import (
    CapturePoint,
    Change,
    ControllerSetup,
    DatagramSource,
    PlaceSetup,
    QueueSetup,
    Variate,
)
from anabranch.scenario.record import Record
from anabranch.setup.flow_columns import FlowColumns, FlowSetup

if TYPE_CHECKING:
    from anabranch.own.check import Chosen
    from anabranch.scenario.algorithms.load_balancing import AnyLoadBalancing
    from anabranch.scenario.algorithms.loss import AnyLoss
    from anabranch.scenario.algorithms.scheme import AnyScheme
    from anabranch.scenario.provenance import Agreement
    from anabranch.setup.given import GivenRoutes


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """A class of the user's own that is not needed for what is asked of the setup: nothing of it has run."""

    python: str
    parameters: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class NodeSetup:
    """A node; its id is its index."""

    name: str
    place: PlaceSetup | None = None


@dataclass(frozen=True, slots=True)
class LinkSetup:
    """A directed link; its id is its index."""

    origin: int
    to: int
    name: str
    capacity: int
    delay: int
    jitter: Variate | None
    loss: AnyLoss
    queue: QueueSetup
    weight: int | None = None
    """Cost where routes go by ``weight``."""


@dataclass(frozen=True, slots=True)
class HostSetup:
    """What a host does besides its transports."""

    node: int
    offload: int
    """Most segments that it hands to the network as one train."""
    processing_delay: Variate | None
    """Until it looks at a packet that has come for it, in picoseconds."""


@dataclass(frozen=True, slots=True)
class RouterSetup:
    """What a node takes to pass a packet on."""

    node: int
    processing_delay: Variate


@dataclass(frozen=True, slots=True)
class TransportSetup:
    """A transport under the name that the scenario gives it."""

    name: str
    config: AnyProtocol


def tcp_of(config: AnyProtocol) -> TcpProtocol | None:
    """The TCP of a protocol: its own, or that of its subflows; None for one without TCP."""
    if isinstance(config, MptcpProtocol):
        return config.tcp
    return config if isinstance(config, TcpProtocol) else None


@dataclass(frozen=True, slots=True)
class DatagramSetup:
    """A flow of packets without a connection; its id is its index behind those of the flows."""

    name: str
    origin: int
    to: int
    source: DatagramSource
    packet_bytes: int
    start: int
    stop: int | None
    routing: int = 0
    """Place of its routes, as a flow's."""


@dataclass(frozen=True, slots=True)
class EventSetup:
    """A change of the network."""

    at: int
    change: Change


@dataclass(frozen=True, slots=True)
class CaptureSetup:
    """Packets written to a file."""

    file: str
    at: CapturePoint
    snap_length: int


@dataclass(frozen=True, slots=True)
class RoutingSetup:
    """How routes are chosen and packets spread."""

    scheme: AnyScheme | None
    load_balancing: AnyLoadBalancing
    reaction: int | None
    others: list[AnyScheme | None] = field(default_factory=list)
    """The schemes of flows with routes of their own; None where a planner makes them."""


@dataclass(frozen=True, slots=True)
class OwnScheme:
    """A routing scheme of the user's own."""

    code: Chosen | NotLoaded
    agreement: Agreement = field(compare=False)
    """What may run."""


@dataclass(frozen=True, slots=True)
class PlannerSetup:
    """The planner that makes a plan."""

    scheme: AnyScheme | OwnScheme
    """Its scheme, with all parameters, metric and limits among them."""
    given: GivenRoutes | None = None
    """The routes of the scheme ``given``."""


@dataclass(frozen=True, slots=True)
class OwnRoutes:
    """Routes of traffic entries that are not those of ``[routing]``."""

    place: str
    """Where the scenario has them first, such as ``traffic[1].routing``."""
    traffic: tuple[str, ...]
    """Names of the entries that go by them."""
    scheme: str
    metric: str
    planner: PlannerSetup | None
    """As :attr:`Setup.planner`."""


@dataclass(frozen=True, slots=True)
class DemandSetup:
    """Bounds of the traffic between routers, in bits per second."""

    routers: list[int]
    """By node id."""
    ingress_bps: list[int | None]
    """Most that enters at each router; None for no bound."""
    egress_bps: list[int | None]
    """Most that leaves at each router."""
    pair_bps: int | list[tuple[int, int, int]] | None
    """Most of each pair: a rate for every pair, or a list of (from, to, rate) outside of which there is no
    traffic."""

    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The bounds in the order of the routers, infinite for none: shapes (n,), (n,) and (n, n)."""
        index = {node: number for number, node in enumerate(self.routers)}
        ingress, egress = (
            np.array([np.inf if bps is None else float(bps) for bps in side])
            for side in (self.ingress_bps, self.egress_bps)
        )
        listed = self.pair_bps if isinstance(self.pair_bps, list) else []
        every = 0.0 if isinstance(self.pair_bps, list) else np.inf if self.pair_bps is None else self.pair_bps
        pair = np.full((len(index), len(index)), float(every))
        for origin, to, bps in listed:
            pair[index[origin], index[to]] = bps
        return ingress, egress, pair


@dataclass(frozen=True, slots=True)
class ProbeSetup:
    """What is sampled over time."""

    interval: int | None
    flows: bool
    links: bool
    sequences: list[int] = field(default_factory=list)
    log: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything the engine needs besides the plan."""

    seed: int
    replication: int
    duration: int
    until: str
    nodes: list[NodeSetup]
    links: list[LinkSetup]
    hosts: list[HostSetup]
    routers: list[RouterSetup]
    transports: list[TransportSetup]
    flows: FlowColumns
    datagrams: list[DatagramSetup]
    events: list[EventSetup]
    routing: RoutingSetup
    probes: ProbeSetup
    captures: list[CaptureSetup]
    controller: ControllerSetup | None = None
    planner: PlannerSetup | None = None
    """The planner that makes the plan; None where the core's scheme does. The engine does not see it."""
    demand: DemandSetup | None = None
    """Bounds of the traffic, where the scenario gives some. The engine does not see them."""
    own_routes: tuple[OwnRoutes, ...] = ()
    """Of the flows whose ``routing`` is above 0, in this order; for the engine ``routing.others``."""
    never_begun: Mapping[str, int] = field(default_factory=dict)
    """By traffic entry: the flows that it asks for and that are not made, since they would begin when the run
    is over. The engine does not see them."""
    provenance: tuple[str, ...] = field(default=(), compare=False)
    """Where the network comes from, in plain sentences; the engine does not see it."""
    own: tuple[Chosen | NotLoaded, ...] = ()
    """What makes algorithms of the user's own, which the core gets as it is."""
    agreement: Agreement | None = field(default=None, compare=False)
    """Which code of the user's own may run; None where none is needed. The engine does not see it."""
    _read: _core.Setup | None = field(default=None, init=False, repr=False, compare=False)

    def core(self) -> _core.Setup:
        """The setup as the core has read it, which happens once.

        Raises:
            anabranch._core.SetupError: if it does not hold.
        """
        read = self._read
        if read is None:
            read = _core.Setup(_text(self._data(flows=[])), self.flows.core(), list(self.own))
            object.__setattr__(self, "_read", read)
        return read

    def of_routing(self, place: int) -> Setup:
        """The same with the traffic alone whose routes have this place."""
        if not self.own_routes:
            return self
        datagrams = [flow for flow in self.datagrams if flow.routing == place]
        return replace(self, flows=self.flows.where(self.flows.routing == place), datagrams=datagrams)

    def without_traffic(self) -> Setup:
        """The same without traffic, what happens during it, and what looks at it."""
        probes = replace(self.probes, sequences=[], log=[])
        none = FlowColumns.joined([])
        return replace(self, flows=none, datagrams=[], events=[], captures=[], probes=probes)

    def data(self) -> dict[str, Any]:
        """Plain data under the core's names."""
        return self._data(flows=list(self.flows))

    def network(self) -> list[Any]:
        """Plain data of all nodes, and of all links."""
        return [_plain(self.nodes), _plain(self.links)]

    def json(self) -> str:
        """The setup as the core reads it, flows included."""
        return _text(self.data())

    def _data(self, *, flows: list[FlowSetup]) -> dict[str, Any]:
        unseen = (
            *("flows", "never_begun", "provenance", "planner", "demand", "own", "agreement", "own_routes"),
            "_read",
        )
        data = {
            entry.name: _plain(getattr(self, entry.name))
            for entry in fields(self)
            if entry.name not in unseen
        }
        return {**data, "flows": _plain(flows)}


def _text(data: dict[str, Any]) -> str:
    # Much faster than the standard library's; the core refuses what is not a number.
    return to_json(data, inf_nan_mode="constants").decode()


@cache
def _names(kind: type) -> tuple[tuple[str, str], ...]:
    """Each field of a table, with the core's name for it; none for what is no table."""
    if not is_dataclass(kind):
        return ()
    return tuple((entry.name, "from" if entry.name == "origin" else entry.name) for entry in fields(kind))


_PLAIN = frozenset({int, float, str, bool, type(None)})
"""What is plain data already, as most values of a setup are; a study makes a setup for each run."""


def _plain(value: Any) -> Any:
    """Tables as dictionaries; what records give the core is not copied."""
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, Record):
        return value.core()
    if names := _names(value.__class__):
        values = ((name, getattr(value, entry)) for entry, name in names)
        return {name: field if field.__class__ in _PLAIN else _plain(field) for name, field in values}
    return value
