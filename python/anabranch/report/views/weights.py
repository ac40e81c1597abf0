"""Weights that a search has found, as pieces: what to change, and what becomes of links and failures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anabranch.media.pieces import Bars, DataTable, Piece, Text
from anabranch.report.views.loads import changes_document, changes_tables, percent, plan_table

if TYPE_CHECKING:
    from anabranch.plans.weight_search import WeightSearch

_MOST_SHOWN = 20


def weight_pieces(search: WeightSearch) -> list[Piece]:
    """The changes, the loads before and after, and how far the bound is."""
    shown = [replace(table, most=_MOST_SHOWN) for table in weight_view_tables(search)]
    return [*shown, Text(weight_summary(search))]


def weight_summary(search: WeightSearch) -> str:
    """The result in a sentence or two."""
    bound = percent(search.lower_bound)
    of = f" while {search.bound_in} is down" if search.bound_in else ""
    return (
        f"highest load {percent(search.load_before)} before, {percent(search.load)} after "
        f"{len(search.changes):,} changes; no routing has less than {bound}{of}, so that "
        f"{percent(search.gap)} above it are left at most"
    )


def weight_view_tables(search: WeightSearch) -> list[DataTable]:
    """The changes of weights, and of the loads of links and failures."""
    names = ("link", "weight_before", "weight_after", "load_percent", "gain_points")
    rows = [(one.link, one.before, one.after, one.load, one.gain) for one in search.changes]
    caption = "Changes of weights, and the highest load once each and those above it are made"
    changes = plan_table("weights", caption, names, rows, Bars("link", ("load_percent",)))
    return [changes, *changes_tables(search.loads)]


def weight_document(search: WeightSearch) -> dict[str, Any]:
    """The result as a document of JSON, with the weight of every link."""
    return {
        "load_before": search.load_before,
        "load": search.load,
        "lower_bound": search.lower_bound,
        "bound_in": search.bound_in or None,
        "gap": search.gap,
        "changes": [
            {
                "link": one.link,
                "weight_before": one.before,
                "weight_after": one.after,
                "load": one.load,
                "gain": one.gain,
            }
            for one in search.changes
        ],
        "weights": {row.link: row.weight for row in search.table.rows},
        "loads": changes_document(search.loads),
        "warnings": list(search.warnings),
    }
