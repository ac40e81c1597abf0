"""The bound of costs from covers: against optima of small networks, and where fractions prove nothing."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from anabranch.routing.robust import Candidates, DemandBounds, FlowNetwork
from anabranch.routing.robust import optimal as of_optimal
from anabranch.routing.robust.budget import Budget
from anabranch.routing.robust.covers import cover_bound
from anabranch.routing.robust.optimal import even_split_loss_mbps, robust_optimal
from anabranch.routing.robust.problem import RoutingProblem
from anabranch.routing.robust.selection import hybrid
from anabranch.routing.robust.single_lp import single_lp


@pytest.mark.parametrize("part", [0.02, 0.4])
@pytest.mark.parametrize("seed", range(5))
def test_never_above_the_least_cost(small, shortest, seed, part):
    """The optimum of the mixed program, which test_selection_optimal holds against all choices."""
    network, bounds = small(seed, 4)
    candidates = shortest(network, bounds, 2, "hops")
    low = single_lp(network, bounds, candidates).load
    high = single_lp(network, bounds, hybrid(network, candidates, 100)).load
    level = low + part * (high - low)
    weight = np.array([1.0, 2.5, 3.0, 0.7])
    found = robust_optimal(network, bounds, candidates, level, weight_mbps=weight, steps=0)
    assert (
        cover_bound(RoutingProblem(network, bounds, candidates), level, weight, Budget(20.0))
        <= found.lost_mbps + 1e-5
    )


def test_above_zero_on_nsfnet_and_below_a_routing(nsfnet, shortest):
    """Two paths of each pair at 0.71, near the least load of 0.702: some pairs need both."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    weight = np.ones(two.pair_count)
    found = cover_bound(RoutingProblem(network, bounds, two), 0.71, weight, Budget(20.0))
    assert (
        0
        < found
        <= robust_optimal(network, bounds, two, 0.71, weight_mbps=weight, steps=0, time_limit_s=2).lost_mbps
    )


def test_nothing_where_single_paths_are_enough(nsfnet, shortest):
    """A shortest path for each pair has 0.92, or 1.24 by delay."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    assert (
        cover_bound(
            RoutingProblem(network, bounds, two), 1.25, even_split_loss_mbps(network, two), Budget(20.0)
        )
        == 0.0
    )


NODES = 8
"""Three that send, one behind them, two ways on, and two that receive."""


def two_ways(seed):
    """Every sender to every receiver over arc 0 or 1: network, bounds and candidates, by seed.

    The other arcs are wide.
    """
    draw = random.Random(seed)  # noqa: S311 - a case, no secret.
    arcs = [(3, 4), (3, 5), *((sender, 3) for sender in range(3))]
    arcs += [(middle, receiver) for middle in (4, 5) for receiver in (6, 7)]
    ends = np.array(arcs)
    capacity = np.full(len(arcs), 1000.0)
    capacity[:2] = 100.0
    network = FlowNetwork(tuple(map(str, range(NODES))), ends[:, 0], ends[:, 1], capacity, np.ones(len(arcs)))
    pair = np.zeros((NODES, NODES))
    pair[:3, 6:] = [[draw.choice([10.0, 20.0, 25.0]) for _ in range(2)] for _ in range(3)]
    hose = np.array([draw.choice([20.0, 30.0, 40.0]) for _ in range(NODES)])
    paths = {
        (sender, receiver): [[2 + sender, way, arcs.index((4 + way, receiver))] for way in range(2)]
        for sender in range(3)
        for receiver in (6, 7)
    }
    return network, DemandBounds(hose, hose, pair), Candidates.from_paths(network, paths)


def worst_traffic(bounds, pairs):
    """The most that these whole pairs may send at once: the cheapest cover by lines, all tried."""
    lines = [("from", node) for node in range(3)] + [("to", node) for node in (6, 7)]
    covers = []
    for chosen in itertools.chain.from_iterable(itertools.combinations(lines, n) for n in range(6)):
        price = sum((bounds.ingress_mbps if end == "from" else bounds.egress_mbps)[at] for end, at in chosen)
        alone = [(a, b) for a, b in pairs if ("from", a) not in chosen and ("to", b) not in chosen]
        covers.append(price + sum(bounds.pair_mbps[pair] for pair in alone))
    return min(covers)


def least_several(bounds, candidates, room_mbps):
    """How many pairs are on neither link at least, if whole pairs on each may send this much: all tried."""
    pairs = list(zip(candidates.source.tolist(), candidates.target.tolist(), strict=True))
    subsets = itertools.chain.from_iterable(itertools.combinations(pairs, n) for n in range(len(pairs) + 1))
    fit = [set(chosen) for chosen in subsets if worst_traffic(bounds, chosen) <= room_mbps * (1 + 1e-9)]
    return len(pairs) - max(len(one | other) for one in fit for other in fit)


def least_of(seed):
    """A case of `two_ways`, a level 1 % above its least load, and how many pairs that takes at least."""
    network, bounds, candidates = two_ways(seed)
    level = single_lp(network, bounds, candidates).load * 1.01
    return network, bounds, candidates, level, least_several(bounds, candidates, 100.0 * level)


@pytest.mark.parametrize("seed", range(8))
def test_as_many_pairs_as_when_all_sets_are_tried(seed):
    """Two links and six pairs: the count is the largest that there is, and the cost of no routing is less."""
    network, bounds, candidates, level, least = least_of(seed)
    weight = np.ones(candidates.pair_count)
    assert cover_bound(RoutingProblem(network, bounds, candidates), level, weight, Budget(20.0)) == least
    assert least <= robust_optimal(network, bounds, candidates, level, weight_mbps=weight).lost_mbps


def test_as_many_pairs_cost_what_the_cheapest_do():
    network, bounds, candidates, level, least = next(
        case for case in map(least_of, range(8)) if case[-1] >= 2
    )
    weight = np.array([5.0, 3.0, 1.0, 4.0, 2.0, 6.0])
    found = cover_bound(RoutingProblem(network, bounds, candidates), level, weight, Budget(20.0))
    assert found == sum(sorted(weight)[:least])


def test_more_work_is_not_less(nsfnet, shortest):
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    weight = even_split_loss_mbps(network, two)
    found = [
        cover_bound(RoutingProblem(network, bounds, two), 0.71, weight, Budget(limit))
        for limit in (0.01, 0.2, 0.6)
    ]
    assert found == sorted(found)
    assert found[0] == 0 < found[-1]


def test_the_bound_has_work_of_its_own(nsfnet, shortest):
    """What the heuristics do with the limit, all of it or little, leaves the bound as it is."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    found = [robust_optimal(network, bounds, two, 0.71, steps=s, time_limit_s=0.6) for s in (0, 10_000)]
    assert [one.status for one in found] == ["time-limit"] * 2
    assert found[0].lost_bound_mbps == found[1].lost_bound_mbps > 0


def test_the_routing_does_not_pay_for_the_bound(nsfnet, shortest, monkeypatch):
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    found = robust_optimal(network, bounds, two, 0.71, steps=0, time_limit_s=0.6)
    monkeypatch.setattr(of_optimal, "cover_bound", lambda *_: 0.0)
    alone = robust_optimal(network, bounds, two, 0.71, steps=0, time_limit_s=0.6)
    assert np.array_equal(found.routing.fraction, alone.routing.fraction)
