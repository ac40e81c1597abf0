"""Flows and links over time as charts: goodput, round-trip time, window; queue, utilization, drops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from anabranch.errors import ResultError
from anabranch.media.charts import Line, LineChart, Mark, ValueAxis
from anabranch.media.columns import column
from anabranch.media.palette import LOOKS, PATTERNS, TOGETHER, Look, look_at
from anabranch.media.pieces import counted
from anabranch.report.goodput import goodput_notes
from anabranch.report.looks import transport_looks
from anabranch.report.views.choice import (
    Names,
    TimeRange,
    chosen_flows,
    matching,
    stopped,
    table_of,
    within,
)
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
_LOW, _HIGH = 0.05, 0.95
"""Quantiles at the edges of a band."""
MOST_MARKS = 200
"""Changes of the network that are drawn."""

GOODPUT, RTT, CWND = (ValueAxis(column(name)) for name in ("goodput_mbps", "srtt_ms", "cwnd_bytes"))
FLOW_AXES = (GOODPUT, RTT, CWND)
"""Everything that is sampled of flows."""
_ADDITIVE = frozenset({GOODPUT.name})
"""Of which a sum over flows means something."""
_BAND_NOTE = "Lines are means over the flows that are open, bands go from their 5th to their 95th percentile."


def changes(result: Result) -> tuple[Mark, ...]:
    """Changes of the network, each kind once at an instant; new routes are none."""
    events = result.tables.get("events")
    if events is None:
        return ()
    marks = events.filter(pl.col("kind") != "new routes").select("time_s", "kind")
    first = marks.unique(maintain_order=True).head(MOST_MARKS)
    return tuple(Mark(time, kind) for time, kind in first.iter_rows())


def chart_of(
    result: Result,
    name: str,
    axes: Sequence[ValueAxis],
    lines: Sequence[Line],
    samples: pl.DataFrame,
    span: TimeRange | None = None,
    notes: Sequence[str] = (),
) -> LineChart:
    """A chart of a run, with what all of them have in common."""
    span = span or TimeRange()
    return LineChart(
        name,
        str(result.summary.get("title") or ""),
        tuple(axes),
        tuple(lines),
        samples,
        float(result.summary.get("ended_s") or 0.0),
        span.start_s,
        span.end_s,
        is_log=span.log,
        marks=changes(result),
        notes=(*notes, *stopped(result)),
    )


def looks_of(result: Result) -> dict[str, Look]:
    """The look of each transport of a run, in the order of their names."""
    names = sorted(result.flows["transport"].unique().to_list())
    return {
        name: replace(look, dash=look.line) for name, look in zip(names, transport_looks(names), strict=True)
    }


def flow_chart(
    result: Result, name: str, axis: ValueAxis, flows: Names | None, by: By | None, span: TimeRange
) -> LineChart:
    """A measure of flows over time, as print has it.

    Args:
        result: the run.
        name: of the chart, for its file and for messages.
        axis: the measure.
        flows: names, patterns or numbers of flows; all if None.
        by: what has a line; few flows have one each if None, many are taken together by transport.
        span: the time that is shown.

    Raises:
        ResultError: if there is nothing to show, with a remedy.
    """
    place = f"plot.{name}"
    table = table_of(result, "flow_series", place)
    chosen = chosen_flows(result, flows, place)
    by = by or ("flow" if chosen.height <= FEW_FLOWS else "transport")
    _check(axis, by, chosen.height)
    samples = table.join(chosen.select("flow"), on="flow", how="semi", maintain_order="left")
    if samples[axis.name].null_count() == samples.height:
        raise ResultError(
            f"{place}: no sample of these flows has a {axis.quantity}; choose other flows, or a transport "
            "that keeps one"
        )
    samples = within(samples, span, place, "these flows")
    which = "all" if chosen.height == result.flows.height else "these"
    sampled = chosen.join(samples.drop_nulls(axis.name), on="flow", how="semi", maintain_order="left")
    looks, axes, notes = looks_of(result), [axis], list[str]()
    if by == "transport":
        axes, lines, drawn = _bands(axis, sampled, looks, samples, more=chosen.height > 1)
        notes += [_BAND_NOTE] if axes[0].low else []
    elif by == "flow":
        lines, drawn = _each(sampled, looks, samples, axes)
    else:
        lines, drawn = _by_transport(sampled, looks, samples, axes)
    if by != "transport" and axis.name in _ADDITIVE and len(lines) > 1:
        every = Line(f"{which} {counted(sampled.height, 'flow')}", TOGETHER, is_of_several=True)
        drawn = _stacked([drawn, _together(samples.with_columns(_number(len(lines))), axes)])
        lines.append(every)
    notes += goodput_notes(result) if axis.name == GOODPUT.name else []
    return chart_of(result, name, axes, lines, drawn, span, notes)


def every_flow_chart(result: Result, most: int) -> LineChart | None:
    """Everything that is sampled of flows, as a page has it: of all, of each transport and of single flows.

    Args:
        result: the run.
        most: so many flows have a line of their own at most, those that delivered most.

    Returns:
        The chart; None where nothing was sampled. At first it shows few flows with a line each, and of many
        what they have together.
    """
    samples = result.tables.get("flow_series")
    if samples is None or samples.is_empty():
        return None
    ranked = result.flows.sort(["delivered_bytes", "flow"], descending=[True, False])
    listed, looks = ranked.head(most).sort("flow"), looks_of(result)
    beside = simulated(result, "flow_series")
    is_few = result.flows.height <= FEW_FLOWS
    lines, parts, others = list[Line](), list[pl.DataFrame](), list[pl.DataFrame]()

    def add(more: Sequence[Line], of: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        offset = pl.col("line") + len(lines)
        parts.append(of(samples).with_columns(offset))
        if beside is not None:
            others.append(of(beside).with_columns(offset))
        lines.extend(more)

    if result.flows.height > 1:
        every = Line(f"all {counted(result.flows.height, 'flow')}", TOGETHER, is_of_several=True)
        add([every], lambda table: _together(table.with_columns(_number(0)), FLOW_AXES))
    if not is_few and len(looks) > 1:
        groups, _ = _by_transport(result.flows, looks, samples, FLOW_AXES)
        add(groups, lambda table: _by_transport(result.flows, looks, table, FLOW_AXES)[1])
    first = len(lines)
    flows, _ = _each(listed, looks, samples, FLOW_AXES)
    add(flows, lambda table: _each(listed, looks, table, FLOW_AXES)[1])
    drawn = chart_of(
        result, "flows", FLOW_AXES, lines, _stacked(parts), notes=_left_out(listed, result.flows)
    )
    shown = range(len(lines)) if is_few else range(first)
    return replace(drawn, shown=tuple(shown), simulated=_stacked(others) if others else None)


def simulated(result: Result, name: str) -> pl.DataFrame | None:
    """The samples of the simulation beside a live run; None for any other run."""
    beside = result.tables.get(f"simulated_{name}")
    if beside is None:
        return None
    # At the same instants, but for those after a live run that was stopped.
    return beside.join(result.tables[name].select("time_s"), on="time_s", how="semi", maintain_order="left")


def _stacked(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One table below the other: a sum of whole numbers is one, their mean is not."""
    return pl.concat(parts, how="vertical_relaxed")


def _left_out(listed: pl.DataFrame, flows: pl.DataFrame) -> list[str]:
    if listed.height == flows.height:
        return []
    return [
        f"{listed.height} of {flows.height} flows have lines of their own, those that delivered most; sums "
        "and means count every flow."
    ]


def _check(axis: ValueAxis, by: By, flows: int) -> None:
    if by not in ("flow", "transport", "sum"):
        raise ResultError(f'by: no way {by!r} to draw flows; choose "flow", "transport" or "sum"')
    if by == "sum" and axis.name not in _ADDITIVE:
        raise ResultError(
            f'by: a sum says nothing of the {axis.quantity}; choose "flow" or "transport" (its mean)'
        )
    if by == "flow" and flows > MOST_FLOWS:
        raise ResultError(
            f"by: {flows} flows cannot be told apart; choose at most {MOST_FLOWS} by flows=[...], or "
            'by="transport"'
        )


def _number(line: int) -> pl.Expr:
    return pl.lit(line, pl.Int64).alias("line")


def _numbered(samples: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The samples of the flows that have a line, with its number."""
    return samples.join(lines.select("flow", "line"), on="flow", how="inner", maintain_order="left")


def _each(
    flows: pl.DataFrame, looks: Mapping[str, Look], samples: pl.DataFrame, axes: Sequence[ValueAxis]
) -> tuple[list[Line], pl.DataFrame]:
    """A line for each flow; several transports have colours of their own, else lines go by place."""
    several = len(looks) > 1
    of_flows = flow_looks(flows["transport"].to_list(), looks)
    lines = [
        Line(name, look, transport if several else "", is_marked=several, row=flow)
        for (flow, name, transport), look in zip(
            flows.select("flow", "name", "transport").iter_rows(), of_flows, strict=True
        )
    ]
    numbered = flows.select("flow").with_row_index("line").cast({"line": pl.Int64})
    return lines, _numbered(samples, numbered).select("line", "time_s", *(axis.name for axis in axes))


def flow_looks(transports: Sequence[str], looks: Mapping[str, Look]) -> list[Look]:
    """A look for each flow, no two with one colour and dash as long as there are enough (48).

    The flows of a transport have its colour and marker, and dashes that tell them apart; the first has that
    of the transport. Flows beyond these take colours that no transport has, then whatever is left.

    Args:
        transports: of the flows.
        looks: of the transports, as :func:`looks_of` has them. Of a single one flows go by place.
    """
    if len(looks) < 2:
        return [look_at(place) for place in range(len(transports))]
    # Relatives share a colour: the lines of one begin where those of the other do not.
    usual = {(look.color, PATTERNS[look.hollow]) for look in looks.values()}
    colors = {look.color for look in looks.values()}
    spare = sorted((look_at(place) for place in range(LOOKS)), key=lambda look: look.color in colors)
    taken: set[tuple[str, str]] = set()
    alike: Counter[str] = Counter()
    of_flows = []
    for transport in transports:
        look = looks[transport]
        dashes = [PATTERNS[(look.hollow + step) % len(PATTERNS)] for step in range(len(PATTERNS))]
        own = [(look.color, dash) for dash in dashes]
        others = (pair for pair in (*own, *((one.color, one.dash) for one in spare)) if pair not in usual)
        free = (pair for pair in (own[0], *others) if pair not in taken)
        pair = next(free, own[alike[transport] % len(own)])
        taken.add(pair)
        alike[transport] += 1
        of_flows.append(replace(look, color=pair[0], dash=pair[1]))
    return of_flows


def _by_transport(
    flows: pl.DataFrame, looks: Mapping[str, Look], samples: pl.DataFrame, axes: Sequence[ValueAxis]
) -> tuple[list[Line], pl.DataFrame]:
    """A line for each transport: the sum of what adds up over its flows, and the mean of all else."""
    names = [name for name in looks if (flows["transport"] == name).any()]
    place = pl.col("transport").replace_strict(names, range(len(names)), return_dtype=pl.Int64)
    counts = dict(flows.group_by("transport").len().iter_rows())
    lines = [
        Line(
            f"all {name}", looks[name], f"{counts[name]:,}",
            is_marked=True, is_of_several=True,
        )
        for name in names
    ]  # fmt: skip
    numbered = _numbered(samples, flows.select("flow", place.alias("line")))
    return lines, _together(numbered, axes)


def _together(samples: pl.DataFrame, axes: Sequence[ValueAxis]) -> pl.DataFrame:
    """Of each line at each instant the sum of what adds up, and the mean of all else."""
    values = (
        pl.col(axis.name).sum() if axis.name in _ADDITIVE else pl.col(axis.name).mean() for axis in axes
    )
    return samples.group_by("line", "time_s").agg(*values).sort("line", "time_s")


def _bands(
    axis: ValueAxis, flows: pl.DataFrame, looks: Mapping[str, Look], samples: pl.DataFrame, *, more: bool
) -> tuple[list[ValueAxis], list[Line], pl.DataFrame]:
    """Mean and band of the open flows of each transport; of a single flow its own line.

    Args:
        axis: the measure.
        flows: those that have samples.
        looks: of the transports.
        samples: of these flows.
        more: whether several flows were asked for.
    """
    lines, parts = list[Line](), list[pl.DataFrame]()
    has_band = False
    for transport, look in looks.items():
        rows = flows.filter(pl.col("transport") == transport)
        if rows.is_empty():
            continue
        part = samples.join(rows.select("flow"), on="flow", how="semi", maintain_order="left")
        band = mean_and_band(part.sort("time_s", "flow"), axis.name)
        label = f"mean and 5\N{EN DASH}95 % of {rows.height} flows"
        if rows.height == 1:
            label, band = rows["name"][0], band.with_columns(low=None, high=None)
        has_band |= rows.height > 1
        parts.append(band.with_columns(_number(len(lines)), pl.col("low", "high").cast(pl.Float64)))
        lines.append(Line(f"{transport}: {label}", look, is_marked=True, is_of_several=True))
    heading = f"{axis.quantity} of a flow" if more else ""
    low, high = ("low", "high") if has_band else ("", "")
    return [replace(axis, heading=heading, low=low, high=high)], lines, pl.concat(parts)


def mean_and_band(samples: pl.DataFrame, name: str) -> pl.DataFrame:
    """Mean, ``low`` and ``high`` of a column at each instant, in order of time.

    Args:
        samples: in an order that does not change, because a mean depends on it in its last digit.
        name: of the column.
    """
    value = pl.col(name)
    return samples.group_by("time_s", maintain_order=True).agg(
        value.mean(),
        value.quantile(_LOW, "linear").alias("low"),
        value.quantile(_HIGH, "linear").alias("high"),
    ).sort("time_s")  # fmt: skip


@dataclass(frozen=True, slots=True)
class LinkMeasure:
    """A measure of links over time."""

    axis: ValueAxis
    rank: str
    """By what links are chosen, in words."""
    ranks: Literal["mean", "max"] = "max"


QUEUE = LinkMeasure(ValueAxis(column("queue_packets"), is_scaled=False, merge="max"), "the longest queues")
UTILIZATION = LinkMeasure(
    ValueAxis(column("utilization"), unit="", is_scaled=False, top=1.02),
    "the highest mean utilization",
    "mean",
)
DROPS = LinkMeasure(
    ValueAxis(column("drops"), "packets dropped since the start", "", is_scaled=False, merge="max"),
    "the most drops",
)
NEW_DROPS = ValueAxis(column("drops"), "drops", "", is_scaled=False, merge="sum")
"""Packets dropped since the sample before."""


def link_chart(
    result: Result, name: str, measure: LinkMeasure, links: Names | None, span: TimeRange
) -> LineChart:
    """A measure of links over time: of those that are named, else of the few that have most of it.

    Raises:
        ResultError: if there is nothing to show, with a remedy.
    """
    place, axis = f"plot.{name}", measure.axis
    samples = within(table_of(result, "link_series", place), span, place, "the links")
    names = table_of(result, "links", place)["name"].to_list()
    values = link_values(result, samples).select("time_s", "link", axis.name)
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
    places = pl.col("link").replace_strict(chosen, range(len(chosen)), return_dtype=pl.Int64)
    drawn = values.filter(pl.col("link").is_in(chosen)).with_columns(line=places).drop("link")
    lines = [Line(names[link], look_at(place), row=link) for place, link in enumerate(chosen)]
    return chart_of(result, name, [axis], lines, drawn, span, notes)


def every_link_chart(result: Result) -> LineChart | None:
    """Utilization, queue and new drops of every link, as a map shows them; None where nothing was sampled."""
    series = result.tables.get("link_series")
    if series is None or series.is_empty():
        return None
    # Drops are counted since the start.
    new_drops = pl.col("drops") - pl.col("drops").shift(1, fill_value=0).over("link")
    drawn = link_values(result, series).with_columns(new_drops).rename({"link": "line"})
    notes = (
        ["Utilization over time is relative to the capacity at the end of the run."]
        if capacity_changed(result)
        else []
    )
    lines = [Line(name, look_at(link), row=link) for link, name in enumerate(result.links["name"])]
    chart = chart_of(result, "links", (UTILIZATION.axis, QUEUE.axis, NEW_DROPS), lines, drawn)
    return replace(chart, notes=tuple(notes))


def _foremost(values: pl.DataFrame, measure: LinkMeasure) -> list[int]:
    """The links that have most, and at least one."""
    value = pl.col(measure.axis.name)
    ranked = (
        values.group_by("link")
        .agg((value.mean() if measure.ranks == "mean" else value.max()).alias("value"))
        .sort(["value", "link"], descending=[True, False], nulls_last=True)
    )
    some = ranked.filter(pl.col("value") > 0).head(MOST_LINKS)
    numbers: list[int] = (some if some.height else ranked.head(1))["link"].to_list()
    return numbers
