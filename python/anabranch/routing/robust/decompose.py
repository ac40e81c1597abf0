"""Flows on links as fractions of paths: flow decomposition without circles."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .errors import RoutingError
from .model import Candidates, Floats, FlowNetwork, Ints, TrafficSplit

_DUST = 1e-9
"""Shares of a pair's traffic up to this are what a solver leaves, and no flow."""


def decompose(network: FlowNetwork, source: Ints, target: Ints, share: sparse.csr_array) -> TrafficSplit:
    """The routing by paths that puts on any link what these shares do, or less.

    A pair gets one path after the other, each with the largest flow that is left, until its traffic is
    routed. Circles stay behind, and so do the solver's errors: fractions are made one in total.

    Args:
        network: the network.
        source: first node of each pair.
        target: last node of each pair.
        share: share of the pair's traffic on each arc, shape (pairs, arcs), which conserves flow.

    Raises:
        RoutingError: no flow leads from a source to its target.
    """
    out = [np.flatnonzero(network.tail == node).tolist() for node in range(len(network.nodes))]
    head = network.head.tolist()
    fractions: dict[tuple[int, int], Floats] = {}
    paths: dict[tuple[int, int], list[list[int]]] = {}
    for pair, (first, last) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        flow = share[[pair], :].toarray()[0].tolist()
        paths_of_pair, amounts = list[list[int]](), list[float]()
        left = 1.0
        while left > _DUST:
            path, width = _widest(out, head, flow, first, last)
            if not path or width <= _DUST:
                break
            for arc in path:
                flow[arc] -= width
            paths_of_pair.append(path)
            amounts.append(width)
            left -= width
        if not paths_of_pair:
            raise RoutingError(
                network.pair_name(first, last), "no flow leads from the one to the other", "conserve the flow"
            )
        paths[first, last] = paths_of_pair
        fractions[first, last] = np.array(amounts) / sum(amounts)
    candidates = Candidates.from_paths(network, paths)
    return candidates.routing(network.arc_count, np.concatenate([fractions[pair] for pair in sorted(paths)]))


def _widest(
    out: list[list[int]], head: list[int], flow: list[float], first: int, last: int
) -> tuple[list[int], float]:
    """The path whose least flow is greatest, and that flow; an empty path if there is none."""
    width = [0.0] * len(out)
    width[first] = float("inf")
    arrived = [-1] * len(out)
    came = [-1] * len(out)
    open_nodes = set(range(len(out)))
    while open_nodes:
        node = max(sorted(open_nodes), key=width.__getitem__)
        if node == last or width[node] <= 0.0:
            break
        open_nodes.remove(node)
        for arc in out[node]:
            reached = min(width[node], flow[arc])
            if head[arc] in open_nodes and reached > width[head[arc]]:
                width[head[arc]], arrived[head[arc]], came[head[arc]] = reached, arc, node
    path = list[int]()
    node = last
    while node != first:
        if arrived[node] < 0:
            return [], 0.0
        path.append(arrived[node])
        node = came[node]
    path.reverse()
    return path, width[last]
