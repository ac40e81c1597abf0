"""One path for every pair: against all assignments, and what is proven about NSFNET."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from anabranch.routing.robust import DemandBounds, FlowNetwork
from anabranch.routing.robust.link_traffic import LinkTraffic, finite_bounds
from anabranch.routing.robust.local_search import SinglePathSearch
from anabranch.routing.robust.master import Budget
from anabranch.routing.robust.problem import RoutingProblem
from anabranch.routing.robust.selection import SelectionError
from anabranch.routing.robust.single_path import least_single_path, single_path_routing
from anabranch.routing.robust.single_path_bounds import (
    attainable_loads,
    next_below,
    pair_count_bound,
    round_up,
)
from anabranch.routing.robust.worst_case import worst_case


@st.composite
def changes(draw: st.DrawFn) -> tuple[DemandBounds, list[tuple[int, int]]]:
    """Bounds of four nodes, and pairs that come and go."""
    hose = draw(st.lists(st.floats(5, 60), min_size=8, max_size=8))
    pair = np.array(draw(st.lists(st.floats(1, 40), min_size=16, max_size=16))).reshape(4, 4)
    toggled = draw(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda ends: ends[0] != ends[1]),
            max_size=30,
        )
    )
    return DemandBounds(np.array(hose[:4]), np.array(hose[4:]), pair), toggled


@settings(deadline=None, max_examples=60)
@given(changes())
def test_traffic_of_a_link(case: tuple[DemandBounds, list[tuple[int, int]]]) -> None:
    """After all changes, the optimum of eqs. (6) to (8) by another program of another library."""
    bounds, toggled = case
    link, on = LinkTraffic(bounds), set[tuple[int, int]]()
    for source, target in toggled:
        most = float(bounds.pair_mbps[source, target])
        if (source, target) in on:
            on.remove((source, target))
            link.remove(source, target)
        else:
            raised = link.mbps + link.increase(source, target, most)
            on.add((source, target))
            link.add(source, target, most)
            assert link.mbps == pytest.approx(raised)
    assert link.mbps == pytest.approx(most_traffic(bounds, sorted(on)), rel=1e-7, abs=1e-7)


def most_traffic(bounds: DemandBounds, pairs: list[tuple[int, int]]) -> float:
    if not pairs:
        return 0.0
    rows = [[float(pair[0] == node) for pair in pairs] for node in range(4)]
    columns = [[float(pair[1] == node) for pair in pairs] for node in range(4)]
    limits = [*bounds.ingress_mbps, *bounds.egress_mbps]
    upper = [(0, bounds.pair_mbps[pair]) for pair in pairs]
    return -float(linprog([-1.0] * len(pairs), rows + columns, limits, bounds=upper).fun)


def every_assignment(network, bounds, candidates):
    """The worst-case load of each assignment of one path to every pair, by the evaluator."""
    choices = [range(first, end) for first, end in itertools.pairwise(candidates.path_start.tolist())]
    return [
        worst_case(network, bounds, single_path_routing(network, candidates, chosen)).max_load
        for chosen in itertools.product(*choices)
    ]


@pytest.mark.parametrize("steps", [0, 200])
@pytest.mark.parametrize("seed", range(6))
def test_against_all_assignments(small, shortest, seed, steps):
    network, bounds = small(seed, 6)
    candidates = shortest(network, bounds, 2, "hops")
    loads = every_assignment(network, bounds, candidates)
    assert len(loads) == 64
    solution = least_single_path(network, bounds, candidates, steps=steps)
    assert solution.status == "optimal"
    assert solution.load == pytest.approx(min(loads))
    assert solution.load == worst_case(network, bounds, solution.routing).max_load
    assert solution.lower_bound == pytest.approx(min(loads))
    assert set(solution.routing.fraction.tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("seed", range(6))
def test_loads_are_attainable(small, shortest, seed):
    """No assignment has a load that is not in the list."""
    network, bounds = small(seed, 6)
    attainable = attainable_loads(network, bounds)
    loads = every_assignment(network, bounds, shortest(network, bounds, 2, "hops"))
    assert max(np.abs(attainable - load).min() for load in loads) < 1e-9


def test_attainable_loads_of_nsfnet(nsfnet):
    """Sums of rows of 130 and pairs of 50 Mbps over 500 Mbps."""
    network, bounds = nsfnet
    sums = sorted({130 * a + 50 * b for a in range(9) for b in range(20) if 130 * a + 50 * b <= 950})
    attainable = attainable_loads(network, bounds)
    assert attainable[attainable <= 1.9] == pytest.approx(np.array(sums) / 500)
    assert round_up(0.455, attainable) == pytest.approx(0.46)
    assert round_up(0.46, attainable) == pytest.approx(0.46)
    assert next_below(0.52, attainable) == pytest.approx(0.50)


def test_bounds_without_a_common_measure():
    bounds = DemandBounds.hose([np.pi, np.e], [1.0, 2.0])
    assert round_up(0.3, None) == 0.3
    assert next_below(0.3, None) < 0.3
    two = FlowNetwork(("a", "b"), [0, 1], [1, 0], [10.0, 10.0], [1.0, 1.0])
    assert attainable_loads(two, bounds) is None


def test_the_count_over_cuts(nsfnet):
    """Four links lead from {1, 2, 3, 4, 5, 7, 8} to the other seven nodes, for 49 pairs.

    At 0.50 a link pays for a row or column of 7 pairs and two more (130 + 2 * 50 Mbps) or for five pairs: 36
    at most on four. At 0.52 (260 Mbps) it pays for two rows of 7: 56.
    """
    network, bounds = nsfnet
    assert pair_count_bound(network, bounds, attainable_loads(network, bounds)) == pytest.approx(0.52)


@pytest.mark.parametrize("uniform", [(20.0, 20.0, 10.0), (25.0, 15.0, 10.0), (20.0, 30.0, np.inf)])
@pytest.mark.parametrize("ends", [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (0, 2), (0, 3)]])
def test_cuts_never_promise_too_much(shortest, ends, uniform):
    """All assignments over all paths of a line, a ring and a star with equal bounds."""
    both = [*ends, *((b, a) for a, b in ends)]
    nodes = max(max(pair) for pair in ends) + 1
    tail, head = zip(*both, strict=True)
    network = FlowNetwork(tuple(map(str, range(nodes))), tail, head, [50.0] * len(both), [1.0] * len(both))
    ingress, egress, pair = uniform
    bounds = DemandBounds(np.full(nodes, ingress), np.full(nodes, egress), np.full((nodes, nodes), pair))
    loads = every_assignment(network, bounds, shortest(network, bounds, 9, "hops"))
    bound = pair_count_bound(network, bounds, attainable_loads(network, bounds))
    assert 0 < bound <= min(loads) + 1e-9


def test_nsfnet_with_one_path_each(nsfnet, shortest):
    """Better than a shortest path each (0.92), within what is proven by hand above."""
    network, bounds = nsfnet
    solution = least_single_path(
        network, bounds, shortest(network, bounds, 6, "hops"), steps=1000, time_limit_s=4
    )
    assert solution.lower_bound >= 0.52 - 1e-9
    assert solution.lower_bound <= solution.load <= 0.78 + 1e-9
    assert solution.load == pytest.approx(worst_case(network, bounds, solution.routing).max_load)
    assert solution.gap == pytest.approx(1 - solution.lower_bound / solution.load)
    assert solution.status == ("optimal" if solution.gap < 1e-6 else "time-limit")


def test_the_time_limit(nsfnet, shortest):
    """Without time there is the first path of each pair, and the bound that needs no program."""
    network, bounds = nsfnet
    solution = least_single_path(network, bounds, shortest(network, bounds, 6, "hops"), time_limit_s=1e-3)
    assert solution.status == "time-limit"
    assert solution.load == pytest.approx(0.92)
    assert solution.lower_bound == pytest.approx(0.52)
    assert solution.gap == pytest.approx(1 - 52 / 92)


def test_the_same_seed_the_same_paths(nsfnet, shortest):
    network, bounds = nsfnet
    six = shortest(network, bounds, 6, "hops")
    runs = [
        SinglePathSearch(RoutingProblem(network, bounds, six), seed).run(0.6, 60, Budget(60))
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    routing = single_path_routing(network, six, runs[0].path)
    assert worst_case(network, bounds, routing).max_load == pytest.approx(runs[0].load)


def test_steps_below_none(nsfnet, shortest):
    network, bounds = nsfnet
    with pytest.raises(SelectionError, match="-1 steps of local search; give 0 or more"):
        least_single_path(network, bounds, shortest(network, bounds, 1, "hops"), steps=-1)


def test_finite_bounds_allow_the_same():
    """R = 10, 20; from node 0 without a bound of its own at most 10."""
    free = np.full((2, 2), np.inf)
    finite = finite_bounds(DemandBounds(np.array([10.0, np.inf]), np.array([20.0, np.inf]), free))
    assert finite.pair_mbps.tolist() == [[0, 10], [20, 0]]
    assert finite.ingress_mbps.tolist() == [10, 20]
    assert finite.egress_mbps.tolist() == [20, 10]
