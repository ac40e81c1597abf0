"""Metrics: one number for each run, straight from the columns that the core returns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import AnabranchError
from anabranch.results.censored import COMPLETION, MORE_THAN, Times, statistic
from anabranch.scenario.quantity import quoted, shown
from anabranch.scenario.unknown import unknown_choice
from anabranch.study.description import Metric
from anabranch.study.up_time import MEASURES, Columns, Tables

DEFAULTS = (
    Metric(
        name="delivered_mbps",
        label="delivered in all (Mbps)",
        table="summary",
        column="delivered_mbps",
    ),
    Metric(name="completion_s", label="mean completion time (s)", column="completion_s"),
    Metric(
        name="completion_p95_s",
        label="p95 of completion times (s)",
        column="completion_s",
        statistic="p95",
    ),
    Metric(name="jain_index", label="Jain index", table="summary", column="jain_index"),
    Metric(name="retransmissions", label="retransmissions", column="retransmissions", statistic="sum"),
    Metric(
        name="queue_mean_packets",
        label="mean queue of the fullest link (packets)",
        table="links",
        column="queue_mean_packets",
        statistic="max",
    ),
    Metric(
        name="queue_max_packets",
        label="longest queue of any link (packets)",
        table="links",
        column="queue_max_packets",
        statistic="max",
    ),
    Metric(
        name="drops",
        label="packets lost in all",
        table="summary",
        column="packets_lost",
    ),
)
"""The metrics of a study that names none."""


_ENDS = ("from", "to")
_IDENTITIES: Mapping[str, Mapping[str, str]] = {
    **{
        table: {"flow": "flows"}
        for table in ("connections", "subflows", "flow_series", "subflow_series", "spray_flows")
    },
    **{table: {"flow": "datagram_flows"} for table in ("datagram_series", "latencies")},
    "flows": dict.fromkeys(("flow", "name", *_ENDS, "transport"), "flows"),
    "datagram_flows": dict.fromkeys(("flow", "name", *_ENDS, "kind"), "datagram_flows"),
    "collectives": {"name": "collectives"},
    "collective_steps": {"name": "collectives"},
    "links": dict.fromkeys(("link", "name", *_ENDS), "links"),
    "link_series": {"link": "links"},
    "flow_tables": {"switch": "flow_tables"},
    "flow_table_series": {"switch": "flow_tables"},
}
"""Columns that say of what a row is, by table, and the table that has all of it as a run begins."""

_NOTHING_THERE = {"datagram_series": ", or no ping or udp"}
"""Why else a run lacks a series."""


class MetricError(AnabranchError):
    """A metric that the tables of a run do not have; the message says what they have."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key
        """Key of the metric that is wrong, such as ``column``."""


def values(metric: Metric, tables: Tables, summary: Mapping[str, Any]) -> tuple[float | None, ...]:
    """The columns of a metric in the table of runs (:attr:`MetricInfo.columns`), for one run.

    The first one is the metric, None where there is nothing to take it from. A censored one has further what
    it is more than where unfinished flows leave it open, how many flows are done, and of how many.

    Raises:
        MetricError: if the tables have no such column.
    """
    if not metric.is_censored:
        value = statistic(metric.statistic, _numbers(metric, tables, summary))
        return (None if value is None else value * metric.scale,)
    times = _times(metric, tables, summary)
    estimate = times.statistic(metric.statistic).scaled(metric.scale)
    return (estimate.value, estimate.more_than, float(times.done), float(times.count))


def _times(metric: Metric, tables: Tables, summary: Mapping[str, Any]) -> Times:
    """The times that a metric asks for, with bounds of those that flows have not come to."""
    columns = tables[metric.table]
    times, more_than = _floats(columns, metric.column), _bounds(metric.column, columns, summary)
    chosen = _chosen(metric, columns)
    return Times.of_columns(*((times, more_than) if chosen is None else (times[chosen], more_than[chosen])))


def _bounds(column: str, flows: Columns, summary: Mapping[str, Any]) -> NDArray[np.float64]:
    """What the times of a column are more than, of flows that have not come to it; NaN for others.

    Every flow that has begun may yet have a handshake and first data, and one that can complete a FIN.
    """
    completion_bounds = _floats(flows, MORE_THAN)
    if column == COMPLETION:
        return completion_bounds
    had = float(summary["ended_s"]) - _floats(flows, "start_s")
    awaited = np.isnan(_floats(flows, column)) & (had > 0)
    if column == "fin_s":
        awaited &= ~(np.isnan(_floats(flows, COMPLETION)) & np.isnan(completion_bounds))
    else:
        # Where data were sent, there was a handshake that nobody has seen.
        awaited &= np.isnan(_floats(flows, "setup_s"))
    return np.where(awaited, had, np.nan)


def completions(tables: Tables) -> Times:
    """The completion times of all flows."""
    flows = tables["flows"]
    return Times.of_columns(_floats(flows, COMPLETION), _floats(flows, MORE_THAN))


def rows_chosen(metric: Metric, tables: Tables) -> float | None:
    """How many rows ``where`` of a metric chooses; None where a column that it names is empty."""
    columns = tables[metric.table]
    for name in metric.where:
        column = _column(columns, name, "where")
        if not isinstance(column, np.ndarray) and not any(column):
            return None
    chosen = _chosen(metric, columns)
    return None if chosen is None else float(chosen.sum())


def _floats(columns: Columns, name: str) -> NDArray[np.float64]:
    return np.asarray(_column(columns, name, "column"), dtype=np.float64)


def _numbers(metric: Metric, tables: Tables, summary: Mapping[str, Any]) -> list[float]:
    """The values that a statistic is taken of; what is null or not a number is left out."""
    if metric.table == "summary":
        return _of_summary(metric, summary)
    if metric.table not in tables:
        hint = ""
        if metric.table.endswith("_series"):
            field = metric.table.replace("datagram", "flow")
            hint = f"; the scenario has run.{field} = false{_NOTHING_THERE.get(metric.table, '')}"
        raise MetricError("table", f"table {unknown_choice(metric.table, [*tables, 'summary'])}{hint}")
    columns = tables[metric.table]
    column = _column(columns, metric.column, "column", MEASURES.get(metric.table, ()))
    chosen = _chosen(metric, columns)
    if not isinstance(column, np.ndarray):
        if metric.statistic != "count":
            raise MetricError("column", f"{quoted(metric.column)} holds text; of that there is only a count")
        return [1.0] * (len(column) if chosen is None else int(chosen.sum()))
    numbers = column.astype(np.float64, copy=False)
    if chosen is not None:
        numbers = numbers[chosen]
    listed: list[float] = numbers[~np.isnan(numbers)].tolist()
    return listed


def _of_summary(metric: Metric, summary: Mapping[str, Any]) -> list[float]:
    if metric.column not in summary:
        raise MetricError("column", f"the summary has no key {_unknown(metric.column, list(summary))}")
    number = summary[metric.column]
    if number is None:
        return []
    if not isinstance(number, int | float):
        raise MetricError("column", f"{quoted(metric.column)} of the summary is no number")
    return [] if math.isnan(number) else [float(number)]


def _chosen(metric: Metric, columns: Columns) -> NDArray[np.bool_] | None:
    """Which rows a metric asks for; None for all."""
    chosen: NDArray[np.bool_] | None = None
    for name, wanted in metric.where.items():
        column = _column(columns, name, "where")
        values = wanted if isinstance(wanted, list) else [wanted]
        text = not isinstance(column, np.ndarray)
        if not text and np.issubdtype(np.asarray(column).dtype, np.floating):
            raise MetricError("where", f"{quoted(name)} holds measured numbers, which are hardly ever equal")
        wrong = next((entry for entry in values if isinstance(entry, str) != text), None)
        if wrong is not None:
            kind = "text" if text else "whole numbers"
            raise MetricError("where", f"{quoted(name)} holds {kind}, and {shown(wrong)} is none")
        matches = np.fromiter((entry in values for entry in column), np.bool_, len(column))
        chosen = matches if chosen is None else chosen & matches
    return chosen


def unmatched(metric: Metric, tables: Tables) -> str | None:
    """Says which rows of ``where`` are in no run that begins with these tables; None if there may be some.

    What a row is of, such as the name of a flow, is known as a run begins; what is measured is not.
    """
    identities = _IDENTITIES.get(metric.table, {})
    wanted = {name: entry for name, entry in metric.where.items() if name in identities}
    matches: NDArray[np.bool_] | None = None
    for name, entry in wanted.items():
        table = tables.get(identities[name], {})
        if name not in table:
            return None
        column = _column(table, name, "where")
        there = list(column) if not isinstance(column, np.ndarray) else column.tolist()
        values = entry if isinstance(entry, list) else [entry]
        missing = [value for value in values if value not in there]
        if missing:
            names = list(dict.fromkeys(map(str, there)))
            reason = unknown_choice(str(missing[0]), names).replace(" is not known", "", 1)
            return f"no row of {metric.table} has {name} = {reason}"
        if identities[name] == metric.table:
            rows = np.fromiter((value in values for value in there), np.bool_, len(there))
            matches = rows if matches is None else matches & rows
    if matches is not None and not matches.any():
        both = " and ".join(f"{name} = {shown(entry)}" for name, entry in wanted.items())
        return f"no row of {metric.table} has {both}"
    return None


def _column(
    columns: Columns, name: str, key: str, measures: Iterable[str] = ()
) -> NDArray[Any] | Sequence[str]:
    if name not in columns:
        raise MetricError(key, f"there is no column {_unknown(name, [*columns, *measures])}")
    column = columns[name]
    if isinstance(column, tuple):
        names, places = column
        return [names[place] for place in places]
    return column


def _unknown(name: str, names: Sequence[str]) -> str:
    return unknown_choice(name, names).replace(" is not known", "", 1)
