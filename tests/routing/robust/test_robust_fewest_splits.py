"""The second program: the fewest split pairs at the least load, by hand and by another program."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from robust_networks import network, nsfnet, shortest_candidates, sndlib, uniform_bounds
from scipy.optimize import LinearConstraint, milp

from anabranch.routing.robust import (
    Candidates,
    DemandBounds,
    FlowNetwork,
    Solution,
    Splits,
    TrafficSplit,
    ceiling_of,
    fewest_splits,
    single_lp,
    worst_case,
)
from anabranch.routing.robust.problem import RoutingProblem
from anabranch_publications.papers.robust.solvers import exchange

ROOM = 1e-6
"""By which part the load may be above the least one."""


@dataclass(frozen=True)
class Plans:
    """A problem, what the first program finds, and what the second does."""

    problem: RoutingProblem
    first: Solution
    second: Splits


def solved(
    net: FlowNetwork,
    bounds: DemandBounds,
    candidates: Candidates,
    solve: Any = single_lp,
) -> Plans:
    problem = RoutingProblem(net, bounds, candidates)
    first = solve(net, bounds, candidates)
    return Plans(problem, first, fewest_splits(problem, first.routing, ceiling_of(first, 1e-6), 6.0))


def split_pairs(routing: TrafficSplit) -> int:
    """Pairs with more than one path in use, counted from the fractions alone."""
    candidates, fraction = routing.by_paths
    used = np.add.reduceat((fraction > 1e-6).astype(int), candidates.path_start[:-1])
    return int((used > 1).sum())


def check(plans: Plans) -> None:
    """What holds of every answer: a routing, its load by the evaluator, its count, and its bound."""
    problem, second = plans.problem, plans.second
    second.routing.check(problem.network)
    load = worst_case(problem.network, problem.bounds, second.routing).max_load
    assert load == pytest.approx(second.worst_case.max_load, rel=1e-12)
    assert load <= plans.first.load * (1 + ROOM)
    assert load * (1 - 1e-6) <= plans.first.lower_bound * (1 + 1e-9)
    assert second.count == split_pairs(second.routing) <= split_pairs(plans.first.routing)
    assert second.lower_bound <= second.count
    assert (second.status == "optimal") == (second.lower_bound == second.count)


def fewest_by_milp(problem: RoutingProblem, load: float) -> int:
    """The fewest split pairs where every pair is at its pipe: a fixed-charge program, by scipy.

    Without hoses one matrix is the worst for every link, so that loads are linear in the fractions.
    """
    candidates, net = problem.candidates, problem.network
    paths, pairs = candidates.path_count, candidates.pair_count
    pair, incidence = candidates.pair_of_path(), candidates.incidence(net.arc_count).toarray()
    rate = problem.bounds.ceiling_mbps(candidates.source, candidates.target)[pair]
    on_link = (incidence * rate[:, None]).T / net.capacity_mbps[:, None]
    of_pair = (np.arange(pairs)[:, None] == pair[None, :]).astype(float)
    none, eye = np.zeros, np.eye(paths)
    # Columns: fractions x, whether a path is in use u >= x, whether a pair is split: its u - 1 <= (K - 1) z.
    most = np.diff(candidates.path_start)
    rows = [
        LinearConstraint(np.hstack([on_link, none((net.arc_count, paths + pairs))]), ub=load),
        LinearConstraint(np.hstack([of_pair, none((pairs, paths + pairs))]), lb=1, ub=1),
        LinearConstraint(np.hstack([eye, -eye, none((paths, pairs))]), ub=0),
        LinearConstraint(np.hstack([none((pairs, paths)), of_pair, -np.diag(most - 1.0)]), ub=1),
    ]
    solution = milp(
        np.append(none(2 * paths), np.ones(pairs)), constraints=rows,
        integrality=np.append(none(paths), np.ones(paths + pairs)), bounds=(0, 1),
    )  # fmt: skip
    return round(solution.fun)


@pytest.mark.parametrize("seed", range(8))
def test_no_other_program_finds_fewer(seed: int) -> None:
    """Random networks of seven nodes with pipes alone, where scipy counts the fewest split pairs."""
    draw = np.random.default_rng(seed)
    ring = [(a, (a + 1) % 7) for a in range(7)]
    chords = [(0, 3), (1, 5), (2, 6)][: int(draw.integers(1, 4))]
    net = network(7, [*ring, *chords])
    pipes = draw.choice([10.0, 20.0, 30.0], (7, 7)) * (draw.random((7, 7)) < 0.6)
    np.fill_diagonal(pipes, 0.0)
    bounds = DemandBounds.pipe(pipes)
    plans = solved(net, bounds, shortest_candidates(net, bounds, 3))
    check(plans)
    fewest = fewest_by_milp(plans.problem, ceiling_of(plans.first, 1e-6))
    assert plans.second.lower_bound <= fewest <= plans.second.count
    assert plans.second.count == fewest


def test_a_ring_needs_no_split() -> None:
    """Opposite pairs of a ring of four, one each way around: 20 Mbps on every link, as halves have."""
    net = network(4, [(0, 1), (1, 2), (2, 3), (3, 0)], 100.0)
    bounds = DemandBounds.pipe(np.full((4, 4), 10.0))
    plans = solved(net, bounds, shortest_candidates(net, bounds, 2))
    check(plans)
    assert plans.first.load == pytest.approx(0.2, rel=1e-6)
    assert (plans.second.count, plans.second.lower_bound) == (0, 0)
    assert plans.second.delay_difference_ms == 0.0


def diamond(delays_ms: list[float], last_mbps: float) -> tuple[FlowNetwork, DemandBounds, Candidates]:
    """One pair of 10 Mbps: a link of 10 Mbps, then links in parallel, with a node in the middle of each."""
    ways = len(delays_ms)
    tail = [0, *[1] * ways, *range(3, 3 + ways)]
    head = [1, *range(3, 3 + ways), *[2] * ways]
    net = FlowNetwork(
        tuple("abc") + tuple(f"m{route}" for route in range(ways)), np.array(tail), np.array(head),
        np.array([10.0, *[last_mbps] * (2 * ways)]), np.array([1.0, *delays_ms, *[0.0] * ways]),
        np.arange(1 + 2 * ways),
    )  # fmt: skip
    pipe = np.zeros((3 + ways, 3 + ways))
    pipe[0, 2] = 10.0
    bounds = DemandBounds.pipe(pipe)
    paths = {(0, 2): [[0, 1 + route, 1 + ways + route] for route in range(ways)]}
    return net, bounds, Candidates.from_paths(net, paths)


def test_a_pair_that_no_path_can_carry_is_proved_to_be_split() -> None:
    """Two ways of 6 Mbps for 10: the least load is 1, that of the first link, and one way alone has 1.67."""
    plans = solved(*diamond([5.0, 1.0], 6.0))
    check(plans)
    assert plans.first.load == pytest.approx(1.0, rel=1e-6)
    assert (plans.second.count, plans.second.lower_bound, plans.second.status) == (1, 1, "optimal")
    assert plans.second.delay_difference_ms == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("delays_ms", "difference_ms"),
    [([1.0, 9.0, 2.5], 1.5), ([9.0, 1.0, 8.0], 1.0), ([4.0, 4.0, 20.0, 1.0], 0.0)],
)
def test_paths_of_a_split_pair_have_near_delays(delays_ms: list[float], difference_ms: float) -> None:
    """Any two of the ways carry the pair: those whose delays differ least are at most this far apart."""
    plans = solved(*diamond(delays_ms, 6.0))
    check(plans)
    assert plans.second.count == 1
    assert plans.second.delay_difference_ms == pytest.approx(difference_ms)


@pytest.mark.parametrize("solve", [single_lp, exchange])
def test_whatever_the_first_program_ends_with(solve: Any) -> None:
    """NSFNET over two paths, whose load 0.701845 both solvers have; they end in different splits."""
    net, bounds = nsfnet(), uniform_bounds(14)
    plans = solved(net, bounds, shortest_candidates(net, bounds, 2), solve=solve)
    check(plans)
    assert plans.second.count <= 0.7 * split_pairs(plans.first.routing)


@pytest.mark.parametrize(("name", "most"), [("abilene", 0), ("dfn-bwin", 0), ("janos-us", 60)])
def test_networks_of_sndlib(name: str, most: int) -> None:
    net = sndlib(name)
    bounds = uniform_bounds(len(net.nodes))
    plans = solved(net, bounds, shortest_candidates(net, bounds, 4))
    check(plans)
    assert plans.second.count <= most


def test_alike_nodes_of_a_large_network_are_treated_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three leaves at each of two ends of a square: with groups a pair of leaves has the fractions of all."""
    module = sys.modules["anabranch.routing.robust.fewest_splits"]
    monkeypatch.setattr(module, "_LARGE", 0)
    leaves = [(0, leaf) for leaf in (4, 5, 6)] + [(2, leaf) for leaf in (7, 8, 9)]
    net = network(10, [(0, 1), (1, 2), (2, 3), (3, 0), *leaves])
    bounds = DemandBounds.hose(np.full(10, 60.0), np.full(10, 60.0))
    plans = solved(net, bounds, shortest_candidates(net, bounds, 2))
    check(plans)
    assert plans.second.improved
    assert plans.second.lower_bound == 0
    candidates, fraction = plans.second.routing.by_paths
    of = {pair: fraction[slice(*span)] for pair, span in zip(
        candidates.pairs(), itertools.pairwise(candidates.path_start.tolist()), strict=True
    )}  # fmt: skip
    for a, b in itertools.product((4, 5, 6), (7, 8, 9)):
        assert of[a, b] == pytest.approx(of[4, 7])


def test_too_little_work_leaves_what_is_given_and_more_is_never_worse() -> None:
    net, bounds = nsfnet(), uniform_bounds(14)
    candidates = shortest_candidates(net, bounds, 4)
    first = single_lp(net, bounds, candidates)
    problem = RoutingProblem(net, bounds, candidates)
    counts = []
    for limit_s in (0.0, 1.0, 3.0):
        outcome, again = (
            fewest_splits(problem, first.routing, ceiling_of(first, 1e-6), limit_s) for _ in range(2)
        )
        assert np.array_equal(outcome.routing.by_paths[1], again.routing.by_paths[1])
        counts.append(outcome.count)
        assert outcome.improved == (limit_s > 0)
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == split_pairs(first.routing)
    assert counts[-1] < counts[0]
