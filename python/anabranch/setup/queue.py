"""The queue of a link as the core reads it, and what a bandwidth-delay product is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from anabranch.scenario.choice import leaf
from anabranch.scenario.leaves import LimitSetup, QueueSetup
from anabranch.scenario.limit import BandwidthDelay, in_bdps
from anabranch.scenario.quantity import PS_PER_SECOND, ByteCount, PacketCount, Span, quoted
from anabranch.scenario.queue import parted
from anabranch.setup.flow_columns import FlowSetup
from anabranch.setup.model import DatagramSetup, LinkSetup
from anabranch.setup.problems import Problems


@dataclass(frozen=True, slots=True)
class Unsized:
    """The queue of a link whose room is in bandwidth-delay products of the round-trip time there."""

    link: int
    """Id of the link."""
    queue: object
    """The queue as the scenario has it."""
    place: str
    """Where the scenario has it."""


def queue_setup(queue: object, capacity_bps: int, rtt_ps: int = 0) -> QueueSetup:
    """The queue of a link.

    Args:
        queue: what the scenario has for it; None where it has nothing.
        capacity_bps: capacity of the link.
        rtt_ps: round-trip time for products that name none.
    """
    limit, discipline = parted(queue)
    packets: list[int] = []
    in_bytes: list[int] = []
    for bound in limit if isinstance(limit, list) else [limit]:
        if isinstance(bound, PacketCount):
            packets.append(int(bound))
        elif bound != "unlimited":
            in_bytes.append(_bytes(bound, capacity_bps, rtt_ps))
    room = LimitSetup(packets=min(packets, default=None), bytes=min(in_bytes, default=None))
    return QueueSetup(limit=room, discipline=leaf("queue", discipline))


def products_of(queue: object) -> list[str]:
    """The rooms of a queue that are products of a round-trip time that they do not name."""
    limit, _ = parted(queue)
    bounds = limit if isinstance(limit, list) else [limit]
    return [str(bound) for bound in bounds if in_bdps(bound)]


def with_rtt(product: str) -> str:
    """What to write in place of a product of a round-trip time that it does not name."""
    return f'write {{ bdp = {in_bdps(product):g}, rtt = "50 ms" }}'


def _bytes(bound: object, capacity_bps: int, rtt_ps: int) -> int:
    """Whole bytes that are sent in a time, or the size itself."""
    if isinstance(bound, ByteCount):
        return int(bound)
    if isinstance(bound, Span):
        return capacity_bps * int(bound) // (8 * PS_PER_SECOND)
    if isinstance(bound, BandwidthDelay):
        return int(bound.bdp * (capacity_bps * int(bound.rtt) / (8 * PS_PER_SECOND)))
    products = in_bdps(bound)
    assert products is not None  # noqa: S101 - by the type of Limit
    return int(products * (capacity_bps * rtt_ps / (8 * PS_PER_SECOND)))


def size_queues(
    waiting: Sequence[Unsized],
    links: list[LinkSetup],
    flows: tuple[Sequence[FlowSetup], Sequence[DatagramSetup]],
    problems: Problems,
    controller: bool,
) -> None:
    """Gives queues in bandwidth-delay products their room, where all flows of their link have one base RTT.

    Flows of datagrams count where there are no others.

    That can be said before routes are chosen only where there is one way between any two nodes. Where it
    cannot, a problem asks for the round-trip time.
    """
    if not waiting:
        return
    tree = None if controller else _Tree.of(links)
    found = {**tree.rtts(flows[1]), **tree.rtts(flows[0])} if tree else {}
    for unsized in waiting:
        link = links[unsized.link]
        # No packet comes to a link that no flow crosses.
        rtts = found.get(unsized.link, {0})
        if tree and len(rtts) == 1:
            links[unsized.link] = replace(link, queue=queue_setup(unsized.queue, link.capacity, *rtts))
            continue
        if controller:
            reason = "needs a round-trip time where there is a controller"
        elif tree is None:
            reason = "needs a round-trip time: there are several ways between nodes of this network"
        else:
            least, most = Span(min(rtts)), Span(max(rtts))
            reason = f"of which round-trip time? Flows of {least.text} to {most.text} cross {link.name}"
        product = products_of(unsized.queue)[0]
        problems.add(unsized.place, f"{quoted(product)} {reason}; {with_rtt(product)}")


class _Tree:
    """A network with one way between any two nodes."""

    def __init__(self, links: Sequence[LinkSetup], parents: dict[int, int]) -> None:
        self._links = links
        self._ids = {(link.origin, link.to): index for index, link in enumerate(links)}
        self._parents = parents

    @classmethod
    def of(cls, links: Sequence[LinkSetup]) -> _Tree | None:
        """The network of these links; None where there are several ways, or one way only."""
        pairs = {(link.origin, link.to) for link in links}
        if len(pairs) < len(links) or any((to, origin) not in pairs for origin, to in pairs):
            return None
        neighbours: dict[int, list[int]] = defaultdict(list)
        for origin, to in sorted(pairs):
            neighbours[origin].append(to)
        parents: dict[int, int] = {}
        for root in neighbours:
            if root not in parents:
                parents[root] = root
                waiting = [root]
                while waiting:
                    node = waiting.pop()
                    for neighbour in neighbours[node]:
                        if neighbour == parents[node]:
                            continue
                        if neighbour in parents:
                            return None
                        parents[neighbour] = node
                        waiting.append(neighbour)
        return cls(links, parents)

    def rtts(self, flows: Sequence[FlowSetup | DatagramSetup]) -> dict[int, set[int]]:
        """For each link that a flow crosses, there or back, the propagation delays both ways of its flows."""
        found: dict[int, set[int]] = defaultdict(set)
        for origin, to in {(flow.origin, flow.to) for flow in flows}:
            way = list(self._way(origin, to))
            crossed = [self._ids[hop] for hop in way] + [self._ids[hop[::-1]] for hop in way]
            rtt = sum(self._links[link].delay for link in crossed)
            for link in crossed:
                found[link].add(rtt)
        return found

    def _way(self, origin: int, to: int) -> Iterator[tuple[int, int]]:
        """The hops from one node to another, over their nearest common ancestor."""
        up, down = self._to_root(origin), self._to_root(to)
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        yield from up
        yield from ((parent, node) for node, parent in reversed(down))

    def _to_root(self, node: int) -> list[tuple[int, int]]:
        hops = []
        while self._parents[node] != node:
            hops.append((node, self._parents[node]))
            node = self._parents[node]
        return hops
