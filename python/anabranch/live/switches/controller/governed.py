"""Real switches under an application of the core: OpenFlow becomes what it hears of, and its orders OpenFlow.

The application is the one that a simulation runs (``crates/engine/src/control``). It has neither clock nor
switches: both are here.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import _exit as end_process
from typing import Any

from anabranch import _core
from anabranch.live.switches.controller.flow_entries import (
    FlowEntries,
    UnsupportedOrderError,
    make_first_table,
)
from anabranch.live.switches.controller.flow_numbers import Direction, FlowNumbers, FlowPacket
from anabranch.live.switches.controller.frames import LLDP, PROBE, ether_type, with_window
from anabranch.live.switches.controller.link_finder import LinkFinder
from anabranch.live.switches.controller.link_prober import LinkProber, SeenLink
from anabranch.live.switches.controller.switchboard import (
    FLOW_TABLE,
    GoneEntry,
    PacketUp,
    PortCounters,
    Switchboard,
)
from anabranch.live.switches.controller.tell import tell
from anabranch.own.failure import failed

_PS_PER_NS = 1000
_PS_PER_S = 10**12
_PATIENCE_S = 1.0
"""From the beginning until the application begins though links between switches have not been found."""
_MOST_HELD = 64
"""Packets of a flow that wait for its entries."""
_ROUND_SHARE, _PATIENCE_SHARE = 0.4, 0.08
"""Of the interval between two requests: over which probes of a request go out, and how long their last ones
may take. Applications wait for half an interval."""
_SPREAD_S = 0.1
"""Over which other probes go out."""


class GovernedSwitches:
    """Switches that do what an application orders."""

    def __init__(
        self, board: Switchboard, configuration: Mapping[str, Any], makers: Sequence[object] = ()
    ) -> None:
        """Of a run.

        Args:
            board: the switches.
            configuration: the setup with its controller, addresses of hosts and flows, and perhaps paths that
                the application keeps to.
            makers: what makes algorithms of the user's own.
        """
        data = configuration["setup"]
        table = data["controller"]["table"]
        for name in ("idle_timeout", "hard_timeout"):
            # The application is to think of the time-outs that entries have: OpenFlow counts whole seconds.
            table[name] = table[name] and math.ceil(table[name] / _PS_PER_S) * _PS_PER_S
        self._board, self._layout = board, board.layout
        self._setup = _core.Setup(json.dumps(data), makers)
        self._core: _core.Controller | None = None
        self._paths = {tuple(pair): paths for pair, paths in configuration.get("paths", ())} or None
        self._owners = {
            address: int(node)
            for node, addresses in configuration["addresses"].items()
            for address in addresses
        }
        ends = [(link["from"], link["to"]) for link in data["links"]]
        self._ports = self._layout.by_number()
        switches = set(self._layout.switches)
        self._from_hosts = {
            (port.switch, port.number)
            for port in self._layout.ports
            if port.is_local or (port.link_in is not None and ends[port.link_in][0] not in switches)
        }
        self._flows = FlowNumbers(configuration["endpoints"], self._owners)
        timeouts_s = [(table[name] or 0) // _PS_PER_S for name in ("idle_timeout", "hard_timeout")]
        self._entries = FlowEntries(board, self._layout, ends, self._flows, (timeouts_s[0], timeouts_s[1]))
        self._links = LinkFinder(board, self._layout, [origin for origin, _ in ends], self._on_links)
        delays_ns = {link: data["links"][link]["delay"] // _PS_PER_NS for link in self._links.between}
        self._prober = LinkProber(
            board, self._layout, self._links.between, delays_ns, self._on_probe, data["seed"]
        )
        self._interval_s = (data["controller"]["statistics_interval"] or 0) / _PS_PER_S
        self._down = self._links.down
        self._begin_ns, self._has_begun = 0, False
        self._rounds = 0
        self._timer: int | None = None
        self._early: list[PacketUp] = []
        """Packets that came up before the links were known."""
        self._held: dict[int, list[PacketUp]] = {}
        """By flow whose entries are being made: packets that miss them."""
        self._laying: dict[int, int] = defaultdict(int)
        self._scales: dict[tuple[int, Direction], int] = {}
        self._counted: list[tuple[float, int, float, float]] = []
        """For each probe: when it was reported, its link, and from when to when packets were counted."""

    # What the switchboard calls.

    def on_switches(self) -> None:
        """Makes the first table of each switch."""
        make_first_table(self._board, self._layout, self._from_hosts, self._owners)
        self._board.barrier(list(self._layout.switches), lambda: tell("ready"))

    def on_begin(self, begin_ns: int) -> None:
        """Looks for the links, and goes on looking."""
        self._begin_ns, self._has_begun = begin_ns, True
        self._prober.begin()
        self._board.after(_PATIENCE_S, self._start)
        if self._interval_s:
            self._board.after(self._interval_s, self._on_interval)
        self._links.look()
        self._start_with_links()

    def on_port(self, switch: int, port: int, *, up: bool) -> None:
        """A port has light, or none."""
        self._links.on_port(switch, port, up=up)
        self._start_with_links()

    def on_packet(self, up: PacketUp) -> None:
        """A frame of a control protocol, or a packet of a flow."""
        kind = ether_type(up.frame)
        if kind == LLDP:
            self._links.on_lldp(up.switch, up.port, up.frame)
            self._start_with_links()
        elif kind == PROBE:
            self._prober.on_frame(up.frame, up.at_ns)
        elif self._core is None:
            self._early.append(up)
        elif (seen := self._flows.seen(up.frame)) is not None:
            self._on_flow_packet(up, seen)

    def on_removed(self, gone: GoneEntry) -> None:
        """An entry has gone by itself."""
        reason = "idle" if gone.is_idle else "hard"
        for made in self._entries.on_removed(gone.cookie, is_idle=gone.is_idle):
            flow, direction = made.entry.flow, made.entry.direction
            self._ask("on_removed", made.switch, self._now(), flow, direction, reason)

    def tables(self) -> dict[str, Any]:
        """The application's tables at the end, and from when to when packets of links were counted."""
        tables = {} if self._core is None else self._core.tables()
        plain = {
            name: {
                column: list(getattr(values, "tolist", lambda v=values: v)())
                for column, values in table.items()
            }
            for name, table in tables.items()
        }
        return {"tables": plain, "counted": self._counted}

    # The application.

    def _now(self) -> int:
        """Picoseconds of the run."""
        return max(self._board.now_ns() - self._begin_ns, 0) * _PS_PER_NS

    def _start_with_links(self) -> None:
        if self._has_begun and self._links.is_complete:
            self._start()

    def _start(self) -> None:
        """The application begins, with the links that there are."""
        if self._core is not None:
            return
        self._core = self._guarded(
            lambda: _core.Controller(self._setup, sorted(self._links.down), self._paths)
        )
        self._set_timer()
        early, self._early = self._early, []
        for up in early:
            self.on_packet(up)

    def _guarded(self, call: Callable[[], Any]) -> Any:
        """Ends the controller where the application fails, with what is told then."""
        try:
            return call()
        except _core.OwnCodeError as error:
            tell("failed", own=True, text=str(failed(error)))
            end_process(1)
        except UnsupportedOrderError as error:
            tell("failed", own=False, text=str(error))
            end_process(1)

    def _ask(self, hook: str, *facts: object, packet: PacketUp | None = None) -> None:
        """Tells the application of something, and carries out its orders."""

        def call() -> None:
            orders = getattr(self._core, hook)(self._now(), *facts)
            try:
                self._carry_out(orders, packet, hook)
            except UnsupportedOrderError as error:
                now_s = self._now() / _PS_PER_S
                raise UnsupportedOrderError(f"{hook}, at {now_s:.6g} s of the run: {error}") from None

        if self._core is not None:
            self._guarded(call)
            self._set_timer()

    def _set_timer(self) -> None:
        due = None if self._core is None else self._core.next_timer()
        if due is not None and due != self._timer:
            pause_s = max(due - self._now(), 0) / _PS_PER_S
            self._board.after(pause_s, partial(self._on_timer, due))
        self._timer = due

    def _on_timer(self, due: int) -> None:
        if self._timer != due:
            return
        self._timer = None
        self._ask("on_timer")

    def _on_interval(self) -> None:
        """Asks all switches for their counters; the application hears of it as of their answers."""
        self._rounds += 1
        next_ns = self._begin_ns + round((self._rounds + 1) * self._interval_s * 1e9)
        self._board.after(max(next_ns - self._board.now_ns(), 0) / 1e9, self._on_interval)
        if self._core is not None:
            for switch in self._layout.switches:
                self._board.counters(switch, partial(self._on_counters, switch))
            self._ask("on_request")

    def _on_counters(self, switch: int, counters: Sequence[PortCounters], at_ns: int) -> None:
        sent: list[_core.Counters] = []
        received: list[tuple[int, int]] = []
        for of in counters:
            port = self._ports.get((switch, of.port))
            if port is not None and port.link_out is not None:
                # The queue of a link is none of the switch's.
                sent.append((port.link_out, of.sent_bytes, of.sent_packets, None, None))
            if port is not None and port.link_in is not None:
                received.append((port.link_in, of.received_packets))
        at = max(at_ns - self._begin_ns, 0) * _PS_PER_NS
        self._ask("on_statistics", switch, at, sorted(sent), sorted(received))

    def _on_probe(self, seen: SeenLink) -> None:
        counts = self._prober.counts[seen.link]
        since_s, until_s = ((at_ns - self._begin_ns) / 1e9 for at_ns in (counts.since_ns, counts.until_ns))
        self._counted.append((self._now() / _PS_PER_S, seen.link, since_s, until_s))
        queued, received = (
            max(at_ns - self._begin_ns, 0) * _PS_PER_NS for at_ns in (seen.queued_ns, seen.received_ns)
        )
        self._ask("on_probe", seen.link, seen.number, queued, received, seen.sent, seen.received)

    def _on_links(self) -> None:
        """Other links are down than before."""
        before, self._down = self._down, self._links.down
        self._prober.on_down((self._down - before) & set(self._links.between))
        self._ask("on_network_change", self._setup, sorted(self._down))

    # Packets.

    def _on_flow_packet(self, up: PacketUp, seen: FlowPacket) -> None:
        tcp = seen.tcp
        if tcp is not None and tcp.syn and tcp.ack:
            self._scales[seen.flow, seen.direction] = tcp.scale
        if up.table != FLOW_TABLE:
            # It has gone on.
            return
        made = None if up.missed else self._entries.of_cookie(up.cookie)
        if made is not None and made.entry.window_bytes is not None and made.entry.link is not None:
            self._send(up, seen, made.entry.link, made.entry.window_bytes)
            return
        is_known = up.missed and seen.flow in self._held
        if is_known:
            if len(self._held[seen.flow]) < _MOST_HELD:
                self._held[seen.flow].append(up)
            return
        from_host = (up.switch, up.port) in self._from_hosts
        tells = made is not None and made.entry.tell
        hook = "on_notice" if tells else "on_packet"
        self._ask(hook, up.switch, from_host, up.missed, seen.header(), packet=None if tells else up)

    def _send(self, up: PacketUp, seen: FlowPacket, link: int, window_bytes: int | None) -> None:
        """A packet goes over a link, perhaps with a lower window.

        That of a SYN is never scaled (RFC 7323 section 2.2).
        """
        frame, tcp = up.frame, seen.tcp
        if window_bytes is not None and tcp is not None:
            scale = 0 if tcp.syn else self._scales.get((seen.flow, seen.direction))
            # Where nobody has seen the SYN-ACK, nobody can say what a window means.
            frame = frame if scale is None else with_window(frame, window_bytes, scale)
        switch, port = self._entries.port_of(link)
        self._board.send_packet(switch, frame, port)

    # Orders.

    def _carry_out(self, orders: Sequence[_core.Order], packet: PacketUp | None, hook: str) -> None:
        """Does what an application orders.

        Entries come first, and a packet goes on when they are there.

        Raises:
            UnsupportedOrderError: if OpenFlow cannot carry one of them; nothing is done then.
        """
        for order in orders:
            self._check(order)
        made, laid = [], {entry.flow for order in orders if order[0] == "entries" for entry in order[2]}
        then: list[Callable[[], None]] = []
        probes: dict[int, int] = {}
        for order in orders:
            match order:
                case ("entries", switch, entries):
                    made += [one for entry in entries for one in self._entries.note(switch, entry)]
                case ("remove", switch, flow):
                    self._entries.remove(switch, flow, is_move=flow in laid)
                case ("send", _, link, window_bytes) if packet is not None:
                    seen = self._flows.seen(packet.frame)
                    if seen is not None:
                        then.append(partial(self._send, packet, seen, link, window_bytes))
                case ("probe", link, number):
                    probes[link] = number
        for flow in laid:
            self._laying[flow] += 1
            self._held.setdefault(flow, [])
        self._entries.lay(made, partial(self._laid, laid, then))
        if probes and hook == "on_request":
            interval_s = self._interval_s
            self._prober.probe(probes, _ROUND_SHARE * interval_s, _PATIENCE_SHARE * interval_s)
        elif probes:
            self._prober.probe(probes, _SPREAD_S)

    def _check(self, order: _core.Order) -> None:
        match order:
            case ("entries", switch, entries):
                for entry in entries:
                    self._entries.check(switch, entry)
            case ("send", _, link, _):
                try:
                    self._entries.port_of(link)
                except UnsupportedOrderError as error:
                    raise UnsupportedOrderError(f"send({link}): {error}") from None
            case ("probe", link, _) if link not in self._links.between:
                raise UnsupportedOrderError(f"probe({link}): the link has no ports at both of its ends")
            case ("control", _, flow):
                raise UnsupportedOrderError(f"control of flow {flow}: OpenFlow has no messages for senders")

    def _laid(self, flows: set[int], then: Sequence[Callable[[], None]]) -> None:
        """The entries of these flows are there."""
        for action in then:
            action()
        for flow in flows:
            self._laying[flow] -= 1
            if not self._laying[flow]:
                del self._laying[flow]
                for up in self._held.pop(flow, ()):
                    self._board.send_packet(up.switch, up.frame, None, up.port)
