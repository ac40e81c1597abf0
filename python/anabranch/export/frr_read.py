"""Interfaces in a configuration of FRR: addresses, costs of OSPF and IS-IS, descriptions.

The lines are those of FRR's manual ("Interface Commands", OSPFv2, ISIS): a block of ``interface NAME`` with
lines that begin with a blank, until ``exit``, ``!`` or a line that does not. Other lines are left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface
from pathlib import PurePath
from typing import Final

from anabranch.scenario.quantity import quoted
from anabranch.setup.problems import Problems

_ADDRESS: Final = re.compile(r"ip(?:v4)? address (\S+)")
_COST: Final = re.compile(r"(ip ospf cost|isis metric(?: level-[12])?) (\S+)")
_ROUTER_ID: Final = re.compile(r"(?:ospf )?router-id (\S+)")


ONE_WORD: Final = re.compile(r"[^\s|!;\"'`$\\\x00-\x1f\x7f]{1,64}")
"""A name that stands in one word of a configuration, and in quotes of a shell."""


@dataclass(frozen=True, slots=True)
class FrrInterface:
    """An interface of a router."""

    place: str
    """File and line."""
    name: str
    address: IPv4Interface | None = None
    """The first one."""
    ospf_cost: int | None = None
    isis_metric: int | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class FrrRouter:
    """The configuration of a router."""

    file: str
    names: tuple[str, ...]
    """What it may be called: its hostname, or else the name of its folder or file."""
    router_id: IPv4Address | None
    interfaces: tuple[FrrInterface, ...]


def read_frr(file: str, text: str, problems: Problems) -> FrrRouter:
    """Reads a configuration.

    Args:
        file: its name, for messages.
        text: what it has.
        problems: takes addresses and costs that are none, with their lines.
    """
    path = PurePath(file)
    hostname, router_id = "", None
    interfaces = dict[str, FrrInterface]()
    current: str | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line, place = raw.strip(), f"{file}, line {number}"
        if not line or line.startswith(("!", "#")):
            continue
        word, _, rest = line.partition(" ")
        if word == "hostname":
            hostname, current = rest.strip(), None
        elif word == "interface" and rest:
            current = rest.split()[0]
            if not ONE_WORD.fullmatch(current):
                problems.add(place, f"the interface is {quoted(current)}, which no configuration can name")
            interfaces.setdefault(current, FrrInterface(place, current))
        elif not raw[:1].isspace():
            current = None
        elif current is not None:
            interfaces[current] = _with_line(interfaces[current], line, place, problems)
        if match := _ROUTER_ID.fullmatch(line):
            router_id = _router_id(match[1], place, problems)
    inner = path.parent.name if path.name == "frr.conf" else path.stem
    names = tuple(dict.fromkeys(name for name in (hostname, inner, path.stem) if name))
    return FrrRouter(file, names, router_id, tuple(interfaces.values()))


def _with_line(interface: FrrInterface, line: str, place: str, problems: Problems) -> FrrInterface:
    if line.startswith("description "):
        return replace(interface, description=line.removeprefix("description ").strip())
    if (match := _ADDRESS.match(line)) and interface.address is None:
        try:
            return replace(interface, address=IPv4Interface(match[1]))
        except ValueError:
            problems.add(place, f"{quoted(match[1])} is no address with a prefix length")
    elif match := _COST.match(line):
        cost = match[2]
        if cost.isascii() and cost.isdigit() and int(cost) > 0:
            if match[1].startswith("ip ospf"):
                return replace(interface, ospf_cost=int(cost))
            return replace(interface, isis_metric=int(cost))
        problems.add(place, f"the cost is {quoted(cost)}; it is a whole number from 1 on")
    return interface


def _router_id(text: str, place: str, problems: Problems) -> IPv4Address | None:
    try:
        return IPv4Address(text)
    except ValueError:
        problems.add(place, f"{quoted(text)} is no router ID")
        return None
