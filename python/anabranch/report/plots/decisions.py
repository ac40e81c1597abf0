"""The event log of a flow: its windows or round-trip times, ACK by ACK, and what it decided."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from anabranch.errors import ResultError
from anabranch.media.palette import PALETTE
from anabranch.report.looks import Look
from anabranch.report.plots.choice import TimeRange, recorded_flow, table_of, within
from anabranch.report.plots.lines import Chart, Line, Numbers, by_place, chart, column
from anabranch.report.plots.plot import Layout, Plot
from anabranch.results.result import Result

Measure = Literal["window", "rtt"]
"""Windows in bytes, or round-trip times."""

_LINES = {
    "window": (
        ("cwnd_bytes", 1e-3, "congestion window"),
        ("ssthresh_bytes", 1e-3, "ssthresh"),
        ("in_flight_bytes", 1e-3, "in flight"),
    ),
    "rtt": (
        ("srtt_ms", 1.0, "smoothed RTT"),
        ("rtt_ms", 1.0, "sample"),
        ("rtt_min_ms", 1.0, "smallest RTT"),
    ),
}
"""Column, factor to the unit of the axis, and name of each line; the first one carries the marks."""
_AXES = {"window": ("window", "kB"), "rtt": ("RTT", "ms")}

_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _BLACK, _WINE = PALETTE
_MARKS = {
    "loss": Look(_BLACK, "x", ""),
    "reduction": Look(_WINE, "v", ""),
    "undo": Look(_GREEN, "^", ""),
    "tail loss probe": Look(_PINK, "D", ""),
    "timeout": Look(_ORANGE, "s", ""),
    "idle restart": Look(_SKY, "P", ""),
}
"""Decisions that are marked, in the order of the legend."""
_MOST_ACKS = 20_000
"""ACKs that are drawn; a PDF of more is slow to open."""
_PLACE = "plot.log"


def log_plot(
    result: Result,
    flow: str | int | None,
    subflow: int | None,
    measure: Measure,
    span: TimeRange,
    layout: Layout,
) -> Plot:
    """The lines of a measure, and a mark for each decision at the value that it left."""
    if measure not in _LINES:
        raise ResultError(f"measure: no measure {measure!r} of a log; choose from {', '.join(_LINES)}")
    table = table_of(result, "log", _PLACE)
    lack = "was not recorded; name it in run.log and run it again. Recorded are"
    number, name = recorded_flow(result, table, flow, _PLACE, lack)
    own = _of_subflow(table.filter(pl.col("flow") == number), subflow, name)
    own = within(own, span, _PLACE, f"the log of {name}")
    acks = own.filter(pl.col("event") == "ack")
    if acks.is_empty():
        raise ResultError(f"{_PLACE}: {name} received no ACK in this time; choose another flow or time")
    step = -(-acks.height // _MOST_ACKS)
    drawn = acks.gather_every(step)
    lines = [
        Line.of(label, drawn.select("time_s", value=pl.col(value) * factor), *by_place(place))
        for place, (value, factor, label) in enumerate(_LINES[measure])
    ]
    first, factor, _ = _LINES[measure][0]
    lines += [_marks(own, event, first, factor, look) for event, look in _MARKS.items()]
    notes = [f"Of {acks.height} ACKs one in {step} is drawn."] if step > 1 else []
    known = [line for line in lines if np.isfinite(line.values).any()]
    return chart(result, known, Chart("log", *_AXES[measure], span), layout, notes)


def _of_subflow(own: pl.DataFrame, subflow: int | None, name: str) -> pl.DataFrame:
    """The rows of one sender: of a connection of several subflows that of the first, or the one named."""
    known = own["subflow"].drop_nulls().unique().sort().to_list()
    if not known and subflow is None:
        return own
    chosen = known[0] if subflow is None else subflow
    if chosen not in known:
        there = f"it has {', '.join(f'{each:g}' for each in known[:20])}" if known else "it has none"
        raise ResultError(f"subflow: {name} has no subflow {chosen}; {there}")
    return own.filter(pl.col("subflow") == chosen)


def _marks(own: pl.DataFrame, event: str, value: str, factor: float, look: Look) -> Line:
    rows = own.filter(pl.col("event") == event)
    times, values = column(rows, "time_s"), column(rows, value) * factor
    return Line(f"{event} ({rows.height})", _apart(times, times), _apart(values), look, " ", marked=True)


def _apart(values: Numbers, between: Numbers | None = None) -> Numbers:
    """The values with a gap behind each, so that none is joined to the next."""
    gaps = np.full_like(values, np.nan) if between is None else between
    return np.column_stack([values, gaps]).ravel()
