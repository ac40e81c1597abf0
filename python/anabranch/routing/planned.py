"""The answer of a planner: routes for every pair of a setup, and what is to be said about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.setup.model import LinkSetup, PlannerSetup, Setup

Pair = tuple[int, int]
"""Origin and destination."""
LEAST_WEIGHT = 1e-9
"""Shares below this are solvers' rounding, and no route."""


class WeightedPath(NamedTuple):
    """A path and the share of packets, or of flows, that takes it."""

    links: tuple[int, ...]
    """Ids of its links, first link first."""
    weight: float
    """Share, above 0 and at most 1."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and what its maker says of it."""

    plan: _core.Plan
    warnings: tuple[str, ...] = ()
    """What the user must know, such as that a solver was stopped before it was done."""
    facts: Mapping[str, float | int | str] = field(default_factory=dict)
    """About the plan as a whole, such as its worst-case load; units at the end of the names."""


Planner = Callable[[Setup, PlannerSetup], Planned]
"""Makes a plan for all pairs of a setup (:func:`pairs_of`).

It raises :class:`anabranch.errors.ScenarioError` for what only it can find wrong.
"""


def link_ends(links: Sequence[LinkSetup]) -> NDArray[np.uint32]:
    """The node behind each link, which the core needs to walk along a plan."""
    return np.array([link.to for link in links], dtype=np.uint32)


def pairs_of(setup: Setup) -> list[Pair]:
    """Every pair that sends data, acknowledgments or datagrams, in order."""
    there = {(flow.origin, flow.to) for flow in setup.flows}
    there |= {(flow.origin, flow.to) for flow in setup.datagrams}
    return sorted(there | {(to, origin) for origin, to in there})


def plan_of(routes: Mapping[Pair, Sequence[WeightedPath]]) -> _core.Plan:
    """A plan of paths.

    Shares below :data:`LEAST_WEIGHT` are left out, and those of a pair brought to a sum of one.

    Args:
        routes: paths by pair; a pair without paths is left out.
    """
    routes_data = []
    for (origin, to), paths in sorted(routes.items()):
        kept = [path for path in paths if path.weight >= LEAST_WEIGHT]
        total = sum(path.weight for path in kept)
        if kept:
            weighted = [{"links": list(path.links), "weight": min(path.weight / total, 1.0)} for path in kept]
            routes_data.append({"from": origin, "to": to, "paths": weighted})
    return _core.Plan(json.dumps({"routes": routes_data, "tables": []}))


def clock_warnings(*status: object) -> list[str]:
    """Warnings where a solver's status is ``wall-limit``."""
    if "wall-limit" not in status:
        return []
    return [
        "routing.scheme.time_limit: the clock ended a solver that is much slower here than its limit counts "
        "on; another call may give another plan"
    ]
