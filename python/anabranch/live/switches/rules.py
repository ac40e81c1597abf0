"""From the paths of a plan to entries and groups of OpenFlow 1.3.

The switch where a packet enters chooses its path, by a select group with a bucket for each path. It writes
the number of the path over the destination address of Ethernet, which nobody else reads, and the switches
behind it go by that number. So weights are those of whole paths, and no switch undoes by its hash what
another has done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.live.switches.layout import Port, SwitchLayout
from anabranch.setup.model import LinkSetup

Links = tuple[int, ...]
Action = tuple[str, Any]
"""A field and its new value, or ``output`` and a port, or ``group`` and its number."""

FULL_WEIGHT = 1000
"""What the weights of a group's buckets add up to, but for rounding."""
SMALLEST_SHARE = 1 / 256
"""Open vSwitch spreads over 256 slots at most."""
TRANSIT, INGRESS, OF_FLOW = 50, 100, 110
"""Priorities of entries."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a flow table."""

    switch: int
    """Node of the switch."""
    priority: int
    match: Mapping[str, Any]
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class SelectGroup:
    """A select group: buckets of (weight, actions)."""

    switch: int
    number: int
    buckets: tuple[tuple[int, tuple[Action, ...]], ...]


@dataclass(slots=True)
class Rules:
    """What the switches are told."""

    entries: list[Entry] = field(default_factory=list)
    groups: list[SelectGroup] = field(default_factory=list)


@dataclass(slots=True)
class Numbers:
    """Numbers of paths and pairs, which stay while routes change: packets on their way carry them."""

    paths: dict[Links, int] = field(default_factory=dict)
    pairs: dict[tuple[int, ...], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OwnTraffic:
    """Flows with routes of their own."""

    routing: int
    """Place of the routes among all."""
    matches: Mapping[tuple[int, int], Sequence[Mapping[str, Any]]]
    """What the packets of these flows match, by the pair that they go between."""


def label(number: int) -> str:
    """The Ethernet address that says which path a packet takes: local, for one station (IEEE 802)."""
    return f"02:a0:00:{number >> 16 & 0xFF:02x}:{number >> 8 & 0xFF:02x}:{number & 0xFF:02x}"


class Way:
    """A path as its switches see it."""

    def __init__(self, layout: SwitchLayout, links: Sequence[LinkSetup], path: Sequence[int]) -> None:
        """Over the links of a path, from host to host."""
        out = {port.link_out: port for port in layout.ports if port.link_out is not None}
        into = {port.link_in: port for port in layout.ports if port.link_in is not None}
        local = {port.switch: port for port in layout.ports if port.is_local}
        origin, to = links[path[0]].origin, links[path[-1]].to
        # Where the packet enters each switch, and where it leaves it.
        enters = [
            *([local[origin]] if origin in local else []),
            *(into[link] for link in path if link in into),
        ]
        leaves = [*(out[link] for link in path if link in out), *([local[to]] if to in local else [])]
        self.hops: list[tuple[Port, Port]] = list(zip(enters, leaves, strict=True))


def rules_of(
    layout: SwitchLayout,
    links: Sequence[LinkSetup],
    routes: Mapping[tuple[int, int], Sequence[tuple[Links, float]]],
    addresses: Mapping[int, Sequence[str]],
    numbers: Numbers,
    own: OwnTraffic | None = None,
) -> Rules:
    """Entries and groups for the routes of all pairs.

    Args:
        layout: the switches.
        links: all links.
        routes: weighted paths of each pair of nodes.
        addresses: of each host.
        numbers: those that paths and pairs have already; new ones are added.
        own: whose routes these are, if not those of all packets between the pairs.
    """
    rules = Rules()
    for pair, paths in sorted(routes.items()):
        key = pair if own is None else (*pair, own.routing)
        group = numbers.pairs.setdefault(key, len(numbers.pairs) + 1)
        ways = [
            (numbers.paths.setdefault(path, len(numbers.paths) + 1), Way(layout, links, path).hops)
            for path, _ in paths
        ]
        buckets = tuple(
            (weight, _first(number, hops))
            for weight, (number, hops) in zip(_weights([w for _, w in paths]), ways, strict=True)
        )
        entry = ways[0][1][0][0]
        actions = buckets[0][1]
        if len(buckets) > 1:
            rules.groups.append(SelectGroup(entry.switch, group, buckets))
            actions = (("group", group),)
        matches: Sequence[Mapping[str, Any]] = (
            [{"eth_type": 0x0800, "ipv4_dst": address} for address in addresses.get(pair[1], ())]
            if own is None
            else own.matches.get(pair, ())
        )
        priority = INGRESS if own is None else OF_FLOW
        for match in matches:
            found = {"in_port": entry.number, **match}
            rules.entries.append(Entry(entry.switch, priority, found, actions))
        for number, hops in ways:
            rules.entries += _transit(number, hops)
    return rules


def _first(number: int, hops: Sequence[tuple[Port, Port]]) -> tuple[Action, ...]:
    out = ("output", hops[0][1].number)
    return (out,) if len(hops) == 1 else (("eth_dst", label(number)), out)


def _transit(number: int, hops: Sequence[tuple[Port, Port]]) -> Iterator[Entry]:
    for _, out in hops[1:]:
        yield Entry(out.switch, TRANSIT, {"eth_dst": label(number)}, (("output", out.number),))


def _weights(shares: Sequence[float]) -> list[int]:
    """Whole numbers in the proportion of the shares; none below what Open vSwitch can spread by."""
    total = sum(shares)
    return [
        max(round(share / total * FULL_WEIGHT), int(FULL_WEIGHT * SMALLEST_SHARE) + 1) for share in shares
    ]


def unrolled(
    tables: Mapping[int, Mapping[int, Sequence[int]]],
    links: Sequence[LinkSetup],
    pair: tuple[int, int],
    most: int,
) -> list[tuple[Links, float]] | None:
    """The paths of a pair that goes hop by hop, each with its share; None if there are more than ``most``.

    Args:
        tables: next hops towards each destination: for each node, its links, which share evenly.
        links: all links.
        pair: from and to.
        most: how many paths there may be.
    """
    origin, to = pair
    table = tables.get(to, {})
    found: list[tuple[Links, float]] = []
    open_: list[tuple[int, Links, float]] = [(origin, (), 1.0)]
    while open_:
        node, path, share = open_.pop()
        if node == to:
            found.append((path, share))
        elif len(path) < len(links):
            following = table.get(node, ())
            open_ += [(links[link].to, (*path, link), share / len(following)) for link in following]
        if len(found) + len(open_) > most:
            return None
    return sorted(found)
