"""Trees that hang on a network: their links have no choice, and their nodes count as one if they are alike.

All traffic between a node of a tree and the rest crosses the node that the tree hangs on, so that over all
paths only the links between such nodes are left to decide. Where all nodes of a tree have equal bounds, to
and from every node elsewhere as well, they share their fractions (see `alike`), and the tree counts as one
node with what its members may send and receive together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .model import Candidates, DemandBounds, FlowNetwork, Ints, TrafficSplit


@dataclass(frozen=True)
class Trees:
    """The network without its trees, and the way back."""

    bounds: DemandBounds
    """Of all nodes: a tree's are at the node that it hangs on, its others have nothing."""
    root: Ints
    """The node that each node's tree hangs on; itself for a node of no tree. Shape (nodes,)."""
    arcs: Ints
    """The arcs of trees."""
    _up: list[list[int]]
    """Arcs from each node to its root."""
    _down: list[list[int]]
    """Arcs from the root to each node."""

    @classmethod
    def find(cls, network: FlowNetwork, bounds: DemandBounds) -> Trees | None:
        """The trees of a network, or None where there are none or some tree has nodes of unequal bounds."""
        leaves = _leaves(network)
        if not leaves:
            return None
        nodes = len(network.nodes)
        root = np.arange(nodes)
        up, down = [list[int]() for _ in range(nodes)], [list[int]() for _ in range(nodes)]
        # Inner nodes come behind their leaves, hence before them from the end.
        for leaf, out, back in reversed(leaves):
            parent = int(network.head[out])
            root[leaf] = root[parent]
            up[leaf], down[leaf] = [out, *up[parent]], [*down[parent], back]
        gathered = _gathered(bounds, root)
        arcs = np.array([arc for _, *both in leaves for arc in both])
        return None if gathered is None else cls(gathered, root, arcs, up, down)

    def whole(self, network: FlowNetwork, bounds: DemandBounds, core: TrafficSplit) -> TrafficSplit:
        """The routing of all pairs from that of the pairs of roots."""
        core_paths, fraction = core.by_paths
        number = {pair: k for k, pair in enumerate(core_paths.pairs())}
        source, target = bounds.pairs()
        pairs = list(zip(source.tolist(), target.tolist(), strict=True))
        paths, fractions = list[list[list[int]]](), list[float]()
        for s, t in pairs:
            ends = (int(self.root[s]), int(self.root[t]))
            if ends[0] == ends[1]:
                paths.append([self._inside(network, s, t)])
                fractions.append(1.0)
            else:
                first, end = core_paths.path_start[number[ends] :][:2].tolist()
                between = (core_paths.path(path) for path in range(first, end))
                paths.append([[*self._up[s], *path, *self._down[t]] for path in between])
                fractions += fraction[first:end].tolist()
        return Candidates.of_parts(pairs, paths).routing(network.arc_count, fractions)

    def _inside(self, network: FlowNetwork, source: int, target: int) -> list[int]:
        """The path between two nodes of one tree: up to where their ways to the root meet, and down."""
        up, down = self._up[source], self._down[target]
        on_the_way = {source: 0} | {int(network.head[arc]): k + 1 for k, arc in enumerate(up)}
        for k in range(len(down), -1, -1):
            node = target if k == len(down) else int(network.tail[down[k]])
            if node in on_the_way:
                return [*up[: on_the_way[node]], *down[k:]]
        return [*up, *down]


def _leaves(network: FlowNetwork) -> list[tuple[int, int, int]]:
    """Nodes with one arc out and one in, to and from one neighbour, leaf by leaf: node, arc out, arc in."""
    usable = np.flatnonzero(network.capacity_mbps > 0).tolist()
    out: list[set[int]] = [set() for _ in network.nodes]
    back: list[set[int]] = [set() for _ in network.nodes]
    for arc in usable:
        out[network.tail[arc]].add(arc)
        back[network.head[arc]].add(arc)
    leaves = []
    waiting = list(range(len(network.nodes)))
    for node in waiting:
        if len(out[node]) != 1 or len(back[node]) != 1:
            continue
        (away,), (home,) = out[node], back[node]
        parent = int(network.head[away])
        if parent != network.tail[home]:
            continue
        leaves.append((node, away, home))
        out[node].clear()
        back[node].clear()
        out[parent].discard(home)
        back[parent].discard(away)
        waiting.append(parent)
    return leaves


def _gathered(bounds: DemandBounds, root: Ints) -> DemandBounds | None:
    """Bounds of trees at their roots; None if the nodes of one may exchange unlike amounts with others."""
    count = np.bincount(root, minlength=len(root)).astype(np.float64)
    inside = root[:, None] == root[None, :]
    for limit in (bounds.ingress_mbps, bounds.egress_mbps):
        if not np.array_equal(limit, limit[root]):
            return None
    pair = bounds.pair_mbps
    if not (inside | (pair == pair[np.ix_(root, root)])).all():
        return None
    between = (pair > 0) & (np.outer(count, count) > 0)
    np.fill_diagonal(between, False)
    return bounds.of_groups(count) if between.any() else None
