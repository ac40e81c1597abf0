"""The connections of Multipath TCP and their subflows for the page of a run.

Tables and lines have bounds, which the page states where they take something away: subflows of the
connections that delivered most, up to 20,000 rows; lines of the 100 connections that delivered most and of
all together; in each of them a line for each of its eight paths that delivered most, and one for its other
paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from anabranch.media.page.data import Steps, column, table_data, words
from anabranch.report.subflow_paths import between_ends, names_of_paths
from anabranch.report.views.run import connection_table, joined_connections, subflow_table
from anabranch.results.result import Result

MOST_SUBFLOWS = 20_000
"""Rows of the table of subflows."""
MOST_CONNECTIONS = 100
"""Connections with lines of their own."""
MOST_PATHS = 8
"""Paths of a connection with lines of their own."""
_MOST_STEPS, _FEWEST_STEPS, _MOST_VALUES = 600, 20, 120_000
_BLOCK_ROWS = 250_000
"""Samples that are worked on at once."""
_ALL = -1
"""Stands for all connections together."""
_OTHERS = "other paths"
_UNKNOWN = "path not known"
_NO_PATHS = "all subflows"
"""Where packets go hop by hop."""


def multipath_data(result: Result, notes: list[str]) -> dict[str, Any] | None:
    """Connections, subflows and their lines; None for a run without Multipath TCP.

    What is left out goes to ``notes``.
    """
    tables = result.tables
    if "connections" not in tables or "subflows" not in tables or tables["connections"].is_empty():
        return None
    connections = joined_connections(result)
    ranked = connections.sort(["delivered_bytes", "flow"], descending=[True, False])["flow"]
    subflows = _with_paths(result, connections)
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


def _with_paths(result: Result, connections: pl.DataFrame) -> pl.DataFrame:
    """The table of subflows with the name of the path of each in the column ``way``."""
    subflows = result.tables["subflows"]
    if "path" not in subflows.columns:
        subflows = subflows.with_columns(pl.lit(None, pl.String).alias("path"))
    ends = subflows.join(connections.select("flow", "to"), on="flow", how="left", maintain_order="left")
    names = names_of_paths([between_ends(path, to) for path, to in ends.select("path", "to").iter_rows()])
    unknown = _UNKNOWN if any(names) else _NO_PATHS
    return subflows.with_columns(pl.Series("way", [name or unknown for name in names], pl.String))


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
    samples = result.tables.get("subflow_series")
    if samples is None or samples.is_empty():
        return None
    lines = _lines(subflows, ranked.head(MOST_CONNECTIONS))
    steps = Steps.of(samples["time_s"], min(_MOST_STEPS, max(_FEWEST_STEPS, _MOST_VALUES // lines.height)))
    if steps.merged > 1:
        notes.append(f"Paths over time: {steps.merged} samples in a row are one step, with their mean.")
    if len(ranked) > MOST_CONNECTIONS:
        notes.append(
            f"{MOST_CONNECTIONS} of {len(ranked)} connections have lines by path of their own, those that "
            "delivered most; lines of all connections count every one."
        )
    line_of = _line_of_subflow(subflows, lines)
    found = {
        "times": column(steps.times_s, "f8"),
        "connection": column([row_of.get(flow, _ALL) for flow in lines["group"]], "i4"),
        "path": words(lines["way"].to_list()),
        "subflows": column(lines["subflows"].to_numpy(), "i4"),
        **_values(samples, line_of, lines.height, steps),
    }
    beside = result.tables.get("simulated_subflow_series")
    if beside is not None:
        # At the same instants, but for those after a live run that was stopped.
        beside = beside.filter(pl.col("time_s").is_in(samples["time_s"].unique().implode()))
        found["simulated"] = _values(beside, line_of, lines.height, steps)
    return found


def _values(samples: pl.DataFrame, line_of: pl.DataFrame, lines: int, steps: Steps) -> dict[str, Any]:
    """What is drawn of each line at each step."""
    instants = _by_instant(samples.select("time_s", "flow", "subflow", "throughput_mbps", "srtt_ms"), line_of)
    return steps.columns(instants, "line", lines, pl.col("throughput_mbps", "srtt_ms").mean())


def _by_instant(samples: pl.DataFrame, line_of: pl.DataFrame) -> pl.DataFrame:
    """Sum of the throughputs and mean of the round-trip times of each line at each instant.

    A block of rows at a time: a row is part of several lines, and there may be millions of them.
    """
    sums = (
        pl.col("throughput_mbps").sum(),
        pl.col("srtt_ms").sum().alias("srtt_sum"),
        pl.col("srtt_ms").count().cast(pl.Int64).alias("known"),
    )
    parts = [
        block.join(line_of, on=["flow", "subflow"], how="inner", maintain_order="left")
        .group_by("line", "time_s", maintain_order=True)
        .agg(*sums)
        for block in samples.iter_slices(_BLOCK_ROWS)
    ]
    whole = pl.concat(parts).group_by("line", "time_s", maintain_order=True).agg(pl.all().sum())
    mean = pl.when(pl.col("known") > 0).then(pl.col("srtt_sum") / pl.col("known"))
    return whole.with_columns(mean.alias("srtt_ms"))


def _lines(subflows: pl.DataFrame, connections: pl.Series) -> pl.DataFrame:
    """What has a line: ``group`` (a flow, or all), ``way``, how many ``subflows``, its number."""
    count = (pl.len().alias("subflows"), pl.col("delivered_bytes").sum())
    by_path = pl.concat(
        [
            subflows.group_by("way").agg(*count).with_columns(pl.lit(_ALL, pl.Int64).alias("group")),
            subflows.filter(pl.col("flow").is_in(connections.implode()))
            .group_by("way", pl.col("flow").cast(pl.Int64).alias("group"))
            .agg(*count),
        ],
        how="diagonal",
    ).sort(["group", "delivered_bytes", "way"], descending=[False, True, False])
    # One more than there is room for is shown in place of a line for a single other one.
    place, paths = pl.int_range(pl.len()).over("group"), pl.len().over("group")
    kept = (place < MOST_PATHS) | (paths <= MOST_PATHS + 1)
    named = by_path.with_columns(pl.when(kept).then(pl.col("way")).otherwise(pl.lit(_OTHERS)).alias("way"))
    lines = named.group_by("group", "way", maintain_order=True).agg(pl.col("subflows").sum())
    last = pl.col("way").is_in([_OTHERS, _UNKNOWN])
    ordered = lines.sort(["group", last, "way"], maintain_order=True)
    return ordered.with_row_index("line")


def _line_of_subflow(subflows: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """``flow``, ``subflow`` and ``line``: a row for each line that a subflow is part of."""
    keys = subflows.select("flow", "subflow", "way")
    both = pl.concat(
        [
            keys.with_columns(pl.lit(_ALL, pl.Int64).alias("group")),
            keys.with_columns(pl.col("flow").cast(pl.Int64).alias("group")),
        ]
    ).filter(pl.col("group").is_in(lines["group"].unique().implode()))
    named = lines.select("group", "way", "line")
    own = both.join(named, on=["group", "way"], how="left", maintain_order="left")
    others: Sequence[str] = [_OTHERS]
    rest = named.filter(pl.col("way").is_in(others)).select("group", pl.col("line").alias("other"))
    joined = own.join(rest, on="group", how="left", maintain_order="left")
    return joined.select("flow", "subflow", pl.coalesce("line", "other").alias("line"))
