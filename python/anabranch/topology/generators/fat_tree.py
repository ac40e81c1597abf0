"""A fat tree of equal switches."""

from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology, TopologyLink, TopologyNode

from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def fat_tree(
    fabric: LinkQuantities,
    host: LinkQuantities,
    *,
    k: int = 4,
) -> Topology:
    """A three-tier fat tree of switches with `k` ports each (k even) and k^3 / 4 hosts.

    Al-Fares, Loukissas, Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008,
    section 3: k pods of k/2 edge and k/2 aggregation switches; (k/2)^2 core switches, the i-th group of k/2
    of them linked to the i-th aggregation switch of each pod. Nodes: `core<group>.<n>`,
    `aggregation<pod>.<n>`, `edge<pod>.<n>`, `host<pod>.<edge>.<n>`; links labelled "core", "pod" and "host".
    5 k^2 / 4 + k^3 / 4 nodes, 3 k^3 / 4 links.
    """
    check_count("k", k, low=2)
    if k % 2:
        raise TopologyError("k", f"{k} is odd", f"the number of ports must be even: give {k - 1} or {k + 1}")
    check_size(5 * k**2 // 4 + k**3 // 4, 3 * k**3 // 4)
    half = k // 2
    nodes: list[TopologyNode] = []
    for group in range(1, half + 1):
        nodes += node_run(f"core{group}.", half, "switch")
    links: list[TopologyLink] = []
    for pod in range(1, k + 1):
        nodes += node_run(f"aggregation{pod}.", half, "switch")
        nodes += node_run(f"edge{pod}.", half, "switch")
        for i in range(1, half + 1):
            upper, lower = f"aggregation{pod}.{i}", f"edge{pod}.{i}"
            links += [fabric.link(upper, f"core{i}.{n}", "core") for n in range(1, half + 1)]
            links += [fabric.link(lower, f"aggregation{pod}.{n}", "pod") for n in range(1, half + 1)]
            hosts = node_run(f"host{pod}.{i}.", half, "host")
            nodes += hosts
            links += [host.link(node.name, lower, "host") for node in hosts]
    return generated(f"fat-tree(k={k})", nodes, links, f"Generated: a fat tree of switches with {k} ports.")
