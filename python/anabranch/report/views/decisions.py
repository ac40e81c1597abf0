"""The event log of a flow: its windows or round-trip times, ACK by ACK, and what it decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from anabranch.errors import ResultError
from anabranch.media.charts import Line, LineChart, ValueAxis
from anabranch.media.columns import Column, column
from anabranch.media.palette import PALETTE, Look, look_at
from anabranch.report.views.choice import TimeRange, recorded_flow, table_of, within
from anabranch.report.views.over_time import chart_of
from anabranch.results.result import Result

Measure = Literal["window", "rtt"]
"""Windows in bytes, or round-trip times."""

_LINES = {
    "window": ("cwnd_bytes", "ssthresh_bytes", "in_flight_bytes"),
    "rtt": ("srtt_ms", "rtt_ms", "rtt_min_ms"),
}
"""The column of each line; the first one carries the marks."""
_LABELS = {
    "cwnd_bytes": "congestion window", "ssthresh_bytes": "ssthresh", "in_flight_bytes": "in flight",
    "srtt_ms": "smoothed RTT", "rtt_ms": "sample", "rtt_min_ms": "smallest RTT",
}  # fmt: skip
_HEADINGS = {"window": "window", "rtt": "RTT"}

_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _BLACK, _WINE = PALETTE
_MARKS = {
    "loss": Look(_BLACK, "x", " "),
    "reduction": Look(_WINE, "v", " "),
    "undo": Look(_GREEN, "^", " "),
    "tail loss probe": Look(_PINK, "D", " "),
    "timeout": Look(_ORANGE, "s", " "),
    "idle restart": Look(_SKY, "P", " "),
}
"""Decisions that are marked, in the order of the legend."""
_MOST_ACKS = 20_000
"""ACKs that are drawn; a PDF of more is slow to open."""
_PLACE = "plot.log"


def log_chart(
    result: Result, flow: str | int | None, subflow: int | None, measure: Measure, span: TimeRange
) -> LineChart:
    """The lines of a measure, and a mark for each decision at the value that it left.

    Raises:
        ResultError: if there is nothing to show, with a remedy.
    """
    if measure not in _LINES:
        raise ResultError(f"measure: no measure {measure!r} of a log; choose from {', '.join(_LINES)}")
    table = table_of(result, "log", _PLACE)
    lack = "was not recorded; name it in run.log and run it again. Recorded are"
    number, name = recorded_flow(result, table, flow, _PLACE, lack)
    events = _of_subflow(table.filter(pl.col("flow") == number), subflow, name)
    events = within(events, span, _PLACE, f"the log of {name}")
    acks = events.filter(pl.col("event") == "ack")
    if acks.is_empty():
        raise ResultError(f"{_PLACE}: {name} received no ACK in this time; choose another flow or time")
    step = -(-acks.height // _MOST_ACKS)
    axis = ValueAxis(column(_LINES[measure][0]), _HEADINGS[measure])
    lines, samples = _lines(axis.column, _LINES[measure], acks.gather_every(step), events)
    notes = [f"Of {acks.height} ACKs one in {step} is drawn."] if step > 1 else []
    return replace(chart_of(result, "log", [axis], lines, samples, span, notes), is_joined=True)


def _lines(
    about: Column, names: Sequence[str], acks: pl.DataFrame, events: pl.DataFrame
) -> tuple[list[Line], pl.DataFrame]:
    """A line for each column that has a value, and marks for each kind of decision that there is."""
    lines, parts = list[Line](), list[pl.DataFrame]()

    def add(line: Line, rows: pl.DataFrame, name: str) -> None:
        values = rows.select("time_s", pl.col(name).cast(pl.Float64).alias(about.name)).drop_nulls()
        if values.height:
            parts.append(values.with_columns(line=pl.lit(len(lines), pl.Int64)))
            lines.append(line)

    for place, name in enumerate(names):
        add(Line(_LABELS[name], look_at(place)), acks, name)
    for event, look in _MARKS.items():
        rows = events.filter(pl.col("event") == event)
        add(Line(event, look, str(rows.height), is_marked=True), rows, names[0])
    return lines, pl.concat(parts)


def _of_subflow(events: pl.DataFrame, subflow: int | None, name: str) -> pl.DataFrame:
    """The rows of one sender: of a connection of several subflows that of the first, or the one named."""
    subflows = events["subflow"].drop_nulls().unique().sort().to_list()
    if not subflows and subflow is None:
        return events
    chosen = subflows[0] if subflow is None else subflow
    if chosen not in subflows:
        there = f"it has {', '.join(f'{each:g}' for each in subflows[:20])}" if subflows else "it has none"
        raise ResultError(f"subflow: {name} has no subflow {chosen}; {there}")
    return events.filter(pl.col("subflow") == chosen)
