"""What captures show, on a terminal."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from rich.console import Console
from rich.text import Text

from anabranch.capture import CaptureResult
from anabranch.console import FrameColumn, frame_columns, print_columns, print_more
from anabranch.units import with_unit

_MOST_ROWS = 40

_CONNECTIONS: tuple[FrameColumn, ...] = (
    ("connec- tion", "connection", "d"),
    ("kind", "kind", ""),
    ("client", "client", ""),
    ("server", "server", ""),
    ("port", "server_port", "d"),
    ("sub- flows", "subflows", "d"),
    ("throughput", "throughput_mbps", "Mbps"),
    ("data", "data_throughput_mbps", "Mbps"),
    ("acked", "acked_bytes", "bytes"),
    ("RTT mean", "rtt_mean_ms", "ms"),
    ("RTT p99", "rtt_p99_ms", "ms"),
    ("retrans- mitted", "retransmissions", ",d"),
    ("reordered", "reordered_packets", ",d"),
)
_SUBFLOWS: tuple[FrameColumn, ...] = (
    ("subflow", "subflow", "d"),
    ("connec- tion", "connection", "d"),
    ("client port", "client_port", "d"),
    ("tie", "tie", ""),
    ("throughput", "throughput_mbps", "Mbps"),
    ("RTT mean", "rtt_mean_ms", "ms"),
    ("RTT p99", "rtt_p99_ms", "ms"),
    ("retrans- mitted", "retransmissions", ",d"),
    ("reordered", "reordering_ratio", ".2%"),
    ("mean extent", "reordering_extent_mean", ".1f"),
)


def show_capture(console: Console, result: CaptureResult, folder: Path | None) -> None:
    """The connections, their subflows where they have several, the window, and where everything is."""
    _show(console, "Connections", result.connections, _CONNECTIONS)
    if (result.connections["subflows"] > 1).any():
        _show(console, "Subflows", result.subflows, _SUBFLOWS)
    for line in _totals(result):
        console.print(Text(line))
    if folder is not None:
        console.print(Text(f"tables in {folder}"))


def _show(console: Console, title: str, rows: pl.DataFrame, columns: tuple[FrameColumn, ...]) -> None:
    shown = frame_columns(rows.head(_MOST_ROWS), columns)
    spare = [column.name for column in shown[3:]][::-1]
    print_columns(console, title, shown, spare=spare, rest="the tables (--out) and --json")
    print_more(console, rows.height, _MOST_ROWS)


def _totals(result: CaptureResult) -> list[str]:
    summary = result.summary
    start_s, end_s = summary["window_start_s"], summary["window_end_s"]
    window = f"window {start_s:.6f} s to {end_s:.6f} s"
    window += f" ({_time('T1', summary['t1_s'])}, {_time('T2', summary['t2_s'])})"
    total = f"throughput in all {with_unit(summary['throughput_mbps'], 'Mbps', 4)}"
    jain = summary["jain_index"]
    if result.connections.height > 1 and jain is not None and jain == jain:  # noqa: PLR0124 - NaN
        total += f"; Jain index {jain:.4f}"
    wall_s = float(summary["wall_s"])
    read = f"{summary['packets']:,} packets, {summary['bytes'] / 1e6:,.1f} MB, in {wall_s:.2f} s"
    return [window, f"{total}; {read}"]


def _time(name: str, value_s: float | None) -> str:
    return f"{name} unknown" if value_s is None else f"{name} = {value_s:.6f} s"
