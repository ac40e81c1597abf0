"""A dragonfly: groups of routers, each linked to every other group."""

from collections.abc import Iterator
from itertools import combinations

from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology, TopologyLink, TopologyNode

from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def dragonfly(
    local: LinkQuantities,
    wide: LinkQuantities,
    host: LinkQuantities,
    *,
    routers_per_group: int = 4,
    hosts_per_router: int = 2,
    global_links: int = 2,
    groups: int | None = None,
) -> Topology:
    """Groups of switches, all linked within a group, and at least one link between any two groups.

    Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, section 3: a
    switches in a group, each with p hosts and h `global_links`, and g groups, at most and by default a h + 1.
    With fewer groups every two have a h / (g - 1) links, rounded down; ports that are left stay free. The
    paper recommends a = 2 p = 2 h. The j-th global port of a group, which its switches share out in order,
    leads to the j-th of the other groups in turn. At most 3 links lie between two switches. Nodes:
    `router<group>.<n>`, `host<group>.<router>.<n>`; links labelled "local", "global" and "host".
    g a (1 + p) nodes, g a (a - 1) / 2 + g (g - 1) / 2 floor(a h / (g - 1)) + g a p links.
    """
    check_count("routers_per_group", routers_per_group)
    check_count("hosts_per_router", hosts_per_router, low=0)
    check_count("global_links", global_links)
    ports = routers_per_group * global_links
    count = ports + 1 if groups is None else groups
    check_count("groups", count, low=2)
    if count > ports + 1:
        raise TopologyError(
            "groups",
            f"{count} groups need {count - 1} global links each, and a group has {ports}",
            f"at most {ports + 1} groups have a link to every other one",
        )
    rounds = ports // (count - 1)
    routers = count * routers_per_group
    local_count = count * (routers_per_group * (routers_per_group - 1) // 2)
    check_size(
        routers * (1 + hosts_per_router),
        local_count + count * (count - 1) // 2 * rounds + routers * hosts_per_router,
    )
    nodes: list[TopologyNode] = []
    links: list[TopologyLink] = []
    for group in range(1, count + 1):
        group_routers = node_run(f"router{group}.", routers_per_group, "switch")
        nodes += group_routers
        links += [local.link(a.name, b.name, "local") for a, b in combinations(group_routers, 2)]
        for number, router in enumerate(group_routers, start=1):
            hosts = node_run(f"host{group}.{number}.", hosts_per_router, "host")
            nodes += hosts
            links += [host.link(node.name, router.name, "host") for node in hosts]
    for a, b in _global_ends(count, rounds, global_links):
        links.append(wide.link(a, b, "global"))
    return generated(
        f"dragonfly(routers_per_group={routers_per_group}, hosts_per_router={hosts_per_router}, "
        f"global_links={global_links}, groups={count})",
        nodes,
        links,
        f"Generated: a dragonfly of {count} groups of {routers_per_group} switches with {hosts_per_router} "
        "hosts each.",
    )


def _global_ends(groups: int, rounds: int, global_links: int) -> Iterator[tuple[str, str]]:
    """The two switches of each link between groups."""

    def router(group: int, turn: int, other: int) -> str:
        port = turn * (groups - 1) + (other if other < group else other - 1)
        return f"router{group + 1}.{port // global_links + 1}"

    for turn in range(rounds):
        for a, b in combinations(range(groups), 2):
            yield router(a, turn, b), router(b, turn, a)
