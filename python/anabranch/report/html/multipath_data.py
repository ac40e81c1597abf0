"""The connections of Multipath TCP and their subflows for the page of a run.

Tables and lines have bounds, which the page states where they take something away: subflows of the
connections that delivered most, up to 20,000 rows; lines of the 100 connections that delivered most and of
all together; in each of them a line for each of its eight paths that delivered most, and one for its other
paths.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from anabranch.media.page.charts import chart_data, merge_note, steps_of
from anabranch.media.page.data import column, table_data
from anabranch.report.views.run import connection_table, joined_connections, subflow_table
from anabranch.report.views.subflows import path_chart, with_paths
from anabranch.results.result import Result

MOST_SUBFLOWS = 20_000
"""Rows of the table of subflows."""
MOST_CONNECTIONS = 100
"""Connections with lines of their own."""
MOST_PATHS = 8
"""Paths of a connection with lines of their own."""
MOST_VALUES = 120_000
"""Lines times steps."""


def multipath_data(result: Result, notes: list[str]) -> dict[str, Any] | None:
    """Connections, subflows and their lines; None for a run without Multipath TCP.

    What is left out goes to ``notes``.
    """
    tables = result.tables
    if "connections" not in tables or "subflows" not in tables or tables["connections"].is_empty():
        return None
    connections = joined_connections(result)
    ranked = connections.sort(["delivered_bytes", "flow"], descending=[True, False])["flow"]
    subflows = with_paths(result, connections)
    shown = _bounded(subflows, ranked, notes)
    row_of = {flow: row for row, flow in enumerate(connections["flow"])}
    return {
        "connections": table_data(connection_table(connections)),
        "subflows": {
            # By the row of its connection.
            "connection": column([row_of[flow] for flow in shown["flow"]], "i4"),
            **table_data(subflow_table(shown, connections)),
        },
        "series": _series(result, subflows, ranked, row_of, notes),
    }


def _bounded(subflows: pl.DataFrame, ranked: pl.Series, notes: list[str]) -> pl.DataFrame:
    """As many rows as there may be, of whole connections, those that delivered most first."""
    if subflows.height <= MOST_SUBFLOWS:
        return subflows
    counts = dict(subflows.group_by("flow").len().iter_rows())
    sums = np.cumsum([counts.get(flow, 0) for flow in ranked])
    kept = ranked.head(int(np.searchsorted(sums, MOST_SUBFLOWS, side="right")))
    notes.append(
        f"The table of subflows has those of {len(kept)} of {len(ranked)} connections, which delivered most."
    )
    return subflows.filter(pl.col("flow").is_in(kept.implode()))


def _series(
    result: Result, subflows: pl.DataFrame, ranked: pl.Series, row_of: dict[int, int], notes: list[str]
) -> dict[str, Any] | None:
    """Throughput and round-trip time by path, of all connections and of those that delivered most."""
    chart = path_chart(result, subflows, ranked, (MOST_CONNECTIONS, MOST_PATHS))
    if chart is None:
        return None
    steps = steps_of(chart, MOST_VALUES)
    notes += merge_note("Paths over time", chart, steps)
    if len(ranked) > MOST_CONNECTIONS:
        notes.append(
            f"{MOST_CONNECTIONS} of {len(ranked)} connections have lines by path of their own, those that "
            "delivered most; lines of all connections count every one."
        )
    # A line is of a row of the table of connections; at first those of all are shown.
    lines = [replace(line, row=None if line.row is None else row_of[line.row]) for line in chart.lines]
    shown = tuple(number for number, line in enumerate(lines) if line.row is None)
    return chart_data(replace(chart, lines=tuple(lines), shown=shown), steps)
