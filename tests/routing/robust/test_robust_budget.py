"""Time limits count work: the same call gives the same plan, however long the machine takes."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from robust_networks import nsfnet, shortest_candidates, uniform_bounds

from anabranch.routing.robust import Candidates, DemandBounds, FlowNetwork, Solution, all_paths
from anabranch.routing.robust import budget as of_budget
from anabranch.routing.robust.budget import Budget
from anabranch.routing.robust.optimal import robust_optimal
from anabranch.routing.robust.single_path import least_single_path
from anabranch_publications.papers.robust.solvers import exchange

Solve = Callable[[FlowNetwork, DemandBounds, Candidates, float], Solution]


def by_exchange(net: FlowNetwork, bounds: DemandBounds, paths: Candidates, limit_s: float) -> Solution:
    return exchange(net, bounds, paths, time_limit_s=limit_s)


def by_branching(net: FlowNetwork, bounds: DemandBounds, paths: Candidates, limit_s: float) -> Solution:
    return least_single_path(net, bounds, paths, steps=300, time_limit_s=limit_s)


def by_columns(net: FlowNetwork, bounds: DemandBounds, _: Candidates, limit_s: float) -> Solution:
    return all_paths(net, bounds, time_limit_s=limit_s)


@pytest.mark.parametrize(("solve", "limit_s"), [(by_exchange, 0.5), (by_branching, 1.5), (by_columns, 0.1)])
def test_the_same_plan_on_every_call(monkeypatch: pytest.MonkeyPatch, solve: Solve, limit_s: float) -> None:
    """The second time on a clock that runs three times as fast, which is a machine three times as slow."""
    net, bounds = nsfnet(), uniform_bounds(14)
    paths = shortest_candidates(net, bounds, 3)
    first = solve(net, bounds, paths, limit_s)
    assert first.status == "time-limit"
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: 3 * clock())
    again = solve(net, bounds, paths, limit_s)
    assert (again.status, again.iterations) == (first.status, first.iterations)
    assert (again.load, again.lower_bound) == (first.load, first.lower_bound)
    assert first.routing.fraction is not None
    assert again.routing.fraction is not None
    assert np.array_equal(first.routing.fraction, again.routing.fraction)


def test_the_same_selection_on_every_call() -> None:
    net, bounds = nsfnet(), uniform_bounds(14)
    paths = shortest_candidates(net, bounds, 3)
    first, again = (robust_optimal(net, bounds, paths, 0.65, steps=100, time_limit_s=1.5) for _ in range(2))
    assert first.status == again.status == "time-limit"
    assert (first.lost_mbps, first.lost_bound_mbps) == (again.lost_mbps, again.lost_bound_mbps)
    assert first.routing.fraction is not None
    assert again.routing.fraction is not None
    assert np.array_equal(first.routing.fraction, again.routing.fraction)


def test_more_work_is_not_worse() -> None:
    """Longer limits go on where shorter ones stopped."""
    net, bounds = nsfnet(), uniform_bounds(14)
    paths = shortest_candidates(net, bounds, 3)
    outcome = [exchange(net, bounds, paths, time_limit_s=limit_s) for limit_s in (0.1, 0.3, 1.0, 3.0)]
    assert [solution.iterations for solution in outcome] == sorted({s.iterations for s in outcome})
    assert [solution.load for solution in outcome] == sorted((s.load for s in outcome), reverse=True)
    assert [solution.lower_bound for solution in outcome] == sorted(s.lower_bound for s in outcome)


def test_the_clock_ends_what_takes_far_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_budget, "_CLOCK", 0.0)
    monkeypatch.setattr(of_budget, "_CLOCK_LEAST_S", 0.0)
    net, bounds = nsfnet(), uniform_bounds(14)
    solution = exchange(net, bounds, shortest_candidates(net, bounds, 3), time_limit_s=60.0)
    assert solution.status == "wall-limit"
    assert solution.lower_bound <= solution.load


def test_a_budget_counts_what_is_spent() -> None:
    budget = Budget(2.0)
    budget.spend(0.5)
    budget.spend_evaluation(100, 1000)
    assert budget.left_s == pytest.approx(1.5 - 100 * of_budget.ARC_S - 1000 * of_budget.SHARE_S)
    assert Budget.of(budget) is budget
    assert budget.stopped == "time-limit"
    budget.spend(3.0)
    assert budget.left_s < 0
    budget.late()
    assert (budget.left_s, budget.stopped) == (0.0, "wall-limit")
