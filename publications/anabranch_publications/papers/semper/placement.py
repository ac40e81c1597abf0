"""The effect of the random placement of subflows alone on fairness."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from anabranch.results.censored import jain


def placed_fairness(
    hosts: int, subflows: int, paths: int, *, draws: int = 2000, apart: bool = False
) -> float:
    """Median of Jain's index over random placements, if each subflow has an equal part of its path.

    Args:
        hosts: N, hosts that send.
        subflows: K, subflows of each.
        paths: P, paths of the same capacity, of which each subflow takes one at random.
        draws: placements; with 2000 the median is within about 0.005.
        apart: over the hosts only that have no two subflows on one path.
    """
    return float(np.median(_indices(hosts, subflows, paths, draws, apart=apart)))


def placed_scatter(hosts: int, subflows: int, paths: int, runs: int) -> float:
    """Two standard deviations of a median of so many runs, each with a placement of its own."""
    medians = np.median(_indices(hosts, subflows, paths, 200 * runs).reshape(200, runs), axis=1)
    return float(2 * medians.std(ddof=1))


@cache
def _indices(
    hosts: int, subflows: int, paths: int, draws: int, *, apart: bool = False
) -> NDArray[np.float64]:
    """Jain's index of each of so many placements.

    Args:
        hosts: N, hosts that send.
        subflows: K, subflows of each.
        paths: P, paths of the same capacity, of which each subflow takes one at random.
        draws: placements.
        apart: over the hosts only that have no two subflows on one path.
    """
    stream = np.random.default_rng(hosts * 1000 + subflows)
    chosen = stream.integers(paths, size=(draws, hosts, subflows))
    indices = np.empty(draws)
    for draw, placement in enumerate(chosen):
        sharing = np.bincount(placement.ravel(), minlength=paths)
        rates = (1 / sharing[placement]).sum(axis=1)
        if apart:
            rates = rates[[len(set(paths_of_host)) == subflows for paths_of_host in placement.tolist()]]
        indices[draw] = jain(rates.tolist())
    return indices
