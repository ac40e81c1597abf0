"""Latencies of pings and UDP for the page of a run.

The first 100 flows have lines and curves; the page says so where there are more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from anabranch.errors import ResultError
from anabranch.media.page.charts import chart_data, distribution_data, merge_note, steps_of
from anabranch.media.page.data import table_data
from anabranch.report.views.choice import TimeRange
from anabranch.report.views.latency import latency_chart, latency_distribution
from anabranch.report.views.over_time import FEW_FLOWS
from anabranch.report.views.run import latency_table
from anabranch.results.result import Result

MOST_LINES = 100
"""Flows with a line and a curve."""


def latency_data(result: Result, notes: list[str]) -> dict[str, Any] | None:
    """Table, lines and curves; None for a run without pings and UDP. What is left out goes to ``notes``."""
    table = result.tables.get("datagram_flows")
    if table is None or table.is_empty():
        return None
    flows = table.head(MOST_LINES)
    if flows.height < table.height:
        notes.append(
            f"Latency: {flows.height} of {table.height} flows have lines and curves, the first ones."
        )
    shown = tuple(range(min(FEW_FLOWS, flows.height)))
    try:
        curves = latency_distribution(result, flows, [])
    except ResultError:
        # No packet arrived: the page says so in the place of curves.
        curves = None
    try:
        chart = replace(latency_chart(result, flows, [], TimeRange()), shown=shown)
    except ResultError:
        chart = None
    series = None
    if chart is not None:
        steps = steps_of(chart)
        notes += merge_note("Latency over time", chart, steps)
        series = chart_data(chart, steps)
    return {
        "table": table_data(latency_table(result)),
        "series": series,
        "distribution": distribution_data(curves, "No packet of these flows arrived."),
        "shown": list(shown),
    }
