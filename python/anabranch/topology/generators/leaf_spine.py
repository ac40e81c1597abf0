"""A leaf-spine fabric."""

from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology, TopologyLink, TopologyNode

from .fabric import oversubscribed, plane_name, plane_words, planes_of
from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def leaf_spine(
    fabric: LinkQuantities,
    host: LinkQuantities,
    *,
    spines: int = 4,
    leaves: int = 8,
    hosts_per_leaf: int = 4,
    oversubscription: float | None = None,
    planes: int = 1,
) -> Topology:
    """Every leaf switch linked to every spine switch, and hosts at the leaves.

    Nodes: `spine1`, ..., `leaf1`, ..., and `host<leaf>.<n>`; links labelled "fabric" and "host". With
    `oversubscription` r, the links of a leaf to the spines have together 1/r of the capacity of those to its
    hosts. With P `planes` there are P such fabrics, whose switches have `plane<p>-` before their names, and
    each host has a link to its leaf in every one. For s spines, l leaves and h hosts a leaf: P (s + l) + l h
    nodes, P (s l + l h) links.
    """
    check_count("spines", spines)
    check_count("leaves", leaves)
    check_count("hosts_per_leaf", hosts_per_leaf, low=0)
    prefixes = planes_of(planes)
    check_size(
        planes * (spines + leaves) + leaves * hosts_per_leaf,
        planes * (spines * leaves + leaves * hosts_per_leaf),
    )
    if oversubscription is not None and not hosts_per_leaf:
        raise TopologyError("oversubscription", "leaves without hosts have none", "leave it out")
    fabric = oversubscribed(fabric, host, oversubscription, hosts_per_leaf, spines)
    nodes: list[TopologyNode] = []
    links: list[TopologyLink] = []
    hosts = [node_run(f"host{leaf}.", hosts_per_leaf, "host") for leaf in range(1, leaves + 1)]
    for prefix in prefixes:
        spine_nodes = node_run(f"{prefix}spine", spines, "switch")
        leaf_nodes = node_run(f"{prefix}leaf", leaves, "switch")
        nodes += spine_nodes + leaf_nodes
        links += [
            fabric.link(leaf.name, spine.name, "fabric") for leaf in leaf_nodes for spine in spine_nodes
        ]
        for leaf, leaf_hosts in zip(leaf_nodes, hosts, strict=True):
            links += [host.link(node.name, leaf.name, "host") for node in leaf_hosts]
    nodes += [node for leaf_hosts in hosts for node in leaf_hosts]
    return generated(
        f"leaf-spine(spines={spines}, leaves={leaves}, hosts_per_leaf={hosts_per_leaf}{plane_name(planes)})",
        nodes,
        links,
        f"Generated: a leaf-spine fabric of {spines} spines and {leaves} leaves with {hosts_per_leaf} hosts "
        f"each{plane_words(planes)}.",
    )
