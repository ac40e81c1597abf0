"""A line: two hosts and the routers between them."""

from itertools import pairwise

from anabranch.topology.model import Topology, TopologyNode

from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def line(link: LinkQuantities, *, hops: int = 1) -> Topology:
    """Two hosts joined by `hops` equal links in a row, over hops - 1 routers.

    Nodes: `source`, `router1`, ..., `sink`. Delay and loss are those of each link. With one hop this is the
    single link between two hosts. hops + 1 nodes, hops links.
    """
    check_count("hops", hops)
    check_size(hops + 1, hops)
    source, sink = TopologyNode("source", kind="host"), TopologyNode("sink", kind="host")
    nodes = [source, *node_run("router", hops - 1, "router"), sink]
    links = [link.link(a.name, b.name) for a, b in pairwise(nodes)]
    return generated(f"line(hops={hops})", nodes, links, f"Generated: a line of {hops} equal links.")
