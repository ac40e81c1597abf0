"""IGP weights for ECMP under which the highest load is low, and what they do to links and failures.

The search is ``anabranch.routing.weights``; the scheme ``igp-weights`` plans by it. A bound that no routing
can beat stands beside the load.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from anabranch.errors import Problem, ScenarioError
from anabranch.plans.failure_loads import cores
from anabranch.plans.failures import failures_of
from anabranch.plans.weight_tables import WeightTable
from anabranch.plans.worst_loads import LoadChanges, compare_loads, worst_loads
from anabranch.routing.robust import RobustRoutingError
from anabranch.routing.router_failures import NORMAL
from anabranch.routing.router_network import RouterNetwork, as_scenario_error
from anabranch.routing.weights import (
    GREATEST_WEIGHT,
    WeightChange,
    WeightLimits,
    find_weights,
    load_bound,
)
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class WeightSearch:
    """The weights that were found."""

    scenario: Scenario = field(repr=False)
    """ECMP by these weights, which its ``network.weights`` names."""
    table: WeightTable = field(repr=False)
    """All weights, as that file has them."""
    changes: tuple[WeightChange, ...]
    """Those that matter, the one with the greatest gain first."""
    loads: LoadChanges = field(repr=False)
    """By the present weights, and by these: with the failures that were asked for."""
    load_before: float
    """The highest load of all by the present weights."""
    load: float
    """The highest load of all: of one matrix or any within the bounds, in any failure."""
    lower_bound: float
    """No routing has a lower one, whatever it splits: by linear programs."""
    bound_in: str
    """The failure that the bound is of; empty where nothing is down."""
    warnings: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """By which part the load is above the bound."""
        return self.load / self.lower_bound - 1 if self.lower_bound > 0 else 0.0


def search_weights(
    scenario: Scenario,
    limits: WeightLimits | None = None,
    *,
    failures: str | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WeightSearch:
    """Weights of links under which the highest load is as low as the search finds, never higher than now.

    The same call has the same answer, whatever the number of threads, unless the clock ends a solver.

    Args:
        scenario: with ``[routing.demand]``; where it begins are the weights of its links, and one weight for
            all where they have none.
        limits: of weights and work.
        failures: kinds of failures whose loads count as well, as of :func:`worst_loads`.
        jobs: threads; one for each core if None.
        progress: told of the work done and of all.

    Raises:
        ScenarioError: if the scenario cannot be run, has no demand, traffic with routes of its own, weights
            on some of its links only, or such as are above the greatest.
    """
    limits = limits or WeightLimits()
    table, warnings = WeightTable.present(scenario)
    begin = table.scenario(scenario)
    before = worst_loads(begin, failures=failures, jobs=jobs, files=table.files(scenario))
    routers = RouterNetwork.of(resolve(begin, Needed.ROUTES, table.files(scenario)))
    if routers.setup.own_routes:
        message = "has routes of its own; weights are searched for traffic that all goes by [routing]"
        raise ScenarioError([Problem(routers.setup.own_routes[0].place, message)], scenario.origin)
    down = (NORMAL, *(() if failures is None else failures_of(routers, failures)))
    present = np.array([routers.setup.links[link].weight for link in routers.links], np.uint32)
    try:
        weights = find_weights(routers, down, present, limits, jobs or cores(), progress)
        bound, bound_in = load_bound(routers, down, weights.failure, limits.time_limit_s)
    except RobustRoutingError as error:
        raise as_scenario_error(error, scenario.origin) from None
    new = table.changed(routers, weights.weights)
    after = worst_loads(new.scenario(scenario), failures=failures, jobs=jobs, files=new.files(scenario))
    result = WeightSearch(
        new.scenario(scenario),
        new,
        weights.changes,
        compare_loads(after, before),
        weights.load_before,
        weights.load,
        bound,
        bound_in,
    )
    return replace(result, warnings=(*warnings, *before.warnings, *_warnings(result, limits)))


def _warnings(result: WeightSearch, limits: WeightLimits) -> list[str]:
    """What is to be known of weights that leave something to be wished."""
    warnings = []
    within = "" if limits.max_changes is None else f" within {limits.max_changes:,} changes"
    if result.load > 1 + _SAME:
        warnings.append(
            f"weights: none were found{within} by which no link is overloaded: the best have a load of "
            f"{result.load:.6g}, and {_bound_told(result)} {result.lower_bound:.6g}"
        )
    if not result.changes:
        warnings.append(
            f"weights: nothing was found{within} that lowers the highest load; they stay as they are"
        )
    cut = [case for case in result.loads.after.failures or () if case.stranded]
    if cut:
        a, b = cut[0].stranded[0]
        warnings.append(
            f"weights: {len(cut):,} failures cut pairs off ({cut[0].name}: {a} to {b}), and weights cannot "
            "help; their traffic is in no load"
        )
    return warnings


def _bound_told(result: WeightSearch) -> str:
    """What stands before the bound: whether any routing could do without overload."""
    return "no routing at all has less than" if result.lower_bound > 1 else "the bound of all routings is"


__all__ = ["GREATEST_WEIGHT", "WeightChange", "WeightLimits", "WeightSearch", "search_weights"]
