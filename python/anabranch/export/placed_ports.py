"""The rows of an operator's table of interfaces on the links of a network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import Problem, ScenarioError
from anabranch.export.ports import NamedPort, PortTable, read_ports
from anabranch.plans.switch_rules import edges_of
from anabranch.setup.model import Setup

_MOST_NAMED = 5


@dataclass(frozen=True)
class PlacedPorts:
    """A table of interfaces, and the two of each edge."""

    table: PortTable
    of_edges: tuple[tuple[NamedPort, NamedPort], ...]
    """In the order of :func:`edges_of`: at the node where the edge's first link begins, and at the other."""
    notes: tuple[str, ...]
    """What of the table is not used, or filled in, in plain sentences."""

    def costs(self, *, isis: bool) -> dict[int, int | None]:
        """The cost in the table, by edge and side: ``2 * edge + side``.

        Args:
            isis: metrics of IS-IS come before costs of OSPF where an interface has both.
        """
        costs = dict[int, int | None]()
        for edge, both in enumerate(self.of_edges):
            for side, port in enumerate(both):
                first, other = (port.isis_metric, port.cost) if isis else (port.cost, port.isis_metric)
                costs[2 * edge + side] = other if first is None else first
        return costs


def placed_ports(path: Path, setup: Setup, option: str = "--interfaces") -> PlacedPorts:
    """Reads a table and finds the interface at each end of each edge.

    Args:
        path: of the table.
        setup: whose network.
        option: that names it, for messages.

    Raises:
        ExportError: if it cannot be read.
        ScenarioError: with every row that is wrong, and every link that has no interface.
    """
    names = [node.name for node in setup.nodes]
    table = read_ports(path, names, option)
    problems = list[Problem]()
    placed = list[tuple[NamedPort, NamedPort]]()
    used = set[int]()
    unnamed = defaultdict[tuple[int, int], int](int)
    missing = list[str]()
    for forth, back in edges_of(setup.links):
        link = setup.links[forth]
        ends = (link.origin, link.to)
        sides = [
            _of_end(table, pair, name, used)
            for pair, name in (
                (ends, link.name),
                (ends[::-1], "" if back is None else setup.links[back].name),
            )
        ]
        missing += [
            f"{names[node]} to {names[other]}"
            for side, (node, other) in zip(sides, (ends, ends[::-1]), strict=True)
            if side is None
        ]
        if sides[0] is None or sides[1] is None:
            continue
        unnamed[min(ends), max(ends)] += sides[0].link is None
        placed.append((sides[0], sides[1]))
        problems += _address_problems(sides[0], sides[1])
    if missing:
        more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        named = ", ".join(missing[:_MOST_NAMED])
        message = f"has no interface of these links: {named}{more}; add a row for each end of each link"
        problems.append(Problem(f"{option} {path}", message))
    problems += _repeated(table, names)
    if problems:
        raise ScenarioError(problems)
    return PlacedPorts(table, tuple(placed), tuple(_notes(table, setup, used, unnamed)))


def _of_end(table: PortTable, pair: tuple[int, int], link: str, used: set[int]) -> NamedPort | None:
    """The interface of a link's end: the one whose row or description names it, or else the next one."""
    free = [port for port in table.links(*pair) if id(port) not in used]
    named = [port for port in free if link and link in (port.link, port.description)]
    unnamed = [port for port in free if port.link is None or "->" not in port.link]
    # A name without a number means the only link between two nodes.
    chosen = next(iter(named or unnamed), None)
    if chosen is not None:
        used.add(id(chosen))
    return chosen


def _address_problems(one: NamedPort, other: NamedPort) -> list[Problem]:
    if (one.address is None) != (other.address is None):
        lacks, there = (one, other) if one.address is None else (other, one)
        message = (
            f"{lacks.interface} has no address, and the other end of the link, {there.interface}, has one"
        )
        return [Problem(lacks.place, message)]
    if one.address is None or other.address is None:
        return []
    if one.address.network != other.address.network:
        message = (
            f"{one.address} and {other.address} ({other.place}) are the ends of a link, and no subnet of both"
        )
        return [Problem(one.place, message)]
    if one.address.ip == other.address.ip:
        return [Problem(one.place, f"{one.address.ip} is the address of both ends of the link")]
    return []


def _repeated(table: PortTable, names: Sequence[str]) -> list[Problem]:
    """Interfaces of one name at a node, and addresses that two have."""
    problems = list[Problem]()
    first_name = dict[tuple[int, str], NamedPort]()
    first_address = dict[object, NamedPort]()
    for port in table.ports:
        earlier = first_name.setdefault((port.node, port.interface), port)
        if earlier is not port:
            message = f"{names[port.node]} has {port.interface} twice, first in {earlier.place}"
            problems.append(Problem(port.place, message))
        if port.address is not None:
            earlier = first_address.setdefault(port.address.ip, port)
            if earlier is not port:
                message = f"{port.address.ip} is the address of two interfaces, first in {earlier.place}"
                problems.append(Problem(port.place, message))
    return problems


def _notes(
    table: PortTable, setup: Setup, used: set[int], unnamed: Mapping[tuple[int, int], int]
) -> list[str]:
    names = [node.name for node in setup.nodes]
    notes = list(table.notes)
    parallel = [pair for pair, count in unnamed.items() if count > 1]
    if parallel:
        named = ", ".join(f"{names[a]} - {names[b]}" for a, b in parallel[:_MOST_NAMED])
        notes.append(
            f"{table.source} does not tell parallel links apart ({named}): its interfaces are taken in "
            "their order; "
            'a column link with names such as "Oslo->Bergen#2" says which is which'
        )
    if left := [port for port in table.ports if port.neighbour is not None and id(port) not in used]:
        named = ", ".join(f"{names[port.node]} {port.interface}" for port in left[:_MOST_NAMED])
        notes.append(
            f"interfaces of {table.source} that lead to no link of the network: {len(left)}, such as {named}"
        )
    if any(port.address is None for port in table.ports if port.neighbour is not None):
        notes.append(f"{table.source} has no addresses of links: those here are made up, from 172.16.0.0 on")
    if without := [name for node, name in enumerate(names) if node not in table.own_addresses]:
        named = ", ".join(without[:_MOST_NAMED])
        more = f" and {len(without) - _MOST_NAMED} more" if len(without) > _MOST_NAMED else ""
        notes.append(
            f"{table.source} has no address of these routers themselves (interface lo): {named}{more}; "
            "those here "
            "are made up, from 10.0.0.1 on"
        )
    return notes
