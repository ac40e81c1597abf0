"""Routing schemes that are programs rather than searches: plans made in Python, by name.

Searches live in the core (crates/routing). What takes a solver, or a throughput model, is a planner: a
module with a function ``plan``. The core declares its schemes (crates/routing/src/scheme/planned), gets its
plan, and leaves the dead paths of that out after a failure. The solvers are imported by the first plan that
asks for one: they take longer than a small run.
"""

from __future__ import annotations

from importlib import import_module

from anabranch.routing.answers import Solved, recall, solved
from anabranch.routing.planned import Pair, Planned, Planner, WeightedPath, pairs_of, plan_of
from anabranch.scenario.algorithms.scheme import IgpWeights
from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.routing import declared_scheme
from anabranch.setup.model import Setup


def planner_of(scheme: str) -> Planner:
    """The planner of a scheme: ``plan`` of the module that the scheme's declaration names."""
    module = "own_scheme" if scheme == PYTHON else declared_scheme(scheme)["planner"]
    planner: Planner = import_module(f"anabranch.routing.{module}").plan
    return planner


def settled_setup(setup: Setup) -> Setup:
    """The setup in which its planner has settled what it may, so that the core plans anew after a failure.

    That is the weights of ``igp-weights``, where all traffic goes by them; other setups are as they were.

    Raises:
        ScenarioError: if the planner finds something wrong.
    """
    if setup.planner is None or setup.own_routes or not isinstance(setup.planner.scheme, IgpWeights):
        return setup
    from anabranch.routing.weights_planner import settled  # noqa: PLC0415 - few scenarios have such weights

    return settled(setup, setup.planner)


__all__ = [
    "Pair",
    "Planned",
    "Planner",
    "Solved",
    "WeightedPath",
    "pairs_of",
    "plan_of",
    "planner_of",
    "recall",
    "settled_setup",
    "solved",
]
