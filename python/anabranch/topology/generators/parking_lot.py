"""A parking lot: one long path, each hop of which carries cross traffic of its own."""

from itertools import pairwise

from anabranch.topology.model import Topology, TopologyNode

from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def parking_lot(
    bottleneck: LinkQuantities,
    access: LinkQuantities,
    *,
    hops: int = 3,
    cross_hosts: int = 1,
) -> Topology:
    """A row of `hops` bottleneck links; cross traffic enters before each and leaves after it.

    Nodes: `source` and `sink` at the ends of `router1`, ..., `routerN+1`; for hop i `cross-source<i>` and
    `cross-sink<i>` (with more than one pair a hop: `cross-source<i>.1`, ...). Links are labelled "bottleneck"
    and "access". For n hops with k pairs each: n + 3 + 2 n k nodes, n + 2 + 2 n k links.
    """
    check_count("hops", hops)
    check_count("cross_hosts", cross_hosts, low=0)
    check_size(hops + 3 + 2 * hops * cross_hosts, hops + 2 + 2 * hops * cross_hosts)
    routers = node_run("router", hops + 1, "router")
    nodes = [TopologyNode("source", kind="host"), *routers, TopologyNode("sink", kind="host")]
    links = [access.link("source", routers[0].name, "access")]
    links += [bottleneck.link(a.name, b.name, "bottleneck") for a, b in pairwise(routers)]
    links.append(access.link(routers[-1].name, "sink", "access"))
    for hop in range(1, hops + 1):
        for pair in range(1, cross_hosts + 1):
            suffix = f"{hop}" if cross_hosts == 1 else f"{hop}.{pair}"
            source, sink = f"cross-source{suffix}", f"cross-sink{suffix}"
            nodes += [TopologyNode(source, kind="host"), TopologyNode(sink, kind="host")]
            links.append(access.link(source, f"router{hop}", "access"))
            links.append(access.link(f"router{hop + 1}", sink, "access"))
    return generated(
        f"parking-lot(hops={hops}, cross_hosts={cross_hosts})",
        nodes,
        links,
        f"Generated: a parking lot of {hops} hops with {cross_hosts} pairs of cross-traffic hosts each.",
    )
