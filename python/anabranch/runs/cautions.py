"""Warnings about settings that do nothing, and about results that hang on a phase."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from anabranch import _core
from anabranch.plans.paths import PlanPaths
from anabranch.results.censored import late_note
from anabranch.routing.planned import Pair
from anabranch.scenario.algorithms.congestion_control import Bbr
from anabranch.scenario.algorithms.load_balancing import Entropy
from anabranch.scenario.algorithms.path_manager import AnyPathManager, Fullmesh, Ndiffports
from anabranch.scenario.algorithms.path_selector import MrcPathSelector
from anabranch.scenario.algorithms.protocol import AnyProtocol, MptcpProtocol, SprayProtocol
from anabranch.scenario.algorithms.queue import AnyQueue, Fifo, Threshold, Trim
from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.files import FILE
from anabranch.scenario.leaves import (
    AddressChange,
    CapacityChange,
    QueueChange,
    UdpDatagramSource,
    UnlimitedSource,
)
from anabranch.scenario.quantity import Rate, Span, quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup.chance import is_noisy
from anabranch.setup.files import text_of
from anabranch.setup.model import LinkSetup, Setup, TransportSetup, tcp_of
from anabranch.topology.attributes.unread import UNREAD

_MOST_PAIRS = 64
"""Pairs of hosts that are looked at for paths of which no subflow makes use."""
_MOST_SUBFLOWS = 255
"""Of a connection."""
_BY_PACKET = ("packet", "packet-round-robin")
"""Load balancing that leaves no subflow on one path."""
_MOST_PATHS = 256
"""Of a pair, hop by hop, that are told one by one."""
_NEARLY = 1.1
"""Round-trip times are nearly equal up to this ratio."""


def cautions(scenario: Scenario, setup: Setup, plan: _core.Plan) -> list[str]:
    """Sentences on what will run and yet can hardly be meant, a line for each."""
    return [
        *(f"network.topology: {note}" for note in setup.provenance if note.startswith(UNREAD)),
        *_out_of_service(setup),
        *_unused_transports(scenario, setup),
        *_kept_errors(setup),
        *_idle_ecn(scenario, setup),
        *_sprays(setup),
        *_above_line_rate(setup),
        *_traffic_as_capacity(scenario),
        *_idle_buckets(setup),
        *_idle_seeds(setup),
        *_after_the_end(setup),
        *_unheard_addresses(setup),
        *_unused_paths(scenario, setup, plan),
        *_sprayed_subflows(scenario, setup, plan),
        *_phases(setup.of_routing(0), plan),
    ]


def _out_of_service(setup: Setup) -> Iterator[str]:
    if out := setup.outages.nodes_out:
        names = ", ".join(quoted(setup.nodes[node].name) for node in out)
        yield f'network.out_of_service: nobody sends from or to {names}, whatever matrices and "*" say'


def _unused_transports(scenario: Scenario, setup: Setup) -> Iterator[str]:
    used = {transport.name for transport in setup.transports}
    for name in scenario.transport:
        if name not in used:
            yield f"transport.{name}: no traffic uses it, so that it changes nothing"


def _kept_errors(setup: Setup) -> Iterator[str]:
    """Errors of other simulators that transports have for reproductions."""
    for transport in setup.transports:
        tcp = tcp_of(transport.config)
        control = tcp and tcp.congestion_control
        if isinstance(control, Bbr) and control.delivery_rate != Bbr().delivery_rate:
            yield (
                f'transport.{transport.name}: delivery_rate = "{control.delivery_rate}" '
                "is an error of ns-3 up to 3.40 (its issue 1026), which is kept for the reproduction of a "
                "publication: with it BBR measures far too low a rate where packets are reordered"
            )


def _traffic_as_capacity(scenario: Scenario) -> Iterator[str]:
    """A dish of Starlink tells its traffic, which is less than its link could carry unless that was full."""
    for number, profile in enumerate(scenario.profile):
        if profile.values is not None and "capacity" not in profile.values:
            continue
        is_starlink = profile.format == "starlink"
        if profile.format is None:
            text = text_of(profile.source.removeprefix(FILE), scenario.base)
            is_starlink = text.lstrip().startswith("{")
        if is_starlink:
            yield (
                f"profile[{number}]: capacity is the traffic that the dish had, not what its link could "
                'carry, unless that was full; leave it out with values = ["delay", "loss"]'
            )


def _idle_ecn(scenario: Scenario, setup: Setup) -> Iterator[str]:
    """ECN takes both: queues that mark, and transports that react to it."""
    capable = [transport.name for transport in setup.transports if _is_capable(transport.config)]
    changes = [event.change for event in setup.events]
    changed = [change.queue.discipline for change in changes if isinstance(change, QueueChange)]
    marking = [link for link in setup.links if _marks(link.queue.discipline)]
    if capable and not marking and not any(map(_marks, changed)):
        for name in capable:
            if name in scenario.transport and scenario.transport[name].ecn:
                yield f"transport.{name}.ecn: no queue marks packets, so that it changes nothing"
    if marking and not capable:
        queue = marking[0].queue.discipline.algorithm
        yield (
            f"queue of {marking[0].name}: {queue} marks packets of transports with ecn = true, and no "
            "traffic uses one, so that it marks nothing"
        )


def _sprays(setup: Setup) -> Iterator[str]:
    """What spraying counts on: queues that trim, planes of which one may fail, and paths to name."""
    configs = [(of.name, of.config) for of in setup.transports]
    sprays = [(name, config) for name, config in configs if isinstance(config, SprayProtocol)]
    changes = [event.change for event in setup.events]
    queues = [change.queue.discipline for change in changes if isinstance(change, QueueChange)]
    queues += [link.queue.discipline for link in setup.links]
    trims = any(isinstance(queue, Trim) and queue.cut for queue in queues)
    lines = Counter(link.origin for link in setup.links)
    senders = set(setup.flows.origin.tolist())
    for name, config in sprays:
        place = f"transport.{name}"
        if config.trimming and not trims:
            yield (
                f"{place}: no queue trims, so that a lost packet waits for its timeout; give trimming = "
                'false, or a queue "trim"'
            )
        if isinstance(config.path_selector, MrcPathSelector) and all(lines[node] < 2 for node in senders):
            yield (
                f"{place}: mrc spreads over the planes of a host, and each host has one link: when that "
                "fails, no other takes its packets"
            )
    by_hop = getattr(setup.routing.scheme, "algorithm", None) == "ecmp"
    if by_hop and isinstance(setup.routing.load_balancing, Entropy):
        yield (
            "routing.load_balancing: entropy names whole paths, and these routes are tables of next hops: "
            "each switch hashes as with flow; take a scheme with paths, such as k-shortest"
        )


def _is_capable(config: AnyProtocol) -> bool:
    # Each packet of spray can be marked.
    tcp = tcp_of(config)
    return isinstance(config, SprayProtocol) or (tcp is not None and tcp.ecn)


def _marks(discipline: AnyQueue) -> bool:
    # Any discipline may have a parameter of this name, and some have none.
    return isinstance(discipline, Threshold | Trim) or getattr(discipline, "ecn", False) is True


def _above_line_rate(setup: Setup) -> Iterator[str]:
    """UDP that its own host cannot send: a real one would not be lost there, but never be sent."""
    capacity: dict[int, int] = defaultdict(int)
    for link in setup.links:
        capacity[link.origin] += link.capacity
    for flow in setup.datagrams:
        rate = flow.source.rate if isinstance(flow.source, UdpDatagramSource) else 0
        if rate > capacity[flow.origin]:
            node = setup.nodes[flow.origin].name
            yield (
                f"{flow.name}: {Rate(rate).text} is above what the links of {quoted(node)} carry, "
                f"{Rate(capacity[flow.origin]).text}: the rest is dropped where it is sent"
            )
            return


def _idle_buckets(setup: Setup) -> Iterator[str]:
    """Token buckets that fill as fast as the line can empty them, whatever its capacity becomes."""
    most = [link.capacity for link in setup.links]
    for event in setup.events:
        if isinstance(event.change, CapacityChange):
            for number in event.change.links:
                most[number] = max(most[number], event.change.capacity)
    for kind, consequence in (("shaper", "nothing waits for it"), ("policer", "it drops nothing")):
        idle = [
            (link.name, bucket.rate, capacity)
            for link, capacity in zip(setup.links, most, strict=True)
            if (bucket := getattr(link, kind)) is not None and bucket.rate >= capacity
        ]
        if idle:
            name, rate, capacity = idle[0]
            more = f" (and {len(idle) - 1} more)" if len(idle) > 1 else ""
            yield (
                f"{kind} of {name}{more}: its rate, {Rate(rate).text}, "
                f"is not below the capacity of the link, {Rate(capacity).text}, so that {consequence}"
            )


def _idle_seeds(setup: Setup) -> Iterator[str]:
    """Seeds of hashes where nothing is hashed."""
    if all(router.hash_seed is None for router in setup.routers):
        return
    balancer = setup.routing.load_balancing.algorithm
    if setup.controller is not None:
        yield "network.routers.hash_seed: the controller chooses paths, so that no router hashes"
    elif balancer in (*_BY_PACKET, PYTHON):
        yield (
            f"network.routers.hash_seed: routing.load_balancing = {quoted(balancer)} "
            "hashes nothing, so that it changes nothing"
        )


def late_flows(setup: Setup) -> dict[str, tuple[int, int]]:
    """By traffic entry: how many flows begin when the run is over, and how many it asks for."""
    flows, end = setup.flows, setup.duration
    late, every = (np.bincount(which, minlength=len(flows.entries))
                   for which in (flows.entry[flows.start >= end], flows.entry))  # fmt: skip
    counts: dict[str, tuple[int, int]] = {}

    def add(name: str, late: int, asked: int) -> None:
        before = counts.get(name, (0, 0))
        counts[name] = (before[0] + late, before[1] + asked)

    for number, entry in enumerate(flows.entries):
        # By a matrix, an entry of the scenario is one of these for each pair.
        add(entry.name, int(late[number]), int(every[number]))
    for flow in setup.datagrams:
        add(flow.name.rpartition(".")[0], int(flow.start >= end), 1)
    for name, missing in setup.never_begun.items():
        add(name, missing, missing)
    return counts


def _after_the_end(setup: Setup) -> Iterator[str]:
    """Flows that begin when the run is over, entry by entry."""
    for name, (late, asked) in late_flows(setup).items():
        if late:
            yield f"{name}: {late_note(late, asked, f'the end of the run, {Span(setup.duration).text}')}"


def _unheard_addresses(setup: Setup) -> Iterator[str]:
    """Addresses of a host that receives which its connections cannot hear of, each connection once."""
    managers = [_path_manager(transport) for transport in setup.transports]
    gone: dict[int, set[int]] = defaultdict(set)
    warned: set[str] = set()
    for event in setup.events:
        if not isinstance(event.change, AddressChange):
            continue
        link, up = event.change.link, event.change.up
        host = setup.links[link].origin
        (gone[host].discard if up else gone[host].add)(link)
        addresses = {number for number, other in enumerate(setup.links) if other.origin == host}
        name, at = quoted(setup.nodes[host].name), Span(event.at).text
        for flow in setup.flows:
            manager = managers[flow.transport]
            if flow.to != host or flow.start >= event.at or flow.name in warned:
                continue
            if not isinstance(manager, Fullmesh):
                continue
            if gone[host] == addresses:
                warned.add(flow.name)
                yield (
                    f"{flow.name}: {name} has no address at {at}, and only the end that sends data opens "
                    "subflows: the connection waits from then on, whatever address comes up"
                )
            elif up and manager.add_addr_accepted == 0:
                warned.add(flow.name)
                yield (
                    f"{flow.name}: {name} announces an address at {at}, and add_addr_accepted of its path "
                    "manager is 0, as in a stock kernel, so that no subflow goes there"
                )


def _sprayed_subflows(scenario: Scenario, setup: Setup, plan: _core.Plan) -> Iterator[str]:
    """Connections of Multipath TCP whose subflows have no path of their own."""
    balancer = setup.routing.load_balancing.algorithm
    if scenario.controller is not None or balancer not in _BY_PACKET:
        return
    managers = [_path_manager(transport) for transport in setup.transports]
    flows: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for flow in setup.flows if any(manager is not None for manager in managers) else ():
        if managers[flow.transport] is not None:
            flows[flow.routing, flow.origin, flow.to, flow.transport].append(flow.name)
    plans: dict[int, PlanPaths] = {}
    sprayed: list[tuple[list[str], int]] = []
    for (routing, origin, to, transport), names in islice(flows.items(), _MOST_PAIRS):
        if routing not in plans:
            plans[routing] = PlanPaths.of([plan, *plan.others()][routing], setup.links)
        most = _paths_of_a_subflow(plans[routing], (origin, to), managers[transport])
        if most > 1:
            sprayed.append((names, most))
    if sprayed:
        names, most = sprayed[0]
        yield (
            f"{_first(names, sprayed)}: routing.load_balancing = {quoted(balancer)} distributes the packets "
            f"of each subflow over {most} paths, so that "
            "none of its subflows has a path of its own to measure and to fill; "
            'routing.load_balancing = "hash" keeps each of them on one'
        )


def _paths_of_a_subflow(plan: PlanPaths, pair: Pair, manager: AnyPathManager | None) -> int:
    """How many paths the packets of a subflow may take: those between its two interfaces, or all of the pair.

    It has no interfaces of its own where ports alone tell it from others, or where packets go hop by hop.
    """
    by_interfaces = isinstance(manager, Fullmesh) or (
        isinstance(manager, Ndiffports) and manager.by_interfaces
    )
    if by_interfaces and (planned := plan.plan.paths(*pair)):
        ends = ((links[0], links[-1]) for links, _ in planned)
        return max(Counter(ends).values(), default=0)
    paths = plan.of_pair(pair, _MOST_PATHS)
    return _MOST_PATHS if paths is None else len(paths)


def _unused_paths(scenario: Scenario, setup: Setup, plan: _core.Plan) -> Iterator[str]:
    """Connections that leave a path between their hosts unused, and what would use it.

    That is a larger limit, or another path manager, where the routes have the path, and a routing scheme that
    has it where they do not. Where nothing helps, nothing is said.
    """
    if scenario.controller is not None:
        return
    limits = {
        number: limit
        for number, transport in enumerate(setup.transports)
        if (limit := _most_paths(_path_manager(transport))) is not None
    }
    flows: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for flow in setup.flows if limits else ():
        if flow.transport in limits:
            flows[flow.routing, flow.origin, flow.to, flow.transport].append(flow.name)
    plans = [plan, *plan.others()]
    counts, edges = _disjoint_paths(setup), _edges(setup)
    beyond: list[tuple[list[str], int, int]] = []
    absent: list[tuple[list[str], int, int]] = []
    for (routing, origin, to, transport), names in islice(flows.items(), _MOST_PAIRS):
        paths, back = (plans[routing].paths(*ends) or [] for ends in ((origin, to), (to, origin)))
        joined = min(_joined(paths, back, edges), _MOST_SUBFLOWS)
        is_mesh = isinstance(_path_manager(setup.transports[transport]), Fullmesh)
        if joined > limits[transport]:
            beyond.append((names, joined, transport))
        elif joined and (is_mesh or len(paths) == 1) and (most := counts(origin, to)) > joined:
            absent.append((names, joined, most))
    if beyond:
        names, joined, transport = beyond[0]
        yield f"{_first(names, beyond)}: {_beyond(setup.transports[transport], joined)}"
    if absent:
        names, joined, most = absent[0]
        yield (
            f"{_first(names, absent)}: it has {joined} of the {most} "
            "paths between its hosts that share no link, "
            f'for its routes have no others; routing.scheme = "disjoint" has {most}'
        )


def _path_manager(transport: TransportSetup) -> AnyPathManager | None:
    """The path manager of a transport; None for one that is not multipath."""
    return transport.config.path_manager if isinstance(transport.config, MptcpProtocol) else None


def _most_paths(manager: AnyPathManager | None) -> int | None:
    """How many paths of a host's own interfaces a path manager is sure to use; None for one that is not to.

    Ports alone leave it to a hash whether two subflows share a path: as many as there are paths may do so.
    """
    match manager:
        case Fullmesh():
            return manager.limit
        case Ndiffports(by_interfaces=True):
            return _MOST_SUBFLOWS
        case Ndiffports():
            return max(1, manager.subflows - 1)
    return None


def _beyond(transport: TransportSetup, joined: int) -> str:
    """What a path manager makes of more pairs of interfaces than it is sure to use, and what mends it."""
    manager = _path_manager(transport)
    mend = f"transport.{transport.name}.path_manager = "
    if not isinstance(manager, Ndiffports):
        return (
            f"its routes join {joined} pairs of interfaces, more than the limit of its full mesh; {mend}"
            f'{{ algorithm = "fullmesh", limit = {joined} }} opens a subflow for each'
        )
    return (
        f"its routes join {joined} pairs of interfaces, and ndiffports (subflows = {manager.subflows}) "
        "leaves it to a hash of ports which of these are used, so that some may not be; "
        f'{mend}"fullmesh" opens a subflow for each'
    )


def _edges(setup: Setup) -> list[int]:
    """For each link a number that it shares with the one that leads back: both are one interface."""
    between: dict[tuple[int, int], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number, link in enumerate(setup.links):
        ends = (min(link.origin, link.to), max(link.origin, link.to))
        between[ends][link.origin > link.to].append(number)
    edges = list(range(len(setup.links)))
    for there, back in between.values():
        for one, other in zip(there, back, strict=False):
            edges[other] = one
    return edges


def _joined(
    there: Sequence[tuple[Sequence[int], float]],
    back: Sequence[tuple[Sequence[int], float]],
    edges: list[int],
) -> int:
    """How many pairs of interfaces paths there and back join: a subflow runs over both in both directions."""
    pairs = {(edges[links[0]], edges[links[-1]]) for links, _ in there if links}
    return len(pairs & {(edges[links[-1]], edges[links[0]]) for links, _ in back if links})


def _first(names: list[str], of_pairs: Sequence[tuple[list[str], *tuple[object, ...]]]) -> str:
    more = sum(len(entry[0]) for entry in of_pairs) - 1
    return f"{names[0]} (and {more} more)" if more else names[0]


def _disjoint_paths(setup: Setup) -> Callable[[int, int], int]:
    """How many paths without a common link join two nodes, at most."""

    @cache
    def network() -> Any:
        import networkx as nx  # noqa: PLC0415 - few scenarios ask

        graph = nx.DiGraph()
        for (origin, to), links in Counter((link.origin, link.to) for link in setup.links).items():
            graph.add_edge(origin, to, capacity=links)
        return graph

    @cache
    def count(origin: int, to: int) -> int:
        import networkx as nx  # noqa: PLC0415 - as above

        return int(nx.maximum_flow_value(network(), origin, to))

    return count


def _phases(setup: Setup, plan: _core.Plan) -> Iterator[str]:
    """Phase effects (Floyd and Jacobson 1992): a drop-tail queue meets the same flow over and over."""
    if is_noisy(setup):
        return

    def path(origin: int, to: int) -> list[LinkSetup]:
        paths = plan.paths(origin, to) or []
        return [setup.links[link] for links, _ in paths[:1] for link in links]

    rtts: dict[str, list[int]] = defaultdict(list)
    for origin, to, flows in setup.flows.pairs_with(UnlimitedSource):
        there, back = path(origin, to), path(to, origin)
        narrow = min(there, key=lambda link: link.capacity, default=None)
        if narrow and isinstance(narrow.queue.discipline, Fifo):
            rtts[narrow.name] += [sum(link.delay for link in (*there, *back))] * flows
    for name, times in rtts.items():
        if min(times) < max(times) <= _NEARLY * min(times):
            yield (
                f"phase effects: {len(times)} flows of nearly equal round-trip times share the drop-tail "
                f"queue of {quoted(name)}, and nothing is random under way: the phase of their packets "
                "decides who loses, and one flow may get many times the share of another. Add a jitter to "
                "network.access, "
                'such as { distribution = "uniform", low = "0 ms", high = "1 ms" }, or take another queue'
            )
            return
