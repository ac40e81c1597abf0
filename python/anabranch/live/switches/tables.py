"""The messages of a controller, as the tables that a simulated one leaves (docs/results.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

End = tuple[str, int]
Ends = Mapping[tuple[End, End], int]
"""Flows by source and destination of their data."""

_ESTIMATES = {
    "time_s": pl.Float64,
    "link": pl.UInt64,
    "loss": pl.Float64,
    "delay_ms": pl.Float64,
    "packets": pl.UInt64,
    "lost": pl.UInt64,
    "counted_from_s": pl.Float64,
    "counted_to_s": pl.Float64,
}
_CHANGES = {"time_s": pl.Float64, "flow": pl.UInt64, "data_path": pl.String, "ack_path": pl.String}
_ROUTES = {
    "flow": pl.UInt64,
    "since_s": pl.Float64,
    "route_changes": pl.UInt64,
    "data_path": pl.String,
    "ack_path": pl.String,
}


def controller_tables(told: Sequence[Mapping[str, Any]], flows: Ends) -> dict[str, pl.DataFrame]:
    """The tables ``link_estimates``, ``route_changes`` and ``flow_routes``; those without rows are left out.

    Args:
        told: what the controller has told, with ``time_s``.
        flows: those of the scenario.
    """
    estimates = [_estimate(one) for one in told if one["kind"] == "estimate"]
    changes: list[dict[str, Any]] = []
    routes: dict[int, dict[str, Any]] = {}
    moved: dict[int, int] = {}
    for one in told:
        if one["kind"] != "route":
            continue
        _, *numbers = one["ends"]
        source, to = (numbers[0], numbers[1]), (numbers[2], numbers[3])
        flow, column = flows.get((source, to)), "data_path"
        if flow is None:
            flow, column = flows.get((to, source)), "ack_path"
        if flow is None:
            # A program of the user.
            continue
        begun = {"flow": flow, "since_s": one["time_s"], "route_changes": 0, "data_path": "", "ack_path": ""}
        row = routes.setdefault(flow, begun)
        row[column] = one["path"]
        if one["moved"]:
            paths = {name: row[name] for name in ("data_path", "ack_path")}
            # Both ways of a flow that move together are one move.
            if flow in moved and moved[flow] == one["choice"]:
                next(change for change in reversed(changes) if change["flow"] == flow).update(paths)
                continue
            moved[flow] = one["choice"]
            row["route_changes"] += 1
            changes.append({"time_s": one["time_s"], "flow": flow, **paths})
    tables = {
        "link_estimates": pl.DataFrame(estimates, schema=_ESTIMATES),
        "route_changes": pl.DataFrame(changes, schema=_CHANGES),
        "flow_routes": pl.DataFrame([routes[flow] for flow in sorted(routes)], schema=_ROUTES),
    }
    return {name: table for name, table in tables.items() if not table.is_empty()}


def _estimate(told: Mapping[str, Any]) -> dict[str, Any]:
    since, until = told["window_s"] or (None, None)
    row = {**told, "counted_from_s": since, "counted_to_s": until}
    return {name: row[name] for name in _ESTIMATES}
