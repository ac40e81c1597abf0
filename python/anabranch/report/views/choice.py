"""The flows, links and times that a figure shows, and the message where there are none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from anabranch.errors import ResultError
from anabranch.results.result import Result
from anabranch.text.suggest import nearest_remedy

Names = str | int | Sequence[str | int]
"""Names, patterns with ``*`` and ``?``, or numbers."""

_REMEDIES = {
    "flow_series": "set run.flow_series = true and a run.sample_interval shorter than run.duration",
    "link_series": "set run.link_series = true and a run.sample_interval shorter than run.duration",
    "subflow_series": "give a flow a transport of Multipath TCP, such as mptcp, with run.flow_series = true",
    "subflows": "give a flow a transport of Multipath TCP, such as mptcp",
    "datagram_flows": 'give traffic the application ping or udp, such as { kind = "ping" }',
    "datagram_series": "give traffic the application ping or udp, with run.flow_series = true",
    "latencies": 'give traffic the application ping or udp, such as { kind = "ping" }',
    "sequence": 'name flows in run.sequences, such as run.sequences = ["bulk"], or "*" for all',
    "log": 'name flows in run.log, such as run.log = ["bulk"], or "*" for all',
    "routes": "routes are kept by the runs of this version",
    "flows": "it is that of a run",
    "links": "it is that of a run",
}
"""How a run comes to have a table."""
_MOST_COMPARED = 3000


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The time that is shown, in seconds from the start of the run, and whether values are logarithmic."""

    start_s: float | None = None
    end_s: float | None = None
    log: bool = False


def table_of(result: Result, name: str, place: str) -> pl.DataFrame:
    """A table that has rows.

    Args:
        result: the run.
        name: of the table.
        place: for the message, such as ``plot.goodput``.

    Raises:
        ResultError: if the table is not there or empty, with the field that switches it on.
    """
    table = result.tables.get(name)
    if table is None or table.is_empty():
        lack = "has no table" if table is None else "has nothing in its table"
        raise ResultError(f"{place}: this result {lack} {name}; {_REMEDIES[name]}, and run it again")
    return table


def matching(names: Sequence[str], wanted: Names, what: str) -> list[int]:
    """Positions of the names that are wanted, each once, in the order of ``wanted``.

    A name that is there is itself, whatever letters it has; any other text is a pattern, in which ``*``
    stands for any letters and ``?`` for one. A number is a position.

    Raises:
        ResultError: for what matches nothing, with the nearest name.
    """
    each = [wanted] if isinstance(wanted, str | int) else list(wanted)
    places: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        places.setdefault(name, []).append(index)
    matched: dict[int, None] = {}
    for word in each:
        matches: Sequence[int]
        if isinstance(word, int):
            matches = [word] if 0 <= word < len(names) else []
        elif word in places:
            matches = places[word]
        else:
            pattern = re.compile("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in word), re.DOTALL)
            matches = [index for index, name in enumerate(names) if pattern.fullmatch(name)]
        if not matches:
            raise ResultError(_no_such(names, word, what))
        matched.update(dict.fromkeys(matches))
    if not matched:
        raise ResultError(f"{what}s: an empty list shows nothing; leave it out for all {len(names)}")
    return list(matched)


def _no_such(names: Sequence[str], word: str | int, what: str) -> str:
    if isinstance(word, int):
        return f"{what}s: no {what} {word}; numbers go from 0 to {len(names) - 1}"
    hint = nearest_remedy(word, names[:_MOST_COMPARED], f'one is "{names[0]}"' if names else "there are none")
    return f'{what}s: no {what} "{word}"; {hint}; "*" and "?" in a pattern stand for any letters and for one'


def chosen_flows(result: Result, wanted: Names | None, place: str) -> pl.DataFrame:
    """Rows of the table of flows: all of them, or those of these names, patterns or numbers.

    Raises:
        ResultError: if there is no such flow.
    """
    flows = table_of(result, "flows", place)
    if wanted is None:
        return flows
    return flows[sorted(matching(flows["name"].to_list(), wanted, "flow"))]


def recorded_flow(
    result: Result, table: pl.DataFrame, flow: str | int | None, place: str, lack: str
) -> tuple[int, str]:
    """Number and name of a flow that a table has rows of: the first one if none is named.

    Args:
        result: the run.
        table: with the column ``flow``.
        flow: name or number.
        place: for the message, such as ``plot.sequence``.
        lack: what is said of a flow that it has no rows of, before the names of some that it has.

    Raises:
        ResultError: if there is no such flow, or the table has none of its rows.
    """
    chosen = chosen_flows(result, None if flow is None else [flow], place)
    recorded = table["flow"].unique().implode()
    recorded_rows = chosen.filter(pl.col("flow").is_in(recorded))
    if recorded_rows.is_empty():
        recorded_names = result.flows.filter(pl.col("flow").is_in(recorded))["name"]
        some = ", ".join(f'"{name}"' for name in recorded_names.head(5))
        raise ResultError(f'{place}: flow "{flow}" {lack} {some}')
    return int(recorded_rows["flow"][0]), str(recorded_rows["name"][0])


def within(series: pl.DataFrame, span: TimeRange, place: str, what: str) -> pl.DataFrame:
    """The rows of a time.

    Raises:
        ResultError: if there is none.
    """
    if span.start_s is None and span.end_s is None:
        return series
    first, last = float(series["time_s"].min()), float(series["time_s"].max())  # type: ignore[arg-type]
    start = first if span.start_s is None else span.start_s
    end = last if span.end_s is None else span.end_s
    shown = series.filter(pl.col("time_s").is_between(start, end))
    if shown.is_empty():
        raise ResultError(
            f"{place}: no sample of {what} lies between start_s = {start:g} and end_s = {end:g}; "
            f"there are samples from {first:g} s to {last:g} s"
        )
    return shown


def stopped(result: Result) -> list[str]:
    """The words for a run that was stopped before its end."""
    if not result.interrupted:
        return []
    return [f"The run was stopped at {float(result.summary.get('ended_s') or 0.0):g} s, before its end."]
