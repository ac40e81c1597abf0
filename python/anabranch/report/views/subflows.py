"""The subflows of a connection of Multipath TCP over time, and the paths that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from anabranch.errors import ResultError
from anabranch.media.charts import Line, LineChart, ValueAxis
from anabranch.media.columns import column
from anabranch.media.palette import look_at
from anabranch.report.subflow_paths import SEPARATOR, between_ends, names_of_paths, nodes_of
from anabranch.report.views.choice import TimeRange, recorded_flow, table_of, within
from anabranch.report.views.over_time import FEW_FLOWS, chart_of, mean_and_band, simulated
from anabranch.results.result import Result

Measure = Literal["throughput", "cwnd", "rtt"]

_AXES = {
    "throughput": ValueAxis(column("throughput_mbps")),
    "cwnd": ValueAxis(column("cwnd_bytes")),
    "rtt": ValueAxis(column("srtt_ms")),
}
_PLACE = "plot.subflows"
_PATH_NOTE = "Each subflow has the colour of the path that its latest packet took."


def subflow_chart(result: Result, flow: str | int | None, measure: Measure, span: TimeRange) -> LineChart:
    """The subflows of one connection: few have a line each.

    Throughputs of many are stacked by path, all else is mean and band.

    Raises:
        ResultError: if there is nothing to show, with a remedy.
    """
    if measure not in _AXES:
        raise ResultError(f"measure: no measure {measure!r} of subflows; choose from {', '.join(_AXES)}")
    samples = table_of(result, "subflow_series", _PLACE)
    axis = _AXES[measure]
    lack = "has no samples of subflows; there are those of"
    number, flow_name = recorded_flow(result, samples, flow, _PLACE, lack)
    rows = samples.filter(pl.col("flow") == number)
    rows = rows.select("time_s", "subflow", axis.name).drop_nulls(axis.name)
    rows = within(rows, span, _PLACE, f"the subflows of {flow_name}")
    if rows.is_empty():
        raise ResultError(
            f"{_PLACE}: no subflow of {flow_name} has a {axis.quantity}; choose another measure"
        )
    subflows = rows["subflow"].unique().sort().to_list()
    if len(subflows) <= FEW_FLOWS:
        lines = [Line(f"subflow {subflow}", look_at(place)) for place, subflow in enumerate(subflows)]
        drawn = chart_of(result, "subflows", [axis], lines, _numbered(rows, subflows), span)
        return replace(drawn, is_joined=True, total="subflows" if measure == "throughput" else "")
    if measure == "throughput":
        return _layers(result, axis, rows, subflows, _paths(result, number, subflows), span)
    label = f"mean and 5\N{EN DASH}95 % of {len(subflows)} subflows"
    band = mean_and_band(rows.sort("time_s", "subflow"), axis.name).with_columns(line=pl.lit(0, pl.Int64))
    shown = replace(axis, low="low", high="high")
    drawn = chart_of(result, "subflows", [shown], [Line(label, look_at(0))], band, span)
    return replace(drawn, is_joined=True)


def _numbered(rows: pl.DataFrame, subflows: Sequence[int]) -> pl.DataFrame:
    """The samples with the place of each subflow as their line."""
    place = pl.col("subflow").replace_strict(subflows, range(len(subflows)), return_dtype=pl.Int64)
    return rows.with_columns(line=place).drop("subflow")


def _paths(result: Result, flow: int, subflows: Sequence[int]) -> dict[int, str]:
    """The path of each subflow by the nodes that tell it from the others; empty where it is not known."""
    table = result.tables.get("subflows")
    if table is None or "path" not in table.columns:
        return dict.fromkeys(subflows, "")
    rows = table.filter((pl.col("flow") == flow) & pl.col("subflow").is_in(list(subflows)))
    names = names_of_paths([nodes_of(path) for path in rows["path"]])
    by_number = dict(zip(rows["subflow"].to_list(), names, strict=True))
    return {number: by_number.get(number, "") for number in subflows}


def _layers(
    result: Result,
    axis: ValueAxis,
    rows: pl.DataFrame,
    subflows: Sequence[int],
    paths: dict[int, str],
    span: TimeRange,
) -> LineChart:
    """A layer for each subflow; those of a path lie together and have its colour."""
    names = sorted(set(paths.values()))
    counts = {name: sum(path == name for path in paths.values()) for name in names}
    ordered = sorted(subflows, key=lambda number: (paths[number], number))
    lines = []
    for subflow in ordered:
        path = paths[subflow]
        label = _via(path) if path else f"{counts[path]} subflows"
        detail = str(counts[path]) if path else ""
        lines.append(Line(label, look_at(names.index(path)), detail))
    shown = replace(axis, heading=f"{axis.quantity} of {len(subflows)} subflows")
    notes = [_PATH_NOTE] if any(paths.values()) else []
    # Layers have no place on a logarithmic axis.
    span = replace(span, log=False)
    drawn = chart_of(result, "subflows", [shown], lines, _numbered(rows, ordered), span, notes)
    return replace(drawn, is_stacked=True)


def _via(path: str) -> str:
    """A whole path says by itself where it goes; single nodes are what it goes through."""
    return path if SEPARATOR in path else f"via {path}"


# --- paths, of all connections and of each

_BLOCK_ROWS = 250_000
"""Samples that are worked on at once."""
_ALL = -1
"""Stands for all connections together."""
_OTHERS = "other paths"
_UNKNOWN = "path not known"
_NO_PATHS = "all subflows"
"""Where packets go hop by hop."""


def with_paths(result: Result, connections: pl.DataFrame) -> pl.DataFrame:
    """The table of subflows with the name of the path of each in the column ``way``."""
    subflows = result.tables["subflows"]
    if "path" not in subflows.columns:
        subflows = subflows.with_columns(pl.lit(None, pl.String).alias("path"))
    ends = subflows.join(connections.select("flow", "to"), on="flow", how="left", maintain_order="left")
    names = names_of_paths([between_ends(path, to) for path, to in ends.select("path", "to").iter_rows()])
    unknown = _UNKNOWN if any(names) else _NO_PATHS
    return subflows.with_columns(pl.Series("way", [name or unknown for name in names], pl.String))


def path_chart(
    result: Result, subflows: pl.DataFrame, ranked: pl.Series, most: tuple[int, int]
) -> LineChart | None:
    """Throughput and round-trip time by path, of all connections and of those that delivered most.

    A line has its connection's flow as ``row``, and None for all connections.

    Args:
        result: the run.
        subflows: of :func:`with_paths`.
        ranked: the flows of the connections, those that delivered most first.
        most: connections with lines of their own, and paths of each that have a line.

    Returns:
        The chart; None where nothing was sampled.
    """
    samples = result.tables.get("subflow_series")
    if samples is None or samples.is_empty():
        return None
    table = _path_lines(subflows, ranked.head(most[0]), most[1])
    places = table.with_columns(place=pl.int_range(pl.len()).over("group"))
    lines = [
        Line(label, look_at(place), f"{count:,}", row=None if group == _ALL else group)
        for label, place, count, group in places.select("way", "place", "subflows", "group").iter_rows()
    ]
    line_of = _line_of_subflow(subflows, table)
    beside = simulated(result, "subflow_series")
    axes = [replace(_AXES[name], heading=f"{_AXES[name].quantity} by path") for name in ("throughput", "rtt")]
    drawn = chart_of(result, "paths", axes, lines, _by_instant(samples, line_of))
    others = None if beside is None else _by_instant(beside, line_of)
    return replace(drawn, simulated=others, total="paths")


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


def _path_lines(subflows: pl.DataFrame, connections: pl.Series, most_paths: int) -> pl.DataFrame:
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
    kept = (place < most_paths) | (paths <= most_paths + 1)
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
    named_rows = both.join(named, on=["group", "way"], how="left", maintain_order="left")
    others: Sequence[str] = [_OTHERS]
    rest = named.filter(pl.col("way").is_in(others)).select("group", pl.col("line").alias("other"))
    joined = named_rows.join(rest, on="group", how="left", maintain_order="left")
    return joined.select("flow", "subflow", pl.coalesce("line", "other").alias("line"))
