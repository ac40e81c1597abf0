"""The routes of pairs for the page: paths with their weights, and shares on links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from anabranch import _core
from anabranch.report.result_routes import ROUTE_TABLES, result_routes
from anabranch.results.result import Result

MOST_PAIRS = 2000
"""Pairs whose routes the page has: those whose flows delivered most."""
MOST_SHARES = 200_000
"""Shares of pairs on links that the page has."""
_MOST_LISTED = 50
"""Paths of a pair that the page lists."""
_DIGITS = 6


def routes_data(result: Result, number: Mapping[str, int], notes: list[str]) -> dict[str, Any] | None:
    """Routes of the pairs that flows send between, as they were at the start of the run; None if not known.

    A pair is [from, to, flows, paths, listed, shares]: how many paths it has, none hop by hop; the first of
    them as [share, links, text]; and [link, share] for each link that its packets cross. ``number`` is that
    of each node, by its name; what is left out goes to ``notes``.

    Raises:
        ResultError: if the routes do not fit the links of the result.
    """
    if not ROUTE_TABLES & result.tables.keys():
        return None
    pairs = result.flows.group_by("from", "to", maintain_order=True).agg(
        pl.len().alias("flows"), pl.col("delivered_bytes").sum()
    )
    kept = pairs.sort("delivered_bytes", descending=True, maintain_order=True).head(MOST_PAIRS)
    routes = result_routes(result, kept.select("from", "to").rows())
    ends = result.links.select("from", "to").rows()
    names = _core.PathNames(list(number), [(number[a], number[b]) for a, b in ends])
    listed_pairs, room = [], MOST_SHARES
    for source, destination, flows, _ in kept.iter_rows():
        shares = routes.shares.get((source, destination))
        if shares is None or (room := room - len(shares)) < 0:
            continue
        paths = routes.paths.get((source, destination), [])
        total = sum(weight for weight, _ in paths) or 1.0
        listed = [[weight / total, links, names.text(links)] for weight, links in paths[:_MOST_LISTED]]
        plain = [[link, round(share, _DIGITS)] for link, share in shares.items()]
        listed_pairs.append([number[source], number[destination], flows, len(paths), listed, plain])
    if len(listed_pairs) < pairs.height:
        notes.append(
            f"Routes are shown for {len(listed_pairs)} of {pairs.height} pairs, those that delivered most."
        )
    if any(
        "routing" in result.tables[name].columns and result.tables[name]["routing"].max()
        for name in ROUTE_TABLES & result.tables.keys()
    ):
        notes.append(
            "Some traffic has routes of its own; a pair is shown with the routes of all its traffic."
        )
    events = result.tables.get("events")
    renewed = events is not None and bool((events["kind"] == "new routes").any())
    return {"pairs": listed_pairs, "moved": "route_changes" in result.tables or renewed}
