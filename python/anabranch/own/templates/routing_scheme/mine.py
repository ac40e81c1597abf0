"""Mine: a routing scheme of your own. docs/own.md of Anabranch explains the network that it sees."""

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx

from anabranch.own import RoutingNetwork, RoutingScheme, WeightedLinks


@dataclass
class MineScheme(RoutingScheme):
    """A routing scheme: write down what it does, and after which paper."""

    paths_per_pair: int = 2
    """Paths of each pair, the ones of least delay. Fields are parameters: a scenario may set them."""

    def paths(self, network: RoutingNetwork, source: int, target: int) -> Sequence[WeightedLinks]:
        """The paths of a pair, each as links and a weight: here the capacity of its narrowest link."""
        graph = nx.DiGraph(network.graph)
        paths = []
        for nodes in nx.shortest_simple_paths(graph, source, target, weight="delay_s"):
            links = network.links_of(nodes)
            paths.append((links, float(network.capacity_bps[links].min())))
            if len(paths) == self.paths_per_pair:
                break
        return paths
