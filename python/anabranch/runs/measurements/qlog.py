"""qlog of QUIC: JSON and JSON-SEQ (RFC 7464), drafts 00 to 02, 0.3, 0.4 and after (draft-ietf-quic-qlog).

Of each connection: ``metrics_updated`` (round-trip times, window, bytes in flight, pacing), packets sent and
received, and packets lost, in intervals. Time counts from the first event.
"""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from anabranch.runs.measurements.model import (
    MeasuredFlow,
    Measurement,
    MeasurementError,
    MeasurementFormat,
    Side,
    list_of,
    port_of,
    table_of,
    text_of,
)
from anabranch.runs.measurements.reading import MeasurementFile

_SEPARATOR = "\x1e"
_SCHEMAS = ("qlog_version", "qlog_format", "file_schema")
_METRICS = ("metrics_updated", "metric_update", "congestion_metric_update", "recovery_metrics_updated")
"""The second and the third one are mvfst's."""
_MOST_RTTS = 2_000_000
_MOST_KINDS = 1000
"""Kinds of events that are counted apart, of those that are not read."""


def _recognises(source: MeasurementFile) -> bool:
    if _is_sequence(source.head_text):
        return True
    data = table_of(source.document)
    return any(key in data for key in _SCHEMAS) and ("traces" in data or "trace" in data)


def _is_sequence(head: str) -> bool:
    """Whether a file is JSON-SEQ, or JSON line by line with a header of qlog."""
    first = head.lstrip(_SEPARATOR).partition("\n")[0].rstrip(_SEPARATOR)
    try:
        data = json.loads(first)
    except (ValueError, RecursionError):
        return head.startswith(_SEPARATOR) and "qlog" in head[:4096]
    return isinstance(data, dict) and "traces" not in data and any(key in data for key in _SCHEMAS)


@dataclass
class _Clock:
    """How the times of a trace are to be read: draft-ietf-quic-qlog-main-schema, "time_format"."""

    unit_s: float = 1e-3
    is_delta: bool = False
    reference_s: float | None = None
    now_s: float = 0.0

    @classmethod
    def of(cls, trace: Mapping[str, Any]) -> _Clock:
        common, configuration = table_of(trace.get("common_fields")), table_of(trace.get("configuration"))
        unit_s = 1e-6 if configuration.get("time_units") == "us" else 1e-3
        form = common.get("time_format")
        return cls(unit_s, form in ("delta", "relative_to_previous_event"), _reference_s(common, unit_s))

    def seconds(self, value: float) -> float:
        """The time of an event in seconds."""
        self.now_s = self.now_s + value * self.unit_s if self.is_delta else value * self.unit_s
        return self.now_s


def _reference_s(common: Mapping[str, Any], unit_s: float) -> float | None:
    """What relative times count from, since 1970; None where it is not stated, or no time of the day."""
    stated = common.get("reference_time")
    try:
        value = float(stated) if isinstance(stated, str | int | float) else math.nan
    except (OverflowError, ValueError):
        return None
    # Milliseconds by the schema; drafts 00 and 01 of several programs have seconds.
    seconds = value * unit_s if value > 1e11 else value
    return seconds if 1e8 < seconds < 1e11 else None


@dataclass
class _Connection:
    """A connection, and what has come in the interval that is under way."""

    flow: MeasuredFlow
    vantage: Side
    number: int | None = None
    sums: dict[str, float] = field(default_factory=dict)
    rtts: array[float] = field(default_factory=lambda: array("d"))
    state: dict[str, float] = field(default_factory=dict)
    sent: list[float] = field(default_factory=lambda: [0.0, 0.0])
    received: list[float] = field(default_factory=lambda: [0.0, 0.0])
    lost: int = 0
    has_packets: bool = False


def _read(source: MeasurementFile, interval_s: float) -> Measurement:
    reading = _Reading(interval_s)
    if _is_sequence(source.head_text):
        reading.take_records(_records(source), reading.found)
        return reading.finished()
    data = table_of(source.document)
    if source.damage:
        raise MeasurementError(source.damage)
    reading.found.tool = _tool(data)
    for number, trace in enumerate(list_of(data.get("traces")) or [data.get("trace")]):
        reading.take_trace(number, table_of(trace))
    return reading.finished()


def _tool(header: Mapping[str, Any]) -> str:
    version = text_of(header.get("qlog_version"), 30) or text_of(header.get("file_schema"), 60)
    return f"qlog {version}" if version else "qlog"


def _records(source: MeasurementFile) -> Iterator[tuple[int, str]]:
    """The records of a sequence with the lines that they begin in."""
    begin, parts = 0, list[str]()
    for number, line in source.lines():
        for place, piece in enumerate(line.split(_SEPARATOR)):
            if place and parts:
                yield begin, "\n".join(parts)
                parts = []
            if piece.strip():
                begin = begin if parts else number
                parts.append(piece)
        if parts and not source.head_text.startswith(_SEPARATOR):
            yield begin, "\n".join(parts)
            parts = []
    if parts:
        yield begin, "\n".join(parts)


class _Reading:
    def __init__(self, interval_s: float) -> None:
        self.found = Measurement("qlog", interval_s=interval_s, notes=[_NOTE])
        self._interval_s = interval_s
        self._connections: dict[tuple[int, str], _Connection] = {}
        self._first_s: float | None = None
        self._other_events: Counter[str] = Counter()

    def take_records(self, records: Iterator[tuple[int, str]], measurement: Measurement) -> None:
        """Takes a sequence: a header, then events."""
        header: Mapping[str, Any] | None = None
        clock = _Clock()
        for number, text in records:
            try:
                data = json.loads(text)
            except (ValueError, RecursionError):
                measurement.doubts.note(
                    "records are no JSON, as where the file is cut off, and are left out",
                    f"in line {number:,}",
                )
                continue
            if header is None:
                header = table_of(data)
                measurement.tool = _tool(header)
                clock = _Clock.of(table_of(header.get("trace")))
                continue
            self._take_event(0, table_of(header.get("trace")), clock, table_of(data), f"in line {number:,}")

    def take_trace(self, number: int, trace: Mapping[str, Any]) -> None:
        """Takes a trace of a JSON file; events are objects, or arrays with the fields named apart."""
        clock = _Clock.of(trace)
        names = [str(name) for name in list_of(trace.get("event_fields"))]
        for place, event in enumerate(list_of(trace.get("events"))):
            data = dict(zip(names, event, strict=False)) if isinstance(event, list) else table_of(event)
            self._take_event(number, trace, clock, data, f"in traces[{number}].events[{place}]")

    def _take_event(
        self, trace_number: int, trace: Mapping[str, Any], clock: _Clock, event: Mapping[str, Any], place: str
    ) -> None:
        stated = event.get("time", event.get("relative_time", event.get("delta_time")))
        value = self.found.doubts.number(stated, f"time {place}")
        if value is None:
            return
        time_s = clock.seconds(value)
        if self._first_s is None:
            self._first_s = time_s
            base_s = 0.0 if time_s > 1e8 else clock.reference_s
            self.found.began_unix_s = None if base_s is None else base_s + time_s
        name = str(event.get("name") or event.get("event") or event.get("type")).rpartition(":")[2]
        group = str(event.get("group_id") or table_of(trace.get("common_fields")).get("group_id") or "")[:80]
        data = table_of(event.get("data"))
        connection = self._connection(trace_number, group, trace)
        self._advance(connection, time_s - self._first_s)
        self._count(connection, name, data, clock, place)

    def _connection(self, trace_number: int, group: str, trace: Mapping[str, Any]) -> _Connection:
        key = trace_number, group
        connection = self._connections.get(key)
        if connection is None:
            point = table_of(trace.get("vantage_point"))
            side = point.get("flow") if point.get("type") == "network" else point.get("type")
            vantage: Side = "server" if side == "server" else "client"
            title = text_of(trace.get("title"), 60) or (
                f"connection {group[:16]}" if group else f"connection {trace_number + 1}"
            )
            flow = self.found.new_flow(MeasuredFlow("quic", name=title))
            connection = self._connections[key] = _Connection(flow, vantage)
        return connection

    def _advance(self, connection: _Connection, time_s: float) -> None:
        number = math.floor(time_s / self._interval_s + 1e-9)
        if connection.number is None:
            connection.number = number
        elif number > connection.number:
            self._close(connection)
            if number > connection.number + 1 and connection.has_packets:
                # Nothing was sent or received in between, which is known.
                begin_s, end_s = ((each) * self._interval_s for each in (connection.number + 1, number))
                self.found.add(connection.flow, begin_s, end_s, sent_mbps=0.0, received_mbps=0.0)
            connection.number = number
        elif number < connection.number:
            self.found.doubts.note(
                "events go back in time, and count in the interval that is under way", f"at {time_s:.3f} s"
            )

    def _count(
        self, connection: _Connection, name: str, data: Mapping[str, Any], clock: _Clock, place: str
    ) -> None:
        number = self.found.doubts.number
        if name in _METRICS:
            self._take_metrics(connection, data, clock, place)
        elif name in ("packet_sent", "packet_received"):
            header, raw = table_of(data.get("header")), table_of(data.get("raw"))
            stated = raw.get(
                "length", header.get("packet_size", data.get("packet_size", header.get("payload_length")))
            )
            size = number(stated, f"length {place}")
            connection.has_packets = True
            total = connection.sent if name == "packet_sent" else connection.received
            total[0] += 1
            total[1] += size or 0.0
            connection.sums[name] = connection.sums.get(name, 0.0) + (size or 0.0)
        elif name in ("packet_lost", "packets_lost"):
            # mvfst counts several in one event.
            count = int(number(data.get("lost_packets", 1), f"lost_packets {place}") or 0)
            connection.lost += count
            connection.sums["lost"] = connection.sums.get("lost", 0.0) + count
        elif name in ("connection_started", "connection_new"):
            _set_ends(connection, data)
        else:
            is_listed = name[:40] in self._other_events or len(self._other_events) < _MOST_KINDS
            self._other_events[name[:40] if is_listed else "others"] += 1

    def _take_metrics(
        self, connection: _Connection, data: Mapping[str, Any], clock: _Clock, place: str
    ) -> None:
        number = self.found.doubts.number
        milliseconds = clock.unit_s * 1e3
        for theirs, ours, factor in (
            ("smoothed_rtt", "srtt_ms", milliseconds), ("congestion_window", "cwnd_bytes", 1.0), ("cwnd",
            "cwnd_bytes", 1.0), ("current_cwnd", "cwnd_bytes", 1.0),
            ("bytes_in_flight", "in_flight_bytes", 1.0), ("pacing_rate", "pacing_rate_mbps", 1e-6),
        ):  # fmt: skip
            if (value := number(data.get(theirs), f"{theirs} {place}")) is not None:
                connection.state[ours] = value * factor
        latest = number(data.get("latest_rtt"), f"latest_rtt {place}")
        if latest and len(connection.flow.rtts_ms) < _MOST_RTTS:
            connection.rtts.append(latest * milliseconds)
            connection.flow.rtts_ms.append(latest * milliseconds)

    def _close(self, connection: _Connection) -> None:
        """Writes the interval that is under way."""
        begin_s = (connection.number or 0) * self._interval_s
        sums, rtts = connection.sums, connection.rtts
        measured: dict[str, float | None] = dict(connection.state)
        for name, ours in (("packet_sent", "sent_mbps"), ("packet_received", "received_mbps")):
            measured[ours] = sums.get(name, 0.0) * 8e-6 / self._interval_s if connection.has_packets else None
        measured["lost"] = sums.get("lost", 0.0) if connection.has_packets else None
        measured["rtt_ms"] = math.fsum(rtts) / len(rtts) if rtts else None
        self.found.add(connection.flow, begin_s, begin_s + self._interval_s, **measured)
        connection.sums, connection.rtts = {}, array("d")

    def finished(self) -> Measurement:
        """The measurement.

        Raises:
            MeasurementError: if it has nothing of a connection.
        """
        for connection in self._connections.values():
            self._close(connection)
            _set_totals(connection)
        kept = [
            each.flow
            for each in self._connections.values()
            if each.has_packets or each.state or each.flow.rtts_ms
        ]
        if not kept:
            raise MeasurementError(
                f"has no packets and no metrics of QUIC among its {self._other_events.total():,} events, and "
                "nothing else is read of qlog"
            )
        if self._other_events:
            listed = ", ".join(f"{name} ({count:,})" for name, count in self._other_events.most_common(6))
            more = len(self._other_events) - 6
            self.found.notes.append(
                f"qlog: events that are not read: {listed}{f' and {more} other kinds' if more > 0 else ''}"
            )
        self.found.flows = kept
        return self.found


def _set_totals(connection: _Connection) -> None:
    flow = connection.flow
    sends = connection.sent[1] >= connection.received[1]
    flow.data_from = (
        connection.vantage if sends else ("client" if connection.vantage == "server" else "server")
    )
    measures = flow.series.measures
    names = ("sent_mbps", "received_mbps") if sends else ("received_mbps", "sent_mbps")
    for name, ours in zip(names, ("throughput_mbps", "reverse_throughput_mbps"), strict=True):
        values = measures.pop(name, None)
        if values is not None and connection.has_packets:
            measures[ours] = values
    if connection.has_packets:
        count, carried = connection.sent if sends else connection.received
        flow.totals |= {"data_packets": count, "payload_bytes": carried}
        if sends:
            # Who receives the data does not know which of them are lost.
            flow.totals |= {
                "lost": float(connection.lost),
                "loss_ratio": connection.lost / count if count else 0.0,
            }
        else:
            measures.pop("lost", None)


def _set_ends(connection: _Connection, data: Mapping[str, Any]) -> None:
    """Addresses and ports; newer drafts have them in ``local`` and ``remote``."""
    local, remote = table_of(data.get("local")), table_of(data.get("remote"))
    own_end = (
        text_of(data.get("src_ip")) or text_of(local.get("ip_v4")) or text_of(local.get("ip_v6")),
        port_of(data.get("src_port") or local.get("port_v4") or local.get("port_v6")),
    )
    other = (
        text_of(data.get("dst_ip")) or text_of(remote.get("ip_v4")) or text_of(remote.get("ip_v6")),
        port_of(data.get("dst_port") or remote.get("port_v4") or remote.get("port_v6")),
    )
    client, server = (own_end, other) if connection.vantage == "client" else (other, own_end)
    flow = connection.flow
    flow.client, flow.client_port, flow.server, flow.server_port = *client, *server


_NOTE = (
    "qlog: throughput is that of QUIC packets sent (or received, where the other end sends the data), with "
    "their headers "
    "and what was sent again; RTT is the mean of the samples (latest_rtt); lost packets are those that the "
    "sender believed lost"
)

READER = MeasurementFormat("qlog", "qlog (JSON or JSON-SEQ)", _recognises, _read)
