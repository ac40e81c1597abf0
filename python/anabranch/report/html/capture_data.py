"""The data of the page of captures and measurements: throughput, round-trip times, windows, losses.

Tables have the 20,000 connections and the 20,000 subflows that carried most. The 20 subflows that carried
most have lines, beside the one of all subflows together.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl

from anabranch.media.page.data import Steps, column, table_data
from anabranch.report.html.against_data import against_data
from anabranch.report.views.capture import (
    capture_cards,
    connection_table,
    protocol_table,
    subflow_table,
    unknown_line,
)
from anabranch.results.result import Result
from anabranch.text.units import measure, quantity

MOST_LINES = 20
"""Subflows with lines of their own."""
MOST_ROWS = 20_000
"""Rows of the table of connections, and of that of subflows."""
_MOST_STEPS = 600
_COUNTS = ("retransmissions", "reordered_packets", "lost")
_MEANS = ("throughput_mbps", "rtt_ms", "srtt_ms", "cwnd_bytes", "cwnd_packets")
_SUMMED = ("throughput_mbps", "cwnd_bytes", "cwnd_packets", *_COUNTS)
"""Of all subflows together sums, where all are known; of the others means."""


def capture_document(result: Result) -> dict[str, Any]:
    """Everything on the page of captures, of a result with all its tables."""
    connections, subflows, summary = result.connections, result.subflows, result.summary
    notes: list[str] = []
    ranked = subflows.sort(["acked_bytes", "subflow"], descending=[True, False], nulls_last=True)
    shown = ranked.head(MOST_ROWS).sort("subflow")
    listed = connections.sort(["acked_bytes", "connection"], descending=[True, False], nulls_last=True)
    listed = listed.head(MOST_ROWS).sort("connection")
    for what, part, whole in (("connections", listed, connections), ("subflows", shown, subflows)):
        if part.height < whole.height:
            notes.append(
                f"The table of {what} has {quantity(part.height)} of {quantity(whole.height)}, "
                "which carried most."
            )
    names = [str(name) for name in summary.get("captures", [])]
    protocols = protocol_table(result)
    return {
        "kind": "capture",
        "title": ", ".join(names) if 0 < len(names) <= 3 else f"{len(names)} captures",
        "cards": [asdict(one) for one in capture_cards(result)],
        "warnings": [str(warning) for warning in summary.get("warnings", [])],
        "facts": _facts(result),
        "ended_s": _ended_s(result),
        # Where the measuring window begins and ends.
        "marks": [{"time_s": float(summary[key])} for key in ("window_start_s", "window_end_s")],
        "connections": table_data(connection_table(listed)),
        "subflows": table_data(subflow_table(shown)),
        "protocols": None if protocols is None else table_data(protocols),
        "lines": _lines(result, ranked.head(MOST_LINES).sort("subflow"), notes),
        # Of a measurement without samples, of which there is nothing to say.
        "has_rtts": "measured_by" not in summary or result.tables["rtt_distribution"].height > 0,
        "against": against_data(result),
        "measured": [line for line in (unknown_line(result), *map(str, summary.get("notes", []))) if line],
        "notes": notes,
    }


def _ended_s(result: Result) -> float:
    """Where the axis of time ends; what stands beside may last longer."""
    beside = result.tables.get("against_series")
    others = [] if beside is None or beside.is_empty() else [float(beside["time_s"].to_numpy().max())]
    return max([float(result.summary["ended_s"]), *others])


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


def _facts(result: Result) -> list[list[str]]:
    """What was read and how, for the foot of the page; no clock: the same captures give the same page."""
    summary = result.summary
    wanted = (("version", "Anabranch"), ("packets", "packets"), ("tcp_packets", "of TCP"), ("bytes", "bytes"))
    facts = [[label, str(summary[key])] for key, label in wanted if key in summary]
    facts.append(["interval", measure(float(summary["interval_s"]), "s")])
    if "measured_by" in summary:
        facts.append(["measured by", ", ".join(map(str, summary["measured_by"]))])
    began_s = summary.get("began_unix_s")
    facts.append(["first packet", "unknown" if began_s is None else f"{float(began_s):.6f} s since 1970"])
    return facts


def _lines(result: Result, chosen: pl.DataFrame, notes: list[str]) -> dict[str, Any] | None:
    """Series and distributions of some subflows, and of all together in the last row."""
    series = _evenly(result)
    if series.is_empty():
        return None
    steps = Steps.of(series["time_s"], _MOST_STEPS)
    if steps.merged > 1:
        notes.append(
            f"Lines over time: {steps.merged} intervals in a row are one step; throughput and RTT are its "
            "means, retransmissions and reordered segments its sums."
        )
    if chosen.height < result.subflows.height:
        notes.append(
            f"{chosen.height} of {quantity(result.subflows.height)} subflows have lines of their own, "
            "those that carried most."
        )
    row_of = chosen.select("subflow").with_row_index("row")
    rows = series.join(row_of, on="subflow", how="inner", maintain_order="left")
    whole = (
        series.group_by("time_s")
        .agg(
            # Unknown where no ACKs were captured, and where a tool does not tell.
            *(pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()) for name in _SUMMED),
            *(pl.col(name).mean() for name in _MEANS if name not in _SUMMED),
        )
        .sort("time_s")
        .with_columns(pl.lit(chosen.height, pl.UInt32).alias("row"))
    )
    columns = ["row", "time_s", *_MEANS, *_COUNTS]
    both = pl.concat([rows.select(columns), whole.select(columns)], how="vertical_relaxed")
    merge = (pl.col(_MEANS).mean(), *(_known_sum(name) for name in _COUNTS))
    return {
        "names": _names(chosen),
        "subflows": result.subflows.height,
        "times": column(steps.times_s, "f8"),
        "step_s": float(result.summary["interval_s"]) * steps.merged,
        "series": steps.columns(both, "row", chosen.height + 1, *merge),
        "known": [name for name in (*_MEANS, *_COUNTS) if series[name].count()],
        "distributions": _distributions(result, chosen),
    }


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


_SLIVER = 0.05
"""Part of an interval by which a sample may be late."""


def _distributions(result: Result, chosen: pl.DataFrame) -> list[dict[str, Any]]:
    """The shares of round-trip times that are at most so long: of the chosen subflows, and of all."""
    # Of the connection's data, as the lines over time.
    subflow_starts = result.subflows.select("subflow", "data_from")
    table = result.tables["rtt_distribution"].join(subflow_starts, on=["subflow", "data_from"], how="semi")
    parts = [table.filter(pl.col("subflow") == number) for number in chosen["subflow"]]
    parts.append(table.group_by("rtt_ms").agg(pl.col("samples").sum()).sort("rtt_ms"))
    distributions = []
    for part in parts:
        counts = part["samples"].to_numpy().astype(np.float64)
        shares = np.cumsum(counts) / max(float(counts.sum()), 1.0)
        distributions.append({"rtt_ms": column(part["rtt_ms"], "f8"), "share": column(shares)})
    return distributions
