"""Captures as charts: subflows over time, distributions of their round-trip times, and what stands beside."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl

from anabranch.media.charts import Curve, DistributionChart, Line, LineChart, ValueAxis
from anabranch.media.columns import column
from anabranch.media.palette import PALETTE, PATTERNS, TOGETHER, Look
from anabranch.results.result import Result
from anabranch.text.units import quantity

MOST_LINES = 20
"""Subflows, and flows of each side of a comparison, with lines of their own."""
_FEW_LINES = 8
"""Subflows that all have lines at first."""
_COUNTS = ("retransmissions", "lost", "reordered_packets")
_MEANS = ("throughput_mbps", "rtt_ms", "srtt_ms", "cwnd_bytes", "cwnd_packets")
_SUMMED = ("throughput_mbps", "cwnd_bytes", "cwnd_packets", *_COUNTS)
"""Of all subflows together sums, where all are known; of the others means."""
_SLIVER = 0.05
"""Part of an interval by which a sample may be late."""
_SIDES = {"measured": (0, ("-", "-.", "-..")), "other": (1, ("--", ":", "-,"))}
"""First colour and dashes of each side of a comparison; behind the eighth flow colours come again."""

_THROUGHPUT, _SMOOTHED, _RTT, _WINDOW = (
    ValueAxis(column(name)) for name in ("throughput_mbps", "srtt_ms", "rtt_ms", "cwnd_bytes")
)
_SENT_AGAIN, _LOST, _REORDERED = (
    ValueAxis(column(name), heading, unit, merge="sum")
    for name, heading, unit in (
        ("retransmissions", "retransmissions", "segments"),
        ("lost", "lost packets", "packets"),
        ("reordered_packets", "reordering", "segments"),
    )
)
_CAPTURED = (
    (_THROUGHPUT,),
    (replace(_RTT, heading="RTT of data segments"), _SMOOTHED),
    (_WINDOW, ValueAxis(column("cwnd_packets"), "congestion window", "segments")),
    (_SENT_AGAIN,),
    (_LOST,),
    (_REORDERED,),
)
"""Axes of a capture, of each kind the first one that was measured."""
_COMPARED = ((_THROUGHPUT,), (_SMOOTHED, _RTT), (_WINDOW,), (_SENT_AGAIN,))


def _known_axes(series: pl.DataFrame, kinds: tuple[tuple[ValueAxis, ...], ...]) -> tuple[ValueAxis, ...]:
    """The first axis of each kind that was measured: an empty chart of what was not would read as none."""
    known = ([axis for axis in kind if series[axis.name].count()] for kind in kinds)
    return tuple(axes[0] for axes in known if axes)


def capture_chart(result: Result, chosen: pl.DataFrame) -> LineChart | None:
    """Everything that was measured over time, of all subflows together and of some of them.

    Args:
        result: of captures or measurements.
        chosen: rows of the table of subflows, each of which has a line.

    Returns:
        The chart; None where there is nothing over time. At first it shows few subflows with a line each, and
        of many what they have together.
    """
    series = _evenly(result)
    if series.is_empty():
        return None
    lines, parts = _subflow_lines(result, chosen), list[pl.DataFrame]()
    first = len(lines) - chosen.height
    if first:
        whole = series.group_by("time_s").agg(
            # Unknown where no ACKs were captured, and where a tool does not tell.
            *(_known_sum(name) for name in _SUMMED),
            *(pl.col(name).mean() for name in _MEANS if name not in _SUMMED),
        )
        parts.append(whole.sort("time_s").with_columns(line=pl.lit(0, pl.UInt32)))
    numbered = chosen.select("subflow").with_row_index("line", offset=first)
    parts.append(series.join(numbered, on="subflow", how="inner", maintain_order="left"))
    names = ["line", "time_s", *_MEANS, *_COUNTS]
    samples = pl.concat([part.select(names) for part in parts], how="vertical_relaxed")
    count = result.subflows.height
    note = f"{chosen.height} of {quantity(count)} subflows have lines of their own, those that carried most."
    return LineChart(
        "subflows", "", _known_axes(series, _CAPTURED), tuple(lines), samples,
        float(result.summary["ended_s"]), notes=(note,) if chosen.height < count else (),
        shown=tuple(range(len(lines) if chosen.height <= _FEW_LINES else first)),
        interval_s=float(result.summary["interval_s"]),
    )  # fmt: skip


def _subflow_lines(result: Result, chosen: pl.DataFrame) -> list[Line]:
    """A line of all subflows, where there are several, and one of each that is chosen."""
    whole = Line(f"all {quantity(result.subflows.height)} subflows", TOGETHER, is_of_several=True)
    lines = [
        Line(name, _look(place, place // len(PALETTE), PATTERNS)) for place, name in enumerate(_names(chosen))
    ]
    return [whole, *lines] if result.subflows.height > 1 else lines


def _look(color: int, dash: int, dashes: tuple[str, ...]) -> Look:
    return Look(PALETTE[color % len(PALETTE)], "", dashes[dash % len(dashes)])


def _socket(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _names(subflows: pl.DataFrame) -> list[str]:
    """The ends of each subflow, or what its tool calls it; of the server only where there are several."""
    rows = list(subflows.select("client", "client_port", "server", "server_port").iter_rows())
    called = subflows["name"].to_list() if "name" in subflows.columns else [None] * len(rows)
    several = len({row[2:] for row in rows}) > 1
    names = []
    for name, (client, port, server, server_port) in zip(called, rows, strict=True):
        if client is None or port is None:
            names.append(str(name or client))
        elif several:
            names.append(f"{_socket(client, port)} to {_socket(server, server_port)}")
        else:
            names.append(_socket(client, port))
    return names


def _known_sum(name: str) -> pl.Expr:
    """The sum of what is known; null, and not 0, where nothing is."""
    return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum())


def _evenly(result: Result) -> pl.DataFrame:
    """The series of subflows with every measure, at the same instants for all of them.

    Tools sample each flow at instants of its own, by which lines would have gaps.
    """
    series = result.subflow_series
    missing = [name for name in (*_MEANS, *_COUNTS) if name not in series.columns]
    series = series.with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)
    if "measured_by" not in result.summary:
        return series
    step_s = float(result.summary["interval_s"])
    instant = ((pl.col("time_s") / step_s - _SLIVER).ceil() * step_s).alias("time_s")
    return (
        series.group_by("subflow", instant, maintain_order=True)
        .agg(pl.col(_MEANS).mean(), *(_known_sum(name) for name in _COUNTS))
        .sort("time_s")
    )


def rtt_distribution(result: Result, chosen: pl.DataFrame) -> DistributionChart:
    """The shares of round-trip times that are at most so long, a curve for each line of a capture."""
    # Of the connection's data, as the lines over time.
    subflow_starts = result.subflows.select("subflow", "data_from")
    table = result.tables["rtt_distribution"].join(subflow_starts, on=["subflow", "data_from"], how="semi")
    parts = [table.filter(pl.col("subflow") == number) for number in chosen["subflow"]]
    lines = _subflow_lines(result, chosen)
    if len(lines) > len(parts):
        parts.insert(0, table.group_by("rtt_ms").agg(pl.col("samples").sum()).sort("rtt_ms"))
    curves = []
    for line, part in zip(lines, parts, strict=True):
        counts = part["samples"].to_numpy().astype(np.float64)
        values, shares = part["rtt_ms"].to_numpy(), np.cumsum(counts) / max(float(counts.sum()), 1.0)
        # From nothing to the share of the shortest.
        values, shares = np.concatenate([values[:1], values]), np.concatenate([0 * shares[:1], shares])
        curves.append(Curve(line.label, line.look, values, shares, np.empty(0)))
    axis = ValueAxis(column("rtt_ms"), "round-trip times")
    return DistributionChart("rtt", "", axis, "data segments", tuple(curves), is_log=None)


def against_chart(result: Result) -> LineChart | None:
    """Lines of both sides of a comparison, at first the sum of each or its only flow; None for no sample."""
    series = result.tables.get("against_series")
    if series is None or series.is_empty():
        return None
    title = str(result.summary["against"]["title"])
    keys = series.select("side", "flow", "name").unique(maintain_order=True)
    listed = keys.group_by("side", maintain_order=True).head(MOST_LINES).with_row_index("line")
    places, lines, shown = Counter[str](), list[Line](), list[int]()
    for side, name in listed.select("side", "name").iter_rows():
        color, dashes = _SIDES[side]
        look = _look(places[side] + color, places[side] // len(PALETTE), dashes)
        if not places[side]:
            shown.append(len(lines))
        lines.append(Line(f"{'measured' if side == 'measured' else title}: {name}", look))
        places[side] += 1
    samples = series.join(listed.drop("name"), on=["side", "flow"], how="inner", nulls_equal=True)
    axes = _known_axes(series, _COMPARED)
    left_out = listed.height < keys.select("side", "flow").unique().height
    return LineChart(
        "against", title, axes, tuple(lines), samples, float(result.summary["ended_s"]), shown=tuple(shown),
        notes=(f"At most {MOST_LINES} flows of a side have lines.",) if left_out else (),
    )  # fmt: skip
