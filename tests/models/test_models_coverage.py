"""Occupied paths: against enumeration, the closed form of the mean, and the engine's own hash and ports."""

import json
from collections import Counter
from itertools import product
from math import comb
from statistics import fmean

import pytest

from anabranch import _core
from anabranch.models import ModelError, coverage_distribution, mean_coverage, subflows_needed


def enumerated(paths: int, balls: int) -> list[float]:
    """The distribution by looking at every assignment."""
    counts = Counter(len(set(chosen)) for chosen in product(range(paths), repeat=balls))
    return [counts[used] / paths**balls for used in range(paths + 1)]


@pytest.mark.parametrize("paths", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("hosts", "subflows"), [(1, 1), (1, 4), (2, 2), (2, 3), (3, 2)])
def test_the_distribution_is_that_of_all_assignments(paths: int, hosts: int, subflows: int) -> None:
    expected = enumerated(paths, hosts * subflows)
    assert coverage_distribution(paths, hosts, subflows) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("paths", [1, 2, 8, 100, 1000])
@pytest.mark.parametrize("balls", [1, 4, 64, 1024])
def test_the_distribution_has_the_mean_of_the_closed_form(paths: int, balls: int) -> None:
    distribution = coverage_distribution(paths, 1, balls)
    assert sum(distribution) == pytest.approx(1.0, abs=1e-12)
    mean = sum(used * chance for used, chance in enumerate(distribution)) / paths
    assert mean == pytest.approx(mean_coverage(paths, 1, balls), rel=1e-10)


def test_the_mean_is_the_one_expected_of_the_thesis_settings() -> None:
    """1 - (7/8)^4 and 1 - (7/8)^64, by hand."""
    assert mean_coverage(8, 2, 2) == pytest.approx(1 - 2401 / 4096)
    assert mean_coverage(8, 2, 32) == pytest.approx(0.9998, abs=5e-5)


@pytest.mark.parametrize("paths", [1, 2, 3, 4])
@pytest.mark.parametrize("hosts", [1, 2])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("probability", [0.3, 0.5, 0.7])
def test_k_is_the_least_that_is_enough(paths: int, hosts: int, share: float, probability: float) -> None:
    def chance(k: int) -> float:
        wanted = [used for used in range(paths + 1) if used >= share * paths]
        return sum(enumerated(paths, hosts * k)[used] for used in wanted)

    k = subflows_needed(paths, hosts, share, probability)
    assert chance(k) >= probability - 1e-12
    assert k == 1 or chance(k - 1) < probability


def test_k_for_all_of_eight_paths() -> None:
    """Coupon collector: P(all 8) = sum of (-1)^i C(8, i) (1 - i/8)^n by inclusion and exclusion."""

    def all_eight(balls: int) -> float:
        return sum((-1) ** i * comb(8, i) * (1 - i / 8) ** balls for i in range(9))

    k = subflows_needed(8, 2, 1.0, 0.95)
    assert all_eight(2 * k) >= 0.95 > all_eight(2 * (k - 1))


def test_shares_are_decimal_numbers() -> None:
    """0.3 of 10 paths are three, and three subflows are on three paths with probability 0.72."""
    assert pytest.approx(0.72) == 10 * 9 * 8 / 10**3
    assert subflows_needed(10, 1, 0.3, 0.72) == 3
    assert subflows_needed(10, 1, 0.1 + 0.2, 0.72) > 3


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ((0, 1), "paths"),
        ((1001, 1), "paths"),
        ((8, 0), "hosts"),
        ((8, 1, 0.0), "share"),
        ((8, 1, 1.01), "share"),
        ((8, 1, float("nan")), "share"),
        ((8, 1, 1.0, 1.0), "probability"),
        ((8, 1, 1.0, 0.0), "probability"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[int, int], place: str) -> None:
    with pytest.raises(ModelError) as caught:
        subflows_needed(*arguments)
    assert caught.value.problem.place == place


@pytest.mark.parametrize(
    ("hosts", "subflows", "place"), [(1, 0, "subflows"), (0, 1, "hosts"), (10, 100_001, "subflows")]
)
def test_counts_of_subflows_are_checked(hosts: int, subflows: int, place: str) -> None:
    with pytest.raises(ModelError) as caught:
        coverage_distribution(8, hosts, subflows)
    assert caught.value.problem.place == place


SEMPER = json.dumps({"algorithm": "hash"})


@pytest.mark.parametrize("paths", [4, 8])
@pytest.mark.parametrize("subflows", [2, 8, 32])
def test_the_engine_covers_as_many_paths(paths: int, subflows: int) -> None:
    """1000 draws of ports; the mean share has a standard deviation below 0.5 / sqrt(1000 P), 0.008."""
    shares = []
    for draw in range(1000):
        flows = [
            (host, int(port), 0, 5001)
            for host in (1, 2)
            for port in _core.draw_source_ports(1, draw, f"host {host}", subflows)
        ]
        shares.append(len(set(_core.balancer_choices(SEMPER, [1.0] * paths, flows).tolist())) / paths)
    assert fmean(shares) == pytest.approx(mean_coverage(paths, 2, subflows), abs=0.01)


def test_the_k_that_is_needed_is_enough_in_the_engine() -> None:
    """All eight paths in 95 % of 1000 draws; four standard deviations are 0.028."""
    k = subflows_needed(8, 2, 1.0, 0.95)
    reached = 0
    for draw in range(1000):
        flows = [
            (host, int(port), 0, 5001)
            for host in (1, 2)
            for port in _core.draw_source_ports(2, draw, f"host {host}", k)
        ]
        reached += len(set(_core.balancer_choices(SEMPER, [1.0] * 8, flows).tolist())) == 8
    expected = coverage_distribution(8, 2, k)[8]
    assert expected >= 0.95
    assert reached / 1000 == pytest.approx(expected, abs=0.028)


def test_balancers_refuse_what_is_no_balancer() -> None:
    for balancing, weights, word in [
        ('{"algorithm": "luck"}', [1.0], "unknown variant"),
        ('{"algorithm": "hash", "idle_timeout": 5}', [1.0], "unknown field"),
        ('{"algorithm": "flowlet"}', [1.0], "gap is 0 ps; it must be above 0 ps"),
        (SEMPER, [], "there is no path"),
        (SEMPER, [1.0, 0.0], r"weights\[1\]: 0 is no weight"),
        (SEMPER, [float("inf")], r"weights\[0\]: inf is no weight"),
    ]:
        with pytest.raises(ValueError, match=word):
            _core.balancer_choices(balancing, weights, [])


def test_the_stateful_balancer_takes_paths_in_turn() -> None:
    flows = [(1, 50_000 + number, 0, 5001) for number in range(16)]
    chosen = _core.balancer_choices('{"algorithm": "subflow-round-robin"}', [1.0] * 8, flows).tolist()
    assert chosen == [(chosen[0] + number) % 8 for number in range(16)]
    assert chosen[0] == _core.balancer_choices(SEMPER, [1.0] * 8, flows[:1])[0]
