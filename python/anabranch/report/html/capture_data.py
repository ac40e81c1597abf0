"""The data of the page of captures and measurements: throughput, round-trip times, windows, losses.

Tables have the 20,000 connections and the 20,000 subflows that carried most. The 20 subflows that carried
most have lines, beside the one of all subflows together.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import polars as pl

from anabranch.media.charts import LineChart
from anabranch.media.page.charts import chart_data, distribution_data, merge_note, steps_of
from anabranch.media.page.data import table_data
from anabranch.report.views.capture import (
    against_table,
    capture_cards,
    connection_table,
    protocol_table,
    subflow_table,
    unknown_line,
)
from anabranch.report.views.capture_charts import (
    MOST_LINES,
    against_chart,
    capture_chart,
    rtt_distribution,
)
from anabranch.results.result import Result
from anabranch.text.units import measure, quantity

MOST_ROWS = 20_000
"""Rows of the table of connections, and of that of subflows."""


def capture_document(result: Result) -> dict[str, Any]:
    """Everything on the page of captures, of a result with all its tables."""
    summary, notes = result.summary, list[str]()
    listed = _most(result.connections, "connection", notes)
    shown = _most(result.subflows, "subflow", notes)
    chosen = _first(result.subflows, "subflow", MOST_LINES)
    names = [str(name) for name in summary.get("captures", [])]
    protocols = protocol_table(result)
    lines = _lines("Lines over time", capture_chart(result, chosen), notes)
    # Of a measurement without samples there is nothing to say.
    has_rtts = lines and ("measured_by" not in summary or result.tables["rtt_distribution"].height > 0)
    no_rtts = "No round-trip time was measured."
    return {
        "kind": "capture",
        "title": ", ".join(names) if 0 < len(names) <= 3 else f"{len(names)} captures",
        "cards": [asdict(one) for one in capture_cards(result)],
        "warnings": [str(warning) for warning in summary.get("warnings", [])],
        "facts": _facts(result),
        "ended_s": _ended_s(result),
        # Where the measuring window begins and ends.
        "marks": [{"time_s": float(summary[key])} for key in ("window_start_s", "window_end_s")],
        "connections": table_data(connection_table(listed)),
        "subflows": table_data(subflow_table(shown)),
        "protocols": None if protocols is None else table_data(protocols),
        "lines": lines,
        "rtts": distribution_data(rtt_distribution(result, chosen), no_rtts) if has_rtts else None,
        "against": _against(result),
        "measured": [line for line in (unknown_line(result), *map(str, summary.get("notes", []))) if line],
        "notes": notes,
    }


def _first(table: pl.DataFrame, key: str, most: int) -> pl.DataFrame:
    """The rows that carried most, in the order of their numbers."""
    return table.sort(["acked_bytes", key], descending=[True, False], nulls_last=True).head(most).sort(key)


def _most(table: pl.DataFrame, key: str, notes: list[str]) -> pl.DataFrame:
    """The rows that a table of the page has."""
    rows = _first(table, key, MOST_ROWS)
    if rows.height < table.height:
        counts = f"{quantity(rows.height)} of {quantity(table.height)}"
        notes.append(f"The table of {key}s has {counts}, which carried most.")
    return rows


def _lines(what: str, chart: LineChart | None, notes: list[str]) -> dict[str, Any] | None:
    """A chart for the page; what is to be said of it goes to ``notes``."""
    if chart is None:
        return None
    steps = steps_of(chart)
    notes += [*merge_note(what, chart, steps), *chart.notes]
    return chart_data(chart, steps)


def _against(result: Result) -> dict[str, Any] | None:
    """Table and lines of a comparison; None where there is none."""
    table = against_table(result)
    if table is None:
        return None
    about = result.summary["against"]
    notes = [str(note) for note in about.get("notes", [])]
    lines = _lines("Lines", against_chart(result), notes)
    return {"title": str(about["title"]), "table": table_data(table), "lines": lines, "notes": notes}


def _ended_s(result: Result) -> float:
    """Where the axis of time ends; what stands beside may last longer."""
    beside = result.tables.get("against_series")
    others = [] if beside is None or beside.is_empty() else [float(beside["time_s"].to_numpy().max())]
    return max([float(result.summary["ended_s"]), *others])


def _facts(result: Result) -> list[list[str]]:
    """What was read and how, for the foot of the page; no clock: the same captures give the same page."""
    summary = result.summary
    wanted = (("version", "Anabranch"), ("packets", "packets"), ("tcp_packets", "of TCP"), ("bytes", "bytes"))
    facts = [[label, str(summary[key])] for key, label in wanted if key in summary]
    facts.append(["interval", measure(float(summary["interval_s"]), "s")])
    if "measured_by" in summary:
        facts.append(["measured by", ", ".join(map(str, summary["measured_by"]))])
    began_s = summary.get("began_unix_s")
    facts.append(["first packet", "unknown" if began_s is None else f"{float(began_s):.6f} s since 1970"])
    return facts
