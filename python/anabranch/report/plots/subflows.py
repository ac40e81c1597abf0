"""The subflows of a connection of Multipath TCP over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from anabranch.errors import ResultError
from anabranch.report.plots.choice import chosen_flows, table_of, within
from anabranch.report.plots.lines import TOGETHER, Chart, Line, by_place, chart, column, mean_and_band
from anabranch.report.plots.over_time import FEW_FLOWS, TimeRange
from anabranch.report.plots.plot import Layout, Plot
from anabranch.report.subflow_paths import SEPARATOR, names_of_paths, nodes_of
from anabranch.result import Result

Measure = Literal["throughput", "cwnd", "rtt"]

_COLUMNS = {
    "throughput": ("throughput_mbps", 1.0, "throughput", "Mbps"),
    "cwnd": ("cwnd_bytes", 1e-3, "congestion window", "kB"),
    "rtt": ("srtt_ms", 1.0, "smoothed RTT", "ms"),
}
_PLACE = "plot.subflows"


def subflow_plot(
    result: Result, flow: str | int | None, measure: Measure, span: TimeRange, layout: Layout
) -> Plot:
    """Few subflows have a line each; throughputs of many are stacked by path, all else is mean and band."""
    if measure not in _COLUMNS:
        raise ResultError(f"measure: no measure {measure!r} of subflows; choose from {', '.join(_COLUMNS)}")
    samples = table_of(result, "subflow_series", _PLACE)
    name, factor, quantity, unit = _COLUMNS[measure]
    number, flow_name = _connection(result, samples, flow)
    own = samples.filter(pl.col("flow") == number)
    own = own.select("time_s", "subflow", value=pl.col(name) * factor).drop_nulls("value")
    own = within(own, span.start_s, span.end_s, _PLACE, f"the subflows of {flow_name}")
    if own.is_empty():
        raise ResultError(f"{_PLACE}: no subflow of {flow_name} has a {quantity}; choose another measure")
    about = Chart("subflows", quantity, unit, span.start_s, span.end_s, span.log)
    subflows = own["subflow"].unique().sort().to_list()
    if len(subflows) <= FEW_FLOWS:
        return chart(result, _each(own, subflows, summed=measure == "throughput"), about, layout)
    paths = _paths(result, number, subflows)
    if measure == "throughput":
        lines = _layers(own, subflows, paths)
        # Layers have no place on a logarithmic axis.
        about = replace(about, quantity=f"{quantity} of {len(subflows)} subflows", log=False, stacked=True)
        return chart(result, lines, about, layout, [_PATH_NOTE] if any(paths.values()) else [])
    return chart(result, [_band(own, len(subflows))], about, layout)


_PATH_NOTE = "Each subflow has the colour of the path that its latest packet took."


def _connection(result: Result, samples: pl.DataFrame, flow: str | int | None) -> tuple[int, str]:
    """Number and name of the flow: the first one that has subflows if none is named."""
    if flow is None:
        number = int(samples["flow"].min())  # type: ignore[arg-type]
        return number, str(result.flows.filter(pl.col("flow") == number)["name"][0])
    found = chosen_flows(result, [flow], _PLACE)
    known = found.filter(pl.col("flow").is_in(samples["flow"].unique().implode()))
    if known.is_empty():
        some = result.flows.filter(pl.col("flow").is_in(samples["flow"].unique().implode()))["name"][0]
        raise ResultError(f'{_PLACE}: flow "{flow}" has no samples of subflows; "{some}" has')
    return int(known["flow"][0]), str(known["name"][0])


def _each(own: pl.DataFrame, subflows: Sequence[int], *, summed: bool) -> list[Line]:
    parts = own.partition_by("subflow", as_dict=True)
    lines = []
    for place, subflow in enumerate(subflows):
        rows, (look, dash) = parts[(subflow,)], by_place(place)
        lines.append(Line(f"subflow {subflow}", column(rows, "time_s"), column(rows, "value"), look, dash))
    if summed and len(lines) > 1:
        total = own.group_by("time_s").agg(pl.col("value").sum()).sort("time_s")
        lines.append(
            Line("all subflows", column(total, "time_s"), column(total, "value"), TOGETHER, heavy=True)
        )
    return lines


def _paths(result: Result, flow: int, subflows: Sequence[int]) -> dict[int, str]:
    """The path of each subflow by the nodes that tell it from the others; empty where it is not known."""
    table = result.tables.get("subflows")
    if table is None or "path" not in table.columns:
        return dict.fromkeys(subflows, "")
    known = table.filter((pl.col("flow") == flow) & pl.col("subflow").is_in(list(subflows)))
    names = names_of_paths([nodes_of(path) for path in known["path"]])
    found = dict(zip(known["subflow"].to_list(), names, strict=True))
    return {number: found.get(number, "") for number in subflows}


def _layers(own: pl.DataFrame, subflows: Sequence[int], paths: dict[int, str]) -> list[Line]:
    """A layer for each subflow; those of a path lie together and have its colour."""
    times = own["time_s"].unique().sort()
    parts = own.partition_by("subflow", as_dict=True)
    names = sorted(set(paths.values()))
    counts = {name: sum(path == name for path in paths.values()) for name in names}
    lines = []
    for subflow in sorted(subflows, key=lambda number: (paths[number], number)):
        rows = times.to_frame().join(parts[(subflow,)], on="time_s", how="left", maintain_order="left")
        path = paths[subflow]
        label = f"{_via(path)} ({counts[path]})" if path else f"{counts[path]} subflows"
        look, _ = by_place(names.index(path))
        lines.append(Line(label, times.to_numpy(), np.nan_to_num(column(rows, "value")), look))
    return lines


def _via(path: str) -> str:
    """A whole path says by itself where it goes; single nodes are what it goes through."""
    return path if SEPARATOR in path else f"via {path}"


def _band(own: pl.DataFrame, subflows: int) -> Line:
    merged = mean_and_band(own.sort("time_s", "subflow"))
    look, dash = by_place(0)
    label = f"mean and 5\N{EN DASH}95 % of {subflows} subflows"
    low, high = column(merged, "low"), column(merged, "high")
    return Line(label, column(merged, "time_s"), column(merged, "mean"), look, dash, low=low, high=high)
