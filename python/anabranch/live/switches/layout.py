"""The nodes that are switches, those that are hosts, and the ports between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anabranch.plans.switch_rules import Ports, edges_of
from anabranch.setup.model import LinkSetup


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a switch: its end of a link, or where the host of its own node stands."""

    switch: int
    """Node of the switch."""
    number: int
    """Of OpenFlow, from 1 on."""
    device: str
    link_out: int | None = None
    """The link that leads away from here; None at a host's port, or where links lead only here."""
    link_in: int | None = None
    is_cable: bool = False
    """Whether it is an end of the cable of no length that leads from a switch to itself."""

    @property
    def is_local(self) -> bool:
        """Whether the host of the switch's own node stands here."""
        return self.link_out is None and self.link_in is None and not self.is_cable


@dataclass(frozen=True, slots=True)
class Edge:
    """Two nodes and the links between them, one each way; parallel ones are other edges."""

    ends: tuple[int, int]
    links: tuple[int | None, int | None]
    """From the first to the second, and back."""


@dataclass(frozen=True, slots=True)
class SwitchLayout:
    """The switches of a run with their ports, and its hosts."""

    names: tuple[str, ...]
    """Of all nodes."""
    switches: tuple[int, ...]
    """Nodes, in order; the datapath id is the place, from 1 on."""
    ports: tuple[Port, ...]
    gateways: Mapping[int, int]
    """Of each host that is no switch: its edge."""
    edges: tuple[Edge, ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        links: Sequence[LinkSetup],
        switches: Collection[int],
        ends: Collection[int],
        *,
        cable: bool = False,
    ) -> SwitchLayout:
        """The layout of a network.

        Args:
            names: of its nodes.
            links: those between them.
            switches: nodes that are switches.
            ends: nodes where traffic begins or ends; one that is a switch has a port for its host.
            cable: whether a cable of no length leads from the first switch to itself, to measure by.
        """
        edges = [Edge((links[pair[0]].origin, links[pair[0]].to), pair) for pair in edges_of(links)]
        ports: list[Port] = []
        counts: dict[int, int] = defaultdict(int)

        def add(node: int, out: int | None, into: int | None, *, is_cable: bool = False) -> None:
            counts[node] += 1
            ports.append(Port(node, counts[node], f"p{len(ports) + 1}", out, into, is_cable))

        gateways: dict[int, int] = {}
        for number, edge in enumerate(edges):
            for node in edge.ends:
                if node not in switches:
                    gateways.setdefault(node, number)
        for number, edge in enumerate(edges):
            (a, b), (forth, back) = edge.ends, edge.links
            if any(gateways.get(node, number) != number for node in edge.ends):
                # A host sends what it has over its first link.
                continue
            for node, out, into in ((a, forth, back), (b, back, forth)):
                if node in switches:
                    add(node, out, into)
        for node in sorted(set(ends) & set(switches)):
            add(node, None, None)
        if cable and switches:
            for _ in range(2):
                add(min(switches), None, None, is_cable=True)
        used = {node: edge for node, edge in gateways.items() if node in ends}
        return cls(tuple(names), tuple(sorted(switches)), tuple(ports), used, tuple(edges))

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> SwitchLayout:
        """From :meth:`data`, also by way of JSON."""
        return cls(
            tuple(data["names"]),
            tuple(data["switches"]),
            tuple(Port(**port) for port in data["ports"]),
            {int(node): edge for node, edge in data["gateways"].items()},
            tuple(Edge(tuple(edge["ends"]), tuple(edge["links"])) for edge in data["edges"]),
        )

    def data(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def openflow_ports(self) -> Ports:
        """The ports at which links leave and enter switches, and those of hosts."""
        out, into, local = {}, {}, {}
        for port in self.ports:
            if port.link_out is not None:
                out[port.link_out] = (port.switch, port.number)
            if port.link_in is not None:
                into[port.link_in] = (port.switch, port.number)
            if port.is_local:
                local[port.switch] = port.number
        return Ports(out, into, local)

    def by_number(self) -> dict[tuple[int, int], Port]:
        """Ports by switch and number."""
        return {(port.switch, port.number): port for port in self.ports}

    def cable(self) -> tuple[Port, Port] | None:
        """The two ends of the cable, if there is one."""
        cables = [port for port in self.ports if port.is_cable]
        return (cables[0], cables[1]) if cables else None

    def used_links(self) -> set[int]:
        """The links that have a port at a switch: a host of several links uses its first."""
        return {link for port in self.ports for link in (port.link_out, port.link_in) if link is not None}
