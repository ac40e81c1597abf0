"""Captures, and measurements of other tools, as pieces: connections, subflows, the window and the totals."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from anabranch.media.pieces import Card, DataTable, Piece, Text
from anabranch.report.views.cards import index_text, share_text, with_values
from anabranch.results.result import Result
from anabranch.text.units import NOTHING, measure, quantity, with_unit

_RTTS = tuple(
    f"{direction}rtt_{name}"
    for direction in ("", "reverse_")
    for name in ("mean_ms", "min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms", "samples")
)
_SMOOTHED = ("srtt_mean_ms", "srtt_min_ms", "srtt_max_ms")
CONNECTIONS = (
    "connection", "kind", "name", "client", "server", "server_port", "subflows", "throughput_mbps",
    "data_throughput_mbps", "sent_mbps", "measured_bytes", "measured_from_s", "measured_until_s",
    "window_throughput_mbps", "window_data_throughput_mbps", "acked_bytes", "reverse_acked_bytes", *_RTTS,
    *_SMOOTHED, "jitter_ms", "data_packets", "retransmissions", "keep_alives", "zero_window_probes", "lost",
    "loss_ratio", "reordered_packets", "missing_bytes", "copies", "first_s", "established_s", "fin_s",
)  # fmt: skip
"""Columns of the table of connections, in every medium; those without a value are left out."""
SUBFLOWS = (
    "subflow", "connection", "name", "client", "client_port", "server", "server_port", "tie",
    "encapsulation", "outer_client", "outer_server", "congestion_control",
    "throughput_mbps", "sent_mbps", "measured_bytes", "measured_from_s", "measured_until_s",
    "window_throughput_mbps", "acked_bytes", *_RTTS, *_SMOOTHED, "jitter_ms",
    "handshake_rtt_ms", "cwnd_bytes", "cwnd_packets", "delivery_rate_mbps", "pacing_rate_mbps",
    "bbr_bandwidth_mbps", "bbr_rtt_min_ms", "busy_s", "rwnd_limited_s", "sndbuf_limited_s",
    "data_packets", "retransmissions", "keep_alives", "zero_window_probes", "lost", "loss_ratio",
    "reordering_packets", "reordering_events", "reordered_packets", "reordering_ratio",
    "reordering_extent_mean", "reordering_extent_max", "three_reordered_packets", "missing_bytes", "copies",
    "first_s", "established_s", "fin_s",
)  # fmt: skip
"""The same of subflows."""
RARE = ("keep_alives", "zero_window_probes", "copies")
"""Columns that are left out where all of their values are 0, as in nearly all captures."""
PROTOCOLS = ("encapsulation", "protocol", "packets", "reading")
"""Columns of the table of what the packets are."""


def capture_pieces(result: Result, folder: Path | None) -> list[Piece]:
    """The connections, their subflows, what else was captured, the window, and where everything is."""
    pieces: list[Piece] = [connection_table(result.connections)]
    if (result.connections["subflows"] > 1).any() or _tells_more(result.subflows):
        pieces.append(subflow_table(result.subflows))
    protocols = protocol_table(result)
    if protocols is not None:
        pieces.append(protocols)
    lines = _totals(result)
    if (compared := against_table(result)) is not None:
        pieces.append(compared)
        lines += map(str, result.summary["against"]["notes"])
    if folder is not None:
        lines.append(f"tables in {folder}")
    return [*pieces, *map(Text, lines)]


def _tells_more(subflows: pl.DataFrame) -> bool:
    """Whether subflows have what a table of connections has not: the state of a socket, or a tunnel."""
    return any(name in subflows.columns and subflows[name].count() for name in _OF_SUBFLOWS)


_OF_SUBFLOWS = (
    "encapsulation",
    "cwnd_packets",
    "delivery_rate_mbps",
    "pacing_rate_mbps",
    "bbr_bandwidth_mbps",
)


def unknown_line(result: Result) -> str | None:
    """A line on what a measurement says of no connection; None of captures."""
    if "measured_by" not in result.summary:
        return None
    tables = (result.connections, result.subflows)
    missing = [
        words
        for words, names in _ASKED.items()
        if not any(table[name].count() for table in tables for name in names if name in table.columns)
    ]
    tools = ", ".join(map(str, result.summary["measured_by"]))
    return f"measured by {tools}; unknown: {', '.join(missing) or 'nothing of what is asked first'}"


_ASKED = {
    "throughput": ("throughput_mbps",),
    "acknowledged bytes": ("acked_bytes",),
    "RTT": ("rtt_mean_ms", "srtt_mean_ms", "rtt_min_ms"),
    "retransmissions": ("retransmissions",),
    "losses": ("lost", "loss_ratio", "missing_bytes"),
    "reordered packets": ("reordered_packets", "reordering_events"),
}
"""What is asked first, and the columns that have an answer."""


def connection_table(connections: pl.DataFrame) -> DataTable:
    """Connections, with the columns that have a value."""
    return _table("connections", "Connections", connections, CONNECTIONS)


def against_table(result: Result) -> DataTable | None:
    """The table of what is compared, with the difference; None where nothing is."""
    compared = result.tables.get("against")
    if compared is None or "against" not in result.summary:
        return None
    caption = f"Beside {result.summary['against']['title']}"
    return DataTable.of_frame("against", caption, compared, AGAINST, "against", things="")


AGAINST = ("measure", "name", "other_name", "value", "other_value", "difference_percent")
"""Columns of a comparison."""


def subflow_table(subflows: pl.DataFrame) -> DataTable:
    """Subflows, with the columns that have a value."""
    return _table("subflows", "Subflows", subflows, SUBFLOWS)


def protocol_table(result: Result) -> DataTable | None:
    """The packets by what they are; None where all of them are TCP outside of tunnels."""
    protocols = result.tables.get("protocols")
    if protocols is None or (protocols.height < 2 and protocols["encapsulation"].null_count() > 0):
        return None
    return _table("protocols", "Packets", protocols, PROTOCOLS)


def capture_cards(result: Result) -> list[Card]:
    """Cards of captures: the first questions that have an answer."""
    connections, subflows, summary = result.connections, result.subflows, result.summary
    samples = connections.filter(pl.col("rtt_samples") > 0)
    count = int(samples["rtt_samples"].sum())
    mean_ms = float((samples["rtt_mean_ms"] * samples["rtt_samples"]).sum()) / count if count else None
    sent, again, late, lost = (
        _whole(connections, name) for name in ("data_packets", "retransmissions", "reordered_packets", "lost")
    )
    smoothed_ms = _whole(connections, "srtt_mean_ms")
    if mean_ms is None and smoothed_ms is not None:
        rtt = Card("Smoothed RTT", measure(smoothed_ms / connections.height, "ms"), "mean of the connections")
    else:
        rtt = Card("Mean RTT", measure(mean_ms, "ms"), f"of {quantity(count)} data segments")
    packets = summary.get("packets")
    jain = summary.get("jain_index") if connections.height > 1 else None
    window_s = float(summary["window_end_s"]) - float(summary["window_start_s"])
    captured = measure(float(summary["ended_s"]), "s")
    window = f"in the window of {measure(window_s, 's')}"
    return with_values(
        [
            Card("Measured", captured, ", ".join(map(str, summary.get("measured_by", []))))
            if packets is None
            else Card("Captured", captured, f"{quantity(packets)} packets"),
            Card("Connections", quantity(connections.height), f"{quantity(subflows.height)} subflows"),
            Card("Throughput", measure(summary["throughput_mbps"], "Mbps"), window),
            Card("Jain index", index_text(jain), "of the throughputs"),
            rtt,
            _share_card("Retransmitted", again, sent),
            _share_card("Lost", lost, sent),
            _share_card("Reordered", late, sent),
        ]
    )


def _whole(table: pl.DataFrame, name: str) -> float | None:
    """The sum of a column; None where a value is unknown."""
    if name not in table.columns or table[name].null_count() or table.is_empty():
        return None
    return float(table[name].sum())


def _share_card(label: str, part: float | None, whole: float | None) -> Card:
    """How many of the data segments, and their share where all are known; a dash where they are not."""
    if part is None:
        return Card(label, NOTHING)
    if whole is None:
        return Card(label, quantity(part), "segments")
    return Card(label, share_text(part, whole), f"{quantity(part)} segments")


def _table(name: str, caption: str, frame: pl.DataFrame, names: tuple[str, ...]) -> DataTable:
    where = "the tables (--out) and --json"
    never = {each for each in RARE if each in frame.columns and not frame[each].sum()}
    names = tuple(each for each in names if each not in never)
    return DataTable.of_frame(name, caption, frame, names, f"capture.{name}", things="", elsewhere=where)


def _totals(result: Result) -> list[str]:
    summary = result.summary
    unknown, rate = unknown_line(result), summary["throughput_mbps"]
    window = f"steady window {summary['window_start_s']:.6f} s to {summary['window_end_s']:.6f} s"
    if unknown is None:
        window += f" ({_time('T1', summary['t1_s'])}, {_time('T2', summary['t2_s'])}"
        lasting, subflows = summary["subflows_lasting"], result.subflows.height
        window += f", of {lasting} of {subflows} subflows)" if lasting < subflows else ")"
    total = f"throughput of all in the window {'unknown' if rate is None else with_unit(rate, 'Mbps', 4)}"
    jain = summary["jain_index"]
    if result.connections.height > 1 and jain is not None and jain == jain:  # noqa: PLR0124 - NaN
        total += f"; Jain index {jain:.4f}"
    if unknown is not None:
        return [unknown, *map(str, summary.get("notes", [])), window, total]
    wall_s = float(summary["wall_s"])
    read = f"{summary['packets']:,} packets, {summary['bytes'] / 1e6:,.1f} MB, in {wall_s:.2f} s"
    return [window, f"{total}; {read}"]


def _time(name: str, value_s: float | None) -> str:
    return f"{name} unknown" if value_s is None else f"{name} = {value_s:.6f} s"
