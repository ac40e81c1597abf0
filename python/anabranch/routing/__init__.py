"""Routing schemes that are programs rather than searches: plans made in Python, by name.

Searches live in the core (crates/routing). What takes a solver, or a throughput model, is a planner: a file
of its own, and a line in :data:`PLANNERS`. After a failure the core leaves the dead paths of such a plan out.
The solvers are imported by the first plan that asks for one: they take longer than a small run.
"""

from __future__ import annotations

from anabranch.routing.answers import Solved, recall, solved
from anabranch.routing.planned import Pair, Planned, Planner, WeightedPath, pairs_of, plan_of
from anabranch.scenario.routing import ROBUST_SCHEMES
from anabranch.setup.model import Setup, Tagged


def _by_model(setup: Setup, parameters: Tagged) -> Planned:
    from anabranch.routing.tcpbp_exact import plan_by_model  # noqa: PLC0415 - slow to import

    return plan_by_model(setup, parameters)


def _robust(setup: Setup, parameters: Tagged) -> Planned:
    from anabranch.routing.robust_planner import plan_robust  # noqa: PLC0415 - slow to import

    return plan_robust(setup, parameters)


PLANNERS: dict[str, Planner] = {"tcpbp-exact": _by_model, **dict.fromkeys(ROBUST_SCHEMES, _robust)}
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
