"""Which pairs stay on one path: against all choices, and the levels of NSFNET."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from anabranch.routing.robust import SolverError
from anabranch.routing.robust.optimal import even_split_loss_mbps, robust_optimal
from anabranch.routing.robust.selection import SelectionError, hybrid, keep_paths
from anabranch.routing.robust.single_lp import single_lp
from anabranch.routing.robust.throughput import pair_throughput_mbps, throughput_mbps
from anabranch.routing.robust.worst_case import worst_case


def least_cost(network, bounds, candidates, level, weight):
    """Every choice of one path, or all, for each pair, and the program with duals for each choice."""
    spans = list(itertools.pairwise(candidates.path_start.tolist()))
    best = math.inf
    for chosen in itertools.product(*([-1, *range(first, end)] for first, end in spans)):
        cost = sum(w for w, path in zip(weight, chosen, strict=True) if path < 0)
        if cost >= best:
            continue
        keep = np.zeros(candidates.path_count, np.bool_)
        for path, (first, end) in zip(chosen, spans, strict=True):
            keep[first:end] = path < 0
            if path >= 0:
                keep[path] = True
        if single_lp(network, bounds, keep_paths(candidates, keep)).load <= level * (1 + 1e-6):
            best = cost
    return best


@pytest.mark.parametrize("part", [0.02, 0.4])
@pytest.mark.parametrize("seed", range(5))
def test_against_all_choices(small, shortest, seed, part):
    """Levels between the least load with all paths and that with the first alone."""
    network, bounds = small(seed, 4)
    candidates = shortest(network, bounds, 2, "hops")
    assert candidates.path_count == 8
    low = single_lp(network, bounds, candidates).load
    high = single_lp(network, bounds, hybrid(network, candidates, 100)).load
    level = low + part * (high - low)
    weight = np.array([1.0, 2.5, 3.0, 0.7])
    solution = robust_optimal(network, bounds, candidates, level, weight_mbps=weight, steps=0)
    assert solution.status == "optimal"
    assert solution.lost_mbps == pytest.approx(least_cost(network, bounds, candidates, level, weight))
    assert solution.lost_bound_mbps == pytest.approx(solution.lost_mbps, abs=1e-5)
    assert worst_case(network, bounds, solution.routing).max_load <= level * (1 + 2e-6)
    assert solution.load == worst_case(network, bounds, solution.routing).max_load


def test_full_throughput_below_a_load_of_one(nsfnet, shortest):
    """The paper's level: HYBRID-HOP has 8.51 of 10 Mbps there. A shortest path for each pair has 0.92."""
    network, bounds = nsfnet
    solution = robust_optimal(network, bounds, shortest(network, bounds, 2, "hops"), 1.0)
    assert solution.status == "optimal"
    assert solution.load < 1.0
    assert solution.single.all()
    assert (solution.lost_mbps, solution.lost_bound_mbps, solution.gap) == (0.0, 0.0, 0.0)
    assert solution.mean_throughput_mbps == 10.0


def test_better_than_the_rule_at_its_own_load(nsfnet, shortest):
    """HYBRID-HOP at X = 0 has 0.702 with K = 2; at that level fewer pairs need both paths."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    rule = single_lp(network, bounds, two)
    solution = robust_optimal(network, bounds, two, rule.load * (1 + 1e-4), steps=0, time_limit_s=5)
    assert solution.load <= rule.load * (1 + 1.1e-4)
    assert solution.mean_throughput_mbps > throughput_mbps(network, rule.routing).mean() + 1
    assert 0 <= solution.lost_bound_mbps <= solution.lost_mbps
    assert solution.gap == pytest.approx(1 - solution.lost_bound_mbps / solution.lost_mbps)


def test_a_level_out_of_reach(nsfnet, shortest):
    """All paths together come to 0.455, two of each pair to 0.702."""
    network, bounds = nsfnet
    with pytest.raises(SelectionError, match=r"load up to 0\.5; the least possible is 0\.7018"):
        robust_optimal(network, bounds, shortest(network, bounds, 2, "hops"), 0.5)


@pytest.mark.parametrize("level", [0.0, -1.0, math.nan])
def test_levels_that_are_none(nsfnet, shortest, level):
    network, bounds = nsfnet
    with pytest.raises(SelectionError, match="give the highest load allowed, above 0"):
        robust_optimal(network, bounds, shortest(network, bounds, 1, "hops"), level)


@pytest.mark.parametrize("weight", [[1.0], [-1.0] * 182, [math.nan] * 182])
def test_weights_that_are_none(nsfnet, shortest, weight):
    network, bounds = nsfnet
    with pytest.raises(SelectionError, match="one number for each pair, 0 or more"):
        robust_optimal(network, bounds, shortest(network, bounds, 1, "hops"), 0.95, weight_mbps=weight)


def test_no_time_for_any_routing(nsfnet, shortest):
    network, bounds = nsfnet
    with pytest.raises(SolverError, match=r"no routing with a load up to 0\.71 before time was over"):
        robust_optimal(network, bounds, shortest(network, bounds, 2, "hops"), 0.71, time_limit_s=1e-3)


def test_the_time_limit(nsfnet, shortest):
    """A shortest path each has 1.24, equal shares of two less: all pairs have both, nothing is proven."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "delay")
    solution = robust_optimal(network, bounds, two, 1.23, time_limit_s=1e-3)
    assert solution.status == "time-limit"
    assert solution.load == pytest.approx(1.22)
    assert not solution.single.any()
    assert solution.lost_mbps == pytest.approx(even_split_loss_mbps(network, two).sum())
    assert (solution.lost_bound_mbps, solution.gap) == (0.0, 1.0)


def test_cost_of_even_shares(nsfnet, shortest):
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    delays = [network.delay_ms[two.path(path)].sum() for path in range(2)]
    expected = 10 - pair_throughput_mbps(delays, [0.5, 0.5])
    assert even_split_loss_mbps(network, two)[0] == pytest.approx(expected)
    assert even_split_loss_mbps(network, hybrid(network, two, 100)).tolist() == [0.0] * 182
