"""Mine: a controller application of your own. docs/own.md of Anabranch explains the hooks and orders."""

from dataclasses import dataclass

import networkx as nx

from anabranch.own import ControllerApplication, PacketIn


@dataclass
class MineApplication(ControllerApplication):
    """An application of the controller: write down what it does, and after which paper."""

    paths_per_pair: int = 2
    """Paths that a flow's is drawn from. Fields are parameters."""

    def start(self) -> None:
        """The network is known: make here what the application keeps."""
        self.paths: dict[tuple[int, str], list[int]] = {}

    def on_packet(self, packet: PacketIn) -> None:
        """A packet without an entry: its flow gets entries, and it goes on."""
        direction = (packet.flow, packet.direction)
        if direction not in self.paths or not self.network.usable[self.paths[direction]].all():
            self.paths[direction] = self.drawn(packet.source, packet.destination)
            self.add_path(*direction, self.paths[direction])
        self.send(
            next(link for link in self.paths[direction] if self.network.link_from[link] == packet.switch)
        )

    def drawn(self, source: int, destination: int) -> list[int]:
        """One of the shortest paths, as links."""
        graph = nx.DiGraph(self.network.between(source, destination))
        shortest = nx.shortest_simple_paths(graph, source, destination)
        paths = [nodes for nodes, _ in zip(shortest, range(self.paths_per_pair), strict=False)]
        return self.network.links_of(self.random.choice(paths))
