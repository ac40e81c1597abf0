"""Lower bounds on the worst-case load of every routing, proved by matrices and not by a solver.

Let every link l have a weight, all of them one in total, and a traffic matrix T(l) within the bounds. The
worst-case maximum load of a routing is at least the weighted sum of its loads of l under T(l), and that is at
least what it is when each pair takes its cheapest path, where link l costs pair (i, j) its weight times
T_ij(l) / c(l). This is the dual of eqs. (9) to (14), with (11)'s dual values as prices; any prices give a
bound, the optimal ones the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from .highs import Entries
from .model import Candidates, DemandBounds, Floats, FlowNetwork, Ints

_NO_WEIGHT = 1e-12
_ROUNDS = 4
"""Of filling up a matrix: each leaves at least a node full or a pair at its bound, most leave all so."""


@dataclass(frozen=True)
class Prices:
    """The cost of each arc for each pair, shape (pairs, arcs), from matrices within the bounds."""

    source: Ints
    target: Ints
    price: sparse.csr_array

    def of_paths(self, candidates: Candidates) -> Floats:
        """The price of each candidate path of the same pairs."""
        arc_count = self.price.shape[1]
        chosen = candidates.incidence(arc_count).multiply(self.price[candidates.pair_of_path()])
        return np.asarray(chosen.sum(axis=1), np.float64).ravel()

    def bound(self, candidates: Candidates) -> float:
        """No routing over these paths has a lower worst-case load."""
        return float(np.minimum.reduceat(self.of_paths(candidates), candidates.path_start[:-1]).sum())


def prices(
    network: FlowNetwork, bounds: DemandBounds, source: Ints, target: Ints, weight: Floats,
    dual: sparse.sparray, *, fill: bool = False,
) -> Prices:  # fmt: skip
    """Prices from a solver's dual values, brought within the bounds where they miss them.

    Args:
        network: the network.
        bounds: the demand bounds.
        source: first node of each pair.
        target: last node of each pair.
        weight: dual value of (10) for each arc; need not be one in total.
        dual: dual values of (11), shape (pairs, arcs), in the same measure as the weights.
        fill: add traffic of other pairs to the matrices, as far as the bounds let it: better for paths that
            the solver did not know.
    """
    weight = np.maximum(weight, 0.0)
    total = weight.sum()
    by_arc = sparse.csc_array(dual)
    entries = Entries()
    for arc in np.flatnonzero(weight > _NO_WEIGHT * total) if total > 0 else ():
        of_arc = slice(by_arc.indptr[arc], by_arc.indptr[arc + 1])
        pairs = by_arc.indices[of_arc].astype(np.int64)
        traffic = np.maximum(by_arc.data[of_arc], 0.0) * network.capacity_mbps[arc] / weight[arc]
        if fill:
            every = np.zeros(len(source))
            every[pairs] = traffic
            pairs, traffic = np.arange(len(source)), every
        within = within_bounds(bounds, source[pairs], target[pairs], traffic, fill=fill)
        price = within * (weight[arc] / total) / network.capacity_mbps[arc]
        entries.add(pairs, np.full(len(pairs), arc), price)
    matrix = entries.matrix(len(source), network.arc_count)
    return Prices(source, target, sparse.csr_array(matrix))


def within_bounds(bounds: DemandBounds, source: Ints, target: Ints, traffic: Floats, *, fill: bool) -> Floats:
    """The traffic of pairs, cut down to the bounds, then filled up to them."""
    ceiling = bounds.ceiling_mbps(source, target)
    traffic = np.minimum(traffic, ceiling)
    nodes = len(bounds.ingress_mbps)
    for end, limit in ((source, bounds.ingress_mbps), (target, bounds.egress_mbps)):
        total = np.bincount(end, traffic, nodes)
        over = total > limit
        factor = np.ones(nodes)
        factor[over] = limit[over] / total[over]
        traffic = traffic * factor[end]
    for _ in range(_ROUNDS if fill else 0):
        room = ceiling - traffic
        for end, limit in ((source, bounds.ingress_mbps), (target, bounds.egress_mbps)):
            left = np.maximum(limit - np.bincount(end, traffic, nodes), 0.0)
            sharers = np.bincount(end, room > 0, nodes)
            room = np.minimum(room, (left / np.maximum(sharers, 1))[end])
        traffic = traffic + np.maximum(room, 0.0)
    return traffic


class AllPaths:
    """The cheapest of all paths of each pair, where every pair has prices of its own."""

    def __init__(self, network: FlowNetwork) -> None:
        usable = np.flatnonzero(network.capacity_mbps > 0)
        nodes = len(network.nodes)
        ends = network.tail[usable] * nodes + network.head[usable]
        # Of parallel arcs the graph has one edge, whose weight is that of the cheapest.
        self._arcs = usable[np.argsort(ends, kind="stable")]
        edges, self._first = np.unique(np.sort(ends), return_index=True)
        starts = np.searchsorted(edges // nodes, np.arange(nodes + 1))
        self._graph = sparse.csr_array((np.ones(len(edges)), edges % nodes, starts), shape=(nodes, nodes))
        self._edge_of = {int(edge): index for index, edge in enumerate(edges)}
        self._nodes = nodes
        self._arc_count = network.arc_count

    def cheapest(self, prices: Prices, step: float) -> tuple[Floats, list[list[int]]]:
        """Cost and arcs of the cheapest path of each pair; `step` is added for each arc, against ties.

        The costs are without `step`, and proved: no path of the pair costs less than the cost given.
        """
        cost = np.empty(len(prices.source))
        paths = []
        table = prices.price
        ends = zip(prices.source.tolist(), prices.target.tolist(), strict=True)
        for pair, (source, target) in enumerate(ends):
            entries = slice(table.indptr[pair], table.indptr[pair + 1])
            price = np.zeros(self._arc_count)
            price[table.indices[entries]] = table.data[entries]
            cost[pair], path = self._cheapest(price, step, source, target)
            paths.append(path)
        return cost, paths

    def _cheapest(self, price: Floats, step: float, source: int, target: int) -> tuple[float, list[int]]:
        of_arcs = price[self._arcs]
        self._graph.data = np.minimum.reduceat(of_arcs, self._first) + step
        distance, before = dijkstra(self._graph, indices=source, return_predecessors=True)
        path: list[int] = []
        at = target
        while at != source:
            tail = int(before[at])
            edge = self._edge_of[tail * self._nodes + at]
            last = self._first[edge + 1] if edge + 1 < len(self._first) else len(self._arcs)
            choice = int(of_arcs[self._first[edge] : last].argmin())
            path.append(int(self._arcs[self._first[edge] + choice]))
            at = tail
        path.reverse()
        # A cheapest path with steps has the cost of one without, up to a step for each node.
        return float(max(distance[target] - step * (self._nodes - 1), 0.0)), path
