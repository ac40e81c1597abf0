"""The data of the page of a run: its tables, brought into the form that the page's script reads.

The page shows all flows and links. Of the samples over time it has what can be drawn, by three rules, which
it states wherever they take something away:

- steps: samples are merged, equally many to a step, so that there are at most 600 steps; the axis of a chart
  says what becomes of them (a mean, a maximum, a sum);
- links: there are at most 120,000 steps of links, which makes fewer steps where there are many links;
- flows: at most 100 flows have lines of their own, those that delivered most; the sums and means over all
  flows, and over those of each transport, always count every flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from anabranch.media.charts import sentence
from anabranch.media.links import SHARES, capacity_words, link_widths
from anabranch.media.page.charts import chart_data, distribution_data, merge_note, series_data, steps_of
from anabranch.media.page.data import column, table_data
from anabranch.media.pieces import DataTable
from anabranch.report.goodput import goodput_notes
from anabranch.report.html.routes_data import routes_data
from anabranch.report.layout import layout, nodes_of
from anabranch.report.views.cards import cards
from anabranch.report.views.choice import TimeRange
from anabranch.report.views.distributions import completion_distribution, reordering_distribution
from anabranch.report.views.link_tables import all_drops
from anabranch.report.views.over_time import QUEUE, changes, every_flow_chart, every_link_chart, link_chart
from anabranch.report.views.run import (
    collective_tables,
    event_table,
    flow_table,
    link_table,
    reordering_table,
)
from anabranch.results.result import Result
from anabranch.text.units import quantity

MOST_LINK_STEPS = 120_000
"""Links times steps."""
MOST_FLOWS = 100
"""Flows with series of their own."""
MOST_EVENTS = 200
"""Changes of the network that are listed."""


def run_document(result: Result, scenario: str | None = None) -> dict[str, Any]:
    """Everything on the page of a run.

    Args:
        result: the run, with the tables ``flows`` and ``links``.
        scenario: text of its scenario file.
    """
    nodes, places = nodes_of(result)
    number = {name: index for index, name in enumerate(nodes)}
    links = result.links
    ends = [(number[a], number[b]) for a, b in links.select("from", "to").iter_rows()]
    notes: list[str] = []
    events, reordering = event_table(result, MOST_EVENTS), reordering_table(result)
    return {
        "kind": "run",
        "title": str(result.summary.get("title") or "A run"),
        "cards": [asdict(one) for one in cards(result)],
        "warnings": [str(warning) for warning in result.summary.get("warnings", [])],
        "network_source": [str(line) for line in result.summary.get("network", [])],
        "facts": _facts(result),
        "scenario": scenario,
        **network_document(nodes, places, ends, links["capacity_mbps"].to_list(), link_table(result)),
        "drops": column(all_drops(links)),
        "flows": table_data(flow_table(result)),
        "flow_series": _flow_series(result, notes),
        **_link_series(result, notes),
        **_distributions(result),
        **_of_few_runs(result, notes),
        "marks": [{"time_s": mark.time_s, "bad": mark.is_bad} for mark in changes(result)],
        "events": result.tables["events"].to_dicts() if "events" in result.tables else [],
        "event_table": table_data(events) if events.height else None,
        "reordering_table": None if reordering is None else table_data(reordering),
        "routes": routes_data(result, number, notes),
        "ended_s": float(result.summary.get("ended_s") or 0.0),
        "notes": [*goodput_notes(result), *notes],
    }


def network_document(
    nodes: Sequence[str],
    places: Sequence[tuple[float, float] | None],
    ends: Sequence[tuple[int, int]],
    capacities_mbps: Sequence[float],
    links: DataTable,
) -> dict[str, Any]:
    """The drawing of a network, as the script of its map takes it, and the table of its links.

    Args:
        nodes: names.
        places: latitude and longitude of each in degrees, or None.
        ends: numbers of the two nodes of each directed link.
        capacities_mbps: of each link.
        links: a row for each link.
    """
    return {
        "network": _network(nodes, places, ends) | _link_looks(capacities_mbps),
        "links": {
            **table_data(links),
            "from": column([a for a, _ in ends], "i4"),
            "to": column([b for _, b in ends], "i4"),
        },
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
    facts = [[label, str(result.summary[key])] for key, label in wanted if key in result.summary]
    routing = result.summary.get("routing")
    if isinstance(routing, dict):
        facts += [
            [f"routing: {_words(key)}", quantity(value) if isinstance(value, float) else str(value)]
            for key, value in routing.items()
            if key != "seconds"
        ]
    return facts


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


def _link_looks(capacities_mbps: Sequence[float]) -> dict[str, Any]:
    """The meaning of the width and the colour of links, as in print."""
    return {
        "widths": column(link_widths(capacities_mbps)),
        "width_words": sentence(capacity_words(capacities_mbps)) if capacities_mbps else "",
        "scale": SHARES._asdict(),
    }


def _flow_series(result: Result, notes: list[str]) -> dict[str, Any] | None:
    """Lines of all flows together, of each transport and of the flows that delivered most."""
    chart = every_flow_chart(result, MOST_FLOWS)
    if chart is None:
        return None
    steps = steps_of(chart)
    notes += [*merge_note("Lines over time", chart, steps), *chart.notes]
    return chart_data(chart, steps)


def _link_series(result: Result, notes: list[str]) -> dict[str, Any]:
    """The values of every link for the map, step by step, and the lines of the longest queues."""
    chart = every_link_chart(result)
    if chart is None:
        return {"link_series": None, "queues": None}
    steps = steps_of(chart, MOST_LINK_STEPS)
    notes += [*merge_note("Links over time", chart, steps), *chart.notes]
    queues = link_chart(result, "queue", QUEUE, None, TimeRange())
    return {"link_series": series_data(chart, steps), "queues": chart_data(queues, steps)}


def _of_few_runs(result: Result, notes: list[str]) -> dict[str, Any]:
    """Parts that only some runs have: those without need not wait for their modules."""
    multipath, latency = None, None
    collectives = [table_data(table) for table in collective_tables(result)]
    if "connections" in result.tables:
        from anabranch.report.html.multipath_data import multipath_data  # noqa: PLC0415

        multipath = multipath_data(result, notes)
    if "datagram_flows" in result.tables:
        from anabranch.report.html.latency_data import latency_data  # noqa: PLC0415

        latency = latency_data(result, notes)
    return {"multipath": multipath, "latency": latency, "collectives": collectives or None}


def _distributions(result: Result) -> dict[str, Any]:
    completion = completion_distribution(result, result.flows)
    reordering = reordering_distribution(result, result.flows)
    return {
        "completion": distribution_data(completion, "No flow was completed."),
        "reordering": distribution_data(
            reordering, "No flow received packets.", none_is_zero="No packet was reordered."
        ),
    }
