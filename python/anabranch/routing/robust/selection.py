"""Candidate path selection: which pairs keep several paths, and which only their shortest.

Section 5 of Fukushima et al., Candidate Path Selection Method for TCP Performance Improvement in Fixed Robust
Routing, 2016: step 1 takes the K shortest paths of each pair, by hops (HYBRID-HOP) or by propagation delay
(HYBRID-DELAY); step 2 leaves a share of the pairs their shortest path alone. Both take the order of a pair's
candidates for the order of the metric, the shortest first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import CandidateError, RobustRoutingError
from .model import Candidates, Floats, FlowNetwork


class SelectionError(RobustRoutingError):
    """A selection of paths that cannot be: K of 0, X outside 0 to 100, a level of load out of reach."""


def hybrid(network: FlowNetwork, candidates: Candidates, percent: float) -> Candidates:
    """Step 2: the top `percent` of the pairs by the delay of their longest candidate keep only their first.

    The paper does not say how a part of a pair is rounded: to the nearest whole number here, a half to the
    even one. Of pairs with equally long candidates those that come first lose their other paths first.

    Args:
        network: the network.
        candidates: candidates of every pair, the shortest first.
        percent: X, from 0 to 100.

    Raises:
        SelectionError: X is not from 0 to 100.
    """
    if not 0 <= percent <= 100:  # False for what is no number, too.
        raise SelectionError("X", f"{percent} percent of the pairs", "give 0 to 100")
    count = round(candidates.pair_count * percent / 100)
    # Delays are sums of decimal fractions: what differs by less than a picosecond is equal.
    longest = np.round(longest_delay_ms(network, candidates), 9)
    single = np.zeros(candidates.pair_count, np.bool_)
    single[np.argsort(-longest, kind="stable")[:count]] = True
    return single_where(candidates, single)


def single_where(candidates: Candidates, single: ArrayLike) -> Candidates:
    """Candidates of which the pairs marked in `single`, shape (pairs,), have only their first."""
    marked = np.asarray(single, np.bool_)
    if marked.shape != (candidates.pair_count,):
        raise SelectionError(
            "single", f"shape {marked.shape}", f"one mark for each of {candidates.pair_count} pairs"
        )
    pair = candidates.pair_of_path()
    first = np.arange(candidates.path_count) == candidates.path_start[pair]
    return keep_paths(candidates, first | ~marked[pair])


def keep_paths(candidates: Candidates, keep: NDArray[np.bool_]) -> Candidates:
    """The candidates marked in `keep`, shape (paths,), in their order.

    Raises:
        CandidateError: a pair is left without a path.
    """
    pair = candidates.pair_of_path()
    counts = np.bincount(pair[keep], minlength=candidates.pair_count)
    if not counts.all():
        lost = int(np.flatnonzero(counts == 0)[0])
        raise CandidateError(f"pair {lost}", "is left without a candidate path", "keep one at least")
    return candidates.kept(keep)


def longest_delay_ms(network: FlowNetwork, candidates: Candidates) -> Floats:
    """Propagation delay of the longest candidate of each pair, shape (pairs,)."""
    return np.asarray(np.maximum.reduceat(path_delay_ms(network, candidates), candidates.path_start[:-1]))


def path_delay_ms(network: FlowNetwork, candidates: Candidates) -> Floats:
    """Propagation delay of each path, shape (paths,)."""
    return np.asarray(candidates.incidence(network.arc_count) @ network.delay_ms)
