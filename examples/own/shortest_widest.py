"""Shortest-widest paths (Wang and Crowcroft 1996): of all widest paths of a pair the one of least delay."""

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx

from anabranch.own import RoutingNetwork, RoutingScheme, WeightedLinks


@dataclass
class ShortestWidest(RoutingScheme):
    paths_per_pair: int = 1
    """So many of the least delay, among the widest."""

    def __post_init__(self) -> None:
        if self.paths_per_pair < 1:
            raise ValueError("paths_per_pair must be at least 1")

    def paths(self, network: RoutingNetwork, source: int, target: int) -> Sequence[WeightedLinks]:
        width = self.widest_bps(network, source, target)
        wide = nx.DiGraph()
        for origin, to, edge in network.graph.edges(data=True):
            if edge["capacity_bps"] >= width:
                present = wide.get_edge_data(origin, to, {"delay_s": float("inf")})
                wide.add_edge(origin, to, delay_s=min(edge["delay_s"], present["delay_s"]))
        by_delay = nx.shortest_simple_paths(wide, source, target, weight="delay_s")
        chosen = [nodes for nodes, _ in zip(by_delay, range(self.paths_per_pair), strict=False)]
        return [(network.links_of(nodes), 1.0) for nodes in chosen]

    def widest_bps(self, network: RoutingNetwork, source: int, target: int) -> float:
        """The capacity of a widest path: by bisection, as paths of less width are more."""
        widths = sorted(set(network.capacity_bps.tolist()))
        low, high = 0, len(widths) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.reaches(network, source, target, widths[middle]):
                low = middle
            else:
                high = middle - 1
        return float(widths[low])

    def reaches(self, network: RoutingNetwork, source: int, target: int, width_bps: float) -> bool:
        wide = [
            (origin, to) for origin, to, bps in network.graph.edges(data="capacity_bps") if bps >= width_bps
        ]
        graph = nx.DiGraph(wide)
        return source in graph and target in graph and nx.has_path(graph, source, target)
