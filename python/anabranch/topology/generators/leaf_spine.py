"""A leaf-spine fabric."""

from anabranch.topology.model import Topology

from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def leaf_spine(
    fabric: LinkQuantities,
    host: LinkQuantities,
    *,
    spines: int = 4,
    leaves: int = 8,
    hosts_per_leaf: int = 4,
) -> Topology:
    """Every leaf switch linked to every spine switch, and hosts at the leaves.

    Nodes: `spine1`, ..., `leaf1`, ..., and `host<leaf>.<n>`; links labelled "fabric" and "host". For s
    spines, l leaves and h hosts a leaf: s + l + l h nodes, s l + l h links.
    """
    check_count("spines", spines)
    check_count("leaves", leaves)
    check_count("hosts_per_leaf", hosts_per_leaf, low=0)
    check_size(spines + leaves + leaves * hosts_per_leaf, spines * leaves + leaves * hosts_per_leaf)
    nodes = [*node_run("spine", spines, "switch"), *node_run("leaf", leaves, "switch")]
    links = [
        fabric.link(f"leaf{i}", f"spine{j}", "fabric")
        for i in range(1, leaves + 1)
        for j in range(1, spines + 1)
    ]
    for leaf in range(1, leaves + 1):
        for node in node_run(f"host{leaf}.", hosts_per_leaf, "host"):
            nodes.append(node)
            links.append(host.link(node.name, f"leaf{leaf}", "host"))
    return generated(
        f"leaf-spine(spines={spines}, leaves={leaves}, hosts_per_leaf={hosts_per_leaf})",
        nodes,
        links,
        f"Generated: a leaf-spine fabric of {spines} spines and {leaves} leaves with {hosts_per_leaf} hosts "
        "each.",
    )
