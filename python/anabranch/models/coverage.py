"""How many of P paths are in use when subflows choose theirs at random, as SEMPER's do.

Each of N hosts opens K subflows, and every subflow takes one of P paths, each with probability 1/P, whatever
the others do (Garcia-Aviles 2017, section IV). How many paths are in use is then the number of occupied urns
after N K balls (Feller, "An Introduction to Probability Theory and Its Applications" 1, 3rd edition, section
IV.2). With one long subflow on a path its capacity is used, so that on equal paths the share of paths is the
share of capacity.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anabranch.models.errors import ModelError

MOST_PATHS: Final = 1000
"""More equal paths are refused."""
MOST_SUBFLOWS: Final = 100_000
"""More subflows in all are refused."""
# Beside 1, what adding up rounding errors of a distribution may miss.
_ROUNDING = 1e-12


def mean_coverage(paths: int, hosts: int, subflows: int) -> float:
    """The mean share of paths in use, 1 - (1 - 1/P)^(N K).

    Args:
        paths: P.
        hosts: N.
        subflows: K, of each host.

    Raises:
        ModelError: on numbers below one, more than :data:`MOST_PATHS` paths, or more than
            :data:`MOST_SUBFLOWS` subflows in all.
    """
    _check_paths(paths)
    return 1.0 - (1.0 - 1.0 / paths) ** _balls(hosts, subflows)


def coverage_distribution(paths: int, hosts: int, subflows: int) -> list[float]:
    """The probabilities that 0, 1, ..., P paths are in use, exact but for rounding.

    Subflow by subflow: where m of P paths are in use, the next one takes a free one with probability 1 - m/P.
    All terms are positive, so that nothing cancels.

    Args:
        paths: P.
        hosts: N.
        subflows: K, of each host.

    Raises:
        ModelError: as :func:`mean_coverage`.
    """
    _check_paths(paths)
    distribution = _empty(paths)
    for _ in range(_balls(hosts, subflows)):
        distribution = _after_one_more(distribution)
    return [float(chance) for chance in distribution]


def subflows_needed(paths: int, hosts: int, share: float = 1.0, probability: float = 0.95) -> int:
    """The least K with which at least ``share`` of the paths are in use with at least ``probability``.

    Args:
        paths: P, equal ones.
        hosts: N.
        share: wanted share of paths, and so of capacity, above 0 and at most 1.
        probability: with which it is wanted, above 0 and below 1.

    Raises:
        ModelError: on arguments outside these ranges, as :func:`mean_coverage`, and where more than
            :data:`MOST_SUBFLOWS` subflows in all would be needed.
    """
    _check_paths(paths)
    _check_count("hosts", hosts)
    if not 0.0 < share <= 1.0:
        raise ModelError("share", f"{share} must be above 0 and at most 1")
    if not 0.0 < probability < 1.0:
        raise ModelError("probability", f"{probability} must be above 0 and below 1; chance promises nothing")
    # As a decimal number: 0.3 of 10 paths are three, which 0.3 * 10 in binary fractions just misses.
    wanted = -(-Fraction(str(share)) * paths // 1)
    distribution = _empty(paths)
    for balls in range(1, MOST_SUBFLOWS + 1):
        distribution = _after_one_more(distribution)
        if balls % hosts == 0 and distribution[wanted:].sum() >= probability - _ROUNDING:
            return balls // hosts
    raise ModelError("paths", f"{paths} would need more than {MOST_SUBFLOWS:,} subflows in all")


def _empty(paths: int) -> NDArray[np.float64]:
    distribution = np.zeros(paths + 1)
    distribution[0] = 1.0
    return distribution


def _after_one_more(distribution: NDArray[np.float64]) -> NDArray[np.float64]:
    paths = len(distribution) - 1
    used = np.arange(paths + 1)
    after = distribution * used / paths
    after[1:] += distribution[:-1] * (paths - used[:-1]) / paths
    return after


def _balls(hosts: int, subflows: int) -> int:
    _check_count("hosts", hosts)
    _check_count("subflows", subflows)
    if hosts * subflows > MOST_SUBFLOWS:
        raise ModelError(
            "subflows", f"{hosts:,} hosts with {subflows:,} each are more than {MOST_SUBFLOWS:,} in all"
        )
    return hosts * subflows


def _check_paths(paths: int) -> None:
    _check_count("paths", paths)
    if paths > MOST_PATHS:
        raise ModelError("paths", f"{paths} must be at most {MOST_PATHS:,}")


def _check_count(place: str, count: int) -> None:
    if count < 1:
        raise ModelError(place, f"{count} must be at least 1")
