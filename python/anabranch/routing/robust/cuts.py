"""A lower bound on the worst-case load of every routing over any paths, from cuts of the network.

All traffic from a set of nodes to the others crosses the arcs that lead out of the set. So the most such
traffic that the bounds allow, divided by the capacity of those arcs, is a load that one of them reaches
whatever the routing. Finding the best cut is hard in itself; looked at are the sets that grow around each
node, nearest first, and what the best of these become when single nodes change sides.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from .model import DemandBounds, Floats, FlowNetwork, Ints
from .worst_case import Oracle

_CLIMBS = 3
"""How many of the best sets are improved."""


def cut_bound(network: FlowNetwork, bounds: DemandBounds) -> float:
    """The highest load that some cut proves; 0 where no cut is found that traffic must cross."""
    cuts = _Cuts(network, bounds)
    loads = dict[bytes, float]()
    # A set grows from a node with traffic, and counts once it has one more of these.
    busy = np.zeros(len(network.nodes), bool)
    busy[np.concatenate(bounds.pairs())] = True
    for node in np.flatnonzero(busy).tolist():
        inside = np.zeros(len(network.nodes), bool)
        for next_node in cuts.order_from(node)[:-1].tolist():
            inside[next_node] = True
            if not busy[next_node]:
                continue
            for side in (inside, ~inside):
                if side.tobytes() not in loads:
                    loads[side.tobytes()] = cuts.load(side)
    best = sorted(loads, key=lambda key: (-loads[key], key))[:_CLIMBS]
    return max((cuts.climb(np.frombuffer(key, bool).copy(), loads[key]) for key in best), default=0.0)


class _Cuts:
    """Loads of cuts under the same bounds."""

    def __init__(self, network: FlowNetwork, bounds: DemandBounds) -> None:
        self._network = network
        self._source, self._target = bounds.pairs()
        self._oracle = Oracle(bounds, self._source, self._target)
        nodes = len(network.nodes)
        ends = (network.tail, network.head)
        self._graph = sparse.csr_array((np.ones(network.arc_count), ends), shape=(nodes, nodes))

    def order_from(self, node: int) -> Ints:
        """The nodes that can be reached from a node, nearest first."""
        order, _ = breadth_first_order(self._graph, node, return_predecessors=True)
        return np.asarray(order, np.int64)

    def load(self, inside: np.typing.NDArray[np.bool_]) -> float:
        """Most traffic from inside to outside over the capacity of the arcs that lead there."""
        out = inside[self._network.tail] & ~inside[self._network.head]
        capacity = float(self._network.capacity_mbps[out].sum())
        pairs = np.flatnonzero(inside[self._source] & ~inside[self._target])
        if not len(pairs) or capacity == 0:
            return 0.0
        weight: Floats = np.ones(len(pairs))
        return float(self._oracle.worst_traffic(pairs, weight)[0].sum()) / capacity

    def climb(self, inside: np.typing.NDArray[np.bool_], load: float) -> float:
        """The load after moving single nodes to the other side while that helps."""
        while True:
            border = np.flatnonzero(inside[self._network.tail] != inside[self._network.head])
            trials = list[tuple[float, int]]()
            for node in np.unique(self._network.tail[border]).tolist():
                inside[node] = not inside[node]
                trials.append((self.load(inside), -node))
                inside[node] = not inside[node]
            if not trials or max(trials)[0] <= load:
                return load
            load, negative = max(trials)
            inside[-negative] = not inside[-negative]
