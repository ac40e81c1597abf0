"""HYBRID-HOP and HYBRID-DELAY: the paper's example, the loads on NSFNET, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anabranch.routing.robust import CandidateError, Candidates
from anabranch.routing.robust.selection import (
    SelectionError,
    hybrid,
    keep_paths,
    longest_delay_ms,
)
from anabranch.routing.robust.single_lp import single_lp


def paths_of_pairs(candidates: Candidates) -> list[int]:
    return np.diff(candidates.path_start).tolist()


def test_the_papers_example(nsfnet, shortest):
    """Figures 9 and 10: pairs 1-2 to 1-6, K = 2, X = 60."""
    network, bounds = nsfnet
    pairs = np.zeros((14, 14))
    pairs[0, 1:6] = 50.0
    five = type(bounds)(bounds.ingress_mbps, bounds.egress_mbps, pairs)
    candidates = shortest(network, five, 2, "hops")
    assert longest_delay_ms(network, candidates) == pytest.approx([9.8, 7.5, 13.3, 21.0, 15.9])
    assert paths_of_pairs(hybrid(network, candidates, 60)) == [2, 2, 1, 1, 1]


# Found with the plain program of eqs. (9) to (14) before this package was there; the ties are those of the
# paper's example. The paper's own figures 12 and 13 stand on delays that are lost.
@pytest.mark.parametrize(
    ("metric", "loads"),
    [
        ("hops", [0.702, 0.82, 0.92, 0.92, 0.92, 0.92]),
        ("delay", [1.04, 1.04, 1.14, 1.24, 1.24, 1.24]),
    ],
)
def test_loads_on_nsfnet(nsfnet, shortest, metric, loads):
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, metric)
    solution = [single_lp(network, bounds, hybrid(network, two, x)).load for x in range(0, 101, 20)]
    assert solution == pytest.approx(loads, abs=5e-4)


def test_all_or_nothing(nsfnet, shortest):
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    assert paths_of_pairs(hybrid(network, two, 0)) == [2] * 182
    everything = hybrid(network, two, 100)
    one = shortest(network, bounds, 1, "hops")
    assert everything.arcs.tolist() == one.arcs.tolist()
    assert everything.arc_start.tolist() == one.arc_start.tolist()


@pytest.mark.parametrize(("percent", "singles"), [(20, 36), (40, 73), (60, 109), (80, 146), (0.2, 0)])
def test_parts_of_a_pair_are_rounded(nsfnet, shortest, percent, singles):
    """36.4, 72.8, 109.2, 145.6 and 0.364 of 182 pairs."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    assert paths_of_pairs(hybrid(network, two, percent)).count(1) == singles


def test_equal_delays_go_by_pair(nsfnet, shortest):
    """A pair and its opposite have the same longest delay: the one with the lower source comes first."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "delay")
    longest = longest_delay_ms(network, two)
    single = np.diff(hybrid(network, two, 100 / 182).path_start) == 1
    assert single.sum() == 1
    assert int(np.flatnonzero(single)[0]) == int(np.flatnonzero(longest > longest.max() - 1e-6)[0])


@pytest.mark.parametrize("percent", [-1, 100.5, math.nan, math.inf])
def test_no_percentage(nsfnet, shortest, percent):
    network, bounds = nsfnet
    with pytest.raises(SelectionError, match=f"X: {percent} percent of the pairs; give 0 to 100"):
        hybrid(network, shortest(network, bounds, 1, "hops"), percent)


def test_no_pair_loses_its_last_path(nsfnet, shortest):
    network, bounds = nsfnet
    one = shortest(network, bounds, 1, "hops")
    keep = np.ones(182, np.bool_)
    keep[5] = False
    with pytest.raises(CandidateError, match="pair 5: is left without a candidate path"):
        keep_paths(one, keep)
