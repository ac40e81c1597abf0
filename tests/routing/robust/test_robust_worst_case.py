"""The evaluator against the plain program of eqs. (6) to (8), and against assignment."""

import sys
import time
from typing import Any

import numpy as np
import pytest
from robust_networks import (
    network,
    nsfnet,
    random_bounds,
    random_network,
    shortest_candidates,
    sndlib,
    uniform_bounds,
)
from scipy import sparse
from scipy.optimize import linear_sum_assignment, linprog

from anabranch.routing.robust import (
    BoundsError,
    CapacityError,
    DemandBounds,
    FlowNetwork,
    RoutingError,
    TrafficSplit,
    worst_case,
)
from anabranch.routing.robust.worst_case import Oracle

KINDS = ("hose", "pipe", "both")


def spread(
    net: FlowNetwork, bounds: DemandBounds, random: np.random.Generator, count: int = 3
) -> TrafficSplit:
    """Random fractions over the shortest paths."""
    candidates = shortest_candidates(net, bounds, count)
    fraction = random.uniform(0, 1, candidates.path_count)
    total = np.add.reduceat(fraction, candidates.path_start[:-1])
    return candidates.routing(net.arc_count, fraction / total[candidates.pair_of_path()])


def by_plain_program(net: FlowNetwork, bounds: DemandBounds, routing: TrafficSplit, arc: int) -> float:
    """Eqs. (6) to (8) as they stand, over all pairs."""
    nodes, pairs = len(net.nodes), len(routing.source)
    out, into = np.zeros((2, nodes, pairs))
    out[routing.source, np.arange(pairs)] = 1.0
    into[routing.target, np.arange(pairs)] = 1.0
    limit = np.concatenate([bounds.ingress_mbps, bounds.egress_mbps])
    finite = np.isfinite(limit)
    share = routing.share[:, [arc]].toarray()[:, 0]
    box = [(0, w) for w in bounds.pair_mbps[routing.source, routing.target]]
    rows = np.concatenate([out, into])[finite]
    answer = linprog(-share, rows if len(rows) else None, limit[finite] if len(rows) else None, bounds=box)
    assert answer.status == 0
    return float(-answer.fun) / net.capacity_mbps[arc]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_the_plain_program(kind: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    net = random_network(random, 7, 6)
    bounds = random_bounds(random, 7, kind)
    routing = spread(net, bounds, random)
    worst = worst_case(net, bounds, routing)
    assert net.arc_count == 24
    for arc in range(net.arc_count):
        assert worst.load[arc] == pytest.approx(
            by_plain_program(net, bounds, routing, arc), rel=1e-9, abs=1e-12
        )


@pytest.mark.parametrize("kind", KINDS)
def test_its_matrices_meet_the_bounds_and_cause_the_loads(kind: str) -> None:
    random = np.random.default_rng(7)
    net = random_network(random, 8, 8)
    bounds = random_bounds(random, 8, kind)
    routing = spread(net, bounds, random)
    worst = worst_case(net, bounds, routing)
    for arc in range(net.arc_count):
        matrix = worst.matrix_mbps(arc, len(net.nodes))
        assert (matrix >= 0).all()
        assert (matrix <= bounds.pair_mbps * (1 + 1e-12)).all()
        assert (matrix.sum(axis=1) <= bounds.ingress_mbps * (1 + 1e-12)).all()
        assert (matrix.sum(axis=0) <= bounds.egress_mbps * (1 + 1e-12)).all()
        share = routing.share[:, [arc]].toarray()[:, 0]
        caused = matrix[routing.source, routing.target] @ share / net.capacity_mbps[arc]
        assert caused == pytest.approx(worst.load[arc], rel=1e-12)
    assert worst.load[worst.worst_arc] == worst.max_load == worst.load.max()


def test_equal_hose_bounds_are_an_assignment() -> None:
    # By Birkhoff and von Neumann the extreme matrices under equal row and column bounds are R times
    # (partial) permutations, so that the best one is an assignment.
    random = np.random.default_rng(3)
    net = sndlib("germany50")
    hose = np.full(50, 130.0)
    bounds = DemandBounds.hose(hose, hose)
    routing = spread(net, bounds, random, 2)
    worst = worst_case(net, bounds, routing)
    for arc in range(0, net.arc_count, 11):
        weight = np.zeros((50, 50))
        weight[routing.source, routing.target] = routing.share[:, [arc]].toarray()[:, 0]
        most = weight[linear_sum_assignment(weight, maximize=True)].sum()
        assert worst.load[arc] == pytest.approx(130.0 * most / 500.0, rel=1e-9)


def test_all_links_of_germany50_take_a_fraction_of_a_second() -> None:
    net = sndlib("germany50")
    bounds = uniform_bounds(50)
    routing = spread(net, bounds, np.random.default_rng(1), 4)
    start = time.process_time()
    worst = worst_case(net, bounds, routing)
    # The required time is 0.3 s; twice that leaves room for a slow machine.
    assert time.process_time() - start < 0.6
    assert np.count_nonzero(worst.load) == 176


def test_shares_that_lose_traffic_are_refused() -> None:
    net, bounds = nsfnet(), uniform_bounds(14)
    routing = spread(net, bounds, np.random.default_rng(0), 2)
    share = routing.share.toarray()
    share[0, share[0].argmax()] *= 0.5
    with pytest.raises(RoutingError, match=r"^1 to 2: a share of .* begins or ends at"):
        worst_case(net, bounds, TrafficSplit(routing.source, routing.target, sparse.csr_array(share)))


def test_a_pair_without_a_route_is_refused() -> None:
    net, bounds = nsfnet(), uniform_bounds(14)
    routing = spread(net, bounds, np.random.default_rng(0), 1)
    part = TrafficSplit(routing.source[1:], routing.target[1:], routing.share[1:])
    with pytest.raises(BoundsError, match=r"^1 to 2: may have traffic and has no route"):
        worst_case(net, bounds, part)


def test_a_used_link_without_capacity_is_refused() -> None:
    net, bounds = network(3, [(0, 1), (1, 2)]), uniform_bounds(3)
    routing = spread(net, bounds, np.random.default_rng(0), 1)
    dead = FlowNetwork(net.nodes, net.tail, net.head, [500.0, 500.0, 0.0, 500.0], net.delay_ms)
    with pytest.raises(
        CapacityError, match=r"^link 2 -> 3: has no capacity, and traffic from 1 to 3 uses it"
    ):
        worst_case(dead, bounds, routing)


def test_pairs_that_a_link_cannot_tell_apart_are_worst_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stars and a bridge with 20 x 20 pairs each way, nodes of two sizes: as with each pair alone."""
    leaves = 20
    links = [(0, 1), *((0, 2 + leaf) for leaf in range(leaves)), *((1, 22 + leaf) for leaf in range(leaves))]
    net = network(2 + 2 * leaves, links)
    hose = np.where(np.arange(len(net.nodes)) % 3 == 0, 70.0, 130.0)
    bounds = DemandBounds(hose, hose, np.full((len(hose), len(hose)), 6.0))
    candidates = shortest_candidates(net, bounds, 1)
    routing = candidates.routing(net.arc_count, np.ones(candidates.path_count))
    grouped = worst_case(net, bounds, routing)
    monkeypatch.setattr(sys.modules[Oracle.__module__], "_MANY", 10**9)
    alone = worst_case(net, bounds, routing)
    assert np.allclose(grouped.load, alone.load, rtol=1e-12)
    assert grouped.gap < 1e-12
    matrix = grouped.matrix_mbps(grouped.worst_arc, len(hose))
    assert (matrix.sum(axis=1) <= hose + 1e-9).all()
    assert (matrix.sum(axis=0) <= hose + 1e-9).all()
    assert matrix.max() <= 6.0 + 1e-12


def test_what_the_evaluator_leaves_open_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dual values that prove little: the load is that of its matrix, and the bound what they prove."""
    net, bounds = nsfnet(), uniform_bounds(14)
    candidates = shortest_candidates(net, bounds, 1)
    routing = candidates.routing(net.arc_count, np.ones(candidates.path_count))
    sure = worst_case(net, bounds, routing)
    assert sure.gap < 1e-9
    solve = Oracle._solve

    def careless(self: Oracle, *program: Any) -> tuple[Any, Any]:
        traffic, dual = solve(self, *program)
        return traffic, 0 * dual

    monkeypatch.setattr(Oracle, "_solve", careless)
    open_case = worst_case(net, bounds, routing)
    assert open_case.max_load == pytest.approx(sure.max_load, rel=1e-12)
    # Without prices for rows and columns every pair counts in full.
    on_link = np.asarray(routing.share.sum(axis=0)).ravel()
    assert open_case.proved_load == pytest.approx(50.0 * on_link.max() / 500.0)
    assert open_case.gap > 0.1


def test_shares_that_differ_in_their_last_digits() -> None:
    """A link of SNDlib's di-yuan on the way to its optimum, on which HiGHS's dual simplex gives up."""
    oracle = Oracle(uniform_bounds(3), np.array([0]), np.array([1]))
    weight = np.array(
        [
            0.08275232306072067,
            0.16808045534082788,
            0.08275242643869267,
            0.16808017323257798,
            0.03884783028942022,
            0.03852170935431858,
            0.03884776409632383,
            0.03884783549124126,
            0.0385212542526699,
            0.12160023234669516,
            0.038847831239742024,
            0.20692834454670384,
            0.03884786118775626,
            0.038847815597059666,
            0.0827517859401137,
            0.1680800869636473,
            0.08275217973440262,
            0.16808025230761842,
            0.08275244479701689,
            0.16808041491153616,
            0.08437954504855272,
            0.0827524155415369,
            0.16775386551554086,
            0.08275242365292727,
            0.16808047339650395,
            0.0827524233993271,
            0.16808046580206754,
        ]
    )
    upper, limits = (
        np.array(
            [
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
                1.0,
            ]
        ),
        np.array([2.6, 2.6, 2.6]),
    )
    member = np.array(
        [
            [-1, 1],
            [-1, 2],
            [-1, 1],
            [-1, 2],
            [0, -1],
            [0, -1],
            [0, -1],
            [0, -1],
            [0, -1],
            [0, 1],
            [0, -1],
            [0, 2],
            [0, -1],
            [0, -1],
            [-1, 1],
            [-1, 2],
            [-1, 1],
            [-1, 2],
            [-1, 1],
            [-1, 2],
            [-1, 2],
            [-1, 1],
            [-1, 2],
            [-1, 1],
            [-1, 2],
            [-1, 1],
            [-1, 2],
        ]
    )
    traffic, dual = oracle._solve(weight, upper, limits, member)
    rows = np.array([(member == row).any(axis=1) for row in range(3)], np.float64)
    answer = linprog(-weight, rows, limits, bounds=[(0, most) for most in upper])
    assert len(weight) == 27
    assert weight @ traffic == pytest.approx(-answer.fun, rel=1e-7)
    assert len(dual) == 3
