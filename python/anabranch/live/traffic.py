"""The flows that real hosts speak: sockets of the kernel's TCP, driven by one loop."""

from __future__ import annotations

import errno
import heapq
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from anabranch.errors import reason, system_error
from anabranch.live.addresses import Addresses, AddressEvent, apply
from anabranch.live.hosts import Host
from anabranch.live.kernel import (
    IPPROTO_MPTCP,
    TCP_CONGESTION,
    SubflowInfo,
    TcpInfo,
    mptcp_info,
    subflows,
    tcp_info,
)
from anabranch.live.path_manager import PathManager
from anabranch.live.reading import Reader, ReadingPlan

End = tuple[str, int]
_CHUNK = memoryview(bytes(1 << 18))
_PASSES = 8
"""Chunks that one flow writes or reads before others have their turn."""
_MOST_WAITING = 4096
_AHEAD_S = 0.02
"""How long before its start a flow gets its socket: to enter a namespace takes a part of a millisecond."""
_FD_SETSIZE = 1024
"""Files from this number on are none for select (POSIX)."""
_LINGER_NOT = struct.pack("ii", 1, 0)
_SAMPLES_S = 0.1
"""Between two samples of the round-trip time, where no series is wanted."""
_PS_PER_S = 1e12
# The kernel refuses further subflows until the connection has had an acknowledgment of data.
_JOIN_AGAIN_S = 0.002
# A subflow whose opening the other host has refused is gone without a word.
_LOOK_AT_JOINS_S = 0.5


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """The task of a flow."""

    flow: int
    name: str
    origin: int
    to: int
    control: str | None
    """The kernel's name of its congestion control; None if its sender is simulated."""
    is_mptcp: bool
    ends: tuple[tuple[End, End], ...]
    """Of each subflow: source and destination."""
    ends_anew: tuple[tuple[End, End], ...]
    """Of those that begin anew where one was closed."""
    start_s: float
    stop_s: float | None
    size_bytes: int | None
    """None where it has no end of its own."""
    messages: Iterator[tuple[float, int]] | None = None
    """Times and sizes of messages; None where it writes all it can."""
    reading: ReadingPlan | None = None
    """How the receiving program reads; None: at once."""
    receives: bool = True
    """Whether the kernel receives it; otherwise its receiver is simulated."""
    delays_short_segments: bool = False
    """By Nagle's algorithm; otherwise its sockets set TCP_NODELAY."""
    address_events: tuple[AddressEvent, ...] = ()
    """Changes of the addresses of its hosts that it heeds, in their order."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The state of a sender at a time."""

    time_s: float
    """The instant of the run's samples that it belongs to: those of simulated flows are of the same."""
    taken_s: float
    """When it was taken, a little later."""
    since_s: float
    """When the samples before it were taken; 0 for the first."""
    flow: int
    delivered_bytes: int
    infos: Sequence[tuple[int, TcpInfo]]
    """By subflow; the only one is number 0."""


Hearer = Callable[[Sequence[Sample]], None]
"""Whoever is told samples while a run goes on; what takes long is not for him to do at once."""


@dataclass(slots=True)
class FlowRecord:
    """The outcome of a flow."""

    plan: FlowPlan
    established_s: float | None = None
    completed_s: float | None = None
    delivered_bytes: int = 0
    failure: str | None = None
    opened: bool = False
    fallen_back: bool = False
    """Whether a multipath connection is plain TCP (RFC 8684, section 3.7)."""
    infos: dict[int, TcpInfo] = field(default_factory=dict)
    """The latest state of each subflow, at the sender."""
    receiver: dict[int, TcpInfo] = field(default_factory=dict)
    joined: dict[int, float] = field(default_factory=dict)
    """When each subflow was first seen established."""
    rtt_sum_ms: float = 0.0
    rtt_samples: int = 0

    def active_s(self, ended_s: float) -> float:
        """How long it has lasted until it was complete, or the run ended."""
        return ended_s - self.plan.start_s if self.completed_s is None else self.completed_s

    def unfinished_for_s(self, ended_s: float) -> float | None:
        """How long a flow that can complete has gone on without; None where it is done, or has no end."""
        ends = self.plan.size_bytes is not None or self.plan.stop_s is not None
        left_s = ended_s - self.plan.start_s
        return left_s if ends and self.completed_s is None and left_s > 0 else None


class _Flow:
    """A flow while it runs."""

    def __init__(self, plan: FlowPlan) -> None:
        self.plan = plan
        self.record = FlowRecord(plan)
        self.bound: socket.socket | None = None
        """The sender's, before it opens."""
        self.sender: socket.socket | None = None
        self.receiver: socket.socket | None = None
        self.left = plan.size_bytes
        """Bytes still to be written; None for no end."""
        self.closed = False
        self.connected = False
        self.awaits_room = True
        self.reader = None if plan.reading is None else Reader(plan.reading)
        self.addresses = Addresses(plan.ends, plan.ends_anew)
        self.subflow_of = {
            source: number for ends in (plan.ends, plan.ends_anew) for number, (source, _) in enumerate(ends)
        }
        if plan.messages is not None:
            self.left = 0

    def numbered(self, subflows: Sequence[SubflowInfo], *, at_sender: bool) -> Iterator[tuple[int, TcpInfo]]:
        """The state of each subflow under its number."""
        for subflow in subflows:
            number = self.subflow_of.get(subflow.local if at_sender else subflow.remote)
            if number is not None:
                yield number, subflow.info


class KernelFlows:
    """All real flows of a run."""

    def __init__(
        self,
        plans: Sequence[FlowPlan],
        hosts: Mapping[int, Host],
        sample_interval_s: float | None,
        hearer: Hearer | None = None,
    ) -> None:
        """Opens the sockets that listen.

        Args:
            plans: what they are to do.
            hosts: where, by the numbers of their nodes.
            sample_interval_s: between samples for a series; None where none is wanted.
            hearer: told the samples of an instant as they are taken, in the thread that drives all flows.

        Raises:
            OSError: if one cannot be opened.
        """
        self._hosts = hosts
        self._flows = [_Flow(plan) for plan in plans]
        self._interval = sample_interval_s
        self._hearer = hearer
        self.samples: list[Sample] = []
        self.late_s: list[float] = []
        """How much later than due each sample was taken: as late as reading and writing."""
        self._sampled_s = 0.0
        self._due_s = 0.0
        self._poll = select.epoll()
        self._actions: dict[int, Callable[[int], None]] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._begin_ns = 0
        self._managers: dict[int, PathManager] = {}
        self._listeners: list[socket.socket] = []
        self._by_peer = {
            (plan.to, *plan.ends[0][0]): flow for flow, plan in zip(self._flows, plans, strict=True)
        }
        try:
            self._listen()
            self._manage()
        except BaseException:
            self.close()
            raise

    def _listen(self) -> None:
        received = [flow.plan for flow in self._flows if flow.plan.receives]
        for node in sorted({plan.to for plan in received}):
            flows = [plan for plan in received if plan.to == node]
            protocol = IPPROTO_MPTCP if any(plan.is_mptcp for plan in flows) else socket.IPPROTO_TCP
            for port in sorted({plan.ends[0][1][1] for plan in flows}):
                listener = self._hosts[node].inside(partial(_socket, protocol))
                self._listeners.append(listener)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(("0.0.0.0", port))  # noqa: S104 - in a namespace of its own
                listener.listen(_MOST_WAITING)
                self._watch(listener, select.EPOLLIN, partial(self._accept, node, listener))

    def _manage(self) -> None:
        """Opens the path managers of hosts with connections of several subflows: both ends need one."""
        nodes = {
            node for flow in self._flows if flow.plan.is_mptcp for node in (flow.plan.origin, flow.plan.to)
        }
        for node in sorted(nodes):
            self._managers[node] = PathManager(self._hosts[node])

    def run(self, begin_ns: int, end_s: float, go_on: Callable[[], bool]) -> list[FlowRecord]:
        """Lets all flows do what is planned, until the end of the run or as long as it is to go on.

        Args:
            begin_ns: time zero, of the monotonic clock.
            end_s: the end of the run.
            go_on: asked now and then.
        """
        self._begin_ns = begin_ns
        for flow in self._flows:
            # First: at time zero they say how it begins.
            for event in flow.plan.address_events:
                self._at(event.time_s, partial(self._change_address, flow, event))
            if flow.plan.control is not None and flow.plan.start_s <= end_s:
                self._at(flow.plan.start_s - _AHEAD_S, partial(self._prepare, flow))
        self._sample_at(1, _SAMPLES_S if self._interval is None else self._interval)
        while (now := self.now()) < end_s and go_on():
            while self._timers and self._timers[0][0] <= now:
                heapq.heappop(self._timers)[2]()
            wake = min(self._timers[0][0] if self._timers else end_s, end_s, now + 0.1)
            for file, events in self._ready(wake - self.now()):
                if file in self._actions:
                    self._actions[file](events)
        if self._due_s <= end_s <= self.now():
            self._sample(self._due_s)
        else:
            for flow in self._flows:
                self._look(flow)
        return [flow.record for flow in self._flows]

    def _ready(self, wait_s: float) -> list[tuple[int, int]]:
        """Files that are ready, and how, after so long at the latest.

        epoll waits for whole milliseconds, rounded up: flows and messages would begin up to one late.
        """
        if wait_s > 0.0 and self._poll.fileno() < _FD_SETSIZE:
            select.select([self._poll], [], [], wait_s)
            wait_s = 0.0
        return self._poll.poll(max(wait_s, 0.0))

    def now(self) -> float:
        """Seconds of the run."""
        return (time.monotonic_ns() - self._begin_ns) / 1e9

    def close(self) -> None:
        """Ends all connections without a word to their peers."""
        for flow in self._flows:
            for end in (flow.bound, flow.sender, flow.receiver):
                if end is not None:
                    with suppress(OSError):
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
                    end.close()
        for listener in self._listeners:
            listener.close()
        for manager in self._managers.values():
            manager.close()
        self._poll.close()

    def _at(self, time_s: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (time_s, next(self._numbers), action))

    def _watch(self, end: socket.socket, events: int, action: Callable[[int], None]) -> None:
        self._poll.register(end, events)
        self._actions[end.fileno()] = action

    def _forget(self, end: socket.socket) -> None:
        if self._actions.pop(end.fileno(), None) is not None:
            self._poll.unregister(end)

    def _prepare(self, flow: _Flow) -> None:
        """Makes the socket of a flow, and opens it when that is due."""
        plan = flow.plan
        protocol = IPPROTO_MPTCP if plan.is_mptcp else socket.IPPROTO_TCP
        flow.bound = sender = self._hosts[plan.origin].inside(lambda: _socket(protocol))
        if plan.control is not None:
            sender.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, plan.control.encode())
        if not plan.delays_short_segments:
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Ports are the engine's, which may be those of another flow to another host.
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sender.bind(plan.ends[0][0])
        self._at(plan.start_s, partial(self._open, flow, sender))

    def _open(self, flow: _Flow, sender: socket.socket) -> None:
        plan = flow.plan
        flow.sender, flow.bound = sender, None
        flow.record.opened = True
        failed = sender.connect_ex(plan.ends[0][1])
        if failed not in (0, errno.EINPROGRESS):
            self._fail(flow, failed)
            return
        self._watch(sender, select.EPOLLOUT, lambda events: self._on_sender(flow, events))
        if plan.stop_s is not None and plan.size_bytes is None:
            self._at(plan.stop_s, lambda: self._stop(flow))

    def _on_sender(self, flow: _Flow, events: int) -> None:
        sender = flow.sender
        if sender is None:
            return
        if events & (select.EPOLLERR | select.EPOLLHUP):
            self._fail(flow, sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
            return
        if not flow.connected:
            flow.connected = True
            flow.record.established_s = self.now() - flow.plan.start_s
            if flow.plan.is_mptcp and (len(flow.plan.ends) > 1 or flow.addresses.is_backup(0)):
                every = range(len(flow.plan.ends))
                self._at(self.now(), lambda: self._join(flow, every))
            self._next_message(flow)
        self._write(flow)

    def _write(self, flow: _Flow) -> None:
        sender = flow.sender
        if sender is None or not flow.connected or flow.closed:
            return
        try:
            for _ in range(_PASSES):
                if flow.left == 0:
                    break
                chunk = _CHUNK if flow.left is None else _CHUNK[: flow.left]
                sent = sender.send(chunk)
                if flow.left is not None:
                    flow.left -= sent
        except BlockingIOError:
            self._await(flow, sender, room=True)
            return
        except OSError as error:
            self._fail(flow, error.errno)
            return
        if flow.left == 0:
            if flow.plan.size_bytes is not None:
                self._stop(flow)
            else:
                # A socket with room would be ready all the time.
                self._await(flow, sender, room=False)

    def _await(self, flow: _Flow, sender: socket.socket, *, room: bool) -> None:
        """Wakes up when the sender has room, or only when something is wrong with it."""
        if flow.awaits_room != room:
            flow.awaits_room = room
            self._poll.modify(sender, select.EPOLLOUT if room else 0)

    def _next_message(self, flow: _Flow) -> None:
        if flow.plan.messages is None:
            return
        time_s, size = next(flow.plan.messages)

        def write() -> None:
            if not flow.closed and flow.sender is not None:
                flow.left = (flow.left or 0) + size
                self._write(flow)
                self._next_message(flow)

        self._at(time_s, write)

    def _stop(self, flow: _Flow) -> None:
        """The application closes: what is written is sent, and then FIN."""
        if flow.closed or flow.sender is None:
            return
        flow.closed = True
        self._look(flow)
        self._forget(flow.sender)
        with suppress(OSError):
            flow.sender.shutdown(socket.SHUT_WR)
        if not flow.plan.receives:
            # Once the simulated receiver has closed, too, it hangs up.
            self._watch(flow.sender, 0, lambda _: self._complete(flow))

    def _fail(self, flow: _Flow, number: int | None) -> None:
        flow.record.failure = f"the kernel gave it up: {reason(system_error(number))}"
        flow.closed = True
        if flow.sender is not None:
            self._forget(flow.sender)

    def _join(self, flow: _Flow, numbers: Sequence[int]) -> None:
        """Opens these subflows, one after the other, and looks later whether they are there.

        The one that the connection began with is open: it becomes a backup where its address is one.
        """
        sender = flow.sender
        if sender is None or flow.closed:
            return
        manager = self._managers[flow.plan.origin]
        try:
            info = mptcp_info(sender)
            flow.record.fallen_back = info.fallen_back
            while not info.fallen_back and numbers:
                number, is_backup = numbers[0], flow.addresses.is_backup(numbers[0])
                ends = flow.addresses.ends[number]
                if flow.addresses.began_with(number):
                    if is_backup:
                        manager.set_backup(info.token, *ends, is_backup=True)
                elif flow.addresses.may_open(number):
                    identifier = flow.addresses.identifier(number)
                    manager.create_subflow(info.token, identifier, *ends, is_backup=is_backup)
                numbers = numbers[1:]
        except OSError as error:
            if error.errno == errno.EOPNOTSUPP:
                # Its packets with MP_CAPABLE were lost, and the kernel has gone on without Multipath TCP.
                flow.record.fallen_back = True
                return
            if error.errno not in (errno.ENOTCONN, errno.EINVAL, errno.ESRCH):
                raise
            self._at(self.now() + _JOIN_AGAIN_S, lambda: self._join(flow, numbers))
            return
        self._at(self.now() + _LOOK_AT_JOINS_S, lambda: self._look_at_joins(flow))

    def _look_at_joins(self, flow: _Flow) -> None:
        """Opens the subflows again that have never been open and are gone."""
        if flow.closed or flow.sender is None or flow.record.fallen_back:
            return
        there = dict(self._infos(flow, flow.sender, at_sender=True))
        open_once = flow.record.joined.keys() | {n for n, info in there.items() if info.srtt_ms is not None}
        others = filter(flow.addresses.may_open, range(1, len(flow.plan.ends)))
        never = [number for number in others if number not in open_once]
        if never:
            self._join(flow, [number for number in never if number not in there])

    def _change_address(self, flow: _Flow, event: AddressEvent) -> None:
        """Notes the change, and tells a connection that is open of it."""
        flow.addresses.note(event)
        end = flow.sender if event.at_source else flow.receiver
        if end is None or not flow.connected or flow.closed or flow.record.fallen_back:
            return
        node = flow.plan.origin if event.at_source else flow.plan.to
        try:
            token = mptcp_info(end).token
        except OSError:
            # It is gone, or has fallen back to plain TCP, which has no other address.
            return
        if again := apply(event, flow.addresses, self._managers[node], token):
            self._join(flow, again)

    def _accept(self, node: int, listener: socket.socket, _events: int) -> None:
        try:
            connection, peer = listener.accept()
        except BlockingIOError:
            return
        flow = self._by_peer.get((node, *peer))
        if flow is None or flow.receiver is not None:
            connection.close()
            return
        connection.setblocking(False)
        flow.receiver = connection
        self._watch(connection, select.EPOLLIN, lambda _: self._read(flow))

    def _read(self, flow: _Flow) -> None:
        receiver = flow.receiver
        if receiver is None:
            return
        try:
            for _ in range(_PASSES):
                most = self._may_read(flow, receiver)
                if most == 0:
                    return
                # Nobody looks at the data: the kernel need not copy them.
                length = receiver.recv_into(_SINK, most, socket.MSG_TRUNC)
                if flow.reader is not None:
                    flow.reader.on_read(length)
                if length == 0:
                    self._complete(flow)
                    return
                flow.record.delivered_bytes += length
        except BlockingIOError:
            return
        except OSError as error:
            self._fail(flow, error.errno)
            self._forget(receiver)

    def _may_read(self, flow: _Flow, receiver: socket.socket) -> int:
        """Bytes that the receiving program reads now; where none, it comes back when it may."""
        if flow.reader is None:
            return len(_SINK)
        most = min(flow.reader.may_read(self.now()), len(_SINK))
        if most == 0:
            self._forget(receiver)
            if (again := flow.reader.next_s()) is not None:
                self._at(again, lambda: self._read_again(flow))
        return most

    def _read_again(self, flow: _Flow) -> None:
        if flow.receiver is not None:
            self._watch(flow.receiver, select.EPOLLIN, lambda _: self._read(flow))
            self._read(flow)

    def _complete(self, flow: _Flow) -> None:
        """All has arrived: the receiver closes, too, or has closed."""
        flow.record.completed_s = self.now() - flow.plan.start_s
        self._look(flow)
        receiver, flow.receiver = flow.receiver, None
        if receiver is not None:
            self._forget(receiver)
            receiver.close()
        elif flow.sender is not None:
            self._forget(flow.sender)

    def _sample_at(self, number: int, interval: float) -> None:
        """Samples every flow at so many intervals from the start, and from then on at each."""
        # As the engine makes seconds of picoseconds.
        self._due_s = round(number * interval * _PS_PER_S) / _PS_PER_S

        def sample() -> None:
            self._sample(self._due_s)
            self._sample_at(number + 1, interval)

        self._at(self._due_s, sample)

    def _sample(self, instant_s: float) -> None:
        now, since = self.now(), self._sampled_s
        self._sampled_s = now
        self.late_s.append(now - instant_s)
        before = len(self.samples)
        for flow in self._flows:
            opened = flow.record.opened or flow.receiver is not None
            if opened and flow.record.completed_s is None:
                infos = self._look(flow)
                if self._interval is None:
                    continue
                delivered = flow.record.delivered_bytes
                if not flow.plan.receives:
                    delivered = sum(info.bytes_acked for _, info in infos)
                self.samples.append(Sample(instant_s, now, since, flow.plan.flow, delivered, infos))
        if self._hearer is not None and len(self.samples) > before:
            self._hearer(self.samples[before:])

    def _look(self, flow: _Flow) -> list[tuple[int, TcpInfo]]:
        """Notes what the kernel says of both ends."""
        record = flow.record
        if flow.sender is None or not flow.connected or record.failure is not None:
            return []
        infos = self._infos(flow, flow.sender, at_sender=True)
        for number, info in infos:
            record.infos[number] = info
            # Until its SYN has an answer, it has no round-trip time.
            if info.srtt_ms is not None:
                record.joined.setdefault(number, self.now() - flow.plan.start_s)
                record.rtt_sum_ms += info.srtt_ms
                record.rtt_samples += 1
        if flow.receiver is not None:
            record.receiver.update(self._infos(flow, flow.receiver, at_sender=False))
        return infos

    def _infos(self, flow: _Flow, end: socket.socket, *, at_sender: bool) -> list[tuple[int, TcpInfo]]:
        try:
            if flow.plan.is_mptcp and not flow.record.fallen_back:
                # The kernel also tells of the first one when it was closed, ahead of the one in its place.
                return list(dict(flow.numbered(subflows(end), at_sender=at_sender)).items())
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                # A connection that is gone has no state.
                return []
            flow.record.fallen_back = True
        try:
            return [(0, tcp_info(end))]
        except OSError:
            return []


_SINK = bytearray(1 << 18)


def _socket(protocol: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    made.setblocking(False)
    return made
