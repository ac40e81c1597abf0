"""The end of OpenFlow at the controller: connections to all switches, on os-ken."""

from __future__ import annotations

import heapq
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from os import _exit as end_process
from typing import Any, ClassVar, NamedTuple, Protocol

from os_ken.base.app_manager import OSKenApp, lookup_service_brick
from os_ken.controller import ofp_event
from os_ken.controller.handler import (
    CONFIG_DISPATCHER,
    DEAD_DISPATCHER,
    MAIN_DISPATCHER,
    set_ev_cls,
    set_ev_handler,
)
from os_ken.ofproto import ofproto_v1_3

from anabranch.live.switches.controller.stamps import StampedSocket
from anabranch.live.switches.controller.tell import tell
from anabranch.live.switches.layout import SwitchLayout
from anabranch.plans.switch_rules import Action, Entry, SelectGroup

FLOW_TABLE = 1
"""The second table of a switch: where there are two, the application's."""
_ALL_BITS = 2**64 - 1


@dataclass(frozen=True, slots=True)
class PacketUp:
    """A frame that a switch sends up."""

    switch: int
    port: int
    frame: bytes
    at_ns: int
    """When it came to this machine, on the monotonic clock."""
    table: int = 0
    cookie: int = 0
    """Of the table and the entry that sent it up."""
    missed: bool = False
    """Whether that is the entry for what no other one matches."""


class GoneEntry(NamedTuple):
    """An entry that a switch has removed by itself."""

    switch: int
    cookie: int
    is_idle: bool
    """Whether its idle time-out was over, and not its hard one."""


class PortCounters(NamedTuple):
    """The counts of a port since it is there."""

    port: int
    received_packets: int
    sent_packets: int
    sent_bytes: int


class SwitchApplication(Protocol):
    """The behaviour of a controller. Calls come one at a time; nodes are those of the scenario."""

    def on_switches(self) -> None:
        """All switches are there: what they are to have before the run begins."""

    def on_begin(self, begin_ns: int) -> None:
        """The run begins, or has begun, at this time of the monotonic clock."""

    def on_packet(self, up: PacketUp) -> None:
        """A switch sends up a frame."""

    def on_removed(self, gone: GoneEntry) -> None:
        """A switch has removed an entry by itself."""

    def tables(self) -> dict[str, Any]:
        """The run has ended: what there is to say."""

    def on_port(self, switch: int, port: int, *, up: bool) -> None:
        """A port of a switch has light, or none."""


class Switchboard(OSKenApp):  # type: ignore[misc]
    """All switches of a run, and the application that tells them what to do."""

    OFP_VERSIONS: ClassVar = [ofproto_v1_3.OFP_VERSION]
    layout: ClassVar[SwitchLayout]
    make: ClassVar[Callable[[Switchboard], SwitchApplication]]
    """Both are set before os-ken makes the one there is."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._lock = threading.RLock()
        self._timers: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = count()
        self._moved = threading.Condition(self._lock)
        self._paths: dict[int, Any] = {}
        self._node = dict(enumerate(self.layout.switches, 1))
        self._barriers: dict[tuple[int, int], Callable[[], None]] = {}
        self._asked: dict[tuple[int, int], tuple[Callable[[list[PortCounters], int], None], int]] = {}
        self._application = type(self).make(self)
        threading.Thread(target=self._keep_time, name="timers", daemon=True).start()

    def start(self) -> None:
        """Serves from now on.

        What has a time is dealt with in the thread that reads it, which knows when it came.
        """
        super().start()
        messages = lookup_service_brick(ofp_event.NAME)
        messages.register_handler(ofp_event.EventOFPPacketIn, self._on_packet)
        messages.register_handler(ofp_event.EventOFPPortStatsReply, self._on_counters)

    # What applications call.

    def now_ns(self) -> int:
        """The time, on the monotonic clock."""
        return time.monotonic_ns()

    def entry(
        self,
        entry: Entry,
        *,
        table: int = 0,
        idle_s: int = 0,
        hard_s: int = 0,
        cookie: int = 0,
        tells: bool = False,
        goes_on: int | None = None,
    ) -> None:
        """Makes an entry, or changes the one with this match and priority.

        Args:
            entry: what it matches and does.
            table: of the switch.
            idle_s: its idle time-out; 0 for never.
            hard_s: its hard time-out; 0 for never.
            cookie: its number.
            tells: whether :meth:`SwitchApplication.on_removed` hears of its end.
            goes_on: the metadata with which packets go on to the second table; None: they do not.
        """
        path = self._paths[entry.switch]
        of, parser = path.ofproto, path.ofproto_parser
        actions = [_action(path, action) for action in entry.actions]
        instructions = []
        if actions or goes_on is None:
            instructions.append(parser.OFPInstructionActions(of.OFPIT_APPLY_ACTIONS, actions))
        if goes_on is not None:
            instructions.append(parser.OFPInstructionWriteMetadata(goes_on, _ALL_BITS))
            instructions.append(parser.OFPInstructionGotoTable(FLOW_TABLE))
        self._send(
            path,
            parser.OFPFlowMod(
                path,
                cookie=cookie,
                table_id=table,
                priority=entry.priority,
                match=parser.OFPMatch(**entry.match),
                idle_timeout=idle_s,
                hard_timeout=hard_s,
                flags=of.OFPFF_SEND_FLOW_REM if tells else 0,
                instructions=instructions,
            ),
        )

    def remove(self, switch: int, *, cookie: int) -> None:
        """Removes all entries of a switch with a cookie."""
        path = self._paths[switch]
        of, parser = path.ofproto, path.ofproto_parser
        self._send(
            path,
            parser.OFPFlowMod(
                path,
                cookie=cookie,
                cookie_mask=_ALL_BITS,
                table_id=of.OFPTT_ALL,
                command=of.OFPFC_DELETE,
                out_port=of.OFPP_ANY,
                out_group=of.OFPG_ANY,
                match=parser.OFPMatch(),
            ),
        )

    def group(self, group: SelectGroup, *, new: bool) -> None:
        """Makes a select group, or gives it other buckets."""
        path = self._paths[group.switch]
        of, parser = path.ofproto, path.ofproto_parser
        buckets = [
            parser.OFPBucket(
                weight=weight,
                watch_port=of.OFPP_ANY,
                watch_group=of.OFPG_ANY,
                actions=[_action(path, action) for action in actions],
            )
            for weight, actions in group.buckets
        ]
        command = of.OFPGC_ADD if new else of.OFPGC_MODIFY
        self._send(path, parser.OFPGroupMod(path, command, of.OFPGT_SELECT, group.number, buckets))

    def send_packet(self, switch: int, frame: bytes, port: int | None, in_port: int | None = None) -> None:
        """A switch sends a frame out of a port; None: by its own entries, as if it came in at ``in_port``."""
        path = self._paths[switch]
        of, parser = path.ofproto, path.ofproto_parser
        out = parser.OFPActionOutput(of.OFPP_TABLE if port is None else port, of.OFPCML_NO_BUFFER)
        source = of.OFPP_CONTROLLER if in_port is None else in_port
        self._send(path, parser.OFPPacketOut(path, of.OFP_NO_BUFFER, source, [out], frame))

    def send_stamped(self, switch: int, frame: bytes, port: int | None) -> int:
        """A switch sends a frame out of a port, or up again at once where there is none.

        Returns:
            When it was told so, in nanoseconds of the monotonic clock.
        """
        path = self._paths[switch]
        of, parser = path.ofproto, path.ofproto_parser
        out = parser.OFPActionOutput(of.OFPP_CONTROLLER if port is None else port, of.OFPCML_NO_BUFFER)
        return self._send_now(
            path, parser.OFPPacketOut(path, of.OFP_NO_BUFFER, of.OFPP_CONTROLLER, [out], frame)
        )

    def barrier(self, switches: Sequence[int], then: Callable[[], None]) -> None:
        """Goes on when all of them have done what they were told before."""
        waiting = set(switches)
        if not waiting:
            then()
            return

        def answered(switch: int) -> None:
            waiting.discard(switch)
            if not waiting:
                then()

        for switch in sorted(waiting):
            path = self._paths[switch]
            request = path.ofproto_parser.OFPBarrierRequest(path)
            path.set_xid(request)
            self._barriers[switch, request.xid] = partial(answered, switch)
            self._send(path, request)

    def counter(self, switch: int, port: int, then: Callable[[tuple[int, int], int], None]) -> None:
        """Asks a switch for the packets that a port has received and sent.

        The answer comes with the time of the reading: half way between question and answer.
        """

        def answered(counters: list[PortCounters], at_ns: int) -> None:
            for of in counters:
                then((of.received_packets, of.sent_packets), at_ns)

        self._ask_counters(switch, port, answered)

    def counters(self, switch: int, then: Callable[[list[PortCounters], int], None]) -> None:
        """Asks a switch for the counters of all its ports; the answer comes as that of :meth:`counter`."""
        self._ask_counters(switch, self._paths[switch].ofproto.OFPP_ANY, then)

    def _ask_counters(self, switch: int, port: int, then: Callable[[list[PortCounters], int], None]) -> None:
        path = self._paths[switch]
        request = path.ofproto_parser.OFPPortStatsRequest(path, 0, port)
        path.set_xid(request)
        self._asked[switch, request.xid] = (then, self._send_now(path, request))

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Does something later."""
        with self._moved:
            due = time.monotonic_ns() + int(seconds * 1e9)
            heapq.heappush(self._timers, (due, next(self._numbers), action))
            self._moved.notify()

    # What comes from outside.

    def begin(self, begin_ns: int) -> None:
        """The run begins."""
        with self._lock:
            self._safely(lambda: self._application.on_begin(begin_ns))

    def tables(self) -> dict[str, Any]:
        """The run has ended: what the application has to say."""
        with self._lock:
            return self._application.tables()

    def _send(self, path: Any, message: Any) -> None:
        if not path.send_msg(message):
            self._is_deaf(path)

    def _send_now(self, path: Any, message: Any) -> int:
        """Sends it before what waits to be sent; when it left, in nanoseconds of the monotonic clock."""
        if message.xid is None:
            path.set_xid(message)
        message.serialize()
        try:
            return int(path.socket.send_stamped(message.buf))
        except OSError:
            self._is_deaf(path)
            return time.monotonic_ns()

    def _is_deaf(self, path: Any) -> None:
        tell("trouble", text=f"switch {self.layout.names[self._node[path.id]]} does not listen")

    def _keep_time(self) -> None:
        with self._moved:
            while True:
                now = time.monotonic_ns()
                if self._timers and self._timers[0][0] <= now:
                    self._safely(heapq.heappop(self._timers)[2])
                    continue
                self._moved.wait((self._timers[0][0] - now) / 1e9 if self._timers else None)

    def _safely(self, action: Callable[[], None]) -> None:
        """An error ends the controller, and says so: os-ken would only write it down."""
        try:
            action()
        except BaseException:  # noqa: BLE001 - said, and the end
            traceback.print_exc()
            sys.stderr.flush()
            end_process(1)

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)  # type: ignore[untyped-decorator]
    def _on_features(self, event: Any) -> None:
        with self._lock:
            path = event.msg.datapath
            if path.id not in self._node:
                return
            path.socket = StampedSocket(path.socket)
            self._paths[self._node[path.id]] = path
            if len(self._paths) == len(self._node):
                self._safely(self._application.on_switches)

    @set_ev_handler(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _on_packet(self, event: Any) -> None:
        message = event.msg
        at_ns = message.datapath.socket.came_ns
        with self._lock:
            up = PacketUp(
                self._node[message.datapath.id],
                message.match["in_port"],
                bytes(message.data),
                at_ns,
                message.table_id,
                message.cookie,
                message.reason == message.datapath.ofproto.OFPR_NO_MATCH,
            )
            self._safely(lambda: self._application.on_packet(up))

    @set_ev_cls(ofp_event.EventOFPFlowRemoved, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _on_removed(self, event: Any) -> None:
        message, of = event.msg, event.msg.datapath.ofproto
        if message.reason in (of.OFPRR_IDLE_TIMEOUT, of.OFPRR_HARD_TIMEOUT):
            is_idle = message.reason == of.OFPRR_IDLE_TIMEOUT
            with self._lock:
                gone = GoneEntry(self._node[message.datapath.id], message.cookie, is_idle)
                self._safely(lambda: self._application.on_removed(gone))

    @set_ev_cls(ofp_event.EventOFPPortStatus, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _on_port(self, event: Any) -> None:
        message = event.msg
        dark = message.desc.state & message.datapath.ofproto.OFPPS_LINK_DOWN
        with self._lock:
            node, port = self._node[message.datapath.id], message.desc.port_no
            self._safely(lambda: self._application.on_port(node, port, up=not dark))

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _on_barrier(self, event: Any) -> None:
        with self._lock:
            then = self._barriers.pop((self._node[event.msg.datapath.id], event.msg.xid), None)
            if then is not None:
                self._safely(then)

    @set_ev_handler(ofp_event.EventOFPPortStatsReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def _on_counters(self, event: Any) -> None:
        at_ns = event.msg.datapath.socket.came_ns
        with self._lock:
            asked = self._asked.pop((self._node[event.msg.datapath.id], event.msg.xid), None)
            if asked is not None and event.msg.body:
                then, sent_ns = asked
                counters = [
                    PortCounters(port.port_no, port.rx_packets, port.tx_packets, port.tx_bytes)
                    for port in event.msg.body
                ]
                self._safely(lambda: then(counters, (sent_ns + at_ns) // 2))

    @set_ev_cls(ofp_event.EventOFPErrorMsg, (CONFIG_DISPATCHER, MAIN_DISPATCHER))  # type: ignore[untyped-decorator]
    def _on_error(self, event: Any) -> None:
        message = event.msg
        name = self.layout.names[self._node[message.datapath.id]]
        tell("trouble", text=f"switch {name} refuses a message: error {message.type}, code {message.code}")

    @set_ev_cls(ofp_event.EventOFPStateChange, DEAD_DISPATCHER)  # type: ignore[untyped-decorator]
    def _on_state(self, event: Any) -> None:
        if event.datapath.id in self._node:
            tell("trouble", text=f"switch {self.layout.names[self._node[event.datapath.id]]} has gone")


def _action(path: Any, action: Action) -> Any:
    of, parser = path.ofproto, path.ofproto_parser
    kind, value = action
    if kind == "output":
        out = of.OFPP_CONTROLLER if value == "controller" else value
        return parser.OFPActionOutput(out, of.OFPCML_NO_BUFFER)
    if kind == "group":
        return parser.OFPActionGroup(value)
    return parser.OFPActionSetField(**{kind: value})
