"""A run as the core has made it of a scenario (crates/scenario/src/setup), in tables with types.

Every name is resolved to an index and every number is in base units: picoseconds, bits per second, bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.scenario.algorithms.protocol import AnyProtocol, MptcpProtocol, TcpProtocol
from anabranch.scenario.leaves import (
    CapturePoint,
    ChanceSetup,
    Change,
    CollectiveSetup,
    ControllerSetup,
    DatagramSource,
    HashSeed,
    PlaceSetup,
    PolicerSetup,
    QueueSetup,
    ReorderSetup,
    ShaperSetup,
    Variate,
    WaitSetup,
)
from anabranch.scenario.record import Record
from anabranch.setup.flow_columns import EntrySetup, FlowColumns
from anabranch.setup.typed import typed

if TYPE_CHECKING:
    from anabranch.own.check import Chosen
    from anabranch.scenario.algorithms.load_balancing import AnyLoadBalancing
    from anabranch.scenario.algorithms.loss import AnyLoss
    from anabranch.scenario.algorithms.scheme import AnyScheme
    from anabranch.scenario.provenance import Agreement
    from anabranch.setup.given import GivenRoutes
    from anabranch.setup.network import NamedNetwork

T = TypeVar("T")


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
    shaper: ShaperSetup | None = None
    """Token bucket that what waits has to wait for."""
    policer: PolicerSetup | None = None
    """Token bucket that drops what has been sent too fast."""
    reorder: ReorderSetup | None = None
    """Packets that overtake others."""
    duplicate: ChanceSetup | None = None
    """Packets that arrive twice."""
    corrupt: ChanceSetup | None = None
    """Packets that are damaged."""

    @property
    def sustained_rate(self) -> int:
        """The rate in bits per second that passes in the long run: the capacity, or a token bucket's."""
        buckets = (self.shaper, self.policer)
        return min([self.capacity, *(bucket.rate for bucket in buckets if bucket is not None)])

    @property
    def impairments(self) -> tuple[ReorderSetup | ChanceSetup, ...]:
        """The settings of what happens by chance to single packets besides loss and jitter."""
        every = (self.reorder, self.duplicate, self.corrupt)
        return tuple(one for one in every if one is not None)


@dataclass(frozen=True, slots=True)
class HostSetup:
    """The behaviour of a host besides its transports."""

    node: int
    offload: int
    """Most segments that it hands to the network as one train."""
    processing_delay: Variate | None
    """Until it looks at a packet that has come for it, in picoseconds."""


@dataclass(frozen=True, slots=True)
class RouterSetup:
    """The behaviour of a node that passes packets on."""

    node: int
    processing_delay: Variate | None
    """Until a packet is in the queue of its next link, in picoseconds."""
    hash_seed: HashSeed | None = None
    """What it mixes into the hashes by which it balances load; None: a number for each destination."""


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
class Settled:
    """The words of a planner whose choice stands in the setup: the core plans by it, anew after failures."""

    warnings: tuple[str, ...]
    facts: Mapping[str, float | int | str]
    """As of a plan."""


@dataclass(frozen=True, slots=True)
class PlannerSetup:
    """The planner that makes a plan."""

    scheme: AnyScheme | OwnScheme
    """Its scheme, with all parameters, metric and limits among them."""
    given: GivenRoutes | None = None
    """The routes of the scheme ``given``."""
    settled: Settled | None = None
    """Where the planner has settled by what the core plans, as weights of links: what it says of that."""


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
    matrix: str | None = None
    """What messages call the traffic matrix, where there is but one; ``pair_bps`` is the traffic then."""

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
class OutageSetup:
    """Links and nodes that are down together."""

    name: str
    """What the scenario or its topology calls them."""
    links: list[int]
    """Directed links by id, both directions of each; none that is out of service anyway."""
    nodes: list[int]
    """Nodes by id."""
    window: tuple[int, int] | None
    """Of a maintenance: its beginning and end, in minutes after midnight."""


@dataclass(frozen=True, slots=True)
class Outages:
    """Links and nodes that are out of service, and those that may be; the engine sees neither."""

    links_out: list[str]
    """Names of directed links."""
    nodes_out: list[int]
    """Nodes by id; they are there, without links."""
    risk_groups: list[OutageSetup]
    maintenance: list[OutageSetup]


@dataclass(frozen=True, slots=True)
class ProbeSetup:
    """The quantities that are sampled over time."""

    interval: int | None
    flows: bool
    links: bool
    sequences: list[int] = field(default_factory=list)
    log: list[int] = field(default_factory=list)


class _Part(Generic[T]):
    """A part of a setup that the core has as JSON; it is made when it is first looked at."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, setup: None, owner: type) -> Self: ...
    @overload
    def __get__(self, setup: Setup, owner: type) -> T: ...
    def __get__(self, setup: Setup | None, owner: type) -> Self | T:
        if setup is None:
            return self
        made = typed(self._kind, setup.resolved.part(self._name))
        setup.__dict__[self._name] = made
        return made


class Setup:
    """Everything that a run needs besides the plan: a view of what the core has made of a scenario.

    A part is made when it is first looked at. Setups do not change; :meth:`replace` makes another one.
    """

    def __init__(self, resolved: _core.Resolved, network: NamedNetwork, **others: Any) -> None:
        """Of what the core has made.

        Args:
            resolved: the scenario as the engine runs it.
            network: its network.
            others: ``planner``, ``own_routes``, ``provenance``, ``own`` and ``agreement``.
        """
        self.__dict__.update(resolved=resolved, _network=network, _changed=frozenset(), **others)

    planner: PlannerSetup | None
    """The planner that makes the plan; None where the core's scheme does. The engine does not see it."""
    own_routes: tuple[OwnRoutes, ...]
    """Of the flows whose ``routing`` is above 0, in this order; for the engine ``routing.others``."""
    provenance: tuple[str, ...]
    """Where the network comes from, in plain sentences; the engine does not see it."""
    own_code: tuple[Chosen | NotLoaded, ...]
    """What makes algorithms of the user's own, which the core gets as it is."""
    agreement: Agreement | None
    """Which code of the user's own may run; None where none is needed. The engine does not see it."""
    resolved: _core.Resolved
    """What the core has made."""
    _network: NamedNetwork
    _changed: frozenset[str]
    """Names of the parts that are not those of the scenario."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuses every change."""
        raise AttributeError(f"a setup does not change; make another one: .replace({name}=...)")

    seed = _Part(int)
    """Seed of all random streams."""
    replication = _Part(int)
    """Number of the replication."""
    duration = _Part(int)
    """The latest end, in picoseconds."""
    until = _Part(str)
    """When it ends: ``duration`` or ``done``."""
    hosts = _Part(list[HostSetup])
    """What hosts do besides their transports, where it is not the usual."""
    routers = _Part(list[RouterSetup])
    """Nodes that take time to pass packets on."""
    transports = _Part(list[TransportSetup])
    """Transports, which flows name by their places."""
    datagrams = _Part(list[DatagramSetup])
    """Pings and UDP; their ids go on from those of the flows."""
    events = _Part(list[EventSetup])
    """Changes of the network, in the order of their times."""
    routing = _Part(RoutingSetup)
    """How routes are chosen and packets spread."""
    probes = _Part(ProbeSetup)
    """What is sampled over time."""
    captures = _Part(list[CaptureSetup])
    """Packets written to files."""
    controller: _Part[ControllerSetup | None] = _Part(ControllerSetup | None)  # type: ignore[arg-type]
    """The SDN controller, if there is one."""
    waits = _Part(list[WaitSetup])
    """Flows that begin when others are complete."""
    collectives = _Part(list[CollectiveSetup])
    """Collective operations, each of flows that follow each other."""

    @cached_property
    def nodes(self) -> list[NodeSetup]:
        """Nodes; a node's id is its place here."""
        return self._network.nodes

    @cached_property
    def links(self) -> list[LinkSetup]:
        """Directed links; a link's id is its place here."""
        return self._network.links

    @cached_property
    def flows(self) -> FlowColumns:
        """Flows of connections, in the order of their ids."""
        entries = typed(list[EntrySetup], self.resolved.entries())
        return FlowColumns.of_core(entries, self.resolved.flows())

    @cached_property
    def demand(self) -> DemandSetup | None:
        """Bounds of the traffic, where the scenario gives some. The engine does not see them."""
        text = self.resolved.demand()
        return None if text is None else typed(DemandSetup, text)

    @cached_property
    def never_begun(self) -> Mapping[str, int]:
        """By traffic entry: the flows that it asks for and that are not made.

        They would begin when the run is over. The engine does not see them.
        """
        return self.resolved.never_begun

    @cached_property
    def outages(self) -> Outages:
        """Links and nodes that are out of service, and those that may be."""
        return typed(Outages, self.resolved.outages())

    def replace(self, **changes: Any) -> Setup:
        """The setup with other parts.

        Args:
            changes: parts by name, all but ``agreement`` and ``provenance``.

        Raises:
            TypeError: if there is no such part.
        """
        if unknown := changes.keys() - {*PARTS, *_BESIDE}:
            raise TypeError(f"a setup has no {', '.join(sorted(unknown))}")
        made = Setup.__new__(Setup)
        kept = {name: value for name, value in self.__dict__.items() if name != "_read"}
        made.__dict__.update(kept, **changes)
        made.__dict__["_changed"] = self._changed | (changes.keys() & PARTS)
        return made

    @property
    def keeps_plan(self) -> bool:
        """Whether a planner makes the plan, which loses its dead paths in a failure and is not made anew."""
        return self.planner is not None and self.planner.settled is None

    def is_host(self, node: int) -> bool:
        """Whether the topology or the scenario marks a node as a host."""
        return self._network.core.is_host(node)

    def core(self) -> _core.Setup:
        """The setup as the core has read it, which happens once.

        Raises:
            anabranch._core.SetupError: if it does not hold.
        """
        return self._read

    @cached_property
    def _read(self) -> _core.Setup:
        return self.resolved.setup(*self._different(), list(self.own_code))

    def _different(self) -> tuple[_core.Network, str | None, dict[str, Any] | None]:
        """The network, and what is not as in the scenario: parts as JSON, and flows as columns."""
        parts = {name: _plain(getattr(self, name)) for name in self._changed - {"flows"}}
        flows = self.flows.core() if "flows" in self._changed else None
        return self._network.core, json.dumps(parts) if parts else None, flows

    def of_routing(self, place: int) -> Setup:
        """The setup with the traffic alone whose routes have this place."""
        if not self.own_routes:
            return self
        datagrams = [flow for flow in self.datagrams if flow.routing == place]
        return self.replace(flows=self.flows.where(self.flows.routing == place), datagrams=datagrams)

    def without_traffic(self) -> Setup:
        """The setup without traffic, what happens during it, and what looks at it."""
        probes = replace(self.probes, sequences=[], log=[])
        none = FlowColumns.joined([])
        return self.replace(flows=none, datagrams=[], events=[], captures=[], probes=probes)

    def changes_of(self, event: Mapping[str, Any], place: str, origin: str | None) -> list[str]:
        """The changes by an event that is given while a run stands still, each as JSON for the core.

        Args:
            event: plain data, as a scenario has it; its time does not matter.
            place: where it stands, for messages.
            origin: the scenario's file, for messages.

        Raises:
            ScenarioError: if the network has no such node or link, or a value does not hold there.
        """
        changes, problems = self.resolved.changes_of(self._network.core, event, place)
        if problems:
            raise ScenarioError([Problem(*problem) for problem in problems], origin)
        return changes

    def json(self) -> str:
        """The setup as the core reads it, flows included."""
        return self.resolved.json(*self._different())

    def data(self) -> dict[str, Any]:
        """Plain data under the core's names."""
        data: dict[str, Any] = json.loads(self.json())
        return data

    def network(self) -> list[Any]:
        """Plain data of all nodes, and of all links."""
        return [_plain(self.nodes), _plain(self.links)]

    def __eq__(self, other: object) -> bool:
        """Whether two setups are the same for a run, wherever their networks come from."""
        if not isinstance(other, Setup):
            return NotImplemented
        beside = all(getattr(self, name) == getattr(other, name) for name in _BESIDE)
        return beside and self.flows == other.flows and self._without_flows() == other._without_flows()

    __hash__ = None  # type: ignore[assignment]

    def _without_flows(self) -> str:
        return self.replace(flows=FlowColumns.joined([])).json()


PARTS: Final = frozenset(
    (*(name for name, part in vars(Setup).items() if isinstance(part, _Part)), "nodes", "links", "flows")
)
"""What the engine sees of a setup, by name."""
_BESIDE = ("planner", "demand", "own_routes", "never_begun", "own_code")
"""What it does not see, or gets beside the setup."""


@cache
def _names(kind: type) -> tuple[tuple[str, str], ...]:
    """Each field of a table, with the core's name for it; none for what is no table."""
    if not is_dataclass(kind):
        return ()
    return tuple((entry.name, "from" if entry.name == "origin" else entry.name) for entry in fields(kind))


_PLAIN = frozenset({int, float, str, bool, type(None)})
"""What is plain data already, as most values of a setup are."""


_OF_FEW = frozenset({"shaper", "policer", "reorder", "duplicate", "corrupt", "hash_seed"})
"""What few links and routers have; the core leaves it out of the others."""


def _plain(value: Any) -> Any:
    """Tables as dictionaries; what records give the core is not copied."""
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, Record):
        return value.core()
    if names := _names(value.__class__):
        values = ((name, getattr(value, entry)) for entry, name in names)
        return {
            name: field if field.__class__ in _PLAIN else _plain(field)
            for name, field in values
            if field is not None or name not in _OF_FEW
        }
    return value
