"""The data of the page of a run: its tables, brought into the form that the page's script reads.

The page shows all flows and links. Of the samples over time it has what can be drawn, by three rules, which
it states wherever they take something away:

- steps: samples are merged, equally many to a step, so that there are at most 600 steps; rates, round-trip
  times and windows are then means over the step, queues are maxima, drops are sums;
- links: there are at most 120,000 steps of links, which makes fewer steps where there are many links;
- flows: at most 100 flows have lines of their own, those that delivered most; the sums and means over all
  flows, and over those of each transport, always count every flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl

from anabranch.media.page.data import Steps, column, table_data
from anabranch.report.goodput import goodput_notes
from anabranch.report.html.latency_data import latency_data
from anabranch.report.html.multipath_data import multipath_data
from anabranch.report.html.palette import transport_looks
from anabranch.report.html.routes_data import routes_data
from anabranch.report.layout import layout, nodes_of
from anabranch.report.views.cards import cards
from anabranch.report.views.link_tables import all_drops, capacity_changed, link_values
from anabranch.report.views.run import flow_table, link_table
from anabranch.results.result import Result
from anabranch.text.units import quantity

MOST_STEPS = 600
"""Steps of a series: more are not told apart on a screen."""
MOST_LINK_STEPS = 120_000
"""Links times steps."""
MOST_FLOWS = 100
"""Flows with series of their own."""
_FEWEST_STEPS = 20


def run_document(result: Result, scenario: str | None = None) -> dict[str, Any]:
    """Everything on the page of a run.

    Args:
        result: the run, with the tables ``flows`` and ``links``.
        scenario: text of its scenario file.
    """
    nodes, places = nodes_of(result)
    number = {name: index for index, name in enumerate(nodes)}
    flows, links = result.flows, result.links
    ends = [(number[a], number[b]) for a, b in links.select("from", "to").iter_rows()]
    transports = sorted(flows["transport"].unique().to_list())
    notes: list[str] = []
    return {
        "kind": "run",
        "title": str(result.summary.get("title") or "A run"),
        "cards": [asdict(one) for one in cards(result)],
        "warnings": [str(warning) for warning in result.summary.get("warnings", [])],
        "network_source": [str(line) for line in result.summary.get("network", [])],
        "facts": _facts(result),
        "scenario": scenario,
        "network": _network(nodes, places, ends),
        "links": {
            **table_data(link_table(result)),
            "from": column([a for a, _ in ends], "i4"),
            "to": column([b for _, b in ends], "i4"),
            "drops": column(all_drops(links)),
        },
        "transports": transport_looks(transports),
        "flows": table_data(flow_table(result)),
        "flow_series": _flow_series(result, transports, notes),
        "link_series": _link_series(result, notes),
        "multipath": multipath_data(result, notes),
        "latency": latency_data(result, notes),
        "events": result.tables["events"].to_dicts() if "events" in result.tables else [],
        "routes": routes_data(result, number, notes),
        "ended_s": float(result.summary.get("ended_s") or 0.0),
        "notes": [*goodput_notes(result), *notes],
    }


def _facts(result: Result) -> list[list[str]]:
    """What the run was, for the foot of the page; no clock, so that the same run gives the same page."""
    wanted = (
        ("version", "Anabranch"),
        ("seed", "seed"),
        ("replication", "replication"),
        ("scenario_sha256", "scenario (SHA-256)"),
        ("packet_hops", "packet-hops"),
        ("events", "events"),
    )
    found = [[label, str(result.summary[key])] for key, label in wanted if key in result.summary]
    routing = result.summary.get("routing")
    if isinstance(routing, dict):
        found += [
            [f"routing: {_words(key)}", quantity(value) if isinstance(value, float) else str(value)]
            for key, value in routing.items()
            if key != "seconds"
        ]
    return found


def _words(key: str) -> str:
    """A name of the summary as words, with its unit."""
    stem, _, unit = key.rpartition("_")
    return f"{stem.replace('_', ' ')} ({unit})" if unit in ("ms", "mbps") else key.replace("_", " ")


def _network(
    nodes: Sequence[str], places: Sequence[tuple[float, float] | None], ends: Sequence[tuple[int, int]]
) -> dict[str, Any]:
    drawn = layout(places, ends, nodes)
    return {
        "names": list(nodes),
        "x": column(drawn.points[:, 0]),
        "y": column(drawn.points[:, 1]),
        "layout": drawn.kind,
        "longitude": drawn.longitude,
        "stretch": drawn.stretch,
        "box": drawn.box(),
    }


def _flow_series(result: Result, transports: Sequence[str], notes: list[str]) -> dict[str, Any] | None:
    """Lines of the flows that delivered most, of each transport and of all flows together."""
    if "flow_series" not in result.tables or result.flow_series.is_empty():
        return None
    series = _measures(result.flow_series)
    steps = Steps.of(series["time_s"], MOST_STEPS)
    if steps.merged > 1:
        notes.append(
            f"Lines over time: {steps.merged} samples in a row are one step; goodput, RTT and cwnd are its "
            "means."
        )
    flows = result.flows
    kept = flows.sort(["delivered_bytes", "flow"], descending=[True, False])["flow"].head(MOST_FLOWS).sort()
    if len(kept) < flows.height:
        notes.append(
            f"{len(kept)} of {flows.height} flows have lines of their own, those that delivered most; sums "
            "and means count every flow."
        )
    lines = _lines(series, steps, flows, kept, transports)
    found = {"times": column(steps.times_s, "f8"), "flows": column(kept.to_numpy(), "i4"), **lines}
    if "simulated_flow_series" in result.tables:
        # At the same instants, but for those after a live run that was stopped.
        beside = _measures(result.tables["simulated_flow_series"])
        beside = beside.filter(pl.col("time_s").is_in(series["time_s"].unique().implode()))
        found["simulated"] = _lines(beside, steps, flows, kept, transports)
    return found


def _measures(series: pl.DataFrame) -> pl.DataFrame:
    """What is drawn of flows over time."""
    return series.select("time_s", "flow", "goodput_mbps", "srtt_ms", cwnd_kb=pl.col("cwnd_bytes") / 1e3)


def _lines(
    series: pl.DataFrame, steps: Steps, flows: pl.DataFrame, kept: pl.Series, transports: Sequence[str]
) -> dict[str, Any]:
    """Lines of the flows that are ``kept``, of each transport and of all flows."""
    chosen = series.filter(pl.col("flow").is_in(kept.implode()))
    chosen = chosen.with_columns(row=pl.Series(np.searchsorted(kept, chosen["flow"])))
    transport = pl.Series("row", np.searchsorted(transports, flows["transport"].to_list()))
    by_flow = flows.select("flow").with_columns(transport)
    grouped = series.join(by_flow, on="flow", how="left", maintain_order="left")
    return {
        "own": steps.columns(chosen, "row", len(kept), pl.col("goodput_mbps", "srtt_ms", "cwnd_kb").mean()),
        "transports": _grouped(grouped, steps, len(transports)),
        "all": _grouped(grouped.with_columns(row=0), steps, 1),
    }


def _grouped(series: pl.DataFrame, steps: Steps, rows: int) -> dict[str, Any]:
    """Of each group of flows: the sum of the goodputs, the means of all else and how many flows there are."""
    instants = series.group_by("row", "time_s").agg(
        pl.col("goodput_mbps").sum(), pl.col("srtt_ms", "cwnd_kb").mean(), flows=pl.len()
    )
    # In order, because a mean depends on it in its last digit.
    mean = pl.col("goodput_mbps", "srtt_ms", "cwnd_kb", "flows").mean()
    return steps.columns(instants.sort("row", "time_s"), "row", rows, mean)


def _link_series(result: Result, notes: list[str]) -> dict[str, Any] | None:
    """Utilization, queue and drops of every link, step by step."""
    if "link_series" not in result.tables or result.link_series.is_empty():
        return None
    series, links = result.link_series, result.links
    most = min(MOST_STEPS, max(_FEWEST_STEPS, MOST_LINK_STEPS // links.height))
    steps = Steps.of(series["time_s"], most)
    if steps.merged > 1:
        notes.append(
            f"Links over time: {steps.merged} samples in a row are one step; utilization is its mean, "
            "the queue its maximum, drops are their sum."
        )
    if capacity_changed(result):
        notes.append("Utilization over time is relative to the capacity at the end of the run.")
    # Drops are counted since the start.
    new_drops = pl.col("drops") - pl.col("drops").shift(1, fill_value=0).over("link")
    return {
        "times": column(steps.times_s, "f8"),
        **steps.columns(
            link_values(result, series).with_columns(new_drops),
            "link",
            links.height,
            pl.col("utilization").mean(),
            pl.col("queue").max(),
            pl.col("drops").sum(),
        ),
    }
