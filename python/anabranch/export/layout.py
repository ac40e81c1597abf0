"""A network as devices see it: interfaces, ports and addresses, the same in every format.

Nodes count from 1 in the order of the scenario. Node *i* is ``n<i>`` and has the address 10.0.0.0 + *i*; edge
*e* (from 0) has the two addresses from 172.16.0.0 + 2 *e* and from fd00::*e*:0. Interfaces of a node are
``eth1``, ``eth2``, ..., and their numbers are the ports of a switch. An operator's own names and addresses
take their place where a table has them (``ports.py``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from itertools import chain
from typing import Final

from anabranch.errors import ExportError
from anabranch.export.placed_ports import PlacedPorts
from anabranch.export.ports import NamedPort
from anabranch.plans.switch_rules import edges_of
from anabranch.setup.model import LinkSetup, Setup

_NODES: Final = IPv4Address("10.0.0.0")
_EDGES: Final = IPv4Address("172.16.0.0")
_EDGES_6: Final = IPv6Address("fd00::")
MOST_NODES: Final = 65_000
MOST_EDGES: Final = 500_000
HOST_PORT: Final = 1000
"""NamedPort of a switch where the end system of its node is attached."""


@dataclass(frozen=True, slots=True)
class Interface:
    """One end of an edge."""

    node: int
    peer: int
    number: int
    """From 1 on, at its node."""
    name: str
    """Of the interface at its node."""
    edge: int
    address: str
    prefix_length: int
    peer_address: str
    address_6: str
    out: int | None
    """Link that sends here; None where the edge has one direction only."""
    into: int | None
    """Link that receives here."""


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
    ports: PlacedPorts | None = None
    """The operator's own names and addresses; None where none were given."""

    @classmethod
    def of(cls, title: str, setup: Setup, ports: PlacedPorts | None = None) -> DeviceLayout:
        """The layout of a network, with the operator's own interfaces where there is a table of them.

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
            port_names = (None, None) if ports is None else ports.of_edges[number]
            addresses = [
                str(_EDGES + 2 * number + side if one is None or one.address is None else one.address.ip)
                for side, one in enumerate(port_names)
            ]
            addresses_6 = [str(_EDGES_6 + (number << 16) + side) for side in (0, 1)]
            for side, node, peer, out, into in (
                (0, link.origin, link.to, forth, back),
                (1, link.to, link.origin, back, forth),
            ):
                place, port = len(interfaces[node]) + 1, port_names[side]
                interface = Interface(
                    node, peer, place, f"eth{place}" if port is None else port.interface, number,
                    addresses[side], _prefix_length(port), addresses[1 - side], addresses_6[side], out, into,
                )  # fmt: skip
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
            ports,
        )

    def label(self, node: int) -> str:
        """Short name of a node, which every format takes; its own hostname with the operator's table."""
        if self.ports is None:
            return f"n{node + 1}"
        return re.sub(r"[^\w.-]+", "-", self.ports.table.hostnames.get(node) or self.names[node])

    def file(self, node: int, suffix: str) -> str:
        """Name of a node's file: its short name, and what of its own name a file may have."""
        words = re.sub(r"[^a-z0-9]+", "-", self.names[node].lower()).strip("-")[:40]
        return f"n{node + 1}{'-' if words else ''}{words}{suffix}"

    def address(self, node: int) -> str:
        """Address of a node."""
        operator_address = None if self.ports is None else self.ports.table.own_addresses.get(node)
        return str(_NODES + node + 1 if operator_address is None else operator_address)

    def mac(self, node: int) -> str:
        """Ethernet address of a node's end system; locally administered."""
        return f"02:00:00:00:{(node + 1) >> 8:02x}:{(node + 1) & 255:02x}"

    def outside(self, node: int) -> list[str]:
        """Names of a node's interfaces that lead out of the network; none without the operator's table."""
        return [] if self.ports is None else [port.interface for port in self.ports.table.out(node)]

    def edges(self) -> list[tuple[Interface, Interface]]:
        """The two interfaces of each edge, in order."""
        ends: dict[int, list[Interface]] = defaultdict(list)
        for interface in chain.from_iterable(self.interfaces):
            ends[interface.edge].append(interface)
        return [(first, other) for _, (first, other) in sorted(ends.items())]

    def pair(self, origin: int, to: int) -> str:
        """A pair of nodes, for people."""
        return f"{self.names[origin]} to {self.names[to]}"


def _prefix_length(port: NamedPort | None) -> int:
    """Of the subnet of a link; that of two addresses where the table has none."""
    return 31 if port is None or port.address is None else port.address.network.prefixlen
