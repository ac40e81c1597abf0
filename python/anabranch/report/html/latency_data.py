"""Latencies of pings and UDP for the page of a run.

The first 100 flows have lines and curves; the page says so where there are more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from anabranch.media.page.data import Steps, column, table_data
from anabranch.report.views.run import latency_table
from anabranch.results.result import Result

MOST_LINES = 100
"""Flows with a line and a curve."""
_MOST_STEPS = 600
_MOST_CURVE_POINTS = 500
"""Points of a curve: more are not told apart on a screen."""


def latency_data(result: Result, notes: list[str]) -> dict[str, Any] | None:
    """Table, lines and curves; None for a run without pings and UDP. What is left out goes to ``notes``."""
    flows = result.tables.get("datagram_flows")
    if flows is None or flows.is_empty():
        return None
    shown = min(flows.height, MOST_LINES)
    if shown < flows.height:
        notes.append(f"Latency: {shown} of {flows.height} flows have lines and curves, the first ones.")
    return {
        "table": table_data(latency_table(result)),
        "series": _series(result, shown, notes),
        "curves": [_curve(part) for part in _parts(result, shown)],
    }


def _series(result: Result, shown: int, notes: list[str]) -> dict[str, Any] | None:
    series = result.tables.get("datagram_series")
    if series is None or series.is_empty():
        return None
    steps = Steps.of(series["time_s"], _MOST_STEPS)
    if steps.merged > 1:
        notes.append(f"Latency over time: {steps.merged} samples in a row are one step, its mean.")
    own = series.filter(pl.col("flow") < shown).drop_nulls("latency_mean_ms")
    mean = pl.col("latency_mean_ms").mean().alias("latency_ms")
    return {"times": column(steps.times_s, "f8"), **steps.columns(own, "flow", shown, mean)}


def _parts(result: Result, shown: int) -> list[pl.DataFrame]:
    """The distribution of each flow, empty where no packet of it arrived."""
    table = result.tables["latencies"]
    parts = table.partition_by("flow", as_dict=True)
    return [parts.get((flow,), table.clear()) for flow in range(shown)]


def _curve(part: pl.DataFrame) -> dict[str, Any]:
    shares = np.cumsum(part["packets"].to_numpy()) / max(1, part["packets"].sum())
    # Of more points those that are nearest to equal steps of the share, and the ends.
    wanted = np.searchsorted(shares, np.linspace(0, 1, _MOST_CURVE_POINTS) * shares[-1:].sum())
    places = np.unique(wanted.clip(max=max(part.height - 1, 0))) if part.height else np.empty(0, dtype=int)
    return {
        "latency_ms": column(part["latency_ms"].to_numpy()[places], "f8"),
        "share": column(shares[places]),
    }
