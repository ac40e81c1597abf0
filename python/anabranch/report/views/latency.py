"""Latency of packets without a connection: over time, and as a distribution."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from anabranch.errors import ResultError
from anabranch.media.charts import Curve, DistributionChart, Line, LineChart, ValueAxis
from anabranch.media.columns import column
from anabranch.media.palette import Look, look_at
from anabranch.report.views.choice import Names, TimeRange, matching, stopped, table_of, within
from anabranch.report.views.over_time import FEW_FLOWS, MOST_FLOWS, chart_of
from anabranch.report.views.run import measured
from anabranch.results.result import Result

By = Literal["time", "distribution"]
"""Latency over time, or the share of packets up to each latency."""

_MARKERS = "os^DvPX"
"""Of curves, which their colours alone may not tell apart in print."""
_PLACE = "plot.latency"
_NONE_ARRIVED = f"{_PLACE}: no packet of these flows arrived; choose others, or make run.duration longer"
_BAND_NOTE = "Lines are means between two samples, bands go from the least to the greatest latency."
_AXIS = ValueAxis(column("latency_mean_ms"), column("latency_ms").label)


def check_by(by: str) -> None:
    """Makes sure that latencies can be drawn so.

    Raises:
        ResultError: if they cannot.
    """
    if by not in ("time", "distribution"):
        raise ResultError(f'by: no way {by!r} to draw latencies; choose "time" or "distribution"')


def chosen_latencies(result: Result, flows: Names | None) -> tuple[pl.DataFrame, list[str]]:
    """The rows of the flows of datagrams that are named, else of the first ones, and a note on the others.

    Raises:
        ResultError: if there are none, or too many to be told apart.
    """
    every_flow = table_of(result, "datagram_flows", _PLACE)
    if flows is None:
        chosen = every_flow.head(FEW_FLOWS)
    else:
        chosen = every_flow[sorted(matching(every_flow["name"].to_list(), flows, "flow"))]
        if chosen.height > MOST_FLOWS:
            raise ResultError(
                f"flows: {chosen.height} flows cannot be told apart; choose at most {MOST_FLOWS}"
            )
    is_part = flows is None and chosen.height < every_flow.height
    return chosen, [f"The first {chosen.height} of {every_flow.height} flows are shown."] if is_part else []


def latency_lines(flows: pl.DataFrame) -> list[Line]:
    """The line of each flow of datagrams."""
    names = measured(flows).select("flow", "name", "measures").iter_rows()
    return [Line(name, look_at(place), what, row=flow) for place, (flow, name, what) in enumerate(names)]


def latency_chart(result: Result, flows: pl.DataFrame, notes: list[str], span: TimeRange) -> LineChart:
    """Means of the samples, and bands from the smallest to the largest latency.

    Raises:
        ResultError: if nothing was sampled, or no packet arrived.
    """
    series = table_of(result, "datagram_series", _PLACE)
    numbered = flows.select("flow").with_row_index("line")
    series = series.drop_nulls("latency_mean_ms").join(
        numbered, on="flow", how="inner", maintain_order="left"
    )
    if series.is_empty():
        raise ResultError(_NONE_ARRIVED)
    drawn = within(series, span, _PLACE, "these flows")
    axis = replace(_AXIS, low="latency_min_ms", high="latency_max_ms")
    chart = chart_of(result, "latency", [axis], latency_lines(flows), drawn, span, [*notes, _BAND_NOTE])
    return replace(chart, is_joined=True)


def latency_distribution(
    result: Result, flows: pl.DataFrame, notes: list[str], *, is_log: bool = False
) -> DistributionChart:
    """The share of the packets of each flow that took no longer than a latency.

    Raises:
        ResultError: if no packet arrived.
    """
    table = table_of(result, "latencies", _PLACE)
    parts = table.partition_by("flow", as_dict=True)
    least = dict(result.datagram_flows.select("flow", "latency_min_ms").iter_rows())
    curves = []
    for place, line in enumerate(latency_lines(flows)):
        packets = parts.get((line.row,), table.clear())
        values, shares = np.empty(0), np.empty(0)
        if packets.height:
            # The first step is as wide as its bucket.
            values = np.concatenate([[least[line.row]], packets["latency_ms"].to_numpy()])
            shares = np.concatenate(
                [[0.0], np.cumsum(packets["packets"].to_numpy()) / packets["packets"].sum()]
            )
        look = Look(line.look.color, _MARKERS[place % len(_MARKERS)], line.look.dash)
        curves.append(Curve(line.full_label, look, values, shares, np.empty(0)))
    if not any(curve.values.size for curve in curves):
        raise ResultError(_NONE_ARRIVED)
    title = str(result.summary.get("title") or "")
    all_notes = (*notes, *stopped(result))
    return DistributionChart(
        "latency", title, ValueAxis(column("latency_ms")), "packets", tuple(curves), is_log, all_notes
    )
