"""Flows and links over time: goodput, round-trip time, window; queue, utilization, drops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from anabranch.errors import ResultError
from anabranch.media.columns import Column, column
from anabranch.report.goodput import goodput_notes
from anabranch.report.looks import Look, transport_looks
from anabranch.report.plots.choice import Names, TimeRange, chosen_flows, matching, table_of, within
from anabranch.report.plots.lines import (
    PATTERNS,
    TOGETHER,
    Chart,
    Line,
    by_place,
    chart,
    mean_and_band,
    summed,
)
from anabranch.report.plots.plot import Layout, Plot
from anabranch.report.views.link_tables import capacity_changed, link_values
from anabranch.results.result import Result

By = Literal["flow", "transport", "sum"]
"""A line for each flow, mean and band of each transport, or the sum of each transport."""

FEW_FLOWS = 8
"""Flows that have a line each if nothing else is asked for."""
MOST_FLOWS = 32
"""Flows that may have a line each: 8 colours and 6 line styles."""
MOST_LINKS = 4
"""Links that are shown if nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class FlowMeasure:
    """A column of the samples of flows."""

    name: str
    about: Column
    """Its declaration, of which the axis has words and unit."""
    additive: bool = False
    """Whether a sum over flows means something."""


GOODPUT = FlowMeasure("goodput", column("goodput_mbps"), additive=True)
RTT = FlowMeasure("rtt", column("srtt_ms"))
CWND = FlowMeasure("cwnd", column("cwnd_bytes"))


def flows_over_time(
    result: Result, measure: FlowMeasure, flows: Names | None, by: By | None, span: TimeRange, layout: Layout
) -> Plot:
    """A measure of flows over time."""
    place = f"plot.{measure.name}"
    samples = table_of(result, "flow_series", place)
    chosen = chosen_flows(result, flows, place)
    by = by or ("flow" if chosen.height <= FEW_FLOWS else "transport")
    _check(measure, by, chosen.height)
    own = samples.select("time_s", "flow", value=pl.col(measure.about.name))
    own = own.join(chosen.select("flow", "transport"), on="flow", how="inner", maintain_order="left")
    own = own.drop_nulls("value")
    if own.is_empty():
        raise ResultError(
            f"{place}: no sample of these flows has a {measure.about.label}; choose other flows, or a "
            "transport that keeps one"
        )
    own = within(own, span, place, "these flows")
    looks = looks_of(result)
    quantity = measure.about.label
    if by == "flow":
        lines = _each_flow(own, chosen, looks)
    elif by == "transport":
        lines = [
            _band(group, name, chosen, looks[name], samples["time_s"]) for name, group in _groups(own, looks)
        ]
        quantity += " of a flow" if chosen.height > 1 else ""
    else:
        lines = [
            Line.of(
                f"all {name} ({_count(group)})", summed(group), looks[name], looks[name].line, marked=True
            )
            for name, group in _groups(own, looks)
        ]
    if by != "transport" and measure.additive and len(lines) > 1:
        which = "all" if chosen.height == result.flows.height else "these"
        lines.append(Line.of(f"{which} {_count(own)} flows", summed(own), TOGETHER, heavy=True))
    notes = [_BAND_NOTE] if by == "transport" and any(line.low is not None for line in lines) else []
    if measure is GOODPUT:
        notes += goodput_notes(result)
    return chart(result, lines, Chart(measure.name, quantity, measure.about.unit, span), layout, notes)


_BAND_NOTE = "Lines are means over the flows that are open, bands go from their 5th to their 95th percentile."


def _check(measure: FlowMeasure, by: By, flows: int) -> None:
    if by not in ("flow", "transport", "sum"):
        raise ResultError(f'by: no way {by!r} to draw flows; choose "flow", "transport" or "sum"')
    if by == "sum" and not measure.additive:
        raise ResultError(
            f'by: a sum says nothing of the {measure.about.label}; choose "flow" or "transport" (its mean)'
        )
    if by == "flow" and flows > MOST_FLOWS:
        raise ResultError(
            f"by: {flows} flows cannot be told apart; choose at most {MOST_FLOWS} by flows=[...], or "
            'by="transport"'
        )


def looks_of(result: Result) -> dict[str, Look]:
    """The look of each transport of a run, in the order of their names."""
    names = sorted(result.flows["transport"].unique().to_list())
    return dict(zip(names, transport_looks(names), strict=True))


def _groups(own: pl.DataFrame, looks: dict[str, Look]) -> list[tuple[str, pl.DataFrame]]:
    """The samples of each transport that has some."""
    parts = own.partition_by("transport", as_dict=True)
    return [(name, parts[(name,)]) for name in looks if (name,) in parts]


def _each_flow(own: pl.DataFrame, chosen: pl.DataFrame, looks: dict[str, Look]) -> list[Line]:
    """Flows of several transports have the colours of those, flows of one go by position."""
    parts = own.partition_by("flow", as_dict=True)
    several = len(looks) > 1
    alike: dict[str, int] = {}
    lines = []
    for flow, name, transport in chosen.select("flow", "name", "transport").iter_rows():
        if (flow,) not in parts:
            continue
        samples, place = parts[(flow,)], alike.get(transport, 0)
        alike[transport] = place + 1
        look, dash = by_place(place)
        if several:
            look = looks[transport]
            dash = PATTERNS[(place + look.hollow) % len(PATTERNS)]
        label = f"{name} ({transport})" if several else name
        lines.append(Line.of(label, samples, look, dash, marked=several))
    return lines


def _count(samples: pl.DataFrame) -> int:
    return samples["flow"].n_unique()


def _band(group: pl.DataFrame, transport: str, chosen: pl.DataFrame, look: Look, times: pl.Series) -> Line:
    """Mean and band of the flows of a transport that are open; of a single flow its own line."""
    flows = group["flow"].unique()
    merged = mean_and_band(group.sort("time_s", "flow"))
    # Where no flow was open there is a gap.
    shown = times.unique().sort()
    shown = shown.filter(shown.is_between(merged["time_s"][0], merged["time_s"][-1]))
    merged = shown.to_frame("time_s").join(merged, on="time_s", how="left", maintain_order="left")
    what = f"mean and 5\N{EN DASH}95 % of {len(flows)} flows"
    if len(flows) == 1:
        what, merged = chosen.filter(pl.col("flow") == flows[0])["name"][0], merged.drop("low", "high")
    return Line.of(f"{transport}: {what}", merged, look, look.line, marked=True)


@dataclass(frozen=True, slots=True)
class LinkMeasure:
    """A measure of links over time."""

    name: str
    quantity: str
    rank: str
    """By what links are chosen, in words."""
    top: float | None = None


QUEUE = LinkMeasure("queue", column("queue_packets").titled(), "the longest queues")
UTILIZATION = LinkMeasure("utilization", column("utilization").label, "the highest mean utilization", 1.02)
DROPS = LinkMeasure("drops", "packets dropped since the start", "the most drops")


def links_over_time(
    result: Result, measure: LinkMeasure, links: Names | None, span: TimeRange, layout: Layout
) -> Plot:
    """A measure of links over time: of those that are named, else of the few that have most of it."""
    place = f"plot.{measure.name}"
    samples = within(table_of(result, "link_series", place), span, place, "the links")
    names = table_of(result, "links", place)["name"].to_list()
    values = link_values(result, samples).select("time_s", "link", value=pl.col(measure.name))
    notes = []
    if links is None:
        chosen = _foremost(values, measure)
        if len(chosen) < len(names):
            notes.append(f"{len(chosen)} of {len(names)} links are shown, those with {measure.rank}.")
    else:
        chosen = matching(names, links, "link")
        if len(chosen) > MOST_FLOWS:
            raise ResultError(f"links: {len(chosen)} links cannot be told apart; choose at most {MOST_FLOWS}")
    if measure is UTILIZATION and capacity_changed(result):
        notes.append("Utilization is relative to the capacity at the end of the run.")
    own = values.filter(pl.col("link").is_in(chosen)).partition_by("link", as_dict=True)
    lines = [Line.of(names[link], own[(link,)], *by_place(number)) for number, link in enumerate(chosen)]
    about = Chart(measure.name, measure.quantity, "", span, top=measure.top, scaled=False)
    return chart(result, lines, about, layout, notes)


def _foremost(values: pl.DataFrame, measure: LinkMeasure) -> list[int]:
    """The links that have most, and at least one."""
    of_all = pl.col("value").mean() if measure is UTILIZATION else pl.col("value").max()
    ranked = (
        values.group_by("link").agg(of_all).sort(["value", "link"], descending=[True, False], nulls_last=True)
    )
    some = ranked.filter(pl.col("value") > 0).head(MOST_LINKS)
    found: list[int] = (some if some.height else ranked.head(1))["link"].to_list()
    return found
