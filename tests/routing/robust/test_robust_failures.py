"""The worst case when a link fails: closed forms on parallel paths, and every failure done by hand."""

import numpy as np
import pytest
from robust_networks import (
    network,
    nsfnet,
    random_bounds,
    random_network,
    shortest_candidates,
    uniform_bounds,
)

from anabranch.routing.robust import (
    Candidates,
    DemandBounds,
    FlowNetwork,
    RoutingError,
    TrafficSplit,
    single_lp,
    survivable,
    worst_case,
    worst_case_under_failures,
)


def parallel(
    capacities_mbps: list[float], traffic_mbps: float
) -> tuple[FlowNetwork, DemandBounds, Candidates]:
    """One pair, nodes 0 and 1, over disjoint paths of two links with these capacities."""
    count = len(capacities_mbps)
    plain = network(2 + count, [link for k in range(count) for link in ((0, 2 + k), (2 + k, 1))])
    net = FlowNetwork(plain.nodes, plain.tail, plain.head, np.repeat(capacities_mbps, 4), plain.delay_ms)
    pair = np.zeros((2 + count, 2 + count))
    pair[0, 1] = traffic_mbps
    bounds = DemandBounds.pipe(pair)
    return net, bounds, shortest_candidates(net, bounds, count)


def test_traffic_of_a_failed_path_is_spread_in_proportion() -> None:
    net, bounds, candidates = parallel([100, 100, 100], 60)
    worst = worst_case_under_failures(net, bounds, candidates.routing(net.arc_count, [0.5, 0.3, 0.2]))
    assert worst.normal.max_load == pytest.approx(0.3)
    # Without the first path 0.3 and 0.2 become 0.6 and 0.4 of 60 Mbps over 100, and so on.
    assert len(worst.cases) == 6
    loads = [case.worst_case.max_load for case in worst.cases]
    assert loads == pytest.approx([0.36, 0.36, 0.6 * 0.5 / 0.7, 0.6 * 0.5 / 0.7, 0.375, 0.375])
    assert worst.max_load == pytest.approx(0.6 * 0.5 / 0.7)
    assert worst.worst is worst.cases[2]
    assert all(len(case.stranded) == 0 for case in worst.cases)


def test_a_pair_without_a_path_left_is_reported_and_carries_nothing() -> None:
    net, bounds, candidates = parallel([100, 100], 60)
    worst = worst_case_under_failures(net, bounds, candidates.routing(net.arc_count, [1.0, 0.0]))
    assert [case.stranded.tolist() for case in worst.cases] == [[0], [0], [], []]
    assert worst.cases[0].worst_case.max_load == 0.0


def test_a_single_arc_takes_one_direction_only() -> None:
    net, bounds, candidates = parallel([100, 100], 60)
    worst = worst_case_under_failures(net, bounds, candidates.routing(net.arc_count, [0.5, 0.5]), "arc")
    # Of 8 arcs 4 lead the way of the traffic; without one of them the other path has it all.
    assert [round(case.worst_case.max_load, 9) for case in worst.cases] == [0.6, 0.3] * 4


def test_each_failure_is_the_worst_case_of_the_routing_that_is_left() -> None:
    random = np.random.default_rng(11)
    net = random_network(random, 6, 8)
    bounds = random_bounds(random, 6, "both")
    candidates = shortest_candidates(net, bounds, 3)
    pair_of_path = candidates.pair_of_path()
    fraction = random.uniform(0.1, 1, candidates.path_count)
    fraction /= np.bincount(pair_of_path, fraction)[pair_of_path]
    worst = worst_case_under_failures(net, bounds, candidates.routing(net.arc_count, fraction))
    looked = 0
    for case in worst.cases:
        if len(case.stranded):
            continue
        left = np.array([
            0.0 if set(candidates.path(path)) & set(case.arcs.tolist()) else fraction[path]
            for path in range(candidates.path_count)
        ])  # fmt: skip
        left /= np.bincount(pair_of_path, left)[pair_of_path]
        alone = worst_case(net, bounds, candidates.routing(net.arc_count, left))
        assert case.worst_case.load == pytest.approx(alone.load, rel=1e-9)
        looked += 1
    assert looked >= 3


def test_shares_without_paths_cannot_fail() -> None:
    net, bounds, candidates = parallel([100, 100], 60)
    routing = candidates.routing(net.arc_count, [0.5, 0.5])
    with pytest.raises(RoutingError, match="has shares of links and no paths"):
        worst_case_under_failures(net, bounds, TrafficSplit(routing.source, routing.target, routing.share))


@pytest.mark.parametrize(
    ("capacities_mbps", "load"),
    [
        ([100.0, 100.0, 100.0], 0.3),  # two of three are left for 60 Mbps
        ([100.0, 50.0, 50.0], 0.6),  # without the first, two of 50 Mbps are left
        ([100.0, 100.0], 0.6),
    ],
)
def test_the_optimum_over_disjoint_paths(capacities_mbps: list[float], load: float) -> None:
    net, bounds, candidates = parallel(capacities_mbps, 60)
    solution = survivable(net, bounds, candidates)
    assert solution.status == "optimal"
    assert solution.load == pytest.approx(load, rel=1e-6)


def test_the_search_beats_fractions_that_mind_no_failure() -> None:
    net = network(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3), (1, 4)])
    bounds = uniform_bounds(6)
    candidates = shortest_candidates(net, bounds, 4)
    careless = worst_case_under_failures(net, bounds, single_lp(net, bounds, candidates).routing)
    solution = survivable(net, bounds, candidates)
    again = worst_case_under_failures(net, bounds, solution.routing)
    assert again.max_load == pytest.approx(solution.load, rel=1e-9)
    assert solution.lower_bound <= solution.load < careless.max_load
    assert solution.load >= again.normal.max_load


def test_time_over_is_said() -> None:
    net, bounds = nsfnet(), uniform_bounds(14)
    solution = survivable(net, bounds, shortest_candidates(net, bounds, 2), time_limit_s=0.0)
    assert solution.status == "time-limit"
    assert solution.gap == 1.0
