"""Types of the compiled core. Every number is in base units: picoseconds, bits per second, bytes."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NotRequired, Protocol, Self, TypedDict, final

import numpy as np
from numpy.typing import NDArray

from anabranch.topology import Topology

Columns = dict[str, NDArray[np.generic] | list[str] | tuple[list[str], NDArray[np.uint8]]]
"""A table: columns by name."""

class Outcome(TypedDict):
    """What a simulation measured."""

    tables: dict[str, Columns]
    summary: dict[str, object]
    lost_captures: list[tuple[str, float, str]]
    breaches: NotRequired[list[tuple[float, int | None, list[int], tuple[int, int] | None]]]
    one_core: NotRequired[str | None]
    cores: NotRequired[int]

class CriticalPath(TypedDict, total=False):
    """What a run would take on several cores; ``one_core`` alone says why it cannot be divided."""

    cores: int
    lookahead_s: float
    longest_s: float
    largest_s: float
    work_s: float
    strides: int
    packet_hops: int
    one_core: str

class SetupError(ValueError):
    """A setup that the engine refuses; ``args`` are (place, message)."""

class ProblemError(Exception):
    """What is wrong with a file or a class that a scenario names."""

class OwnCodeError(Exception):
    """Code of the user's own has failed; ``args`` are (what was bound, its hook, simulated_s)."""

class CaptureFileError(ValueError):
    """Captures that cannot be analysed; ``args[0]`` is a list of (place, message)."""

def version() -> str: ...
def plain_network(topology: Topology, is_generated: bool) -> str: ...
def parse_span(text: str) -> int: ...
def parse_rate(text: str) -> int: ...
def parse_bytes(text: str) -> int: ...
def parse_packets(text: str) -> int: ...
def parse_segments(text: str) -> int: ...
def parse_speed(text: str) -> int: ...
def declarations() -> str: ...
def setup_leaves() -> str: ...
def scenario_tables() -> str: ...
def check_table(name: str, data: object, called: bool) -> list[tuple[str, str]]: ...
def check_choice(kind: str, data: object) -> list[tuple[str, str]]: ...
def resolve_algorithm(kind: str, config_json: str) -> str: ...
def mean_loss(loss_json: str) -> float: ...
def resolve_transport(config_json: str) -> str: ...
def transport_preset_names() -> list[str]: ...
def transport_preset(name: str) -> str: ...
def metrics() -> list[tuple[str, bool]]: ...
def drop_causes() -> list[tuple[str, str]]: ...
def jain_index(shares: list[float]) -> float | None: ...
def inside_own_code() -> bool: ...
def edited_toml(text: str, changes: Sequence[tuple[Sequence[str | int], str, str]]) -> str: ...

@final
class Ack:
    """What one arriving ACK said. The next call has the same object with other values."""

    now_s: float
    acked_bytes: int
    delivered_bytes: int
    lost_bytes: int
    in_flight_before_bytes: int
    in_flight_bytes: int
    rtt_s: float | None
    srtt_s: float
    min_rtt_s: float
    snd_una: int
    snd_nxt: int
    cwnd_limited: bool
    recovery: str
    rate_bps: float | None
    app_limited: bool
    prior_delivered_bytes: int | None
    total_delivered_bytes: int | None

@final
class Report:
    """What the ACKs of an interval said together. The next call has the same object with other values."""

    now_s: float
    interval_s: float
    acked_bytes: int
    delivered_bytes: int
    lost_bytes: int
    in_flight_bytes: int
    least_rtt_s: float | None
    largest_rtt_s: float | None
    srtt_s: float
    min_rtt_s: float
    best_rate_bps: float | None
    cwnd_limited: bool
    recovery: str

@final
class LossEpisode:
    """The start of a loss episode, or of one of ECN marks."""

    now_s: float
    flight_size_bytes: int
    in_flight_bytes: int
    snd_nxt: int

@final
class LostSegment:
    """A segment that was judged lost."""

    now_s: float
    start: int
    bytes: int
    in_flight_at_send_bytes: int
    lost_since_bytes: int
    total_delivered_bytes: int

@final
class WaitingData:
    """Data that wait for a subflow."""

    now_s: float
    unsent_bytes: int
    unacknowledged_bytes: int
    window_bytes: int

@final
class Subflow:
    """A subflow that can take a segment."""

    number: int
    srtt_s: float
    cwnd_bytes: int
    in_flight_bytes: int
    mss_bytes: int

@final
class PacketIn:
    """A packet that a switch has handed to the controller, or has told it of."""

    now_s: float
    switch: int
    from_host: bool
    missed: bool
    flow: int
    direction: Literal["forward", "backward"]
    source: int
    destination: int
    syn: bool
    fin: bool

@final
class RemovedEntry:
    """An entry that has gone from a flow table without an order."""

    now_s: float
    removed_s: float
    switch: int
    flow: int
    direction: Literal["forward", "backward"]
    reason: Literal["idle", "hard", "evicted"]

@final
class LinkCounters:
    """Counters of a link since the start, as the switch that it leaves has read them."""

    link: int
    sent_bytes: int
    sent_packets: int
    dropped_packets: int | None
    queue_packets: int | None

@final
class SwitchStatistics:
    """What a switch has counted."""

    now_s: float
    read_s: float
    switch: int
    links: list[LinkCounters]
    received_packets: list[tuple[int, int]]

@final
class LinkProbe:
    """What a probe has seen of a link between two switches. Counts leave out probes."""

    now_s: float
    link: int
    number: int
    queued_s: float
    received_s: float
    sent_packets: int
    received_packets: int

@final
class FlowEntry:
    """An entry of a flow table: what it matches, and what it does."""

    flow: int
    direction: Literal["forward", "backward"]
    link: int | None
    syn_or_fin: bool
    from_host: bool | None
    priority: int
    tell: bool
    window_bytes: int | None

    def __new__(
        cls,
        flow: int,
        direction: str,
        link: int | None = None,
        *,
        syn_or_fin: bool = False,
        from_host: bool | None = None,
        priority: int = 1,
        tell: bool = False,
        window_bytes: int | None = None,
    ) -> Self: ...

@final
class Orders:
    """What an application has ordered in the call that is running, in its order."""

    def add_entries(self, switch: int, entries: list[FlowEntry]) -> None: ...
    def remove_entries(self, switch: int, flow: int) -> None: ...
    def send(self, link: int, window_bytes: int | None = None) -> None: ...
    def probe(self, link: int, number: int) -> None: ...

@final
class ControlledLinks:
    """The network as an application sees it: its links, by number."""

    capacity_bps: list[float]
    delay_s: list[float]
    loss: list[float]
    usable: list[bool]

@final
class EcnFeedback:
    """What one arriving ACK said of marks."""

    acked_bytes: int
    marked: bool
    snd_una: int
    snd_nxt: int

PairPaths = tuple[int, int, tuple[tuple[int, ...], ...]]
"""A pair of nodes and its paths, each the links in their order."""

Astray = tuple[int, int, list[int], list[int], list[int] | None]
"""From, to, the links that the source wants, those that a packet crosses, the nodes of the loop, if any."""

class WeightedPath(TypedDict):
    """A path by its links, and the share of packets that takes it."""

    links: list[int]
    weight: float

# "from" is no name of Python's.
Route = TypedDict("Route", {"from": int, "to": int, "paths": list[WeightedPath]})

class Table(TypedDict):
    """Next hops towards a destination: for each node that has some, their links."""

    to: int
    next: list[tuple[int, list[int]]]

class PlanData(TypedDict):
    """A plan as plain data; a route without paths goes along the table of its destination."""

    routes: list[Route]
    tables: list[Table]

@final
class Plan:
    """Routes of the pairs of a setup."""

    def __new__(cls, plan_json: str) -> Self: ...
    def data(self) -> PlanData: ...
    def with_others(self, others: Sequence[Plan]) -> Plan: ...
    def others(self) -> list[Plan]: ...
    def tables(self) -> list[Table]: ...
    def ends(self) -> list[NDArray[np.uint32]]: ...
    def columns(self) -> tuple[NDArray[np.float64], NDArray[np.uint32], NDArray[np.uint32]]: ...
    def table_count(self) -> int: ...
    def hops(self, first: int, count: int) -> list[NDArray[np.uint32]]: ...
    def paths(self, origin: int, to: int) -> list[tuple[list[int], float]] | None: ...
    def splits(self) -> bool: ...
    def merged(self) -> tuple[Plan, list[tuple[int, int]]]: ...
    def completed(self, other: Plan) -> Plan: ...
    def over(self, link_ends: NDArray[np.uint32]) -> PlannedPaths: ...

@final
class PlannedPaths:
    """A plan on the links of its network: paths of pairs, and shares of their packets on nodes and links."""

    def pairs(self) -> list[tuple[int, int]]: ...
    def paths(self, origin: int, to: int, most: int) -> list[tuple[list[int], float]] | None: ...
    def shares(self, origin: int, to: int) -> list[tuple[int, float]]: ...
    def hops(self, origin: int, to: int) -> list[tuple[int, float, list[int]]]: ...
    def link_shares(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]: ...
    def link_loads(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def shares_on(self, link: int) -> NDArray[np.float64]: ...
    def longest(self, origin: int, to: int, lengths: NDArray[np.uint64]) -> int: ...

def shares_by_weight(
    link_ends: NDArray[np.uint32],
    next_hops: Mapping[int, Sequence[tuple[int, float]]],
    origin: int,
    to: int,
) -> list[tuple[int, float]]: ...
def shares_along(paths: Sequence[tuple[Sequence[int], float]]) -> list[tuple[int, float]]: ...

@final
class WeightCases:
    """Traffic over arcs in cases, each the arcs that are down, and what weights do to it.

    The traffic is all at once, or any within it and a hose, the most that enters and leaves at each node.
    """

    def __new__(
        cls,
        tail: NDArray[np.uint32],
        head: NDArray[np.uint32],
        capacity_mbps: NDArray[np.float64],
        traffic_mbps: NDArray[np.float64],
        hose: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
        cases: Sequence[Sequence[int]],
    ) -> Self: ...
    def loads(self, weights: NDArray[np.uint32]) -> tuple[NDArray[np.float64], int]: ...
    def search(
        self,
        present: NDArray[np.uint32],
        begin: NDArray[np.uint32],
        group: NDArray[np.uint32],
        *,
        greatest: int,
        most_changes: int,
        boldness: float,
        evenness: float,
        work: int,
        seed: int,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[NDArray[np.uint32], float, int]: ...
    def fewest_changes(
        self,
        present: NDArray[np.uint32],
        weights: NDArray[np.uint32],
        group: NDArray[np.uint32],
        work: int,
    ) -> tuple[list[int], int]: ...
    def along(
        self, present: NDArray[np.uint32], changes: Sequence[Sequence[tuple[int, int]]]
    ) -> list[float]: ...

@final
class PathNames:
    """The text of paths over the links of a network."""

    numbers: list[int]

    def __new__(cls, nodes: Sequence[str], links: Sequence[tuple[int, int]]) -> Self: ...
    def text(self, path: Sequence[int]) -> str: ...
    def node(self, node: int) -> str: ...

def path_text(names: Sequence[str]) -> str: ...
def read_path(text: str) -> list[tuple[str, int]]: ...

@final
class Setup:
    """A setup that the core has read and checked. ``progress`` gets (pairs answered, all pairs)."""

    def __new__(cls, setup_json: str, makers: Sequence[object] = ...) -> Self: ...
    def json(self) -> str: ...
    def plan(
        self,
        progress: Callable[[int, int], object] | None = None,
        routing: int = 0,
        down: Sequence[int] = ...,
    ) -> Plan: ...
    def candidate_paths(
        self,
        k: int,
        metric: str,
        pairs: Sequence[tuple[int, int]] | None = None,
        search: str = "exact",
        progress: Callable[[int, int], object] | None = None,
        max_delay: int | None = None,
        max_loss: float | None = None,
    ) -> list[PairPaths]: ...
    def without_route(self, plan: Plan, routing: int = 0) -> list[tuple[int, int]]: ...
    def pareto_paths(
        self,
        pairs: Sequence[tuple[int, int]] | None = None,
        limit: int = 1000,
        progress: Callable[[int, int], object] | None = None,
    ) -> list[PairPaths]: ...
    def check_hop_by_hop(
        self, metric: str, search: str = "exact", progress: Callable[[int, int], object] | None = None
    ) -> list[Astray]: ...
    def metric_fallback(self, metric: str, links: Sequence[int] | None = None) -> str | None: ...
    def start(self, plan: Plan) -> Simulation: ...
    def simulate(
        self,
        plan: Plan,
        progress: Callable[[float, int], object] | None = None,
        cores: int = 1,
        before_tables: Callable[[], object] | None = None,
    ) -> Outcome: ...
    def critical_path(self, plan: Plan, cores: int, clock: Callable[[], float]) -> CriticalPath: ...

class _Files(Protocol):
    """What the core asks of the files of a scenario."""

    def text(self, name: str) -> str: ...
    def traffic(self, name: str) -> object | None: ...

@final
class Scenario:
    """A scenario as the core reads it from plain data."""

    problems: list[tuple[str, str]]

    def __new__(cls, data: object, called: bool = False) -> Self: ...
    def lacks_for_run(self) -> list[tuple[str, str]]: ...
    def resolve(
        self,
        topology: Topology,
        is_generated: bool,
        files: _Files,
        own_code: Callable[[str, str, dict[str, Any], list[int], list[int]], str],
    ) -> tuple[Network, Resolved | None, list[tuple[str, str]]]: ...

LinkRow = tuple[int, int, str, int, int, int | None, int]
"""From, to, name, capacity, delay, weight, and the place of what else it has."""

@final
class Network:
    """The network of a scenario by names; ``note`` gets the place and what is wrong."""

    label: str

    def nodes(self) -> list[tuple[str, tuple[float, float] | None]]: ...
    def links(self) -> tuple[list[LinkRow], list[str]]: ...
    def is_host(self, node: int) -> bool: ...
    def knows(self, name: str) -> bool: ...
    def node(self, name: str, place: str, note: Callable[[str, str], None]) -> int | None: ...
    def link(
        self, ends: tuple[str, str], index: int, place: str, note: Callable[[str, str], None]
    ) -> int | None: ...

@final
class Resolved:
    """A scenario as the engine runs it, part by part."""

    never_begun: dict[str, int]

    def setup(
        self,
        network: Network,
        changes_json: str | None = None,
        flows: dict[str, Any] | None = None,
        makers: Sequence[object] = ...,
    ) -> Setup: ...
    def json(
        self, network: Network, changes_json: str | None = None, flows: dict[str, Any] | None = None
    ) -> str: ...
    def part(self, name: str) -> str: ...
    def entries(self) -> str: ...
    def flows(self) -> dict[str, NDArray[Any]]: ...
    def planner(self) -> str | None: ...
    def own_routes(self) -> list[tuple[str, list[str], str | None, str, str | None]]: ...
    def demand(self) -> str | None: ...
    def outages(self) -> str: ...
    def changes_of(
        self, network: Network, event: Mapping[str, Any], place: str
    ) -> tuple[list[str], list[tuple[str, str]]]: ...

@final
class Document:
    """A TOML text as plain data, with the place of each value in it."""

    def __new__(cls, text: str) -> Self: ...
    def data(self) -> Any: ...
    def position(self, place: str) -> tuple[int, int] | None: ...

@final
class Other:
    """What no field takes, such as a date, as a message shows it."""

    def __new__(cls, text: str, huge: bool = False) -> Self: ...
    def __reduce__(self) -> tuple[Any, tuple[str, bool]]: ...

@final
class Simulation:
    """A run in steps; times in picoseconds since its start."""

    def now(self) -> int: ...
    def end(self) -> int: ...
    def next_event(self) -> int | None: ...
    def endpoints(self, flow: int) -> list[tuple[tuple[str, int], tuple[str, int]]]: ...
    def advance(self, until: int, progress: Callable[[float, int], object] | None = None) -> None: ...
    def change(self, change_json: str) -> None: ...
    def held(self, flow: int) -> tuple[str, int, int, int, int, int, int, int, int]: ...
    def hold(self, flow: int, cwnd_bytes: int, pacing_bps: int) -> None: ...
    def flows(self) -> Columns: ...
    def datagram_flows(self) -> Columns: ...
    def links(self) -> Columns: ...
    def finish(self) -> Outcome: ...

PacketHeader = tuple[int, Literal["forward", "backward"], int, int, bool, bool, int]
"""A packet's flow, direction, from, to, SYN, FIN, and MSS option (0 for none)."""
Order = (
    tuple[Literal["entries"], int, list[FlowEntry]]
    | tuple[Literal["remove"], int, int]
    | tuple[Literal["send"], int, int, int | None]
    | tuple[Literal["probe"], int, int]
    | tuple[Literal["control"], int, int]
)
"""Switch and entries; switch and flow; switch, link and window; link and number; switch and flow."""
Counters = tuple[int, int, int, int | None, int | None]
"""Of a link: its number, bytes and packets sent, packets dropped and waiting."""

@final
class Controller:
    """The controller of a setup. Times are picoseconds of the run; each call answers with its orders."""

    def __new__(
        cls,
        setup: Setup,
        down: Sequence[int] = ...,
        paths: Mapping[tuple[int, int], Sequence[Sequence[int]]] | None = None,
    ) -> Self: ...
    def on_packet(
        self, now: int, switch: int, from_host: bool, missed: bool, header: PacketHeader
    ) -> list[Order]: ...
    def on_notice(
        self, now: int, switch: int, from_host: bool, missed: bool, header: PacketHeader
    ) -> list[Order]: ...
    def on_removed(
        self, now: int, switch: int, at: int, flow: int, direction: str, reason: str
    ) -> list[Order]: ...
    def on_statistics(
        self,
        now: int,
        switch: int,
        at: int,
        sent: Sequence[Counters],
        received: Sequence[tuple[int, int]],
    ) -> list[Order]: ...
    def on_request(self, now: int) -> list[Order]: ...
    def on_probe(
        self,
        now: int,
        link: int,
        number: int,
        queued_at: int,
        received_at: int,
        sent: int,
        received: int,
    ) -> list[Order]: ...
    def on_network_change(self, now: int, setup: Setup, down: Sequence[int]) -> list[Order]: ...
    def on_timer(self, now: int) -> list[Order]: ...
    def next_timer(self) -> int | None: ...
    def tables(self) -> dict[str, Columns]: ...

def clamped_window(window: int, window_bytes: int, scale: int) -> int: ...

End = tuple[str, int]
"""An IPv4 address and a port."""
Framing = Literal["single", "trains", "segments"]
"""How hosts hand packets to the network."""

class LiveOutcome(Outcome):
    check: dict[str, float | int | None]
    conversations: list[dict[str, Any]]

if sys.platform == "linux":
    @final
    class LiveNetwork:
        """A network between real hosts, on the wall clock."""

        def __new__(cls, setup: Setup, plan: Plan) -> Self: ...
        def endpoints(self, flow: int) -> list[tuple[End, End]]: ...
        def endpoints_anew(self, flow: int) -> list[tuple[End, End]]: ...
        def address_at(self, flow: int, link: int) -> str | None: ...
        def make_real(self, flow: int, source: bool, destination: bool) -> None: ...
        def make_carrier(self, flow: int) -> None: ...
        def attach(self, node: int, file: int, addresses: Sequence[str], framing: Framing) -> None: ...
        def attach_port(self, file: int, ethernet: bool, framing: Framing) -> int: ...
        def lay(self, from_port: int, to_port: int, flow: int, back: bool, link: int) -> None: ...
        def join(self, a: int, b: int) -> None: ...
        def run(self, begin_ns: int) -> None: ...
        def stop(self) -> None: ...
        def progress(self) -> tuple[float, int]: ...
        def finish(self) -> LiveOutcome: ...

def draw(
    variate_json: str, seed: int, replication: int, name: str, purpose: str, count: int
) -> NDArray[np.float64]: ...
def draw_source_ports(seed: int, replication: int, name: str, count: int) -> NDArray[np.uint16]: ...
def balancer_choices(
    load_balancing_json: str, weights: list[float], subflows: list[tuple[int, int, int, int]]
) -> NDArray[np.uint64]: ...
def exchanges(
    path: str, ports: list[int], progress: Callable[[], None] | None = None
) -> tuple[list[dict[str, Any]], list[str]]: ...
def analyze_captures(
    paths: list[str],
    window_ps: int | None,
    interval_ps: int,
    ports: list[int],
    disjoint: bool,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome: ...
