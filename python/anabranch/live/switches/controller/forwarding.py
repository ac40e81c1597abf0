"""The application ``forwarding``: entries along the best path for each new flow.

Links between switches are those that LLDP finds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.live.switches.controller.frames import LLDP, FiveTuple, ether_type, lldp, read_lldp
from anabranch.live.switches.controller.known import KnownNetwork, Path
from anabranch.live.switches.controller.switchboard import Switchboard
from anabranch.live.switches.controller.tell import tell
from anabranch.live.switches.layout import Port
from anabranch.switch_rules import Entry, SwitchHop

_UNTIL_FOUND_S = 0.1
"""Between two rounds of LLDP while links are missing."""
_ROUND_S = 5.0
"""Between two rounds afterwards."""
_DRAIN_S = 1.0
"""From a move to the removal of the old path's entries: packets are still on it."""
_MOST_HELD = 64
"""Packets of a flow that wait for its entries."""
_FLOW, _CONTROL = 100, 200
"""Priorities of entries."""


@dataclass(slots=True)
class KnownFlow:
    """A flow one way."""

    number: int
    ends: FiveTuple
    pair: tuple[int, int]
    path: Path = ()
    """Empty where it has none yet."""
    version: int = 0
    changing: bool = False
    moved_ns: int | None = None
    held: list[tuple[int, int, bytes]] = field(default_factory=list)
    """Switch, port and frame of packets that wait for entries."""

    @property
    def cookie(self) -> int:
        """Of the entries of its present path."""
        return self.number << 16 | self.version & 0xFFFF


class ForwardingController:
    """Flows on their best paths."""

    def __init__(self, board: Switchboard, configuration: Mapping[str, Any]) -> None:
        """With the setup of the run, ``[controller]`` and the addresses of hosts."""
        self.board = board
        self.configuration = configuration
        self.known = KnownNetwork(configuration["setup"])
        self._owner = {
            address: int(node) for node, own in configuration["addresses"].items() for address in own
        }
        self._ports = board.layout.by_number()
        self._openflow = board.layout.openflow_ports()
        self._datapath = {node: number for number, node in enumerate(board.layout.switches, 1)}
        switches = set(board.layout.switches)
        self.between: dict[int, tuple[Port, Port]] = {}
        """Links between switches, with the ports at their beginnings and ends."""
        starts = {port.link_out: port for port in board.layout.ports if port.link_out is not None}
        for port in board.layout.ports:
            if port.link_in in starts and self.known.links[port.link_in].origin in switches:
                self.between[port.link_in] = (starts[port.link_in], port)
        used = board.layout.used_links()
        self.known.set_down({n for n in range(len(self.known.links)) if n not in used}, down=True)
        self.known.set_down(self.between, down=True)
        self._found: set[int] = set()
        self._dark: set[tuple[int, int]] = set()
        self.flows: dict[FiveTuple, KnownFlow] = {}
        self._behind = False
        """Whether there was something to move for while a flow was changing."""
        self._choices = 0
        self._metrics = {
            (tuple(source), tuple(to)): metric
            for (source, to), metric in configuration.get("flow_metrics", ())
        }
        table = configuration["controller"]["table"]
        self._idle_s, self._hard_s = (_seconds(table[name]) for name in ("idle_timeout", "hard_timeout"))

    # What others may want in another way.

    def best(
        self, pairs: Sequence[tuple[int, int]], metric: str | None = None
    ) -> dict[tuple[int, int], Path]:
        """The best path of each pair that has one, by the metric of flows that have one of their own."""
        return self.known.paths(metric or self.configuration["controller"]["metric"], pairs)

    def metric_of(self, flow: KnownFlow) -> str | None:
        """The metric that a flow has of its own; None for most."""
        ends = (flow.ends.source, flow.ends.destination)
        return self._metrics.get(ends, self._metrics.get(ends[::-1]))

    def keeps(self, _flow: KnownFlow, _found: Path) -> bool:
        """Whether a flow stays on its path though another is better."""
        return False

    def own_path(self, _flow: KnownFlow) -> Path | None:
        """A path that a flow has whatever is best; None for most."""
        return None

    # What the switchboard calls.

    def on_switches(self) -> None:
        """Lets what is for the controller come up, and what no entry matches."""
        for switch in self.board.layout.switches:
            up = (("output", "controller"),)
            for kind in self.control_types():
                self.board.entry(Entry(switch, _CONTROL, {"eth_type": kind}, up))
            self.board.entry(Entry(switch, 0, {}, up))
        self.board.barrier(list(self.board.layout.switches), lambda: tell("ready"))

    def control_types(self) -> Sequence[int]:
        """Types of frames that are for the controller."""
        return (LLDP,)

    def on_begin(self) -> None:
        """Looks for the links, and goes on looking."""
        self._look()
        missing = (
            set(self.between)
            - self._found
            - {
                link
                for link, ends in self.between.items()
                if self._dark & {(end.switch, end.number) for end in ends}
            }
        )
        self.board.after(_UNTIL_FOUND_S if missing else _ROUND_S, self.on_begin)

    def on_packet(self, switch: int, port: int, frame: bytes, _at_ns: int) -> None:
        """A frame of a control protocol, or a packet of a flow without entries."""
        if ether_type(frame) == LLDP:
            self._on_lldp(switch, port, frame)
            return
        seen = FiveTuple.of(frame)
        if seen is None:
            return
        ends = [self._owner.get(address) for address in (seen.source[0], seen.destination[0])]
        if None in ends or ends[0] == ends[1]:
            return
        flow = self._flow(seen, (ends[0], ends[1]))  # type: ignore[arg-type]
        self._flow(seen.reversed(), (ends[1], ends[0]))  # type: ignore[arg-type]
        if len(flow.held) < _MOST_HELD:
            flow.held.append((switch, port, frame))
        if not flow.changing:
            self._place([flow, self.flows[seen.reversed()]], anew=True)

    def on_port(self, switch: int, port: int, *, up: bool) -> None:
        """A link has failed, or is back."""
        own = self._ports[switch, port]
        (self._dark.discard if up else self._dark.add)((switch, port))
        links = {link for link in (own.link_out, own.link_in) if link is not None}
        if up:
            # LLDP says whether the link is there.
            self._found -= links
            self._look()
            self.known.set_down(links - set(self.between), down=False)
        elif self.known.set_down(links, down=True):
            self._found -= links
            self.reroute(why="failure")

    def reroute(self, *, why: str) -> None:
        """Moves the flows for which there is another path now."""
        self._behind |= any(flow.changing for flow in self.flows.values())
        self._place([flow for flow in self.flows.values() if not flow.changing], anew=False, why=why)

    # Links.

    def _look(self) -> None:
        """Sends LLDP out of every port that leads to a switch."""
        for port, _ in self.between.values():
            if (port.switch, port.number) not in self._dark:
                self.board.send_packet(
                    port.switch, lldp(self._datapath[port.switch], port.number), port.number
                )

    def _on_lldp(self, switch: int, port: int, frame: bytes) -> None:
        said = read_lldp(frame)
        if said is None:
            return
        sender = {number: node for node, number in self._datapath.items()}.get(said[0])
        start = self._ports.get((sender, said[1])) if sender is not None else None
        end = self._ports[switch, port]
        if start is None or start.link_out is None or start.link_out != end.link_in:
            tell("trouble", text=f"LLDP leads from {said} to port {port} of {self.known.names[switch]}")
            return
        link = start.link_out
        if link not in self._found:
            self._found.add(link)
            self.known.set_down({link}, down=False)
            tell("link", link=link)
            if set(self.between) == self._found or self.flows:
                self.reroute(why="link")

    # Flows.

    def _flow(self, seen: FiveTuple, pair: tuple[int, int]) -> KnownFlow:
        flow = self.flows.get(seen)
        if flow is None:
            flow = self.flows[seen] = KnownFlow(len(self.flows) + 1, seen, pair)
        return flow

    def _place(self, flows: Sequence[KnownFlow], *, anew: bool, why: str = "packet") -> None:
        """Gives flows their paths; ``anew`` also makes the entries of those that have the right one."""
        pairs: dict[str | None, set[tuple[int, int]]] = {}
        for flow in flows:
            pairs.setdefault(self.metric_of(flow), set()).add(flow.pair)
        best = {metric: self.best(sorted(own), metric) for metric, own in pairs.items()}
        self._choices += 1
        for flow in flows:
            path = self.own_path(flow) or best[self.metric_of(flow)].get(flow.pair)
            if path is None:
                continue
            if flow.path == path:
                if anew:
                    self._lay(flow, path)
            elif not flow.path or not self._is_alive(flow.path) or not self.keeps(flow, path):
                moved = bool(flow.path)
                if moved:
                    flow.moved_ns = time.monotonic_ns()
                tell(
                    "route",
                    ends=[flow.ends.protocol, *flow.ends.source, *flow.ends.destination],
                    path=self.known.spelled(path),
                    moved=moved,
                    why=why,
                    choice=self._choices,
                )
                self._lay(flow, path)

    def _is_alive(self, path: Path) -> bool:
        return not self.known.down & set(path)

    def _lay(self, flow: KnownFlow, path: Path) -> None:
        """Makes the entries of a path from its end backwards, each when the one behind it is there."""
        old = (flow.cookie, [hop.switch for hop in self._hops(flow.path)]) if flow.path else None
        flow.path, flow.changing = path, True
        flow.version += 1
        hops = self._hops(path)
        cookie = flow.cookie

        def make(index: int) -> None:
            hop = hops[index]
            entry = Entry(hop.switch, _FLOW, flow.ends.match(), (("output", hop.leaves),))
            self.board.entry(entry, idle_s=self._idle_s, hard_s=self._hard_s, cookie=cookie)
            then = (lambda: make(index - 1)) if index else (lambda: self._laid(flow, old))
            self.board.barrier([hop.switch], then)

        make(len(hops) - 1)

    def _laid(self, flow: KnownFlow, old: tuple[int, list[int]] | None) -> None:
        flow.changing = False
        for switch, port, frame in flow.held:
            self.board.send_packet(switch, frame, None, port)
        flow.held.clear()
        if old is not None:
            cookie, switches = old
            # Those that the new path has, too, have its entry in place of the old one.
            self.board.after(_DRAIN_S, lambda: self._remove(cookie, switches))
        if not self._is_alive(flow.path):
            self.reroute(why="failure")
        elif self._behind and not any(other.changing for other in self.flows.values()):
            self._behind = False
            self.reroute(why="link")

    def _remove(self, cookie: int, switches: Sequence[int]) -> None:
        for switch in switches:
            self.board.remove(switch, cookie=cookie)

    def _hops(self, path: Path) -> list[SwitchHop]:
        return self._openflow.hops(self.known.links, path)


def _seconds(span_ps: int | None) -> int:
    """OpenFlow counts whole seconds, and 0 for never."""
    return 0 if span_ps is None else max(1, round(span_ps / 1e12))
