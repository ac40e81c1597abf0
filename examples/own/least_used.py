"""A controller that gives each new flow the path with most room, by what switches count."""

from itertools import islice

import networkx as nx

from anabranch.own import ControllerApplication, PacketIn, SwitchStatistics


class LeastUsed(ControllerApplication):
    """Of the shortest paths a new flow takes the one whose fullest link has most capacity left.

    The scenario asks for counters: ``[controller] statistics_interval``.
    """

    def start(self) -> None:
        """No flow is known, and no link has sent anything."""
        self.paths: dict[tuple[int, str], list[int]] = {}
        self.used_bps = [0.0] * len(self.network.link_from)
        self.before: dict[int, tuple[float, int]] = {}

    def on_statistics(self, statistics: SwitchStatistics) -> None:
        """What each link has sent since the last question."""
        for counters in statistics.links:
            then_s, sent = self.before.get(counters.link, (0.0, 0))
            if statistics.read_s > then_s:
                bits = 8 * (counters.sent_bytes - sent)
                self.used_bps[counters.link] = bits / (statistics.read_s - then_s)
            self.before[counters.link] = (statistics.read_s, counters.sent_bytes)

    def on_packet(self, packet: PacketIn) -> None:
        """A flow gets a path with its first packet of each direction; the packet follows it."""
        direction = (packet.flow, packet.direction)
        if direction not in self.paths or not self.network.usable[self.paths[direction]].all():
            self.paths[direction] = self.best(packet.source, packet.destination)
            self.add_path(*direction, self.paths[direction])
        link = next(link for link in self.paths[direction] if self.network.link_from[link] == packet.switch)
        self.send(link)

    def on_network_change(self, now_s: float) -> None:
        """Flows whose path is down have another one."""
        for direction, links in self.paths.items():
            if not self.network.usable[links].all():
                ends = int(self.network.link_from[links[0]]), int(self.network.link_to[links[-1]])
                self.paths[direction] = self.best(*ends)
                self.add_path(*direction, self.paths[direction])

    def best(self, source: int, destination: int) -> list[int]:
        """The links of that path, among the first 16 shortest ones."""
        graph = nx.DiGraph(self.network.between(source, destination))
        paths = islice(nx.all_shortest_paths(graph, source, destination), 16)
        return max(map(self.network.links_of, paths), key=self.room_bps)

    def room_bps(self, links: list[int]) -> float:
        """What is left of the fullest link."""
        return min(float(self.network.capacity_bps[link]) - self.used_bps[link] for link in links)
