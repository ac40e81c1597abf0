"""Parts of a network: their optimum against that of the whole, and against sums by hand."""

import numpy as np
import pytest
from robust_networks import network, random_bounds, random_network, sndlib, uniform_bounds

from anabranch.routing.robust import DemandBounds, FlowNetwork, all_paths
from anabranch.routing.robust.budget import Budget
from anabranch.routing.robust.partition import Partition
from anabranch.routing.robust.two_phase import two_phase
from anabranch_publications.papers.robust.solvers import link_flow


def weights(net: FlowNetwork, heavy: list[tuple[int, int]]) -> np.ndarray:
    """One for the links between these nodes."""
    ends = zip(net.tail.tolist(), net.head.tolist(), strict=True)
    return np.array([float((a, b) in heavy or (b, a) in heavy) for a, b in ends])


def test_two_parts_are_a_cut() -> None:
    """Three nodes of 130 Mbps against five, over two links of 500."""
    ring = [(node, (node + 1) % 8) for node in range(8)]
    net, bounds = network(8, ring), uniform_bounds(8)
    partition = Partition.find(net, bounds, weights(net, [(2, 3), (7, 0)]), 8)
    assert partition is not None
    assert partition.part.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert sorted(partition.bounds.ingress_mbps) == [3 * 130, 5 * 130]
    assert all_paths(partition.network, partition.bounds).load == pytest.approx(3 * 130 / (2 * 500), rel=1e-6)


def test_pipes_limit_what_parts_exchange() -> None:
    """Two nodes against two: four pairs of 50 Mbps each way, less than what the hoses let through."""
    net, bounds = network(4, [(0, 1), (1, 2), (2, 3)]), uniform_bounds(4)
    partition = Partition.find(net, bounds, weights(net, [(1, 2)]), 8)
    assert partition is not None
    assert partition.bounds.pair_mbps.tolist() == [[0, 200], [200, 0]]
    assert all_paths(partition.network, partition.bounds).load == pytest.approx(200 / 500, rel=1e-6)


def test_unequal_nodes_share_in_proportion() -> None:
    """Hoses of 10 and 30 in one part: a matrix of the parts falls on their pairs as 1 to 3."""
    rate = np.array([10.0, 30.0, 40.0])
    pair = np.full((3, 3), 30.0)
    pair[0, 2] = 6.0
    net = network(3, [(0, 1), (1, 2), (0, 2)])
    partition = Partition.find(net, DemandBounds(rate, rate, pair), weights(net, [(1, 2), (0, 2)]), 8)
    assert partition is not None
    # 6 Mbps from the first and 18 from the second; the pipes alone would let 36 through.
    assert partition.bounds.pair_mbps[0, 1] == pytest.approx(24.0)


def test_parts_that_may_exchange_nothing_prove_nothing() -> None:
    pair = np.zeros((4, 4))
    pair[0, 1] = pair[2, 3] = 5.0
    net = network(4, [(0, 1), (1, 2), (2, 3)])
    assert Partition.find(net, DemandBounds.pipe(pair), weights(net, [(1, 2)]), 8) is None


@pytest.mark.parametrize("kind", ["hose", "pipe", "both"])
@pytest.mark.parametrize("seed", range(8))
def test_no_parts_have_a_higher_optimum_than_the_whole(kind: str, seed: int) -> None:
    """Whatever the weights are, and however few parts."""
    random = np.random.default_rng(500 + seed)
    net, bounds = random_network(random, 6, 4), random_bounds(random, 6, kind)
    least = link_flow(net, bounds).load
    for weight, most in (
        (random.random(net.arc_count), int(random.integers(2, 6))),
        (two_phase(net, bounds, Budget(1e9), 1e-6).weight, 8),
    ):
        partition = Partition.find(net, bounds, weight, most)
        if partition is not None:
            assert len(partition.network.nodes) <= most
            assert all_paths(partition.network, partition.bounds).lower_bound <= least * (1 + 1e-6)


def test_three_parts_prove_what_no_cut_does() -> None:
    """polska: all cuts of its 12 nodes prove less than 0.4, its optimum by the link-flow form."""
    net = sndlib("polska")
    bounds = uniform_bounds(12)
    partition = Partition.find(net, bounds, two_phase(net, bounds, Budget(1e9), 1e-6).weight, 8)
    assert partition is not None
    assert len(partition.network.nodes) == 3
    assert all_paths(partition.network, partition.bounds).lower_bound == pytest.approx(
        link_flow(net, bounds).load, rel=2e-6
    )
