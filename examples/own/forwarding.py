"""The built-in application ``forwarding`` in Python: entries for each flow along its shortest path."""

import networkx as nx

from anabranch.own import ControllerApplication, FlowEntry, PacketIn

LINGER_S = 1.0


class Forwarding(ControllerApplication):
    """Both directions of a new flow get entries; its SYN and FIN come here (Gholizadeh 2019, figure 3.6)."""

    def start(self) -> None:
        """No flow is known; of those that are, the link by which each direction leaves a switch."""
        self.links: dict[int, dict[int, dict[str, int]]] = {}
        self.closing: dict[int, float] = {}

    def on_packet(self, packet: PacketIn) -> None:
        """The first packet of a flow, its SYN or its FIN."""
        if packet.flow not in self.links:
            self.admit(packet)
        self.send(self.links[packet.flow][packet.switch][packet.direction])
        if packet.fin and packet.direction == "forward" and packet.from_host:
            self.closing.setdefault(packet.flow, packet.now_s + LINGER_S)
            self.timer_s = min(self.closing.values())

    def admit(self, packet: PacketIn) -> None:
        """Entries in every switch of both paths, the first switch first."""
        links: dict[int, dict[str, int]] = {}
        ends = (packet.source, packet.destination)
        ends = ends if packet.direction == "forward" else ends[::-1]
        for direction, (source, destination) in (("forward", ends), ("backward", ends[::-1])):
            for link in self.shortest(source, destination):
                links.setdefault(int(self.network.link_from[link]), {})[direction] = link
        self.links[packet.flow] = {at: out for at, out in links.items() if at in self.network.switches}
        ends_here = [FlowEntry(packet.flow, "forward", syn_or_fin=True, from_host=True, priority=2)]
        for switch, out in self.links[packet.flow].items():
            entries = [FlowEntry(packet.flow, direction, link) for direction, link in out.items()]
            self.add_entries(switch, entries + ends_here)
            ends_here = []

    def shortest(self, source: int, destination: int) -> list[int]:
        """The links of the path of least delay."""
        graph = self.network.between(source, destination)
        return self.network.links_of(nx.shortest_path(graph, source, destination, weight="delay_s"))

    def on_timer(self, now_s: float) -> None:
        """Entries of flows that have ended go."""
        for flow in [flow for flow, at_s in self.closing.items() if at_s <= now_s]:
            del self.closing[flow]
            for switch in self.links[flow]:
                self.remove_entries(switch, flow)
        self.timer_s = min(self.closing.values(), default=None)
