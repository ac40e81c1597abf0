"""A network as devices see it: interfaces, ports and addresses, the same in every format.

Nodes count from 1 in the order of the scenario. Node *i* is ``n<i>`` and has the address 10.0.0.0 + *i*; edge
*e* (from 0) has the two addresses from 172.16.0.0 + 2 *e* and from fd00::*e*:0. Interfaces of a node are
``eth1``, ``eth2``, ..., and their numbers are the ports of a switch.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from itertools import chain
from typing import Final

from anabranch.errors import ExportError
from anabranch.plans.switch_rules import edges_of
from anabranch.setup.model import LinkSetup, Setup

_NODES: Final = IPv4Address("10.0.0.0")
_EDGES: Final = IPv4Address("172.16.0.0")
_EDGES_6: Final = IPv6Address("fd00::")
MOST_NODES: Final = 65_000
MOST_EDGES: Final = 500_000
HOST_PORT: Final = 1000
"""Port of a switch where the end system of its node is attached."""


@dataclass(frozen=True, slots=True)
class Interface:
    """One end of an edge."""

    node: int
    peer: int
    number: int
    """From 1 on, at its node."""
    edge: int
    address: str
    peer_address: str
    address_6: str
    out: int | None
    """Link that sends here; None where the edge has one direction only."""
    into: int | None
    """Link that receives here."""

    @property
    def name(self) -> str:
        """Name of the interface at its node."""
        return f"eth{self.number}"


@dataclass(frozen=True)
class DeviceLayout:
    """Nodes, links and interfaces of a setup."""

    title: str
    names: tuple[str, ...]
    """Name of each node in the scenario."""
    places: tuple[tuple[float, float] | None, ...]
    """Latitude and longitude in degrees, where they are known."""
    hosts: frozenset[int]
    """Nodes that forward nothing."""
    links: tuple[LinkSetup, ...]
    interfaces: tuple[tuple[Interface, ...], ...]
    """Of each node."""
    sender: dict[int, Interface]
    """The interface from which each link sends."""
    receiver: dict[int, Interface]
    """The interface at which each link arrives."""

    @classmethod
    def of(cls, title: str, setup: Setup) -> DeviceLayout:
        """The layout of a network.

        Raises:
            ExportError: if there are more nodes or edges than addresses.
        """
        edges = edges_of(setup.links)
        if len(setup.nodes) > MOST_NODES or len(edges) > MOST_EDGES:
            raise ExportError(
                f"the network has {len(setup.nodes):,} nodes and {len(edges):,} edges; addresses are there "
                f"for {MOST_NODES:,} and {MOST_EDGES:,}"
            )
        interfaces: list[list[Interface]] = [[] for _ in setup.nodes]
        sender, receiver = dict[int, Interface](), dict[int, Interface]()
        for number, (forth, back) in enumerate(edges):
            link = setup.links[forth]
            addresses = [str(_EDGES + 2 * number + side) for side in (0, 1)]
            addresses_6 = [str(_EDGES_6 + (number << 16) + side) for side in (0, 1)]
            for side, node, peer, out, into in (
                (0, link.origin, link.to, forth, back),
                (1, link.to, link.origin, back, forth),
            ):
                addresses_here = (addresses[side], addresses[1 - side], addresses_6[side])
                interface = Interface(
                    node, peer, len(interfaces[node]) + 1, number, *addresses_here, out, into
                )
                interfaces[node].append(interface)
                if out is not None:
                    sender[out] = interface
                if into is not None:
                    receiver[into] = interface
        places = [node.place for node in setup.nodes]
        return cls(
            title,
            tuple(node.name for node in setup.nodes),
            tuple(None if place is None else (place.latitude, place.longitude) for place in places),
            frozenset(node for node in range(len(setup.nodes)) if setup.is_host(node)),
            tuple(setup.links),
            tuple(map(tuple, interfaces)),
            sender,
            receiver,
        )

    def label(self, node: int) -> str:
        """Short name of a node, which every format takes."""
        return f"n{node + 1}"

    def file(self, node: int, suffix: str) -> str:
        """Name of a node's file: its short name, and what of its own name a file may have."""
        words = re.sub(r"[^a-z0-9]+", "-", self.names[node].lower()).strip("-")[:40]
        return f"{self.label(node)}{'-' if words else ''}{words}{suffix}"

    def address(self, node: int) -> str:
        """Address of a node."""
        return str(_NODES + node + 1)

    def mac(self, node: int) -> str:
        """Ethernet address of a node's end system; locally administered."""
        return f"02:00:00:00:{(node + 1) >> 8:02x}:{(node + 1) & 255:02x}"

    def edges(self) -> list[tuple[Interface, Interface]]:
        """The two interfaces of each edge, in order."""
        ends: dict[int, list[Interface]] = defaultdict(list)
        for interface in chain.from_iterable(self.interfaces):
            ends[interface.edge].append(interface)
        return [(first, other) for _, (first, other) in sorted(ends.items())]

    def pair(self, origin: int, to: int) -> str:
        """A pair of nodes, for people."""
        return f"{self.names[origin]} to {self.names[to]}"
