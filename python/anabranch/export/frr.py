"""FRR: static routes and the list of daemons for each router; explicit paths as MPLS label stacks.

Static routes of FRR (8.4) have no weights: next hops of one destination share equally. What shares unequally
goes by rules with weighted groups (``frr_weights.py``). A label stands for a link: a router that gets it on
top takes it away and sends the packet over that link (RFC 8402, section 3.4: an adjacency segment, set by
hand).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from anabranch.errors import ExportError
from anabranch.export.destinations import RoutesByDestination
from anabranch.export.frr_files import RouterLines, configuration, daemons, to_load
from anabranch.export.frr_weights import MOST_WEIGHT, POLICY, WeightedHops, shares_written
from anabranch.export.job import MOST_NAMED, Export, ExportJob
from anabranch.export.layout import DeviceLayout, Interface

FIRST_LABEL: Final = 100_000
_LARGEST_LABEL: Final = 2**20 - 1


def write(job: ExportJob) -> Export:
    """A configuration for each node.

    Raises:
        ExportError: if there are more links than labels, or more rules than numbers of them.
    """
    layout = job.layout
    check_labels(layout)
    job = replace(job, buckets=min(job.buckets, MOST_WEIGHT))
    routes = RoutesByDestination.of(job)
    shares, evenly = shares_written(job, routes)
    export = Export(shares=[shares])
    by_node: dict[int, list[str]] = defaultdict(list)
    weighted = WeightedHops()
    for (node, to), weights in sorted(routes.next_hops.items()):
        unequal = len(set(weights.values())) > 1
        for link, weight in weights.items():
            hop = layout.sender[link]
            by_node[node].append(f"ip route {layout.address(to)}/32 {hop.peer_address} {hop.name}")
            if unequal:
                weighted.add(node, to, f"{hop.peer_address} {hop.name}", weight)
    used: set[int] = set()
    for pair, ways in sorted(routes.explicit.items()):
        unequal = len({weight for _, weight in ways}) > 1
        for links, weight in ways:
            hop = layout.sender[links[0]]
            stack = "/".join(str(FIRST_LABEL + link) for link in links[1:])
            labels = f" label {stack}" if stack else ""
            by_node[pair[0]].append(
                f"ip route {layout.address(pair[1])}/32 {hop.peer_address} {hop.name}{labels}"
            )
            if unequal:
                weighted.add(*pair, f"{hop.peer_address} {hop.name}{labels}", weight)
            used.update(links[1:])
    for link in sorted(used):
        hop = layout.sender[link]
        by_node[hop.node].append(label_entry(layout, link))
    _files(export, job, by_node, weighted)
    export.notes = [*job.balancing_notes("the kernel"), *_evenly(layout, evenly)]
    return export.with_readme(layout, "FRR export", *_readme(job, routes, weighted, mpls=bool(used)))


def check_labels(layout: DeviceLayout) -> None:
    """Raises ExportError if there are more links than labels."""
    if FIRST_LABEL + len(layout.links) > _LARGEST_LABEL:
        raise ExportError(f"the network has {len(layout.links):,} links, and MPLS has fewer labels to spare")


def label_entry(layout: DeviceLayout, link: int) -> str:
    """The line by which a router takes the label of a link away and sends the packet over it."""
    return f"mpls lsp {FIRST_LABEL + link} {layout.sender[link].peer_address} implicit-null"


def _files(export: Export, job: ExportJob, by_node: Mapping[int, list[str]], weighted: WeightedHops) -> None:
    layout = job.layout
    rules = weighted.lines(job)
    for node in range(len(layout.names)):
        routes, folder = by_node.get(node, []), layout.file(node, "")
        mpls = ["mpls enable"] if any(" label " in route or "mpls " in route for route in routes) else []
        policy = [POLICY] if node in rules else []
        export.files[f"{folder}/frr.conf"] = configuration(
            layout,
            node,
            RouterLines(
                partial(_same, [*mpls, *policy]), [], [*routes, *rules.get(node, [])], "static", policy
            ),
        )
        export.files[f"{folder}/daemons"] = daemons("staticd", *(["pbrd"] if node in rules else []))


def _same(lines: list[str], _: Interface) -> list[str]:
    return lines


def _evenly(layout: DeviceLayout, nodes: list[int]) -> list[str]:
    if not nodes:
        return []
    named = ", ".join(layout.names[node] for node in nodes[:MOST_NAMED])
    more = f" and {len(nodes) - MOST_NAMED} more" if len(nodes) > MOST_NAMED else ""
    return [
        f"unequal shares of packets that these routers send themselves: {named}{more}; their first hop is "
        "shared "
        "evenly, since rules with weights look at what comes in by an interface. A table of interfaces "
        "(--interfaces) with rows that lead out of the network says where traffic comes in"
    ]


def _readme(
    job: ExportJob, routes: RoutesByDestination, weighted: WeightedHops, *, mpls: bool
) -> tuple[str, ...]:
    example = job.layout.file(0, "")
    kernel = """
Paths of more than one link are MPLS label stacks: load the kernel modules `mpls_router` and `mpls_iptunnel`,
and set `net.mpls.platform_labels=1048575` and `net.mpls.conf.INTERFACE.input=1` on each router.
"""
    rules = """
Unequal shares go by rules of policy-based routing (`pbrd`) with groups of next hops that have weights. A rule
looks at what comes in by an interface with `pbr-policy ANABRANCH`: give that line to each interface by which
traffic enters. A static route takes over where a rule does not look.
"""
    undo = f"""
## To undo

    sed -n 's/^\\(ip route\\|mpls lsp\\|pbr-map\\|nexthop-group\\)/no &/p' {example}/frr.conf > undo.conf
    vtysh -f undo.conf
"""
    return (
        routes.explained(job, ""),
        kernel if mpls else "",
        rules if weighted.hops else "",
        to_load(job.layout),
        undo,
    )
