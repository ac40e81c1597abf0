"""The tables of captures, made of measurements. What a tool does not measure is null."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from anabranch.media.columns import column
from anabranch.media.columns.tables import CAPTURE, MEASUREMENT
from anabranch.runs.measurements.grid import Values, edges, on_grid
from anabranch.runs.measurements.model import COUNTED, SERIES, MeasuredFlow, Measurement

MOST_STEPS = 5_000_000
"""Rows of a table of series."""
_PERCENTILES = (50, 90, 95, 99)
_MOST_CURVE_STEPS = 1000
"""Steps of the distribution of round-trip times of a flow."""


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of the time that totals are of, in seconds."""

    begin_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        """How long it is."""
        return self.end_s - self.begin_s


@dataclass(frozen=True)
class _Flow:
    """A flow on the common clock."""

    number: int
    connection: int
    of: MeasuredFlow
    begin_s: Values
    end_s: Values
    measures: Mapping[str, Values]

    @property
    def ends_s(self) -> tuple[float, float] | None:
        """When its first interval begins and its last one ends; None without any."""
        return (float(self.begin_s[0]), float(self.end_s[-1])) if len(self.end_s) else None

    def carried(self, window: _Window) -> tuple[float, float] | None:
        """Bytes carried in a window, and the seconds of it in which that is known; None where it never is."""
        rates = self.measures.get("throughput_mbps")
        if rates is None or window.length_s <= 0:
            return None
        until_s, from_s = np.minimum(self.end_s, window.end_s), np.maximum(self.begin_s, window.begin_s)
        inside_s = np.where(np.isnan(rates), 0.0, (until_s - from_s).clip(min=0))
        known_s = float(inside_s.sum())
        return (float(np.nansum(rates * inside_s)) * 125_000, known_s) if known_s > 0 else None

    def values(self, name: str) -> Values:
        """The values of a measure where it is known."""
        values = self.measures.get(name, np.empty(0))
        return values[~np.isnan(values)]

    def mean(self, name: str) -> float | None:
        """The mean of a measure over the intervals in which it is known."""
        values = self.values(name)
        return float(values.mean()) if len(values) else None

    def sum(self, name: str) -> float | None:
        """The sum of counts; unknown where that of an interval is."""
        values = self.measures.get(name, np.empty(0))
        return float(values.sum()) if len(values) and not np.isnan(values).any() else None


def measured_tables(
    measurements: Sequence[Measurement],
    offsets_s: Sequence[float],
    window_s: float | None,
    interval_s: float | None,
) -> tuple[dict[str, pl.DataFrame], dict[str, Any], list[str]]:
    """Tables, what the summary has of them, and warnings.

    Args:
        measurements: of one experiment.
        offsets_s: when each of them began on the common clock.
        window_s: length of the measuring window, which ends with the measurement; None for all of it.
        interval_s: length of the intervals of all series; None for those of the tools.

    Raises:
        ValueError: if there would be too many intervals.
    """
    flows = _numbered(measurements, offsets_s)
    ends_s = [flow.ends_s for flow in flows if flow.ends_s is not None]
    first_s, last_s = (min(a for a, _ in ends_s), max(b for _, b in ends_s)) if ends_s else (0.0, 0.0)
    window, warnings = _Window(first_s, last_s), list[str]()
    if window_s is not None and window_s > window.length_s:
        warnings.append(
            f"the measurement lasts {window.length_s:.6g} s, "
            f"which is less than the window of {window_s:.6g} s"
        )
    elif window_s is not None:
        window = _Window(last_s - window_s, last_s)
    is_whole = window_s is None
    step_s = interval_s or _usual_s(measurements, flows)
    subflows = _frame("subflows", [_subflow_row(flow, window, is_whole=is_whole) for flow in flows])
    parts: dict[int, list[_Flow]] = {}
    for flow in flows:
        parts.setdefault(flow.connection, []).append(flow)
    connections = _frame("connections", [_connection_row(part, subflows, window) for part in parts.values()])
    tables = {
        "connections": connections,
        "subflows": subflows,
        **_series(flows, step_s, (first_s, last_s), resample=interval_s is not None),
        "rtt_distribution": _distributions(flows),
    }
    rates = connections["throughput_mbps"].drop_nulls()
    summary = {
        "ended_s": last_s, "t1_s": None, "t2_s": None, "window_start_s": window.begin_s,
        "window_end_s": window.end_s, "throughput_mbps": _total(flows, rates, window, is_whole=is_whole),
        "jain_index": _jain(rates), "subflows_established": len(flows), "interval_s": step_s,
    }  # fmt: skip
    return tables, summary, warnings


def _numbered(measurements: Sequence[Measurement], offsets_s: Sequence[float]) -> list[_Flow]:
    """All flows with their numbers, in the order of files; subflows of one connection share its number."""
    numbered: list[_Flow] = []
    connections: dict[Hashable, int] = {}
    for place, (measurement, offset_s) in enumerate(zip(measurements, offsets_s, strict=True)):
        for flow in measurement.flows:
            key = (place, "alone", len(numbered)) if flow.connection is None else (place, flow.connection)
            series = flow.series
            begin_s, end_s = (np.array(times) + offset_s for times in (series.begin_s, series.time_s))
            measures = {name: np.array(series.measures[name]) for name in SERIES if name in series.measures}
            number = connections.setdefault(key, len(connections))
            numbered.append(_Flow(len(numbered), number, flow, begin_s, end_s, measures))
    return numbered


def _usual_s(measurements: Sequence[Measurement], flows: Sequence[_Flow]) -> float:
    """The interval of the tools; the middle one of their samples where they state none."""
    stated = {each.interval_s for each in measurements if each.interval_s}
    if stated:
        return max(stated)
    lengths = [flow.end_s - flow.begin_s for flow in flows if len(flow.end_s)]
    middle = float(np.median(np.concatenate(lengths))) if lengths else 0.0
    # Of lengths that differ by milliseconds, as those of a loop in a shell, the number of two digits.
    return float(f"{middle:.2g}") if middle > 0 else 1.0


def _total(flows: Sequence[_Flow], rates: pl.Series, window: _Window, *, is_whole: bool) -> float | None:
    """The throughput of all flows together; None where it is known of none."""
    if is_whole and all(flow.of.throughput_mbps is not None for flow in flows):
        return float(rates.sum())
    carried = [each[0] for flow in flows if (each := flow.carried(window)) is not None]
    return sum(carried) * 8e-6 / window.length_s if carried else None


def _subflow_row(flow: _Flow, window: _Window, *, is_whole: bool) -> dict[str, Any]:
    of, ends_s, carried = flow.of, flow.ends_s, flow.carried(window)
    rate = carried[0] * 8e-6 / carried[1] if carried else None
    if is_whole and of.throughput_mbps is not None:
        rate = of.throughput_mbps
    sums = {name: flow.sum(name) for name in COUNTED}
    sums |= {name: flow.mean(name) for name in ("loss_ratio", "jitter_ms")}
    return {
        **sums, **of.totals, **_rtts(flow), **_srtts(flow),
        "subflow": flow.number, "connection": flow.connection, "name": of.name,
        "tie": "token" if of.kind == "mptcp" else of.kind,
        "client": of.client, "client_port": of.client_port, "server": of.server,
        "server_port": of.server_port, "data_from": of.data_from,
        "first_s": ends_s[0] if ends_s else None, "last_s": ends_s[1] if ends_s else None,
        "window_acked_bytes": carried[0] if carried else None, "throughput_mbps": rate,
        "congestion_control": of.congestion_control,
    }  # fmt: skip


def _rtts(flow: _Flow) -> dict[str, float]:
    """Round-trip times: of the samples, else of the means of intervals."""
    samples = np.array(flow.of.rtts_ms)
    values = samples if len(samples) else flow.values("rtt_ms")
    if not len(values):
        return {}
    columns = {f"rtt_{name}_ms": value for name, value in _extremes(values).items()}
    if len(samples):
        columns["rtt_samples"] = len(samples)
        shares = np.percentile(samples, _PERCENTILES, method="inverted_cdf")
        columns |= {
            f"rtt_p{share}_ms": float(value) for share, value in zip(_PERCENTILES, shares, strict=True)
        }
    return columns


def _srtts(flow: _Flow) -> dict[str, float]:
    """Smoothed round-trip times of the series, or the one of a single sample."""
    values = flow.values("srtt_ms")
    if not len(values):
        now = flow.of.totals.get("srtt_ms")
        return {} if now is None else dict.fromkeys(("srtt_mean_ms", "srtt_min_ms", "srtt_max_ms"), now)
    return {f"srtt_{name}_ms": value for name, value in _extremes(values).items()}


def _extremes(values: Values) -> dict[str, float]:
    return {"min": float(values.min()), "mean": float(values.mean()), "max": float(values.max())}


_SUMS = (
    "acked_bytes", "reverse_acked_bytes", "window_acked_bytes", "data_packets", "retransmissions",
    "reordered_packets", "missing_bytes", "rtt_samples", "lost",
)  # fmt: skip
_LEAST = ("first_s", "rtt_min_ms", "srtt_min_ms", "reverse_rtt_min_ms")
_MOST = ("rtt_max_ms", "srtt_max_ms")
_MEANS = ("rtt_mean_ms", "srtt_mean_ms", "loss_ratio", "jitter_ms")
_OF_ONE = tuple(f"rtt_p{share}_ms" for share in _PERCENTILES)
"""What cannot be had of several subflows."""


def _connection_row(flows: Sequence[_Flow], subflows: pl.DataFrame, window: _Window) -> dict[str, Any]:
    """A connection from its subflows; what is unknown of one of them is unknown of it."""
    of = flows[0].of
    rows = subflows[[flow.number for flow in flows]]
    row: dict[str, Any] = {
        "connection": flows[0].connection, "kind": of.kind, "name": of.name, "client": of.client,
        "server": of.server, "server_port": of.server_port, "subflows": len(flows), "data_from": of.data_from,
        "throughput_mbps": rows["throughput_mbps"][0],
    }  # fmt: skip
    reductions = (
        (_SUMS, pl.Series.sum), (_LEAST, pl.Series.min), (_MOST, pl.Series.max), (_MEANS, pl.Series.mean),
    )  # fmt: skip
    for names, reduced in reductions:
        row |= {name: reduced(rows[name]) for name in names if not rows[name].null_count()}
    if len(flows) == 1:
        return row | {name: rows[name][0] for name in _OF_ONE}
    carried = [flow.carried(window) for flow in flows]
    ends_s = [flow.ends_s for flow in flows if flow.ends_s]
    row["throughput_mbps"] = None
    if all(carried) and ends_s:
        until_s = min(window.end_s, max(end_s for _, end_s in ends_s))
        within_s = until_s - max(window.begin_s, min(begin_s for begin_s, _ in ends_s))
        row["throughput_mbps"] = sum(each[0] for each in carried if each) * 8e-6 / within_s
    return row


def _series(
    flows: Sequence[_Flow], step_s: float, ends_s: tuple[float, float], *, resample: bool
) -> dict[str, pl.DataFrame]:
    """The series of subflows, of connections and of all together.

    Raises:
        ValueError: if there would be too many rows.
    """
    grid_s = edges(*ends_s, step_s, MOST_STEPS // max(1, len(flows)))
    series, gridded = [_empty("subflow_series")], [_empty("subflow_series")]
    for flow in flows:
        if not flow.measures:
            continue
        on = on_grid(flow.begin_s, flow.end_s, flow.measures, grid_s, COUNTED)
        even = _series_frame(flow, grid_s[1:], on)
        gridded.append(even)
        series.append(even if resample else _series_frame(flow, flow.end_s, flow.measures))
    sampled = pl.concat(gridded).drop_nulls("throughput_mbps")
    rate = pl.col("throughput_mbps")
    by_connection = sampled.group_by("time_s", "connection").agg(rate.sum()).sort("time_s", "connection")
    whole = (
        by_connection.group_by("time_s")
        .agg(
            rate.sum(),
            # Jain, Chiu and Hawe 1984, equation 1.
            (rate.sum() ** 2 / (pl.len() * (rate**2).sum())).alias("jain_index"),
            pl.len().alias("connections"),
        )
        .sort("time_s")
        .with_columns(pl.col("jain_index").fill_nan(None))
    )
    return {
        "subflow_series": pl.concat(series),
        "connection_series": _completed("connection_series", by_connection),
        "capture_series": _completed("capture_series", whole),
    }


def _series_frame(flow: _Flow, time_s: Values, measures: Mapping[str, Values]) -> pl.DataFrame:
    """The rows of a flow in which something is known."""
    numbers = {"subflow": flow.number, "connection": flow.connection}
    rows = pl.DataFrame({"time_s": time_s, **measures}).with_columns(pl.col(pl.Float64).fill_nan(None))
    rows = rows.filter(pl.any_horizontal(pl.col(list(measures)).is_not_null()))
    return _completed("subflow_series", rows.with_columns(**{name: pl.lit(n) for name, n in numbers.items()}))


def _distributions(flows: Sequence[_Flow]) -> pl.DataFrame:
    """How many round-trip times are at most so long, of flows with every sample."""
    parts = [_empty("rtt_distribution")]
    for flow in flows:
        samples = np.sort(np.array(flow.of.rtts_ms))
        if not len(samples):
            continue
        places = np.unique(np.linspace(0, len(samples) - 1, _MOST_CURVE_STEPS).astype(int))
        steps = np.unique(samples[places])
        counts = np.diff(np.searchsorted(samples, steps, side="right"), prepend=0)
        numbers = {"subflow": flow.number, "connection": flow.connection, "data_from": flow.of.data_from}
        rows = pl.DataFrame({"rtt_ms": steps, "samples": counts})
        rows = rows.with_columns(**{name: pl.lit(value) for name, value in numbers.items()})
        parts.append(_completed("rtt_distribution", rows))
    return pl.concat(parts)


def _jain(rates: pl.Series) -> float | None:
    """Jain, Chiu and Hawe 1984, equation 1; None of fewer than two."""
    squares = float((rates**2).sum())
    return float(rates.sum()) ** 2 / (rates.len() * squares) if rates.len() > 1 and squares > 0 else None


def _schema(table: str) -> dict[str, pl.DataType]:
    """The columns of a table: those of captures, then those that only measurements have.

    In series, measures are numbers with a fraction: on a grid, counts need not be whole.
    """
    tables = (CAPTURE[table], MEASUREMENT.get(table, {}))
    names = [name for meanings in tables for several in meanings for name in several.split()]
    is_series = table.endswith("_series")
    return {name: pl.Float64() if is_series and name in SERIES else _type(name) for name in names}


def _type(name: str) -> pl.DataType:
    about = column(name)
    if not about.is_number:
        return pl.String()
    is_count = about.format in ("d", ",d") or (about.unit in ("bytes", "packets") and not about.format)
    return pl.UInt64() if is_count else pl.Float64()


def _frame(table: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A table of rows, of which each has some of its columns."""
    series = (
        pl.Series(name, [_plain(row.get(name), kind) for row in rows], dtype=kind)
        for name, kind in _schema(table).items()
    )
    return pl.DataFrame(list(series))


def _plain(value: Any, kind: pl.DataType) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return round(value) if value is not None and kind == pl.UInt64 else value


def _empty(table: str) -> pl.DataFrame:
    return pl.DataFrame(schema=_schema(table))


def _completed(table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with all columns of a table, in its order."""
    return rows.select(
        pl.col(name).cast(kind) if name in rows.columns else pl.lit(None, kind).alias(name)
        for name, kind in _schema(table).items()
    )
