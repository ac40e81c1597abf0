"""Bad input is refused with its place, and what is allowed is understood."""

import pickle

import numpy as np
import pytest
from robust_networks import network, nsfnet, shortest_candidates, uniform_bounds

from anabranch.errors import AnabranchError
from anabranch.routing.robust import (
    BoundsError,
    CandidateError,
    Candidates,
    CapacityError,
    DemandBounds,
    FlowNetwork,
    NetworkError,
    all_paths,
    single_lp,
)
from anabranch_publications.papers.robust.solvers import link_flow

INF = np.inf


@pytest.mark.parametrize(
    ("ingress", "egress", "pair", "message"),
    [
        (
            [-1, 5],
            [5, 5],
            [[0, 1], [1, 0]],
            r"^bounds.ingress_mbps\[0\]: no traffic matrix meets a bound of -1",
        ),
        (
            [5, 5],
            [5, np.nan],
            [[0, 1], [1, 0]],
            r"^bounds.egress_mbps\[1\]: no traffic matrix meets a bound of nan",
        ),
        (
            [5, 5],
            [5, 5],
            [[0, 1], [-2, 0]],
            r"^bounds.pair_mbps\[1, 0\]: no traffic matrix meets a bound of -2",
        ),
        ([0, 5], [0, 5], [[9, 1], [1, 9]], r"^bounds: no pair of nodes may have traffic"),
        ([INF, 5], [5, INF], [[0, INF], [1, 0]], r"^bounds of pair \[0, 1\]: nothing limits its traffic"),
        ([5, 5, 5], [5, 5], [[0, 1], [1, 0]], r"^bounds.egress_mbps: shape \(2,\); must be \(3,\)"),
    ],
)
def test_bounds_that_make_no_sense(
    ingress: list[float], egress: list[float], pair: list[list[float]], message: str
) -> None:
    with pytest.raises(BoundsError, match=message):
        DemandBounds(np.array(ingress), np.array(egress), np.array(pair))


def test_zero_bounds_take_pairs_out() -> None:
    bounds = DemandBounds(
        np.array([9.0, 0, 9]), np.array([9.0, 9, 9]), np.array([[0, 5, 0], [5, 0, 5], [5, 5, 0]])
    )
    source, target = bounds.pairs()
    assert list(zip(source, target, strict=True)) == [(0, 1), (2, 0), (2, 1)]


def test_the_least_of_three_bounds_is_the_ceiling() -> None:
    bounds = DemandBounds(np.array([9.0, INF]), np.array([INF, 7.0]), np.array([[0, INF], [3.0, 0]]))
    assert bounds.ceiling_mbps(np.array([0, 1]), np.array([1, 0])).tolist() == [7.0, 3.0]


def test_opposite_arcs_share_a_edge_and_parallel_ones_do_not() -> None:
    net = network(3, [(0, 1), (1, 2), (1, 0)])
    assert net.edge.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tail": [0, 5]}, "^arc 1: leads from node 5 to 0"),
        ({"head": [0, 0]}, "^arc 0: leads from node 0 to 0"),
        ({"capacity_mbps": [1.0, -1.0]}, r"^network.capacity_mbps\[1\]: -1.0; must be finite"),
        ({"delay_ms": [1.0]}, r"^network.delay_ms: shape \(1,\)"),
        ({"edge": [0, 2]}, "^network.edge: a number is left out"),
        ({"nodes": ("a", "a")}, "^network: two nodes have the same name"),
    ],
)
def test_networks_that_make_no_sense(change: dict[str, list[float]], message: str) -> None:
    whole = {
        "nodes": ("a", "b"), "tail": [0, 1], "head": [1, 0],
        "capacity_mbps": [1.0, 1.0], "delay_ms": [1.0, 1.0],
    }  # fmt: skip
    with pytest.raises(NetworkError, match=message):
        FlowNetwork(**(whole | change))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ([], "^1 to 3: has no candidate path"),
        ([[0]], r"^1 to 3: path \[0\] ends at 2"),
        ([[2]], r"^1 to 3: path \[2\] breaks off at arc 2"),
        ([[0, 1, 0, 2]], r"^1 to 3: path \[0, 1, 0, 2\] visits 1 twice"),
    ],
)
def test_candidates_that_are_no_paths(path: list[list[int]], message: str) -> None:
    with pytest.raises(CandidateError, match=message):
        Candidates.from_paths(network(3, [(0, 1), (1, 2)]), {(0, 2): path})


def test_no_candidates_at_all_are_told_from_k_zero() -> None:
    with pytest.raises(CandidateError, match=r"has no candidate path; .* is K 0"):
        shortest_candidates(nsfnet(), uniform_bounds(14), 0)


def test_a_candidate_over_a_link_without_capacity() -> None:
    net = network(3, [(0, 1), (1, 2)], 0.0)
    with pytest.raises(CapacityError, match=r"^link 1 -> 2: has no capacity, and a path 1 to 3 uses it"):
        Candidates.from_paths(net, {(0, 2): [[0, 2]]})


@pytest.mark.parametrize("solve", [link_flow, all_paths])
def test_a_pair_that_is_not_connected(solve: object) -> None:
    assert callable(solve)
    net = network(4, [(0, 1), (2, 3)])
    with pytest.raises(BoundsError, match=r"^1 to 3: may have traffic and has no path, like 7 other pairs"):
        solve(net, uniform_bounds(4))


def test_a_pair_without_candidates() -> None:
    net = nsfnet()
    some = np.zeros((14, 14))
    some[0, 1] = 10.0
    candidates = shortest_candidates(net, DemandBounds.pipe(some), 2)
    with pytest.raises(
        BoundsError, match=r"^1 to 3: may have traffic and has no route, like 180 other pairs"
    ):
        single_lp(net, uniform_bounds(14), candidates)


def test_bounds_for_another_network() -> None:
    with pytest.raises(BoundsError, match=r"^bounds: given for 13 nodes; the network has 14"):
        link_flow(nsfnet(), uniform_bounds(13))


def test_errors_keep_their_parts_across_processes() -> None:
    error = CapacityError("link a -> b", "has no capacity", "give it one")
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, AnabranchError)
    assert (type(copy), copy.place, copy.what, copy.remedy, str(copy)) == (
        CapacityError, "link a -> b", "has no capacity", "give it one",
        "link a -> b: has no capacity; give it one",
    )  # fmt: skip
