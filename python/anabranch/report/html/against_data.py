"""A measurement beside a run for the page: the table of differences, and lines of both over time."""

from __future__ import annotations

from typing import Any

import polars as pl

from anabranch.media.page.data import Steps, column, table_data
from anabranch.report.views.capture import against_table
from anabranch.results.result import Result

_MOST_STEPS = 600
_MOST_LINES = 20
"""Lines of a side."""
_MEANS = ("throughput_mbps", "rtt_ms", "srtt_ms", "cwnd_bytes")


def against_data(result: Result) -> dict[str, Any] | None:
    """Table and lines of a comparison; None where there is none."""
    about = result.summary.get("against")
    table = against_table(result)
    if about is None or table is None:
        return None
    notes = [str(note) for note in about.get("notes", [])]
    lines = _lines(result, notes)
    return {"title": str(about.get("title")), "table": table_data(table), "lines": lines, "notes": notes}


def _lines(result: Result, notes: list[str]) -> dict[str, Any] | None:
    series = result.tables.get("against_series")
    if series is None or series.is_empty():
        return None
    keys = series.select("side", "flow", "name").unique(maintain_order=True)
    keys = keys.group_by("side", maintain_order=True).head(_MOST_LINES).with_row_index("row")
    numbered = series.join(keys.drop("name"), on=["side", "flow"], how="inner", nulls_equal=True)
    if keys.height < series.select("side", "flow").unique().height:
        notes.append(f"At most {_MOST_LINES} flows of a side have lines.")
    steps = Steps.of(series["time_s"], _MOST_STEPS)
    if steps.merged > 1:
        notes.append(f"Lines: {steps.merged} intervals in a row are one step.")
    again = pl.col("retransmissions")
    summed = pl.when(again.count() > 0).then(again.sum())
    return {
        "names": keys["name"].to_list(),
        "sides": keys["side"].to_list(),
        "times": column(steps.times_s, "f8"),
        "series": steps.columns(numbered, "row", keys.height, pl.col(_MEANS).mean(), summed),
        "known": [name for name in (*_MEANS, "retransmissions") if series[name].count()],
    }
