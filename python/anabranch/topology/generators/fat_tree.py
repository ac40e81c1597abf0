"""A fat tree of equal switches."""

from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology, TopologyLink, TopologyNode

from .fabric import oversubscribed, plane_name, plane_words, planes_of
from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def fat_tree(
    fabric: LinkQuantities,
    host: LinkQuantities,
    *,
    k: int = 4,
    oversubscription: float | None = None,
    planes: int = 1,
) -> Topology:
    """A three-tier fat tree of switches with `k` ports each (k even) and k^3 / 4 hosts.

    Al-Fares, Loukissas, Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008,
    section 3: k pods of k/2 edge and k/2 aggregation switches; (k/2)^2 core switches, the i-th group of k/2
    of them linked to the i-th aggregation switch of each pod. Nodes: `core<group>.<n>`,
    `aggregation<pod>.<n>`, `edge<pod>.<n>`, `host<pod>.<edge>.<n>`; links labelled "core", "pod" and "host".
    With `oversubscription` r, links of the fabric have 1/r of the capacity of those of hosts. With P `planes`
    there are P such trees, whose switches have `plane<p>-` before their names, and each host has a link to
    its edge switch in every one. 5 P k^2 / 4 + k^3 / 4 nodes, 3 P k^3 / 4 links.
    """
    check_count("k", k, low=2)
    if k % 2:
        raise TopologyError("k", f"{k} is odd", f"the number of ports must be even: give {k - 1} or {k + 1}")
    prefixes = planes_of(planes)
    check_size(planes * 5 * k**2 // 4 + k**3 // 4, planes * 3 * k**3 // 4)
    half = k // 2
    fabric = oversubscribed(fabric, host, oversubscription, half, half)
    nodes: list[TopologyNode] = []
    links: list[TopologyLink] = []
    for prefix in prefixes:
        _tree(prefix, k, fabric, host, nodes, links)
    return generated(
        f"fat-tree(k={k}{plane_name(planes)})",
        nodes,
        links,
        f"Generated: a fat tree of switches with {k} ports{plane_words(planes)}.",
    )


def _tree(
    prefix: str,
    k: int,
    fabric: LinkQuantities,
    host: LinkQuantities,
    nodes: list[TopologyNode],
    links: list[TopologyLink],
) -> None:
    """Add the tree of one plane, and the hosts with the first one."""
    half = k // 2
    has_hosts = bool(nodes)
    for group in range(1, half + 1):
        nodes += node_run(f"{prefix}core{group}.", half, "switch")
    for pod in range(1, k + 1):
        nodes += node_run(f"{prefix}aggregation{pod}.", half, "switch")
        nodes += node_run(f"{prefix}edge{pod}.", half, "switch")
        for i in range(1, half + 1):
            upper, lower = f"{prefix}aggregation{pod}.{i}", f"{prefix}edge{pod}.{i}"
            links += [fabric.link(upper, f"{prefix}core{i}.{n}", "core") for n in range(1, half + 1)]
            links += [fabric.link(lower, f"{prefix}aggregation{pod}.{n}", "pod") for n in range(1, half + 1)]
            hosts = node_run(f"host{pod}.{i}.", half, "host")
            nodes += [] if has_hosts else hosts
            links += [host.link(node.name, lower, "host") for node in hosts]
