"""A measurement, or captures, beside a run or another measurement: differences, and lines over time.

What is compared has the same meaning on both sides: throughput (of a run: goodput), the mean of the samples
of the round-trip time, the mean of the sender's smoothed one, retransmissions, lost packets. Both sides begin
at 0. Flows are paired in their order where both sides have as many; else only the sums are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from anabranch.errors import ResultError
from anabranch.results.folders import read_manifest
from anabranch.results.result import Result
from anabranch.runs.capture import CaptureResult, analyze, capture_name
from anabranch.runs.measurements.grid import edges, on_grid

MOST_FLOWS = 100
"""Flows of a side that are compared one by one, and that have lines."""
_MOST_STEPS = 1_000_000
_OVER_TIME = ("throughput_mbps", "rtt_ms", "srtt_ms", "cwnd_bytes", "retransmissions")
_SUMMED = ("throughput_mbps", "cwnd_bytes", "retransmissions")
"""Of several flows together the sum; of others the mean."""
MEASURES: Mapping[str, str] = {
    "throughput_mbps": "throughput (Mbps)",
    "rtt_mean_ms": "mean RTT (ms)",
    "rtt_min_ms": "least RTT (ms)",
    "srtt_mean_ms": "mean of the smoothed RTT (ms)",
    "carried_bytes": "carried (bytes)",
    "retransmissions": "retransmissions",
    "lost": "lost packets",
}
"""What is compared, and its name for people."""
_TOTALS = ("throughput_mbps", "carried_bytes", "retransmissions", "lost")


@dataclass(frozen=True)
class _Side:
    """What is compared of a result."""

    title: str
    flows: pl.DataFrame
    """A row for each flow: ``flow``, ``name``, ``is_ping``, and the measures; null is unknown."""
    series: pl.DataFrame
    """``time_s``, ``flow`` and measures over time; counts are those of an interval."""
    interval_s: float | None
    """Of the series; None without any."""


def against(measured: CaptureResult, other: Result | Path | str) -> CaptureResult:
    """The measurement with the tables ``against`` and ``against_series``, and what they mean in its summary.

    Args:
        measured: captures, or a measurement of another tool.
        other: a run, its folder, the folder of another measurement, or the file of one.

    Raises:
        ResultError: if there is no such folder, or it is of something else.
        CaptureError: if a file is no measurement.
    """
    mine = _of_capture(measured, ", ".join(map(str, measured.summary["captures"])))
    beside = _side(other)
    rows, notes = _compared(mine, beside)
    tables = dict(measured.tables) | {"against": _table(rows)}
    series = _series(mine, beside, notes)
    if series is not None:
        tables["against_series"] = series
    summary = {
        **measured.summary,
        "against": {
            "title": beside.title,
            "notes": [f"Beside {beside.title}; both begin at 0.", *notes],
        },
    }
    return CaptureResult(tables, summary)


def _side(other: Result | Path | str) -> _Side:
    if isinstance(other, CaptureResult):
        return _of_capture(other, ", ".join(map(str, other.summary["captures"])))
    if isinstance(other, Result):
        return _of_run(other, str(other.summary.get("title") or "the run"))
    place = Path(other)
    if not place.exists():
        raise ResultError(f"{place}: is not there; give the folder of a run, or a measurement")
    if not place.is_dir():
        return _of_capture(analyze([place]), capture_name(place))
    manifest = read_manifest(place)
    kind = manifest.kind if manifest is not None else Result.kind
    if kind == CaptureResult.kind:
        return _of_capture(CaptureResult.load(place), place.name)
    if kind != Result.kind:
        raise ResultError(f"{place}: is the folder of a {kind}; give that of a run, or a measurement")
    return _of_run(Result.load(place), place.name)


def _of_capture(result: CaptureResult, title: str) -> _Side:
    """Connections, with the smoothed round-trip times and windows of their subflows."""
    connections = result.connections
    names = [
        name or f"{client} to {server}"
        for name, client, server in zip(
            _column(connections, "name"), connections["client"], connections["server"], strict=True
        )
    ]
    flows = connections.select(
        pl.col("connection").cast(pl.Int64).alias("flow"),
        (pl.col("kind") == "ping").alias("is_ping"),
        pl.col("acked_bytes").cast(pl.Float64).alias("carried_bytes"),
        *(_float(connections, name) for name in MEASURES if name != "carried_bytes"),
    ).with_columns(pl.Series("name", names, dtype=pl.String))
    samples = result.subflow_series
    series = samples.select(
        "time_s",
        pl.col("connection").cast(pl.Int64).alias("flow"),
        *(_float(samples, name) for name in _OVER_TIME),
    )
    interval_s = float(result.summary["interval_s"])
    return _Side(title, flows, _together(series, ["time_s", "flow"]), interval_s if series.height else None)


def _of_run(result: Result, title: str) -> _Side:
    """Flows of TCP, and those of datagrams behind them."""
    flows = result.flows
    of_tcp = flows.select(
        pl.col("flow").cast(pl.Int64), "name", pl.lit(value=False).alias("is_ping"),
        pl.col("goodput_mbps").alias("throughput_mbps"),
        pl.col("delivered_bytes").cast(pl.Float64).alias("carried_bytes"),
        *(_float(flows, name) for name in ("rtt_mean_ms", "rtt_min_ms", "retransmissions")),
    )  # fmt: skip
    series = _of_flow_series(result.tables.get("flow_series"))
    if series is not None:
        smoothed = series.group_by("flow").agg(pl.col("srtt_ms").mean().alias("srtt_mean_ms"))
        of_tcp = of_tcp.join(smoothed, on="flow", how="left", maintain_order="left")
    parts, over_time = [of_tcp], [] if series is None else [series]
    if (datagrams := result.tables.get("datagram_flows")) is not None:
        first = max(flows["flow"].to_list(), default=-1) + 1
        is_ping = pl.col("kind") == "ping"
        parts.append(
            datagrams.select(
                (pl.col("flow").cast(pl.Int64) + first), "name", is_ping.alias("is_ping"),
                pl.when(~is_ping).then(pl.col("throughput_mbps")).alias("throughput_mbps"),
                pl.when(is_ping).then(pl.col("latency_mean_ms")).alias("rtt_mean_ms"),
                pl.when(is_ping).then(pl.col("latency_min_ms")).alias("rtt_min_ms"),
                pl.col("lost").cast(pl.Float64),
            )
        )  # fmt: skip
        samples = result.tables.get("datagram_series")
        if samples is not None:
            pings = datagrams.filter(is_ping)["flow"].to_list()
            ping = pl.col("flow").is_in(pings)
            over_time.append(
                samples.select(
                    "time_s", pl.col("flow").cast(pl.Int64) + first,
                    pl.when(~ping).then(pl.col("throughput_mbps")).alias("throughput_mbps"),
                    pl.when(ping).then(pl.col("latency_mean_ms")).alias("rtt_ms"),
                )
            )  # fmt: skip
    joined = pl.concat(parts, how="diagonal_relaxed")
    joined = joined.with_columns(
        pl.lit(None, pl.Float64).alias(name) for name in MEASURES if name not in joined.columns
    )
    if not over_time:
        return _Side(title, joined, pl.DataFrame(schema={"time_s": pl.Float64, "flow": pl.Int64}), None)
    over_time_table = pl.concat(over_time, how="diagonal_relaxed")
    over_time_table = over_time_table.select(
        "time_s", "flow", *(_float(over_time_table, name) for name in _OVER_TIME)
    )
    times_s = over_time_table["time_s"].unique().sort()
    return _Side(title, joined, over_time_table, float(times_s.diff().median() or times_s.max() or 0) or None)  # type: ignore[arg-type]


def _of_flow_series(series: pl.DataFrame | None) -> pl.DataFrame | None:
    """Samples of a run, whose retransmissions are counted since the start, by interval."""
    if series is None or series.is_empty():
        return None
    counted = pl.col("retransmissions").cast(pl.Float64)
    return series.select(
        "time_s", pl.col("flow").cast(pl.Int64), pl.col("goodput_mbps").alias("throughput_mbps"), "srtt_ms",
        "rtt_ms",
        pl.col("cwnd_bytes").cast(pl.Float64),
        (counted - counted.shift(1).over("flow").fill_null(0)).alias("retransmissions"),
    )  # fmt: skip


def _column(table: pl.DataFrame, name: str) -> Sequence[Any]:
    return table[name].to_list() if name in table.columns else [None] * table.height


def _float(table: pl.DataFrame, name: str) -> pl.Expr:
    """A column as numbers; null where there is none."""
    return pl.col(name).cast(pl.Float64) if name in table.columns else pl.lit(None, pl.Float64).alias(name)


def _together(series: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Several flows as one: sums, of what is known of all of them, and means."""
    summed = (
        pl.when(pl.col(name).count() == pl.len()).then(pl.col(name).sum()).alias(name) for name in _SUMMED
    )
    means = (pl.col(name).mean() for name in _OVER_TIME if name not in _SUMMED)
    return series.group_by(by).agg(*summed, *means).sort(by)


def _compared(mine: _Side, other: _Side) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of the table, and what there is to say of them."""
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for is_ping, what in ((False, "flows"), (True, "pings")):
        left, right = (side.flows.filter(pl.col("is_ping") == is_ping) for side in (mine, other))
        if left.is_empty() and right.is_empty():
            continue
        if not is_ping and max(left.height, right.height) > 1:
            rows += _row(_whole(left), _whole(right))
        if left.height != right.height:
            notes.append(
                f"{left.height:,} {what} were measured, and {right.height:,} are beside them: they are not "
                "compared one by one."
            )
            continue
        if left.height > MOST_FLOWS:
            notes.append(f"Of {left.height:,} {what} the first {MOST_FLOWS} are compared one by one.")
        if left.height > 1:
            notes.append(f"The {what} are paired in their order.")
        pairs = zip(left.head(MOST_FLOWS).iter_rows(named=True), right.iter_rows(named=True), strict=False)
        rows += [row for pair in pairs for row in _row(*pair)]
    return rows, notes


def _whole(flows: pl.DataFrame) -> dict[str, Any]:
    """All flows of a side as one; what is unknown of one of them is unknown."""
    whole: dict[str, Any] = {"name": f"all {flows.height:,}"}
    for name in _TOTALS:
        is_known = flows.height and not flows[name].null_count()
        whole[name] = flows[name].sum() if is_known else None
    return whole


def _row(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each measure that both have."""
    for name, words in MEASURES.items():
        value, other = left.get(name), right.get(name)
        if value is None or other is None:
            continue
        yield {
            "measure": words, "name": left["name"], "other_name": right["name"], "value": value,
            "other_value": other,
            "difference_percent": (other / value - 1) * 100 if value else None,
        }  # fmt: skip


def _table(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    schema = {
        "measure": pl.String, "name": pl.String, "other_name": pl.String, "value": pl.Float64,
        "other_value": pl.Float64, "difference_percent": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame([dict(row) for row in rows], schema=schema)


def _series(mine: _Side, other: _Side, notes: list[str]) -> pl.DataFrame | None:
    """Both over time on one grid, the sums first; None where one of them has no series."""
    for side in (mine, other):
        if side.interval_s is None:
            notes.append(f"{side.title} has nothing over time, so that there are no lines.")
            return None
    step_s = max(mine.interval_s or 0.0, other.interval_s or 0.0)
    last_s = max(float(side.series["time_s"].to_numpy().max()) for side in (mine, other))
    grid_s = edges(0.0, last_s, step_s, _MOST_STEPS // MOST_FLOWS)
    parts = []
    for name, side in (("measured", mine), ("other", other)):
        names = dict(side.flows.select("flow", "name").iter_rows())
        pings = set(side.flows.filter("is_ping")["flow"])
        gridded: list[pl.DataFrame] = []
        for (flow,), rows in side.series.partition_by("flow", as_dict=True, maintain_order=True).items():
            if len(gridded) >= MOST_FLOWS:
                notes.append(f"Of {side.title} the first {MOST_FLOWS} flows have lines.")
                break
            on = _gridded(rows, side.interval_s or step_s, grid_s)
            gridded.append(
                on.with_columns(pl.lit(flow, pl.Int64).alias("flow"), pl.lit(names.get(flow)).alias("name"))
            )
        data = [each for each in gridded if each["flow"][0] not in pings]
        if len(data) > 1:
            whole = _together(pl.concat(data), ["time_s"])
            label = pl.lit(f"all {len(data)}").alias("name")
            gridded.insert(
                0, whole.with_columns(pl.lit(None, pl.Int64).alias("flow"), label).select(gridded[0].columns)
            )
        parts += [each.with_columns(pl.lit(name).alias("side")) for each in gridded]
    return pl.concat(parts).select("time_s", "side", "flow", "name", *_OVER_TIME)


def _gridded(rows: pl.DataFrame, interval_s: float, grid_s: Any) -> pl.DataFrame:
    """The samples of a flow on a grid; each is of the time since the one before it."""
    end_s = rows["time_s"].to_numpy()
    begin_s = np.concatenate(([max(0.0, end_s[0] - interval_s)], end_s[:-1]))
    measures = {name: rows[name].fill_null(np.nan).to_numpy() for name in _OVER_TIME}
    on = on_grid(begin_s, end_s, measures, grid_s, ("retransmissions",))
    return pl.DataFrame({"time_s": grid_s[1:], **on}).with_columns(pl.col(pl.Float64).fill_nan(None))
