"""Captures as pieces: the connections, their subflows, the window and the totals."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from anabranch.media.pieces import Card, DataTable, Piece, Text
from anabranch.report.views.cards import index_text, known, share_text
from anabranch.results.result import Result
from anabranch.text.units import measure, quantity, with_unit

_RTTS = tuple(
    f"{direction}rtt_{name}"
    for direction in ("", "reverse_")
    for name in ("mean_ms", "min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms", "samples")
)
CONNECTIONS = (
    "connection", "kind", "client", "server", "server_port", "subflows", "throughput_mbps",
    "data_throughput_mbps", "sent_mbps", "measured_bytes", "measured_from_s", "measured_until_s",
    "window_throughput_mbps", "window_data_throughput_mbps", "acked_bytes", "reverse_acked_bytes", *_RTTS,
    "data_packets", "retransmissions", "keep_alives", "zero_window_probes", "reordered_packets",
    "missing_bytes", "copies", "first_s", "established_s", "fin_s",
)  # fmt: skip
"""Columns of the table of connections, in every medium; those without a value are left out."""
SUBFLOWS = (
    "subflow", "connection", "client", "client_port", "server", "server_port", "tie",
    "encapsulation", "outer_client", "outer_server",
    "throughput_mbps", "sent_mbps", "measured_bytes", "measured_from_s", "measured_until_s",
    "window_throughput_mbps", "acked_bytes", *_RTTS,
    "handshake_rtt_ms", "data_packets", "retransmissions", "keep_alives", "zero_window_probes",
    "reordered_packets", "reordering_ratio",
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
    # Which connection is in which tunnel is in the table of subflows.
    inside = result.subflows["encapsulation"]
    if (result.connections["subflows"] > 1).any() or inside.null_count() < inside.len():
        pieces.append(subflow_table(result.subflows))
    protocols = protocol_table(result)
    if protocols is not None:
        pieces.append(protocols)
    lines = _totals(result)
    if folder is not None:
        lines.append(f"tables in {folder}")
    return [*pieces, *map(Text, lines)]


def connection_table(connections: pl.DataFrame) -> DataTable:
    """Connections, with the columns that have a value."""
    return _table("connections", "Connections", connections, CONNECTIONS)


def subflow_table(subflows: pl.DataFrame) -> DataTable:
    """Subflows, with the columns that have a value."""
    return _table("subflows", "Subflows", subflows, SUBFLOWS)


def protocol_table(result: Result) -> DataTable | None:
    """What the packets are; None where all of them are TCP outside of tunnels."""
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
    counts = ("data_packets", "retransmissions", "reordered_packets")
    sent, again, late = (int(connections[name].sum() or 0) for name in counts)
    jain = summary.get("jain_index") if connections.height > 1 else None
    window_s = float(summary["window_end_s"]) - float(summary["window_start_s"])
    captured = measure(float(summary["ended_s"]), "s")
    window = f"in the window of {measure(window_s, 's')}"
    return known(
        [
            Card("Captured", captured, f"{quantity(summary['packets'])} packets"),
            Card("Connections", quantity(connections.height), f"{quantity(subflows.height)} subflows"),
            Card("Throughput", measure(summary["throughput_mbps"], "Mbps"), window),
            Card("Jain index", index_text(jain), "of the throughputs"),
            Card("Mean RTT", measure(mean_ms, "ms"), f"of {quantity(count)} data segments"),
            Card("Retransmitted", share_text(again, sent), f"{quantity(again)} segments"),
            Card("Reordered", share_text(late, sent), f"{quantity(late)} segments"),
        ]
    )


def _table(name: str, caption: str, frame: pl.DataFrame, names: tuple[str, ...]) -> DataTable:
    where = "the tables (--out) and --json"
    never = {each for each in RARE if each in frame.columns and not frame[each].sum()}
    names = tuple(each for each in names if each not in never)
    return DataTable.of_frame(name, caption, frame, names, f"capture.{name}", things="", elsewhere=where)


def _totals(result: Result) -> list[str]:
    summary = result.summary
    window = f"steady window {summary['window_start_s']:.6f} s to {summary['window_end_s']:.6f} s"
    window += f" ({_time('T1', summary['t1_s'])}, {_time('T2', summary['t2_s'])}"
    lasting, subflows = summary["subflows_lasting"], result.subflows.height
    window += f", of {lasting} of {subflows} subflows)" if lasting < subflows else ")"
    total = f"throughput of all in the window {with_unit(summary['throughput_mbps'], 'Mbps', 4)}"
    jain = summary["jain_index"]
    if result.connections.height > 1 and jain is not None and jain == jain:  # noqa: PLR0124 - NaN
        total += f"; Jain index {jain:.4f}"
    wall_s = float(summary["wall_s"])
    read = f"{summary['packets']:,} packets, {summary['bytes'] / 1e6:,.1f} MB, in {wall_s:.2f} s"
    return [window, f"{total}; {read}"]


def _time(name: str, value_s: float | None) -> str:
    return f"{name} unknown" if value_s is None else f"{name} = {value_s:.6f} s"
