"""A dumbbell: hosts on either side of one bottleneck."""

from anabranch.topology.model import Topology, TopologyNode

from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def dumbbell(
    *,
    hosts: int = 1,
    bottleneck_capacity_bps: int | None = None,
    bottleneck_delay_ps: int | None = None,
    bottleneck_loss: float | None = None,
    access_capacity_bps: int | None = None,
    access_delay_ps: int | None = None,
    access_loss: float | None = None,
) -> Topology:
    """`hosts` hosts on each side of one bottleneck link between two routers.

    Nodes: `left1`, ..., `router-left`, `router-right`, `right1`, ...; links labelled "access" and
    "bottleneck". 2 hosts + 2 nodes, 2 hosts + 1 links.
    """
    check_count("hosts", hosts)
    check_size(2 * hosts + 2, 2 * hosts + 1)
    bottleneck = LinkQuantities(bottleneck_capacity_bps, bottleneck_delay_ps, bottleneck_loss, "bottleneck_")
    access = LinkQuantities(access_capacity_bps, access_delay_ps, access_loss, "access_")
    left, right = node_run("left", hosts, "host"), node_run("right", hosts, "host")
    links = [access.link(host.name, "router-left", "access") for host in left]
    links.append(bottleneck.link("router-left", "router-right", "bottleneck"))
    links += [access.link("router-right", host.name, "access") for host in right]
    nodes = [*left, TopologyNode("router-left"), TopologyNode("router-right"), *right]
    return generated(
        f"dumbbell(hosts={hosts})", nodes, links, f"Generated: a dumbbell with {hosts} hosts on each side."
    )
