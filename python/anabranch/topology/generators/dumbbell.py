"""A dumbbell: hosts on either side of one bottleneck."""

from itertools import pairwise

from anabranch.topology.model import Topology, TopologyNode

from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def dumbbell(
    bottleneck: LinkQuantities,
    access: LinkQuantities,
    *,
    hosts: int = 1,
    left_hosts: int | None = None,
    right_hosts: int | None = None,
    middle: int = 0,
) -> Topology:
    """Hosts on each side of one bottleneck between two routers: `hosts`, or `left_hosts` and `right_hosts`.

    With `middle` more routers between the two the bottleneck is a row of equal links. Nodes: `left1`, ...,
    `router-left`, `router-middle1`, ..., `router-right`, `right1`, ...; links labelled "access" and
    "bottleneck". For l and r hosts and m routers in the middle: l + r + m + 2 nodes, l + r + m + 1 links.
    """
    check_count("hosts", hosts)
    on_left = hosts if left_hosts is None else left_hosts
    on_right = hosts if right_hosts is None else right_hosts
    check_count("left_hosts", on_left)
    check_count("right_hosts", on_right)
    check_count("middle", middle, low=0)
    check_size(on_left + on_right + middle + 2, on_left + on_right + middle + 1)
    left, right = node_run("left", on_left, "host"), node_run("right", on_right, "host")
    between = node_run("router-middle", middle, "router")
    routers = [TopologyNode("router-left"), *between, TopologyNode("router-right")]
    links = [access.link(host.name, "router-left", "access") for host in left]
    links += [bottleneck.link(a.name, b.name, "bottleneck") for a, b in pairwise(routers)]
    links += [access.link("router-right", host.name, "access") for host in right]
    sides = f"{on_left} hosts on each side" if on_left == on_right else f"{on_left} and {on_right} hosts"
    row = f", and {middle} routers in the middle" if middle else ""
    name = f"hosts={on_left}" if on_left == on_right else f"left_hosts={on_left}, right_hosts={on_right}"
    return generated(
        f"dumbbell({name}{f', middle={middle}' if middle else ''})",
        [*left, *routers, *right],
        links,
        f"Generated: a dumbbell with {sides}{row}.",
    )
