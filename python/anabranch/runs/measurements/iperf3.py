"""iperf3's JSON (``-J``) and its stream of JSON lines (``--json-stream``), of the client or the server.

A stream of TCP is a connection. Its series is what the end that wrote the file has seen: where that is the
sender, bytes written to the socket, retransmissions, and the kernel's smoothed round-trip time and window at
the end of each interval (``tcp_info``); where it is the receiver, bytes read. Totals are the receiver's.
Omitted intervals (``-O``) count nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from anabranch.runs.measurements.model import (
    MeasuredFlow,
    Measurement,
    MeasurementError,
    MeasurementFormat,
    list_of,
    port_of,
    table_of,
    text_of,
)
from anabranch.runs.measurements.reading import MeasurementFile

_STREAM_EVENTS = ("start", "interval", "end", "error", "server_output_text", "server_output_json")


def _recognises(source: MeasurementFile) -> bool:
    if _is_stream(source.head_text):
        return True
    data = table_of(source.document)
    version = table_of(data.get("start")).get("version")
    is_named = isinstance(version, str) and version.startswith("iperf 3")
    return is_named or {"start", "intervals", "end"} <= data.keys()


def _is_stream(head: str) -> bool:
    first = head.partition("\n")[0]
    if not first.startswith("{"):
        return False
    try:
        data = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and data.get("event") in _STREAM_EVENTS and "data" in data


def _read(source: MeasurementFile, _interval_s: float) -> Measurement:
    if _is_stream(source.head_text):
        reading = _Reading()
        for part, data, place in _events(source, reading.measurement):
            reading.take(part, data, place)
        return reading.finished()
    whole = table_of(source.document)
    if source.damage:
        raise MeasurementError(source.damage)
    reading = _Reading()
    reading.take("start", whole.get("start"), "start")
    for number, interval in enumerate(list_of(whole.get("intervals"))):
        reading.take("interval", interval, f"in intervals[{number}]")
    reading.take("end", whole.get("end"), "in end")
    if "error" in whole:
        reading.take("error", whole["error"], "error")
    return reading.finished()


def _events(source: MeasurementFile, measurement: Measurement) -> Iterator[tuple[str, Any, str]]:
    """The events of a stream; one that is cut off ends it with a warning."""
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            event = table_of(json.loads(line))
        except (ValueError, RecursionError):
            measurement.warnings.append(
                f"line {number:,} is no JSON, as where the file is cut off; what comes before it was read"
            )
            return
        yield str(event.get("event")), event.get("data"), f"in line {number:,}"


class _Reading:
    """The parts of a test in the order of their coming."""

    def __init__(self) -> None:
        self.measurement = Measurement("iperf3")
        self._streams: dict[int, MeasuredFlow] = {}
        self._is_udp = False
        self._is_reverse = False
        self._is_server = False
        self._omitted = 0
        self._error: str | None = None
        self._ended = False

    def take(self, part: str, data: Any, place: str) -> None:
        """Takes a part: ``start``, ``interval``, ``end`` or ``error``."""
        if part == "start":
            self._start(table_of(data))
        elif part == "interval":
            self._interval(table_of(data), place)
        elif part == "end":
            self._end(table_of(data), place)
        elif part == "error":
            self._error = str(data)[:300]

    def _start(self, start: Mapping[str, Any]) -> None:
        measurement, test = self.measurement, table_of(start.get("test_start"))
        measurement.tool = text_of(start.get("version"), 40) or "iperf3"
        stamp = table_of(start.get("timestamp")).get("timesecs")
        measurement.began_unix_s = measurement.doubts.number(stamp, "in start.timestamp")
        self._is_udp = test.get("protocol") == "UDP"
        self._is_reverse = bool(test.get("reverse"))
        self._is_server = "accepted_connection" in start
        measurement.interval_s = measurement.doubts.number(test.get("interval"), "in start.test_start")
        for one in map(table_of, list_of(start.get("connected"))):
            self._flow(one.get("socket"), one)

    def _flow(
        self, socket: Any, ends: Mapping[str, Any], *, sends: bool | None = None
    ) -> MeasuredFlow | None:
        """The flow of a stream, known by its socket; its direction is known from its first interval on."""
        if not isinstance(socket, int):
            return None
        flow = self._streams.get(socket)
        if flow is None:
            local = text_of(ends.get("local_host")), port_of(ends.get("local_port"))
            other = text_of(ends.get("remote_host")), port_of(ends.get("remote_port"))
            client, server = (other, local) if self._is_server else (local, other)
            kind = "udp" if self._is_udp else "tcp"
            flow = MeasuredFlow(kind, client[0], client[1], server[0], server[1], name=f"stream {socket}")
            self._streams[socket] = self.measurement.new_flow(flow)
        if flow.data_from is None and sends is not None:
            flow.data_from = "client" if sends != self._is_server else "server"
        return flow

    def _sends(self, stream: Mapping[str, Any]) -> bool:
        """Whether the end that wrote the file sends the data of a stream; before 3.7 all go one way."""
        sender = stream.get("sender")
        return sender if isinstance(sender, bool) else self._is_reverse == self._is_server

    def _interval(self, interval: Mapping[str, Any], place: str) -> None:
        number = self.measurement.doubts.number
        for stream in map(table_of, list_of(interval.get("streams"))):
            sends = self._sends(stream)
            flow = self._flow(stream.get("socket"), {}, sends=sends)
            if flow is None:
                continue
            if stream.get("omitted") is True:
                self._omitted += 1
                continue
            begin_s, end_s = number(stream.get("start"), place), number(stream.get("end"), place)
            carried = number(stream.get("bytes"), place)
            if begin_s is None or end_s is None or end_s <= begin_s:
                self.measurement.doubts.note("intervals have no length, and are left out", place)
                continue
            measured: dict[str, float | None] = {
                "throughput_mbps": None if carried is None else carried * 8e-6 / (end_s - begin_s)
            }
            if self._is_udp:
                if not sends:
                    measured["jitter_ms"] = number(stream.get("jitter_ms"), place)
                    measured["lost"] = number(stream.get("lost_packets"), place)
            elif sends:
                measured["retransmissions"] = number(stream.get("retransmits"), place)
                measured["cwnd_bytes"] = number(stream.get("snd_cwnd"), place)
                measured["srtt_ms"] = _milliseconds(number(stream.get("rtt"), place))
            self.measurement.add(flow, begin_s, end_s, **measured)

    def _end(self, end: Mapping[str, Any], place: str) -> None:
        self._ended = True
        for stream in map(table_of, list_of(end.get("streams"))):
            if self._is_udp:
                self._end_of_udp(table_of(stream.get("udp")), place)
            else:
                self._end_of_tcp(table_of(stream.get("sender")), table_of(stream.get("receiver")), place)

    def _end_of_tcp(self, sender: Mapping[str, Any], receiver: Mapping[str, Any], place: str) -> None:
        number = self.measurement.doubts.number
        sends = self._sends(sender or receiver)
        flow = self._flow((sender or receiver).get("socket"), {}, sends=sends)
        if flow is None:
            return
        sent, received = number(sender.get("bytes"), place), number(receiver.get("bytes"), place)
        again = number(sender.get("retransmits"), place)
        if again is not None and again < 2**32 - 1:
            flow.totals["retransmissions"] = again
        if sent and not received:
            self.measurement.warnings.append(
                f"{flow.name}: the receiver's count is missing, as where a test was ended early; throughput "
                "is "
                "what was written to the socket"
            )
        else:
            carried, rate = received, number(receiver.get("bits_per_second"), place)
            if carried is not None:
                flow.totals["acked_bytes"] = carried
            if rate is not None:
                flow.throughput_mbps = rate / 1e6

    def _end_of_udp(self, udp: Mapping[str, Any], place: str) -> None:
        number = self.measurement.doubts.number
        flow = self._flow(udp.get("socket"), {}, sends=self._sends(udp))
        packets, lost = number(udp.get("packets"), place), number(udp.get("lost_packets"), place)
        rate = number(udp.get("bits_per_second"), place)
        if flow is None or not packets:
            return
        flow.totals["data_packets"] = packets
        if lost is not None:
            flow.totals["lost"] = lost
            flow.totals["loss_ratio"] = min(1.0, lost / packets)
            # What is stated is what was sent, whoever states it.
            flow.throughput_mbps = None if rate is None else rate / 1e6 * (1 - flow.totals["loss_ratio"])
        late, jitter_ms = number(udp.get("out_of_order"), place), number(udp.get("jitter_ms"), place)
        flow.totals |= {} if late is None else {"reordered_packets": late}
        flow.totals |= {} if jitter_ms is None else {"jitter_ms": jitter_ms}

    def finished(self) -> Measurement:
        """The measurement.

        Raises:
            MeasurementError: if iperf3 noted an error and measured nothing.
        """
        measurement = self.measurement
        if self._error is not None and not measurement.rows:
            raise MeasurementError(f'iperf3 could not measure: "{self._error}"')
        if self._error is not None:
            measurement.warnings.append(
                f'iperf3 ended with an error, and has measured until then: "{self._error}"'
            )
        elif not self._ended:
            measurement.warnings.append("the end of the test is missing: totals are those of the intervals")
        if self._omitted:
            measurement.warnings.append(
                f"{self._omitted:,} intervals are omitted ones (-O), and count nowhere"
            )
        measurement.notes.append(_UDP if self._is_udp else _TCP)
        return measurement


_TCP = (
    "iperf3: throughput of an interval is what the end that wrote the file wrote to the socket, or read "
    "from it; "
    "that of the whole is the receiver's. RTT is the kernel's smoothed one at the end of each interval"
)
_UDP = (
    "iperf3, UDP: throughput of an interval is what the end that wrote the file sent or received; that of "
    "the whole "
    "is without what was lost. UDP has no retransmissions, no windows and no round-trip times"
)


def _milliseconds(microseconds: float | None) -> float | None:
    # Of the kernel's tcp_info; 0 is none yet.
    return microseconds / 1000 if microseconds else None


READER = MeasurementFormat("iperf3", "iperf3 JSON", _recognises, _read)
