"""The network that algorithms of the user's own see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False)
class NetworkArrays:
    """Nodes and directed links; a node and a link is its place in these arrays."""

    nodes: Sequence[str]
    """Names."""
    link_from: NDArray[np.int64]
    link_to: NDArray[np.int64]
    capacity_bps: NDArray[np.float64]
    delay_s: NDArray[np.float64]
    loss: NDArray[np.float64]
    """Share of packets that each link loses at random."""

    @cached_property
    def graph(self) -> nx.MultiDiGraph:
        """The network as a graph of networkx; edges have ``link`` and the values of the arrays."""
        return self._graph(range(len(self.link_from)))

    def _graph(self, links: Sequence[int]) -> nx.MultiDiGraph:
        import networkx  # noqa: PLC0415 - slower than a small run

        graph = networkx.MultiDiGraph()
        graph.add_nodes_from(range(len(self.nodes)))
        names = ("capacity_bps", "delay_s", "loss")
        values = [getattr(self, name) for name in names]
        for link in links:
            attributes = {name: float(column[link]) for name, column in zip(names, values, strict=True)}
            ends = int(self.link_from[link]), int(self.link_to[link])
            graph.add_edge(*ends, link, link=link, **attributes)
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


@dataclass(frozen=True, eq=False)
class ControlledNetwork(NetworkArrays):
    """The network of a controller. ``graph`` has the links that may carry data, and no others."""

    switches: frozenset[int]
    """The switches that the controller governs."""
    usable: NDArray[np.bool_]
    """Whether a link may carry data: neither it nor one of its ends is down, and it is no control link."""

    @cached_property
    def graph(self) -> nx.MultiDiGraph:
        """The links that may carry data as a graph of networkx, each with its place and its values."""
        return self._graph(np.flatnonzero(self.usable).tolist())

    def between(self, source: int, destination: int) -> nx.MultiDiGraph:
        """The part of ``graph`` in which packets can go from one node to another.

        Only switches forward, and a host sends all it has over its first link to a switch.
        """
        graph = self.graph.subgraph(self.switches | {source, destination})
        if source in self.switches:
            return graph
        out = self.link_from == source
        gateways = [link for link in np.flatnonzero(out).tolist() if int(self.link_to[link]) in self.switches]
        import networkx  # noqa: PLC0415 - slower than a small run

        def leads_on(origin: int, _: int, link: int) -> bool:
            return origin != source or link == gateways[0]

        return networkx.subgraph_view(graph, filter_edge=leads_on)
