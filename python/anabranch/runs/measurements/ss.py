"""Logs of ``ss -ti``, once or again and again with times in between, as ``date`` or ``ts`` write them.

The fields are those of the kernel's ``tcp_info``. Counters become differences from one time to the next:
throughput is the advance of ``bytes_acked`` (of ``bytes_received`` where the other end sends the data).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from anabranch.runs.measurements.model import (
    MeasuredFlow,
    Measurement,
    MeasurementError,
    MeasurementFormat,
    Side,
    port_of,
)
from anabranch.runs.measurements.reading import MeasurementFile
from anabranch.runs.measurements.ss_fields import COUNTERS, MOMENTARY, TOTALS, congestion_control, numbers
from anabranch.runs.measurements.stamps import stamped

_INFO = re.compile(r"(?:^|\s)cwnd:\d")
_HEADER = re.compile(r"^(?:Netid\s+)?State\s+Recv-Q\s+Send-Q\s")
_SOCKET = re.compile(
    r"^(?:(?:tcp|mptcp)\s+)?(?P<state>[A-Z][A-Z0-9-]+)\s+\d+\s+\d+\s+"
    r"(?P<local>\S+):(?P<local_port>[\w*-]+)\s+(?P<peer>\S+):(?P<peer_port>[\w-]+)(?=\s|$)"
)
_TOKENS = re.compile(r"\btoken:[0-9a-f]+\(id:\d+\)/([0-9a-f]+)\(id:\d+\)")
"""The token of this end (RFC 8684 section 3.1) comes second; of the other end's the first subflow shows 0."""
_LOOKED_AT: Final = 400
"""Lines by which the format is recognised."""


def _recognises(source: MeasurementFile) -> bool:
    if source.head_text[:1] in ("{", "<"):
        return False
    lines = source.head_text.splitlines()[:_LOOKED_AT]
    return any((_INFO.search(line) and "rto:" in line) or _HEADER.match(stamped(line)[1]) for line in lines)


@dataclass
class _State:
    """A flow with its counters as they were seen last."""

    flow: MeasuredFlow
    local: Side
    """Which side is the one that ``ss`` ran at."""
    time_s: float | None
    counters: dict[str, float]
    is_seen: bool = False


def _read(source: MeasurementFile, _interval_s: float) -> Measurement:
    reading = _Reading()
    for number, line in source.lines():
        reading.take(number, line)
    return reading.finished()


class _Reading:
    def __init__(self) -> None:
        self.found = Measurement("ss", notes=[_NOTE])
        self._states: dict[tuple[str, ...], _State] = {}
        self._ended: list[_State] = []
        self._time_s: float | None = None
        self._first_s: float | None = None
        self._block: set[tuple[str, ...]] = set()
        """The sockets that one call of ``ss`` has listed until here."""
        self._began_s: float | None = None
        self._before_s: float | None = None
        """When the call before began, since which a new connection came."""
        self._socket: re.Match[str] | None = None
        self._has_day = False
        self._untimed = 0
        self._infos = 0
        self._unread = 0

    def take(self, number: int, line: str) -> None:
        """Takes a line: a time, a header, a socket, or what ``ss`` says of the socket before."""
        stamp, rest = stamped(line)
        if stamp is not None:
            self._take_time(stamp.unix_s, number)
            self._has_day = stamp.has_day
        if not rest.strip() or _HEADER.match(rest):
            self._begin_block()
            return
        socket = None if rest[0].isspace() else _SOCKET.match(rest)
        if socket is not None:
            self._socket = socket
        if _INFO.search(rest):
            if self._socket is None:
                what = "lines have TCP information without a socket above, and are left out"
                self.found.doubts.note(what, f"in line {number:,}")
                return
            self._infos += 1
            self._take_info(self._socket, rest, f"in line {number:,}")
            self._socket = None
        elif socket is None and not rest[0].isspace():
            self._unread += 1

    def _take_time(self, unix_s: float, number: int) -> None:
        if self._time_s is not None and unix_s < self._time_s:
            what = "times go back; what comes until the clock has caught up is left out"
            self.found.doubts.note(what, f"in line {number:,}, by {self._time_s - unix_s:.3f} s")
        if self._first_s is None:
            self._first_s = unix_s
        self._time_s = unix_s

    def _begin_block(self) -> None:
        """Another call of ``ss``, if the one before has listed something."""
        if self._block:
            self._before_s = self._began_s
            self._block = set()
        self._began_s = self._time_s

    def _take_info(self, socket: re.Match[str], info: str, place: str) -> None:
        now = numbers(info, self.found.doubts, place)
        key = tuple(socket[name] for name in ("local", "local_port", "peer", "peer_port"))
        if key in self._block:
            self._begin_block()
        if not self._block:
            self._began_s = self._time_s
        self._block.add(key)
        state = self._states.get(key)
        time_s = None if self._time_s is None or self._first_s is None else self._time_s - self._first_s
        self._untimed += time_s is None
        is_reused = state is not None and any(
            now.get(name, 0.0) < state.counters.get(name, 0.0) for name in COUNTERS
        )
        if state is None or is_reused:
            if state is not None:
                self._ended.append(state)
                what = "times counters went back: the ports are of another connection then"
                self.found.doubts.note(what, place)
            state = self._states[key] = self._opened(socket, info)
            if time_s is not None and self._before_s is not None and self._first_s is not None:
                # The call before did not list it: all that it has counted came since then.
                state.time_s = max(0.0, self._before_s - self._first_s)
                state.counters = dict.fromkeys(now.keys() & set(COUNTERS), 0.0)
        if state.is_seen or state.counters:
            self._add(state, time_s, now)
        if state.time_s is None or not state.is_seen or (time_s is not None and time_s > state.time_s):
            _note(state, time_s, now, congestion_control(info))

    def _opened(self, socket: re.Match[str], info: str) -> _State:
        """A new flow; as of a capture without a handshake, the client has the larger port."""
        # An address that is bound to a device has its name behind it: 10.0.0.1%eth1.
        local, peer = (
            (socket[end].strip("[]").partition("%")[0], port_of(socket[f"{end}_port"]))
            for end in ("local", "peer")
        )
        is_client = (local[1] or 0) >= (peer[1] or 0)
        client, server = (local, peer) if is_client else (peer, local)
        tokens = _TOKENS.search(info)
        flow = self.found.new_flow(MeasuredFlow("tcp", client[0], client[1], server[0], server[1]))
        if tokens is not None:
            flow.kind, flow.connection = "mptcp", ("mptcp", tokens[1])
        return _State(flow, "client" if is_client else "server", None, {})

    def _add(self, state: _State, time_s: float | None, now: Mapping[str, float]) -> None:
        """A row of the series: what has come since the state before, and the state itself."""
        if time_s is None or state.time_s is None:
            return
        length_s = time_s - state.time_s
        if length_s <= 0:
            what = "samples have the time of the one before, or an earlier one, and are left out"
            self.found.doubts.note(what, f"at {time_s:.3f} s")
            return
        grown = {
            name: now[name] - state.counters[name]
            for name in COUNTERS
            if name in now and name in state.counters
        }
        rates = {ours: grown[name] * 8e-6 / length_s for name, ours in _RATES.items() if name in grown}
        state_now = {name: now.get(name) for name in MOMENTARY}
        again = grown.get("retransmissions")
        self.found.add(state.flow, state.time_s, time_s, retransmissions=again, **rates, **state_now)

    def finished(self) -> Measurement:
        """The measurement, in which what is of the direction against the data is told apart.

        Raises:
            MeasurementError: if no socket has TCP information.
        """
        if not self._infos:
            raise MeasurementError("has sockets and no TCP information: call ss with -i, as in ss -ti")
        for state in (*self._ended, *self._states.values()):
            _set_direction(state)
        if self._has_day:
            self.found.began_unix_s = self._first_s
        warnings = self.found.warnings
        if self._untimed == self._infos:
            warnings.append(
                "ss: there are no times in the file, so that it has no throughput and no series; print the "
                "time before each ss, as in: while sleep 1; do date +%s.%N; ss -ti; done"
            )
        elif self._untimed:
            warnings.append(f"ss: {self._untimed:,} samples come before the first time, and have none")
        if self._unread:
            warnings.append(f"ss: {self._unread:,} lines are neither times nor sockets of TCP, and left out")
        return self.found


_RATES = {"bytes_acked": "sent_mbps", "bytes_received": "received_mbps"}
"""What becomes throughput, one way or the other, when the direction of the data is known."""


def _note(state: _State, time_s: float | None, now: Mapping[str, float], control: str | None) -> None:
    """Keeps what is known last of a flow."""
    state.counters = {name: now[name] for name in COUNTERS if name in now}
    state.time_s, state.is_seen = time_s, True
    flow = state.flow
    flow.totals.update({ours: now[name] for name, ours in TOTALS.items() if name in now})
    flow.totals.update({name: now[name] for name in MOMENTARY if name in now})
    flow.congestion_control = control or flow.congestion_control


def _set_direction(state: _State) -> None:
    """Tells the direction of the data, and what is known of it and of the other one."""
    flow, measures = state.flow, state.flow.series.measures
    acked, received = (state.counters.get(name) for name in ("bytes_acked", "bytes_received"))
    sends = (acked or 0.0) >= (received or 0.0)
    flow.data_from = state.local if sends else "server" if state.local == "client" else "client"
    names = ("throughput_mbps", "reverse_throughput_mbps")
    rates = [measures.pop(name, None) for name in _RATES.values()]
    for name, rate in zip(names, rates if sends else reversed(rates), strict=True):
        if rate is not None:
            measures[name] = rate
    counts = (acked, received) if sends else (received, acked)
    for name, count in zip(("acked_bytes", "reverse_acked_bytes"), counts, strict=True):
        if count is not None:
            flow.totals[name] = count
    if not sends:
        # What this end knows of its own sending is not of the data, which come from the other one.
        least_ms = flow.totals.get("rtt_min_ms")
        for name in (*TOTALS.values(), *MOMENTARY):
            flow.totals.pop(name, None)
        for name in (*MOMENTARY, "retransmissions"):
            measures.pop(name, None)
        if least_ms is not None:
            flow.totals["reverse_rtt_min_ms"] = least_ms


_NOTE = (
    "ss: throughput is the advance of acknowledged (or received) bytes from one sample to the next; RTT is "
    "the kernel's smoothed one, and its least sample; a window is of the moment"
)

READER = MeasurementFormat("ss", "ss -ti", _recognises, _read)
