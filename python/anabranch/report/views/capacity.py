"""Capacity to buy, as pieces: modules of each link, and what they cost."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from anabranch.media.pieces import Bars, DataTable, Piece, Text
from anabranch.report.views.loads import percent, plan_table
from anabranch.text.units import plain

if TYPE_CHECKING:
    from anabranch.plans.capacity import CapacityPlan

_MOST_SHOWN = 30


def capacity_pieces(plan: CapacityPlan) -> list[Piece]:
    """The modules of each link, and the costs."""
    return [replace(capacity_table(plan), most=_MOST_SHOWN), Text(capacity_summary(plan))]


def capacity_summary(plan: CapacityPlan) -> str:
    """The costs in a sentence or two."""
    kinds = ", ".join(plan.loads.failure_kinds)
    parts = [
        f"to keep loads at {percent(plan.purchase.most_load)} or less in all failures ({kinds}): "
        f"{plain(plan.cost, 6)} by {plan.loads.scheme}"
    ]
    if plan.least_cost is not None:
        parts.append(f"{plain(plan.least_cost, 6)} where any routing is allowed")
        if plan.least_bound is not None and plan.least_bound < plan.least_cost * (1 - 1e-6):
            parts[-1] += f" (not proved; no less than {plain(plan.least_bound, 6)})"
    if plan.hose_cost is not None:
        extra = plan.hose_extra
        more = "" if extra is None else f", {percent(extra)} more than for the matrix"
        parts.append(
            f"{plain(plan.hose_cost, 6)} by {plan.loads.scheme} for the hose model of the same sums{more}"
        )
    return "; ".join(parts)


def capacity_table(plan: CapacityPlan) -> DataTable:
    """A row for each link, those with the most modules first."""
    has_matrix = plan.hose_cost is not None
    has_least = plan.least_cost is not None
    names = (
        "link", "capacity_mbps", "load_percent", "module_price", "modules",
        *(("modules_of_least_cost",) if has_least else ()),
        *(("modules_for_hose",) if has_matrix else ()),
    )  # fmt: skip
    rows = [
        (
            one.link, one.capacity_mbps, one.load, one.price, one.modules,
            *((one.least_modules,) if has_least else ()),
            *((one.hose_modules,) if has_matrix else ()),
        )
        for one in sorted(plan.links, key=lambda one: (-one.modules, -(one.least_modules or 0), -one.load))
    ]  # fmt: skip
    caption = (
        f"Modules of {plain(plan.purchase.module_mbps, 6)} Mbps for both directions of each link, and its "
        "highest load in any failure without them"
    )
    return plan_table("capacity", caption, names, rows, Bars("link", ("modules",)))


def capacity_document(plan: CapacityPlan) -> dict[str, Any]:
    """The plan as a document of JSON."""
    return {
        "module_mbps": plan.purchase.module_mbps,
        "most_load": plan.purchase.most_load,
        "failures": list(plan.loads.failure_kinds),
        "cost": plan.cost,
        "least_cost": plan.least_cost,
        "least_bound": plan.least_bound,
        "hose_cost": plan.hose_cost,
        "hose_extra": plan.hose_extra,
        "links": [asdict(one) for one in plan.links],
        "warnings": list(plan.warnings),
    }
