"""Latency of packets without a connection: over time, and as a distribution."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from anabranch.errors import ResultError
from anabranch.media.columns import column
from anabranch.report.looks import Look
from anabranch.report.plots.choice import Names, TimeRange, matching, table_of, within
from anabranch.report.plots.distributions import Steps, distribution
from anabranch.report.plots.lines import Chart, Line, by_place, chart
from anabranch.report.plots.over_time import FEW_FLOWS, MOST_FLOWS
from anabranch.report.plots.plot import Layout, Plot
from anabranch.results.result import Result
from anabranch.text.units import suited

By = Literal["time", "distribution"]
"""Latency over time, or the share of packets up to each latency."""

MEASURES = {"ping": "RTT", "udp": "one way"}
"""What the latency of a kind of flow is."""
_MARKERS = "os^DvPX"
"""Of curves, which their colours alone may not tell apart in print."""
_NONE_ARRIVED = "plot.latency: no packet of these flows arrived; choose others, or make run.duration longer"


_LATENCY = column("latency_ms")


def latency_plot(result: Result, flows: Names | None, by: By, span: TimeRange, layout: Layout) -> Plot:
    """The latency of pings and of UDP."""
    if by not in ("time", "distribution"):
        raise ResultError(f'by: no way {by!r} to draw latencies; choose "time" or "distribution"')
    known = table_of(result, "datagram_flows", "plot.latency")
    if flows is None:
        chosen = known.head(FEW_FLOWS)
    else:
        chosen = known[sorted(matching(known["name"].to_list(), flows, "flow"))]
        if chosen.height > MOST_FLOWS:
            raise ResultError(
                f"flows: {chosen.height} flows cannot be told apart; choose at most {MOST_FLOWS}"
            )
    notes = []
    if flows is None and chosen.height < known.height:
        notes.append(f"The first {chosen.height} of {known.height} flows are shown.")
    labels = {
        flow: f"{name} ({MEASURES[kind]})"
        for flow, name, kind in chosen.select("flow", "name", "kind").iter_rows()
    }
    if by == "distribution":
        return _distributed(result, labels, span.log, layout, notes)
    return _over_time(result, labels, span, layout, notes)


def _over_time(
    result: Result, labels: dict[int, str], span: TimeRange, layout: Layout, notes: list[str]
) -> Plot:
    """Means of the samples, and bands from the smallest to the largest latency."""
    series = table_of(result, "datagram_series", "plot.latency")
    series = series.filter(pl.col("flow").is_in(list(labels))).drop_nulls("latency_mean_ms")
    if series.is_empty():
        raise ResultError(_NONE_ARRIVED)
    bands = {"latency_mean_ms": "value", "latency_min_ms": "low", "latency_max_ms": "high"}
    parts = (
        within(series, span, "plot.latency", "these flows").rename(bands).partition_by("flow", as_dict=True)
    )
    lines = [
        Line.of(label, parts[(flow,)], *by_place(number))
        for number, (flow, label) in enumerate(labels.items())
        if (flow,) in parts
    ]
    notes.append("Lines are means between two samples, bands go from the least to the greatest latency.")
    return chart(result, lines, Chart("latency", _LATENCY.label, _LATENCY.unit, span), layout, notes)


def _distributed(result: Result, labels: dict[int, str], log: bool, layout: Layout, notes: list[str]) -> Plot:
    table = table_of(result, "latencies", "plot.latency").filter(pl.col("flow").is_in(list(labels)))
    if table.is_empty():
        raise ResultError(_NONE_ARRIVED)
    factor, unit = suited(float(table["latency_ms"].max()), "ms")  # type: ignore[arg-type]
    least = dict(result.datagram_flows.select("flow", "latency_min_ms").iter_rows())
    groups: dict[str, tuple[Look, Steps]] = {}
    for number, (flow, label) in enumerate(labels.items()):
        own = table.filter(pl.col("flow") == flow)
        if own.height:
            look = Look(by_place(number)[0].color, _MARKERS[number % len(_MARKERS)], "-")
            # The first step is as wide as its bucket.
            x = np.concatenate([[least[flow]], own["latency_ms"].to_numpy()]) * factor
            y = np.concatenate([[0.0], np.cumsum(own["packets"].to_numpy()) / own["packets"].sum()])
            groups[label] = (look, (x, y))
    axis = _LATENCY.titled(unit)
    return distribution(result, "latency", axis, groups, log, layout, "share of packets", tuple(notes))
