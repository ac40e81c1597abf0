"""Interfaces as an operator has them: their names, addresses and costs, from a table of his own.

A CSV file has a row for each interface, with the columns ``node``, ``interface`` and ``neighbour`` (or
``link``, the name of the directed link that sends there), and may have ``address`` (with its prefix length)
and ``cost``. A row of the interface ``lo`` without a neighbour has the address of the router itself; other
rows without one are interfaces that lead out of the network. The CSV of a network may say the same in the
columns ``from_interface``, ``to_interface``, ``from_address``, ``to_address`` and ``to_cost`` of its links;
a file of containerlab has names (``topology/readers/containerlab.py``), and configurations of FRR have all
of it (``frr_read.py``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path
from typing import Final

from anabranch import _core
from anabranch.errors import ExportError
from anabranch.export.frr_read import ONE_WORD, FrrRouter, read_frr
from anabranch.scenario.quantity import quoted
from anabranch.setup.files import text_of
from anabranch.setup.problems import Problems
from anabranch.setup.table_file import TableRow, header_of, table_rows
from anabranch.text.suggest import nearest_remedy
from anabranch.topology.error import TopologyError
from anabranch.topology.readers.containerlab import lab_ports

LOOPBACK: Final = "lo"
_NEIGHBOURS: Final = ("neighbour", "neighbor", "link")
_OF_LINKS: Final = ("from", "to", "from_interface", "to_interface")


@dataclass(frozen=True, slots=True)
class NamedPort:
    """An interface in the operator's words."""

    place: str
    """File and line, for messages."""
    node: int
    interface: str
    neighbour: int | None
    """None for one that leads out of the network."""
    link: str | None = None
    """The directed link that sends there, where the table names it; tells parallel links apart."""
    address: IPv4Interface | None = None
    cost: int | None = None
    """Of OSPF, where the source tells the two apart."""
    description: str = ""
    isis_metric: int | None = None
    """None where the source has no metric of IS-IS beside."""


@dataclass(frozen=True)
class PortTable:
    """All interfaces of a table, and the routers' own addresses and names."""

    source: str
    """The file or the folder."""
    ports: tuple[NamedPort, ...]
    own_addresses: Mapping[int, IPv4Address] = field(default_factory=dict)
    """By node."""
    hostnames: Mapping[int, str] = field(default_factory=dict)
    """By node, where the source has names of its own."""
    notes: tuple[str, ...] = ()

    def links(self, node: int, neighbour: int) -> list[NamedPort]:
        """The interfaces of a node that lead to another, in the order of the table."""
        return [port for port in self.ports if (port.node, port.neighbour) == (node, neighbour)]

    def out(self, node: int) -> list[NamedPort]:
        """The interfaces of a node that lead out of the network."""
        return [port for port in self.ports if port.node == node and port.neighbour is None]


def read_ports(path: Path, nodes: Sequence[str], option: str = "--interfaces") -> PortTable:
    """The interfaces in a CSV file, a file of containerlab, or configurations of FRR (a file or a folder).

    Args:
        path: of the file or the folder.
        nodes: names of the network's nodes, in their order.
        option: that names it, for messages.

    Raises:
        ExportError: if it cannot be read, or is none of these.
        ScenarioError: with every row that is wrong.
    """
    problems = Problems(None)
    if path.is_dir():
        files = sorted({*path.glob("*/frr.conf"), *path.glob("*.conf")})
        if not files:
            raise ExportError(f"{option} {path}: the folder has no frr.conf in a folder of each router")
        routers = [read_frr(str(file), _text(option, file), problems) for file in files]
        return _of_routers(str(path), routers, nodes, problems)
    text = _text(option, path)
    header = header_of(text)
    if set(_OF_LINKS) <= set(header):
        table = PortTable(str(path), tuple(_of_links(path.name, text, nodes, problems)))
    elif {"node", "interface"} <= set(header):
        table = _of_rows(path, text, nodes, problems)
    elif re.search(r"(?m)^topology:", text):
        table = _of_lab(path, text, nodes, problems)
    elif re.search(r"(?m)^(interface|hostname) ", text):
        return _of_routers(str(path), [read_frr(str(path), text, problems)], nodes, problems)
    else:
        raise ExportError(
            f"{option} {path}: {quoted(','.join(header)[:60])} is no table of interfaces; give a CSV with "
            "the "
            "columns node,neighbour,interface and, where there are some, address,cost; a CSV of links with "
            "from,to,from_interface,to_interface; a file of containerlab; or configurations of FRR"
        )
    problems.raise_if_any()
    return table


def _text(option: str, path: Path) -> str:
    try:
        return text_of(str(path), None)
    except _core.ProblemError as error:
        raise ExportError(f"{option}: {error}") from None


def _of_rows(path: Path, text: str, nodes: Sequence[str], problems: Problems) -> PortTable:
    header = header_of(text)
    leads = next((column for column in _NEIGHBOURS if column in header), None)
    if leads is None:
        raise ExportError(
            f"--interfaces {path}: the table does not say where interfaces lead; add a column neighbour, or "
            'link with names such as "Oslo->Bergen"'
        )
    index = {name: number for number, name in enumerate(nodes)}
    ports, loopbacks = list[NamedPort](), dict[int, IPv4Address]()
    for row in table_rows(path.name, text, ("node", "interface", leads), problems):
        if (port := _row(row, leads, index, problems)) is None:
            continue
        if port.interface == LOOPBACK and port.neighbour is None:
            if port.address is not None:
                loopbacks[port.node] = port.address.ip
        else:
            ports.append(port)
    return PortTable(str(path), tuple(ports), loopbacks)


def _row(row: TableRow, leads: str, index: Mapping[str, int], problems: Problems) -> NamedPort | None:
    node = _node(row.place, row.cells["node"], index, problems)
    name = _interface(row.place, row.cells["interface"], problems)
    link, neighbour = None, None
    if direction := row.cells[leads]:
        if leads == "link":
            link, (origin, _, to) = direction, direction.partition("#")[0].partition("->")
            if not to:
                problems.add(row.place, f"the link is {quoted(direction)}; write it like Oslo->Bergen")
                return None
            if origin != row.cells["node"]:
                problems.add(row.place, f"the link {direction} does not leave {row.cells['node']}")
                return None
            direction = to
        neighbour = _node(row.place, direction, index, problems)
        if neighbour is None:
            return None
    if node is None or name is None:
        return None
    address = _address(row.place, row.cells.get("address", ""), problems)
    cost = _cost(row.place, row.cells.get("cost", ""), problems)
    return NamedPort(row.place, node, name, neighbour, link, address, cost)


def _of_links(name: str, text: str, nodes: Sequence[str], problems: Problems) -> Iterator[NamedPort]:
    """Both ends of each row of a CSV of links."""
    index = {node: number for number, node in enumerate(nodes)}
    for row in table_rows(name, text, _OF_LINKS, problems):
        ends = [_node(row.place, row.cells[side], index, problems) for side in ("from", "to")]
        for side, other in ((0, 1), (1, 0)):
            key = ("from", "to")[side]
            node, neighbour = ends[side], ends[other]
            interface = _interface(row.place, row.cells[f"{key}_interface"], problems)
            address = _address(row.place, row.cells.get(f"{key}_address", ""), problems)
            cost = _cost(row.place, row.cells.get(f"{key}_cost", ""), problems)
            if node is not None and neighbour is not None and interface is not None:
                yield NamedPort(row.place, node, interface, neighbour, None, address, cost)


def _of_lab(path: Path, text: str, nodes: Sequence[str], problems: Problems) -> PortTable:
    """The names of interfaces in a file of containerlab, which has no addresses."""
    try:
        lab = lab_ports(text.encode(), path.name)
    except TopologyError as error:
        raise ExportError(f"--interfaces {error}") from None
    index = {name: number for number, name in enumerate(nodes)}
    ports, hostnames = list[NamedPort](), dict[int, str]()
    for end in lab:
        interface = _interface(end.place, end.interface, problems)
        if end.node in index and interface is not None:
            # A lab has hosts and customers besides: for the network they are outside.
            neighbour = None if end.neighbour is None else index.get(end.neighbour)
            ports.append(NamedPort(end.place, index[end.node], interface, neighbour))
            hostnames[index[end.node]] = end.name
    return PortTable(str(path), tuple(ports), {}, hostnames)


def _of_routers(
    source: str, routers: Sequence[FrrRouter], nodes: Sequence[str], problems: Problems
) -> PortTable:
    """The interfaces of configurations of FRR: two in one subnet are the ends of a link."""
    owners = _owners(routers, nodes, problems)
    at = defaultdict[object, list[int]](list)
    for node, router in owners.items():
        for one in router.interfaces:
            if one.address is not None and one.name != LOOPBACK:
                at[one.address.network].append(node)
    ports, loopbacks = list[NamedPort](), dict[int, IPv4Address]()
    for node, router in owners.items():
        for one in router.interfaces:
            if one.name == LOOPBACK:
                if one.address is not None:
                    loopbacks[node] = one.address.ip
                continue
            others = [] if one.address is None else [each for each in at[one.address.network] if each != node]
            if len(others) > 1:
                message = f"{one.name} is in a subnet of more than two routers, which is no link"
                problems.add(one.place, message)
                continue
            words = (one.address, one.ospf_cost, one.description, one.isis_metric)
            ports.append(NamedPort(one.place, node, one.name, others[0] if others else None, None, *words))
        if router.router_id is not None:
            loopbacks.setdefault(node, router.router_id)
    problems.raise_if_any()
    hostnames = {node: router.names[0] for node, router in owners.items()}
    return PortTable(source, tuple(ports), loopbacks, hostnames)


def _owners(routers: Sequence[FrrRouter], nodes: Sequence[str], problems: Problems) -> dict[int, FrrRouter]:
    """The router of each node, by its hostname or the name of its file; by ``n1``, ``n2`` of an export, too.

    Raises:
        ScenarioError: with each file of no node, and each further one of a node.
    """
    by_name = {f"n{number + 1}": number for number in range(len(nodes))}
    by_name |= {_plain(name): number for number, name in enumerate(nodes)}
    owners = dict[int, FrrRouter]()
    for router in routers:
        node = next((by_name[_plain(name)] for name in router.names if _plain(name) in by_name), None)
        if node is None:
            remedy = nearest_remedy(router.names[0], nodes)
            problems.add(router.file, f"the network has no node {quoted(router.names[0])}; {remedy}")
        elif node in owners:
            problems.add(router.file, f"is of {quoted(nodes[node])}, and so is {owners[node].file}")
        else:
            owners[node] = router
    problems.raise_if_any()
    return owners


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _node(place: str, name: str, index: Mapping[str, int], problems: Problems) -> int | None:
    if name not in index:
        problems.add(place, f"the network has no node {quoted(name)}; {nearest_remedy(name, index)}")
    return index.get(name)


def _interface(place: str, name: str, problems: Problems) -> str | None:
    if not ONE_WORD.fullmatch(name):
        problems.add(
            place, f"the interface is {quoted(name)}; give the name that the router has for it, one word"
        )
        return None
    return name


def _address(place: str, text: str, problems: Problems) -> IPv4Interface | None:
    if not text:
        return None
    try:
        if "/" in text:
            return IPv4Interface(text)
    except ValueError:
        pass
    problems.add(place, f"the address is {quoted(text)}; write it with its prefix length, like 192.0.2.1/31")
    return None


def _cost(place: str, text: str, problems: Problems) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) < 2**24:
        problems.add(place, f"the cost is {quoted(text)}; it is a whole number from 1 on")
        return None
    return int(text)
