"""Routing schemes that are programs rather than searches: plans made in Python, by name.

Searches live in the core (crates/routing). What takes a solver, or a throughput model, is a planner: a file
of its own, and a line in :data:`PLANNERS`. After a failure the core leaves the dead paths of such a plan out.
"""

from __future__ import annotations

from anabranch.routing.planned import Pair, Planned, Planner, WeightedPath, pairs_of, plan_of
from anabranch.routing.robust_planner import SCHEMES, Solved, plan_robust, recall, solved
from anabranch.routing.tcpbp_exact import plan_by_model

PLANNERS: dict[str, Planner] = {"tcpbp-exact": plan_by_model, **dict.fromkeys(SCHEMES, plan_robust)}
"""Planners by the name of their scheme."""

__all__ = [
    "PLANNERS",
    "Pair",
    "Planned",
    "Planner",
    "Solved",
    "WeightedPath",
    "pairs_of",
    "plan_of",
    "recall",
    "solved",
]
