"""From the paths of a plan to entries and select groups of OpenFlow 1.3, for live switches and for exports.

The switch where a packet enters chooses its path, by a group with a bucket for each. It writes a label over
the destination address of Ethernet, which nobody between hosts reads, and the switches behind it go by that
label alone. So weights are those of whole paths, no switch undoes by its hash what another has done, and
packets stay as long as they are, which a VLAN tag or an MPLS label would change.

Paths to a destination share a label where they agree: from each switch on, all paths of a label lead on by
one port. Shortest paths thus take one label for each destination, and an entry for each switch and label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from anabranch.routing.planned import Pair
from anabranch.setup.model import LinkSetup

End = tuple[str, int]
"""Address and port."""
Action = tuple[str, Any]
"""A field and its new value, or ``output`` and a port, or ``group`` and its number."""
Bucket = tuple[int, tuple[Action, ...]]
"""Weight, and what is done."""
Weighted = Sequence[tuple[tuple[int, ...], int]]
"""Paths with whole weights."""

IPV4 = 0x0800
ICMP, TCP, UDP = 1, 6, 17
TRANSIT, INGRESS, OF_FLOW = 50, 100, 110
"""Priorities of entries: behind the first switch, at it, and there for flows with routes of their own."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a flow table."""

    switch: int
    """Node of the switch."""
    priority: int
    match: Mapping[str, Any]
    """Fields under their names in OpenFlow (``OXM_OF_``), in lower case."""
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class SelectGroup:
    """A select group."""

    switch: int
    number: int
    buckets: tuple[Bucket, ...]


@dataclass(slots=True)
class Rules:
    """The entries and groups of the switches."""

    entries: list[Entry] = field(default_factory=list)
    groups: list[SelectGroup] = field(default_factory=list)


class SwitchHop(NamedTuple):
    """A switch of a path, and its ports where packets come in and go out."""

    switch: int
    enters: int
    leaves: int


def edges_of(links: Sequence[LinkSetup]) -> list[tuple[int, int | None]]:
    """Links in pairs: the first one back belongs to the first one forth; None where there is none."""
    edges: list[tuple[int, int | None]] = []
    alone: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, link in enumerate(links):
        if partners := alone[link.to, link.origin]:
            edge = partners.pop(0)
            edges[edge] = (edges[edge][0], number)
        else:
            alone[link.origin, link.to].append(len(edges))
            edges.append((number, None))
    return edges


@dataclass(frozen=True, slots=True)
class Ports:
    """The network as its switches see it: each port as (node of the switch, number)."""

    out: Mapping[int, tuple[int, int]]
    """Where each link leaves a switch."""
    into: Mapping[int, tuple[int, int]]
    """Where each link enters one."""
    local: Mapping[int, int]
    """The port of a switch where the host of its own node stands."""

    def hops(self, links: Sequence[LinkSetup], path: Sequence[int]) -> list[SwitchHop]:
        """The switches of a path; nodes that are none are left out."""
        origin, to = links[path[0]].origin, links[path[-1]].to
        enters = [
            *([(origin, self.local[origin])] if origin in self.local else []),
            *(self.into[link] for link in path if link in self.into),
        ]
        leaves = [
            *(self.out[link] for link in path if link in self.out),
            *([(to, self.local[to])] if to in self.local else []),
        ]
        return [SwitchHop(switch, port, out) for (switch, port), (_, out) in zip(enters, leaves, strict=True)]


class Numbers:
    """Labels and numbers of groups, which stay while routes change: packets on their way carry labels."""

    def __init__(self) -> None:
        self._labels = 0
        self._trees: dict[int, list[tuple[str, dict[int, int]]]] = defaultdict(list)
        """By destination: each label, and the port by which each switch leads it on."""
        self._groups: dict[object, int] = {}

    def label(self, to: int, hops: Sequence[SwitchHop]) -> str:
        """The label of a path to a destination by these switches behind its first: one that agrees."""
        port_of = {hop.switch: hop.leaves for hop in hops}
        for label, ports in self._trees[to]:
            if all(ports.get(switch, port) == port for switch, port in port_of.items()):
                ports.update(port_of)
                return label
        self._labels += 1
        # Local, and of one station (IEEE 802).
        label = "02:a0:00:" + self._labels.to_bytes(3).hex(":")
        self._trees[to].append((label, port_of))
        return label

    def group(self, *key: object) -> int:
        """The number of a group."""
        return self._groups.setdefault(key, len(self._groups) + 1)


@dataclass(frozen=True, slots=True)
class OwnTraffic:
    """Flows with routes of their own."""

    routing: int
    """Place of the routes among all."""
    matches: Mapping[Pair, Sequence[Mapping[str, Any]]]
    """What the packets of these flows match, by the pair that they go between."""


@dataclass(frozen=True, slots=True)
class OwnFlow:
    """A flow with routes of its own."""

    routing: int
    """Place of the routes among all, from 1 on."""
    pair: Pair
    protocol: int
    """Of IPv4."""
    source: End
    destination: End


def own_traffic(flows: Iterable[OwnFlow], plans: int) -> list[OwnTraffic]:
    """The flows with routes of their own, by the place of these from 1 on; packets both ways are of a flow.

    Args:
        flows: all of them.
        plans: how many plans there are, the first one for all others included.
    """
    matches: list[dict[Pair, list[Mapping[str, Any]]]] = [{} for _ in range(1, plans)]
    for flow in flows:
        for pair, ends in ((flow.pair, (flow.source, flow.destination)),
                           (flow.pair[::-1], (flow.destination, flow.source))):  # fmt: skip
            matches_of_pair = matches[flow.routing - 1].setdefault((pair[0], pair[1]), [])
            match = five_tuple(flow.protocol, *ends)
            if match not in matches_of_pair:
                matches_of_pair.append(match)
    return [OwnTraffic(place, matches_of_place) for place, matches_of_place in enumerate(matches, start=1)]


def five_tuple(protocol: int, source: End, destination: End) -> dict[str, Any]:
    """The match for packets of a flow one way; ports count where the protocol has some."""
    fields: dict[str, Any] = {
        "eth_type": IPV4,
        "ip_proto": protocol,
        "ipv4_src": source[0],
        "ipv4_dst": destination[0],
    }
    if (name := {TCP: "tcp", UDP: "udp"}.get(protocol)) is not None:
        fields |= {f"{name}_src": source[1], f"{name}_dst": destination[1]}
    return fields


def rules_of(
    ports: Ports,
    links: Sequence[LinkSetup],
    plans: Sequence[tuple[Mapping[Pair, Weighted], OwnTraffic | None]],
    addresses: Mapping[int, Sequence[str]],
    numbers: Numbers,
    stations: Mapping[int, str] | None = None,
) -> Rules:
    """Entries and groups for the routes of all pairs.

    Args:
        ports: those of the switches.
        links: all links.
        plans: paths of each pair of nodes with whole weights; and whose they are, if not those of all packets
            between the pairs.
        addresses: of each host (IPv4).
        numbers: labels and groups that there are already; new ones are added.
        stations: Ethernet addresses of hosts, where the last switch is to write them.
    """
    rules = Rules()
    transit: dict[tuple[int, str], Entry] = {}
    for routes, traffic in plans:
        for pair, paths in sorted(routes.items()):
            last: tuple[Action, ...] = (("eth_dst", stations[pair[1]]),) if stations else ()
            choices: dict[tuple[int, int], list[Bucket]] = defaultdict(list)
            for path, weight in paths:
                # From host to host there may be no switch.
                if hops := ports.hops(links, path):
                    first, *behind = hops
                    mark = last
                    if behind:
                        label = numbers.label(pair[1], behind)
                        mark = (("eth_dst", label),)
                        transit |= _transit(label, behind, last)
                    choices[first.switch, first.enters].append((weight, (*mark, ("output", first.leaves))))
            # A host with several links chooses the first switch itself.
            for (switch, enters), buckets in choices.items():
                actions = buckets[0][1]
                if len(buckets) > 1:
                    number = numbers.group(switch, enters, pair, traffic and traffic.routing)
                    rules.groups.append(SelectGroup(switch, number, tuple(buckets)))
                    actions = (("group", number),)
                priority = INGRESS if traffic is None else OF_FLOW
                for match in _matches(pair, addresses, traffic):
                    rules.entries.append(Entry(switch, priority, {"in_port": enters, **match}, actions))
    rules.entries += transit.values()
    return rules


def _transit(label: str, hops: Sequence[SwitchHop], last: tuple[Action, ...]) -> dict[tuple[int, str], Entry]:
    """The entries behind the first switch of a path."""
    entries = {}
    for hop in hops:
        actions = (*(last if hop is hops[-1] else ()), ("output", hop.leaves))
        entries[hop.switch, label] = Entry(hop.switch, TRANSIT, {"eth_dst": label}, actions)
    return entries


def _matches(
    pair: Pair, addresses: Mapping[int, Sequence[str]], traffic: OwnTraffic | None
) -> Sequence[Mapping[str, Any]]:
    """What the packets of a pair match where they enter."""
    if traffic is not None:
        return traffic.matches.get(pair, ())
    return [{"eth_type": IPV4, "ipv4_dst": address} for address in addresses.get(pair[1], ())]
