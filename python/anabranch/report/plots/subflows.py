"""The subflows of a connection of Multipath TCP over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from anabranch.errors import ResultError
from anabranch.media.columns import COLUMNS
from anabranch.report.plots.choice import TimeRange, recorded_flow, table_of, within
from anabranch.report.plots.lines import TOGETHER, Chart, Line, by_place, chart, column, mean_and_band, summed
from anabranch.report.plots.over_time import FEW_FLOWS
from anabranch.report.plots.plot import Layout, Plot
from anabranch.report.subflow_paths import SEPARATOR, names_of_paths, nodes_of
from anabranch.results.result import Result

Measure = Literal["throughput", "cwnd", "rtt"]

_COLUMNS = {
    "throughput": COLUMNS["throughput_mbps"],
    "cwnd": COLUMNS["cwnd_bytes"],
    "rtt": COLUMNS["srtt_ms"],
}
_PLACE = "plot.subflows"


def subflow_plot(
    result: Result, flow: str | int | None, measure: Measure, span: TimeRange, layout: Layout
) -> Plot:
    """Few subflows have a line each; throughputs of many are stacked by path, all else is mean and band."""
    if measure not in _COLUMNS:
        raise ResultError(f"measure: no measure {measure!r} of subflows; choose from {', '.join(_COLUMNS)}")
    samples = table_of(result, "subflow_series", _PLACE)
    measured = _COLUMNS[measure]
    quantity = measured.label
    lack = "has no samples of subflows; there are those of"
    number, flow_name = recorded_flow(result, samples, flow, _PLACE, lack)
    own = samples.filter(pl.col("flow") == number)
    own = own.select("time_s", "subflow", value=pl.col(measured.name)).drop_nulls("value")
    own = within(own, span, _PLACE, f"the subflows of {flow_name}")
    if own.is_empty():
        raise ResultError(f"{_PLACE}: no subflow of {flow_name} has a {quantity}; choose another measure")
    about = Chart("subflows", quantity, measured.unit, span)
    subflows = own["subflow"].unique().sort().to_list()
    if len(subflows) <= FEW_FLOWS:
        return chart(result, _each(own, subflows, with_sum=measure == "throughput"), about, layout)
    paths = _paths(result, number, subflows)
    if measure == "throughput":
        lines = _layers(own, subflows, paths)
        # Layers have no place on a logarithmic axis.
        quantity, span = f"{quantity} of {len(subflows)} subflows", replace(span, log=False)
        about = replace(about, quantity=quantity, span=span, stacked=True)
        return chart(result, lines, about, layout, [_PATH_NOTE] if any(paths.values()) else [])
    label = f"mean and 5\N{EN DASH}95 % of {len(subflows)} subflows"
    band = Line.of(label, mean_and_band(own.sort("time_s", "subflow")), *by_place(0))
    return chart(result, [band], about, layout)


_PATH_NOTE = "Each subflow has the colour of the path that its latest packet took."


def _each(own: pl.DataFrame, subflows: Sequence[int], *, with_sum: bool) -> list[Line]:
    parts = own.partition_by("subflow", as_dict=True)
    lines = [
        Line.of(f"subflow {subflow}", parts[(subflow,)], *by_place(place))
        for place, subflow in enumerate(subflows)
    ]
    if with_sum and len(lines) > 1:
        lines.append(Line.of("all subflows", summed(own), TOGETHER, heavy=True))
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
