"""The bound of costs from covers: against optima of small networks, and where fractions prove nothing."""

from __future__ import annotations

import numpy as np
import pytest

from anabranch.routing.robust.budget import Budget
from anabranch.routing.robust.covers import cover_bound
from anabranch.routing.robust.optimal import even_split_loss_mbps, robust_optimal
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
    assert cover_bound(network, bounds, candidates, level, weight, Budget(20.0)) <= found.lost_mbps + 1e-5


def test_above_zero_on_nsfnet_and_below_a_routing(nsfnet, shortest):
    """Two paths of each pair at 0.71, near the least load of 0.702: some pairs need both."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    weight = np.ones(two.pair_count)
    found = cover_bound(network, bounds, two, 0.71, weight, Budget(20.0))
    assert (
        0
        < found
        <= robust_optimal(network, bounds, two, 0.71, weight_mbps=weight, steps=0, time_limit_s=2).lost_mbps
    )


def test_nothing_where_single_paths_are_enough(nsfnet, shortest):
    """A shortest path for each pair has 0.92, or 1.24 by delay."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    assert cover_bound(network, bounds, two, 1.25, even_split_loss_mbps(network, two), Budget(20.0)) == 0.0
