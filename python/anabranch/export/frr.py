"""FRR: static routes and the list of daemons for each router; explicit paths as MPLS label stacks.

Static routes of FRR (8.4) have no weights: next hops of one destination share equally, so that a plan of
other shares is refused. A label stands for a link: a router that gets it on top takes it away and sends the
packet over that link (RFC 8402, section 3.4: an adjacency segment, set by hand).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from anabranch.errors import ExportError
from anabranch.export.destinations import RoutesByDestination
from anabranch.export.job import Export, ExportJob
from anabranch.export.layout import DeviceLayout

FIRST_LABEL: Final = 100_000
_LARGEST_LABEL: Final = 2**20 - 1
_DAEMONS: Final = """# What FRR starts; watchfrr and zebra always run.
zebra=yes
staticd=yes
bgpd=no
ospfd=no
vtysh_enable=yes
zebra_options="  -A 127.0.0.1 -s 90000000"
staticd_options="-A 127.0.0.1"
"""


def write(job: ExportJob) -> Export:
    """A configuration for each node.

    Raises:
        ExportError: if next hops or paths do not share equally, or there are more links than labels.
    """
    layout = job.layout
    if FIRST_LABEL + len(layout.links) > _LARGEST_LABEL:
        raise ExportError(f"the network has {len(layout.links):,} links, and MPLS has fewer labels to spare")
    routes = RoutesByDestination.of(job)
    _refuse_unequal(job, routes)
    export = Export(shares=[routes.shares])
    by_node: dict[int, list[str]] = defaultdict(list)
    for (node, to), weights in sorted(routes.next_hops.items()):
        for link in weights:
            hop = layout.sender[link]
            by_node[node].append(f"ip route {layout.address(to)}/32 {hop.peer_address} {hop.name}")
    used: set[int] = set()
    for pair, ways in sorted(routes.explicit.items()):
        for links, _ in ways:
            hop = layout.sender[links[0]]
            stack = "/".join(str(FIRST_LABEL + link) for link in links[1:])
            labels = f" label {stack}" if stack else ""
            by_node[pair[0]].append(
                f"ip route {layout.address(pair[1])}/32 {hop.peer_address} {hop.name}{labels}"
            )
            used.update(links[1:])
    for link in sorted(used):
        hop = layout.sender[link]
        by_node[hop.node].append(f"mpls lsp {FIRST_LABEL + link} {hop.peer_address} implicit-null")
    for node in range(len(layout.names)):
        folder = layout.file(node, "")
        export.files[f"{folder}/frr.conf"] = _configuration(layout, node, by_node[node])
        export.files[f"{folder}/daemons"] = _DAEMONS
    export.notes = job.balancing_notes("the kernel")
    return export.with_readme(layout, "FRR export", *_readme(job, routes, mpls=bool(used)))


def _refuse_unequal(job: ExportJob, routes: RoutesByDestination) -> None:
    unequal = [pair for pair, weights in sorted(routes.next_hops.items()) if len(set(weights.values())) > 1]
    unequal += [
        pair for pair, ways in sorted(routes.explicit.items()) if len({weight for _, weight in ways}) > 1
    ]
    if unequal:
        where = "; ".join(routes.reasons(job)[:1])
        more = f" (explicit paths: {where})" if where else ""
        raise ExportError(
            "static routes of FRR have no weights, and next hops or paths of these pairs have different "
            f"shares: {job.pairs(sorted(set(unequal)))}{more}; take --to iproute2, a scheme of equal shares, "
            "or fewer --buckets"
        )


def _configuration(layout: DeviceLayout, node: int, routes: list[str]) -> str:
    lines = [
        "frr defaults traditional",
        f"hostname {layout.label(node)}",
        "log syslog informational",
        "service integrated-vtysh-config",
        "!",
        f"! {layout.names[node]!r}",
        "interface lo",
        f" ip address {layout.address(node)}/32",
        "exit",
    ]
    for entry in layout.interfaces[node]:
        lines += ["!", f"interface {entry.name}", f" ip address {entry.address}/31"]
        lines += [" mpls enable"] if any(" label " in route or "mpls " in route for route in routes) else []
        lines += ["exit"]
    lines += [
        "!",
        "! Packets of this node have its own address, not that of an interface.",
        "route-map OWN-ADDRESS permit 10",
        f" set src {layout.address(node)}",
        "exit",
        "ip protocol static route-map OWN-ADDRESS",
        "!",
        *routes,
        "!",
        "end",
    ]
    return "\n".join(lines) + "\n"


def _readme(job: ExportJob, routes: RoutesByDestination, *, mpls: bool) -> tuple[str, ...]:
    example = job.layout.file(0, "")
    kernel = """
Paths of more than one link are MPLS label stacks: load the kernel modules `mpls_router` and `mpls_iptunnel`,
and set `net.mpls.platform_labels=1048575` and `net.mpls.conf.INTERFACE.input=1` on each router.
"""
    load = f"""
## To load

On each router, with interfaces `eth1`, `eth2`, ... as in the table below, copy its two files to `/etc/frr`
and start FRR (tried with 8.4), or load them into one that runs:

    cp {example}/daemons {example}/frr.conf /etc/frr/ && systemctl restart frr
    vtysh -C -f {example}/frr.conf     # only looks whether it is understood
    vtysh -f {example}/frr.conf

Flows are told apart by ports with `sysctl net.ipv4.fib_multipath_hash_policy=1`; without it only by
addresses.

## To undo

    sed -n 's/^\\(ip route\\|mpls lsp\\)/no &/p' {example}/frr.conf > undo.conf && vtysh -f undo.conf
"""
    return routes.explained(job, ""), kernel if mpls else "", load
