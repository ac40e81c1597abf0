"""The class that routing schemes in Python derive from, and the network that they see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx as nx

Pair = tuple[int, int]
"""Two nodes, by their places in ``nodes``: where packets come from, and where they go."""
WeightedLinks = tuple[Sequence[int], float]
"""A path as the places of its links, and its weight beside the other paths of its pair."""


@dataclass(frozen=True, eq=False)
class RoutingNetwork:
    """Nodes and directed links; a node and a link is its place in these arrays."""

    nodes: Sequence[str]
    """Names."""
    link_from: NDArray[np.int64]
    link_to: NDArray[np.int64]
    capacity_bps: NDArray[np.float64]
    delay_s: NDArray[np.float64]
    loss: NDArray[np.float64]
    """Share of packets that each link loses at random."""
    pairs: Sequence[Pair]
    """Every pair that sends data, acknowledgments or datagrams: each needs a path."""

    @cached_property
    def graph(self) -> nx.MultiDiGraph:
        """The same as a graph of networkx; edges have ``link`` and the values of the arrays."""
        import networkx  # noqa: PLC0415 - slower than a small run

        graph = networkx.MultiDiGraph()
        graph.add_nodes_from(range(len(self.nodes)))
        ends = zip(self.link_from.tolist(), self.link_to.tolist(), strict=True)
        values = (self.capacity_bps.tolist(), self.delay_s.tolist(), self.loss.tolist())
        for link, ((origin, to), *rest) in enumerate(zip(ends, *values, strict=True)):
            names = ("capacity_bps", "delay_s", "loss")
            graph.add_edge(origin, to, link, link=link, **dict(zip(names, rest, strict=True)))
        return graph

    def links_of(self, nodes: Sequence[int]) -> list[int]:
        """The links of a path that is given by its nodes; of parallel ones the first of most capacity.

        Raises:
            ValueError: if two nodes that follow each other have no link.
        """
        return [self._link(origin, to) for origin, to in pairwise(nodes)]

    def _link(self, origin: int, to: int) -> int:
        between = np.flatnonzero((self.link_from == origin) & (self.link_to == to))
        if not between.size:
            raise ValueError(f"there is no link from {self.nodes[origin]} to {self.nodes[to]}")
        return int(between[np.argmax(self.capacity_bps[between])])


class RoutingScheme:
    """A routing scheme: which paths each pair has, and how much of its traffic each of them takes.

    A class defines ``paths``, which is asked for each pair, or ``routes``, which answers for all at once.
    Parameters are the fields of a dataclass.
    """

    def paths(self, network: RoutingNetwork, source: int, target: int) -> Sequence[WeightedLinks]:
        """The paths of a pair, each with its weight; weights are brought to a sum of one."""
        raise NotImplementedError

    def routes(self, network: RoutingNetwork) -> Mapping[Pair, Sequence[WeightedLinks]]:
        """The paths of every pair."""
        return {pair: self.paths(network, *pair) for pair in network.pairs}
