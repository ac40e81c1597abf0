"""Linux: routes by nexthop groups with weights, for ``ip``; explicit paths by segment routing (SRv6).

A destination whose routes need explicit paths gets an IPv4 route that encapsulates at the source: the
segments are the far ends of the links of the path, so that each router passes the packet on over one link of
its own, and the last segment, an address of the destination, takes the encapsulation away (RFC 8754, RFC 8986
section 4.16.1).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from anabranch.errors import ExportError
from anabranch.export.destinations import RoutesByDestination
from anabranch.export.job import Export, ExportJob
from anabranch.export.layout import DeviceLayout, Interface
from anabranch.routing.planned import Pair

MOST_WEIGHT: Final = 256
"""Largest weight of a nexthop: eight bits (linux/nexthop.h, struct nexthop_grp)."""
_FIRST_HOP, _FIRST_GROUP, _FIRST_PATH = 1000, 100_000, 200_000
_PROTOCOL: Final = 186
"""Number of our routes (``proto``), by which they are found and removed; rt_protos leaves it free."""


def write(job: ExportJob) -> Export:
    """Scripts for each node, and one that tries all of them in namespaces.

    Raises:
        ExportError: if groups may have more buckets than Linux takes.
    """
    if job.buckets > MOST_WEIGHT:
        raise ExportError(
            f"--buckets {job.buckets}: a nexthop of Linux has a weight of at most {MOST_WEIGHT}"
        )
    layout = job.layout
    routes = RoutesByDestination.of(job)
    export = Export(shares=[routes.shares])
    by_node: dict[int, list[int]] = defaultdict(list)
    for node, to in sorted(routes.next_hops):
        by_node[node].append(to)
    paths: dict[int, list[Pair]] = defaultdict(list)
    for pair in sorted(routes.explicit):
        paths[pair[0]].append(pair)
    for node in range(len(layout.names)):
        commands = _by_destination(job, node, {to: routes.next_hops[node, to] for to in by_node[node]})
        commands += _by_path(job, routes, paths[node])
        export.files[f"addresses/{layout.file(node, '.sh')}"] = _script(
            layout, node, _addresses(layout, node)
        )
        export.files[f"routes/{layout.file(node, '.sh')}"] = _script(layout, node, commands)
        export.files[f"undo/{layout.file(node, '.sh')}"] = _script(layout, node, _undo(commands), stop=False)
    export.files["try.sh"] = _try(layout)
    export.notes = job.balancing_notes("Linux (`fib_multipath_hash_policy=1`)")
    how = " by SRv6 (the kernel needs CONFIG_IPV6_SEG6_LWTUNNEL)"
    load = _README.format(example=layout.file(0, ".sh"), protocol=_PROTOCOL)
    return export.with_readme(layout, "Linux export (iproute2)", routes.explained(job, how), load)


def _script(layout: DeviceLayout, node: int, commands: list[str], *, stop: bool = True) -> str:
    head = ["#!/bin/sh", f"# {layout.label(node)}: {layout.names[node]!r}", "set -eu" if stop else "set -u"]
    return "\n".join([*head, *commands]) + "\n"


def _addresses(layout: DeviceLayout, node: int) -> list[str]:
    """The addresses of a node, and what the kernel must be told to forward and to spread flows."""
    commands = [
        "sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
        "# Flows are told apart by addresses and ports.",
        "sysctl -q -w net.ipv4.fib_multipath_hash_policy=1 net.ipv6.fib_multipath_hash_policy=1",
        "sysctl -q -w net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0",
        "sysctl -q -w net.ipv6.conf.all.seg6_enabled=1 2>/dev/null || true",
        "ip link set lo up",
        f"ip addr replace {layout.address(node)}/32 dev lo",
    ]
    for entry in layout.interfaces[node]:
        commands += [
            f"ip addr replace {entry.address}/31 dev {entry.name}",
            f"ip -6 addr replace {entry.address_6}/127 dev {entry.name} nodad",
            f"sysctl -q -w net.ipv6.conf.{entry.name}.seg6_enabled=1 2>/dev/null || true",
            f"sysctl -q -w net.ipv4.conf.{entry.name}.rp_filter=0",
            f"ip link set {entry.name} up",
        ]
    return commands


def _hop(entry: Interface) -> int:
    return _FIRST_HOP + entry.number


def _by_destination(job: ExportJob, node: int, next_hops: dict[int, dict[int, int]]) -> list[str]:
    """Nexthops, groups and routes of a node for destinations without explicit paths."""
    layout = job.layout
    used = sorted({link for weights in next_hops.values() for link in weights})
    hops = {link: layout.sender[link] for link in used}
    commands = [
        f"ip nexthop replace id {_hop(entry)} via {entry.peer_address} dev {entry.name} proto {_PROTOCOL}"
        for entry in hops.values()
    ]
    groups: dict[str, int] = {}
    routes = []
    for to, weights in next_hops.items():
        members = "/".join(
            f"{_hop(hops[link])},{weight}" if len(weights) > 1 else str(_hop(hops[link]))
            for link, weight in sorted(weights.items())
        )
        number = int(members) if len(weights) == 1 else groups.setdefault(members, _FIRST_GROUP + len(groups))
        routes.append(
            f"ip route replace {layout.address(to)}/32 nhid {number} src {layout.address(node)} "
            f"proto {_PROTOCOL}"
        )
    kind = f" type resilient buckets {job.buckets}" if job.resilient else ""
    commands += [
        f"ip nexthop replace id {number} group {members}{kind} proto {_PROTOCOL}"
        for members, number in groups.items()
    ]
    return commands + routes


def _by_path(job: ExportJob, routes: RoutesByDestination, pairs: list[Pair]) -> list[str]:
    """Routes of a node along explicit paths."""
    layout = job.layout
    commands = []
    for pair in pairs:
        ways = []
        for links, weight in routes.explicit[pair]:
            segments = ",".join(layout.receiver[link].address_6 for link in links)
            first = layout.sender[links[0]]
            ways.append(f"nexthop encap seg6 mode encap segs {segments} dev {first.name} weight {weight}")
        if len(ways) == 1:
            ways = [ways[0].removeprefix("nexthop ").rpartition(" weight ")[0]]
        commands.append(
            f"ip route replace {layout.address(pair[1])}/32 src {layout.address(pair[0])} proto {_PROTOCOL} "
            + " ".join(ways)
        )
    return commands


def _undo(commands: list[str]) -> list[str]:
    """What takes the routes of a node away again."""
    numbers = [command.split()[4] for command in commands if command.startswith("ip nexthop replace id ")]
    groups = [number for number in numbers if int(number) >= _FIRST_GROUP]
    others = [number for number in numbers if int(number) < _FIRST_GROUP]
    return [
        f"ip route flush proto {_PROTOCOL}",
        *(f"ip nexthop del id {number} 2>/dev/null" for number in (*groups, *others)),
        "true",
    ]


def _try(layout: DeviceLayout) -> str:
    """A script that lays the network out in namespaces, to try the routes on one machine."""
    up = []
    for node in range(len(layout.names)):
        name = f"${{prefix}}{layout.label(node)}"
        # While its link-local address is tentative, a router asks for no neighbor and loses packets.
        no_detection = "net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0"
        up += [f"    ip netns add {name}", f"    ip netns exec {name} sysctl -q -w {no_detection}"]
    for entry, other in layout.edges():
        up.append(
            f"    ip link add {entry.name} netns ${{prefix}}{layout.label(entry.node)} type veth "
            f"peer name {other.name} netns ${{prefix}}{layout.label(entry.peer)}"
        )
    for part in ("addresses", "routes"):
        up += [
            f"    ip netns exec ${{prefix}}{layout.label(node)} sh {part}/{layout.file(node, '.sh')}"
            for node in range(len(layout.names))
        ]
    down = [
        f"    ip netns del ${{prefix}}{layout.label(node)} 2>/dev/null || true"
        for node in range(len(layout.names))
    ]
    return "\n".join(
        [
            "#!/bin/sh",
            "# Tries the routes in network namespaces of this machine: sh try.sh up, and down again. "
            "Needs root.",
            "# Links have no delay and no rate; the names of the namespaces begin with the second "
            "argument, or ab-.",
            "set -eu",
            'cd "$(dirname "$0")"',
            "prefix=${2:-ab-}",
            'case "${1:-}" in',
            "up)",
            *up,
            "    ;;",
            "down)",
            *down,
            "    ;;",
            '*) echo "usage: sh try.sh up|down [PREFIX]" >&2; exit 2 ;;',
            "esac",
            "",
        ]
    )


_README: Final = """
## To load

On each node, with interfaces `eth1`, `eth2`, ... as in the table below (change the names in the scripts where
yours are others); the first script sets addresses and switches forwarding on, and can be left out where there
are some:

    sh addresses/{example}
    sh routes/{example}

`sh try.sh up` lays the network out in namespaces of one machine instead, without rates and delays; `sh try.sh
down` removes it.

## To undo

    sh undo/{example}

removes the routes (all have `proto {protocol}`) and the nexthops of the export, and leaves addresses as
they are.
"""
