"""The routes of pairs for the page: paths with their weights, or next hops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from anabranch.result import Result

MOST_PAIRS = 2000
"""Pairs whose routes the page has: those whose flows delivered most."""
MOST_HOPS = 200_000
"""Entries of forwarding tables that the page has."""


def routes_data(result: Result, number: Mapping[str, int], notes: list[str]) -> dict[str, Any] | None:
    """Routes of the pairs that flows send between, as they were at the start of the run; None if not known.

    ``number`` is that of each node, by its name; what is left out goes to ``notes``.
    """
    if not {"routes", "next_hops"} & result.tables.keys():
        return None
    pairs = result.flows.group_by("from", "to", maintain_order=True).agg(
        pl.len().alias("flows"), pl.col("delivered_bytes").sum()
    )
    kept = pairs.sort("delivered_bytes", descending=True, maintain_order=True).head(MOST_PAIRS)
    tables = _next_hops(result, kept, number)
    paths = _paths(result, kept)
    found = []
    for source, destination, flows, _ in kept.iter_rows():
        own = paths.get((source, destination), [])
        if own or number[destination] in tables:
            found.append([number[source], number[destination], flows, own])
    if len(found) < pairs.height:
        notes.append(f"Routes are shown for {len(found)} of {pairs.height} pairs, those that delivered most.")
    if any(
        "routing" in result.tables[name].columns and result.tables[name]["routing"].max()
        for name in {"routes", "next_hops"} & result.tables.keys()
    ):
        notes.append(
            "Some traffic has routes of its own; a pair is shown with the routes of all its traffic."
        )
    wanted = {pair[1] for pair in found if not pair[3]}
    events = result.tables.get("events")
    renewed = events is not None and bool((events["kind"] == "new routes").any())
    return {
        "pairs": found,
        "tables": [[to, table] for to, table in tables.items() if to in wanted],
        "moved": "route_changes" in result.tables or renewed,
    }


def _paths(result: Result, kept: pl.DataFrame) -> dict[tuple[str, str], list[list[Any]]]:
    """Weight and links of each path, by pair."""
    if "routes" not in result.tables:
        return {}
    found: dict[tuple[str, str], list[list[Any]]] = {}
    rows = result.tables["routes"].join(kept, on=["from", "to"], how="semi", maintain_order="left")
    for source, destination, weight, links in rows.select("from", "to", "weight", "links").iter_rows():
        found.setdefault((source, destination), []).append([weight, links])
    return found


def _next_hops(result: Result, kept: pl.DataFrame, number: Mapping[str, int]) -> dict[int, list[list[Any]]]:
    """Node and links of each entry, by destination; only as many whole tables as there is room for."""
    if "next_hops" not in result.tables:
        return {}
    table = result.tables["next_hops"]
    sizes = dict(table.group_by("to").len().iter_rows())
    room, wanted = MOST_HOPS, []
    for to in kept["to"].unique(maintain_order=True):
        size = sizes.get(to, 0)
        if 0 < size <= room:
            room -= size
            wanted.append(to)
    found: dict[int, list[list[Any]]] = {}
    for to, node, links in table.filter(pl.col("to").is_in(wanted)).select("to", "node", "links").iter_rows():
        found.setdefault(number[to], []).append([number[node], links])
    return found
