"""Routing through intermediate nodes against closed forms, and against the optimum over all paths."""

import sys

import numpy as np
import pytest
from robust_networks import network, nsfnet, random_bounds, random_network, sndlib, uniform_bounds

from anabranch.routing.robust import DemandBounds, FlowNetwork, all_paths, worst_case
from anabranch.routing.robust.budget import Budget
from anabranch.routing.robust.two_phase import TwoPhase, two_phase
from anabranch_publications.papers.robust.solvers import link_flow


def found(net: FlowNetwork, bounds: DemandBounds) -> tuple[TwoPhase, float]:
    """The routing, and its load by the evaluator, which also says whether it is one."""
    answer = two_phase(net, bounds, Budget(1e9), 1e-6)
    assert answer.routing is not None
    assert answer.routing.candidates is not None
    answer.routing.candidates.check(net)
    return answer, worst_case(net, bounds, answer.routing).max_load


@pytest.mark.parametrize("nodes", [3, 5, 8])
def test_a_full_mesh_needs_twice_the_rate_over_its_nodes(nodes: int) -> None:
    """2 r / N on each link, and no routing does with less: Zhang-Shen and McKeown, HotNets 2004."""
    net = network(nodes, [(a, b) for b in range(nodes) for a in range(b)], capacity_mbps=100.0)
    rate = np.full(nodes, 60.0)
    _, load = found(net, DemandBounds.hose(rate, rate))
    assert load == pytest.approx(2 * 60 / nodes / 100, rel=1e-6)


@pytest.mark.parametrize(("load", "net"), [(0.455, nsfnet()), (0.4, sndlib("polska"))])
def test_published_and_proved_loads(load: float, net: FlowNetwork) -> None:
    """ALL of Fukushima et al. 2016, figure 12; polska: three sets of nodes, see the test of parts."""
    _, least = found(net, uniform_bounds(len(net.nodes)))
    assert least == pytest.approx(load, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_pipes_alone_go_directly(seed: int) -> None:
    """One matrix is worst for every link, and flows for it are the optimum."""
    random = np.random.default_rng(300 + seed)
    net, bounds = random_network(random, 7, 5), random_bounds(random, 7, "pipe")
    _, load = found(net, bounds)
    assert load == pytest.approx(link_flow(net, bounds).load, rel=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_equal_in_both_directions_it_is_an_optimum(seed: int) -> None:
    random = np.random.default_rng(200 + seed)
    plain = random_network(random, 7, 6)
    capacity = np.repeat(plain.capacity_mbps[::2], 2)
    net = FlowNetwork(plain.nodes, plain.tail, plain.head, capacity, plain.delay_ms)
    rate = random.uniform(20, 100, 7)
    bounds = DemandBounds.hose(rate, rate)
    _, load = found(net, bounds)
    assert load == pytest.approx(link_flow(net, bounds).load, rel=2e-6)


@pytest.mark.parametrize("kind", ["hose", "pipe", "both"])
@pytest.mark.parametrize("seed", range(4))
def test_no_better_than_the_optimum(kind: str, seed: int) -> None:
    random = np.random.default_rng(400 + seed)
    net, bounds = random_network(random, 6, 4), random_bounds(random, 6, kind)
    _, load = found(net, bounds)
    assert link_flow(net, bounds).load * (1 - 1e-6) <= load


def test_nodes_and_links_without_traffic_or_capacity() -> None:
    """A square with one link missing in one direction, and a node that only passes traffic on."""
    plain = network(4, [(0, 1), (1, 3), (0, 2), (2, 3)])
    capacity = plain.capacity_mbps.copy()
    capacity[0] = 0.0
    net = FlowNetwork(plain.nodes, plain.tail, plain.head, capacity, plain.delay_ms)
    rate = np.array([100.0, 100.0, 0.0, 100.0])
    bounds = DemandBounds.hose(rate, rate)
    _, load = found(net, bounds)
    assert load == pytest.approx(100 / 500, rel=1e-6)  # all that node 0 sends leaves it over one link


def test_without_work_there_is_no_routing() -> None:
    answer = two_phase(nsfnet(), uniform_bounds(14), Budget(0.0), 1e-6)
    assert answer.routing is None
    assert len(answer.weight) == 42


@pytest.mark.parametrize("kind", ["hose", "pipe", "both"])
@pytest.mark.parametrize("seed", range(3))
def test_columns_go_on_from_it(monkeypatch: pytest.MonkeyPatch, kind: str, seed: int) -> None:
    """As on networks too large for columns alone: the optimum, whether intermediates find it or not."""
    monkeypatch.setattr(sys.modules["anabranch.routing.robust.all_paths"], "SMALL", 0)
    random = np.random.default_rng(100 + seed)
    net, bounds = random_network(random, 6, 4), random_bounds(random, 6, kind)
    solution = all_paths(net, bounds)
    assert solution.status == "optimal"
    assert solution.gap <= 1e-6
    assert solution.load == pytest.approx(link_flow(net, bounds).load, rel=2e-6)
    assert worst_case(net, bounds, solution.routing).max_load == pytest.approx(solution.load, rel=1e-9)
