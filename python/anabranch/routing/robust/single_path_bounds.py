"""Limits of single-path routings: loads that no link has, and a count over cuts.

With whole pairs on a link the dual of the subproblem (eqs. 6 to 8) has an optimum of zeros and ones, for a
transportation problem's matrix is totally unimodular: a link pays R_i or C_j for each row or column of the
traffic matrix that covers its pairs, and w_ij for each pair that none covers. Hence its worst-case traffic is
a sum of such numbers, and what it pays limits how many pairs it carries.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from .model import DemandBounds, Floats, FlowNetwork, Ints

_RESOLUTION_MBPS: Final = 1e-3
_MOST_UNITS: Final = 200_000
_MOST_NODES: Final = 16
"""All 2^(n - 1) cuts are looked at."""
_SLACK: Final = 1e-6
"""What a bound by floating point may be too high, as a part of it."""


def attainable_loads(network: FlowNetwork, bounds: DemandBounds) -> Floats | None:
    """Every load, ascending, that a link may have in its worst case if each pair has one path.

    None where the bounds are no whole numbers of kbps, or have too fine a common measure.
    """
    source, target = bounds.pairs()
    lines = np.concatenate([bounds.ingress_mbps[np.unique(source)], bounds.egress_mbps[np.unique(target)]])
    lines = lines[np.isfinite(lines)]
    pairs = np.unique(bounds.pair_mbps[source, target])
    pairs = pairs[np.isfinite(pairs)]
    values = np.concatenate([lines, pairs]) / _RESOLUTION_MBPS
    whole = np.rint(values).astype(np.int64)
    if (np.abs(values - whole) > 1e-6).any():
        return None
    unit = math.gcd(*whole.tolist())
    hose = min(bounds.ingress_mbps.sum(), bounds.egress_mbps.sum())
    total = min(hose, bounds.ceiling_mbps(source, target).sum()) / _RESOLUTION_MBPS / unit
    if total > _MOST_UNITS:
        return None
    mask = (1 << (int(total) + 1)) - 1
    sums = 1
    for line in (whole[: len(lines)] // unit).tolist():
        sums |= (sums << line) & mask
    for pair in (whole[len(lines) :] // unit).tolist():
        shift = pair
        while shift <= total:  # Any number of pairs: 1, then 1 to 3, then 1 to 7, and so on.
            sums |= (sums << shift) & mask
            shift *= 2
    traffic = np.flatnonzero([bit == "1" for bit in reversed(bin(sums)[2:])]) * unit * _RESOLUTION_MBPS
    capacities = np.unique(network.capacity_mbps[network.capacity_mbps > 0])
    return np.unique(traffic[:, None] / capacities)


def round_up(load: float, attainable: Floats | None) -> float:
    """The least attainable load that is not below this bound, or the bound where nothing is known."""
    if attainable is None:
        return load
    above = attainable[attainable >= load * (1 - _SLACK)]
    return float(above[0]) if len(above) else load


def next_below(load: float, attainable: Floats | None) -> float:
    """The greatest attainable load under this one, or just under it where nothing is known."""
    if attainable is None:
        return load * (1 - 1e-6)
    below = attainable[attainable < load * (1 - _SLACK)]
    return float(below[-1]) if len(below) else 0.0


def pair_count_bound(network: FlowNetwork, bounds: DemandBounds, attainable: Floats | None) -> float:
    """A load that no routing with one path for each pair can go below, over all paths.

    The pairs across a cut must all be on its links, and at a given load each link covers only so many. Known
    for networks of at most 16 nodes with the same bounds at every node and every pair; 0 for others.
    """
    source, _ = bounds.pairs()
    nodes = len(network.nodes)
    ingress, egress = bounds.ingress_mbps[0], bounds.egress_mbps[0]
    pair = bounds.pair_mbps[~np.eye(nodes, dtype=np.bool_)]
    uniform = (
        (bounds.ingress_mbps == ingress).all() and (bounds.egress_mbps == egress).all()
        and (pair == pair[0]).all()
    )  # fmt: skip
    if attainable is None or not uniform or len(source) < nodes * (nodes - 1) or nodes > _MOST_NODES:
        return 0.0
    cuts = _cuts(network)
    widest = float(network.capacity_mbps.max())
    bound = 0.0
    for inside, links in cuts.tolist():
        outside = nodes - inside
        for load in attainable[attainable >= bound].tolist():
            bound = load
            most = _covered(inside, outside, load * widest, (ingress, egress, float(pair[0])))
            if links * most >= inside * outside:
                break
    return bound


def _cuts(network: FlowNetwork) -> Ints:
    """Each different (nodes inside, links that lead out) of all cuts, shape (cuts, 2)."""
    nodes = len(network.nodes)
    sets = np.arange(1, 2**nodes - 1)
    links = np.zeros(len(sets), np.int64)
    for tail, head, capacity in zip(
        network.tail.tolist(), network.head.tolist(), network.capacity_mbps.tolist(), strict=True
    ):
        if capacity > 0:
            links += (sets >> tail) & ~(sets >> head) & 1
    inside = sum((sets >> node) & 1 for node in range(nodes))
    return np.unique(np.stack([inside, links], axis=1), axis=0)


def _covered(inside: int, outside: int, budget_mbps: float, prices: tuple[float, float, float]) -> int:
    """The most of `inside` times `outside` pairs that one link can pay for."""
    row_price, column_price, pair_price = prices
    budget = budget_mbps * (1 + _SLACK)
    most = 0
    for rows in range(inside + 1):
        # None of what has no bound costs nothing.
        of_rows = rows * row_price if rows else 0.0
        if of_rows > budget:
            break
        for columns in range(outside + 1):
            left = budget - of_rows - (columns * column_price if columns else 0.0)
            if left < 0:
                break
            singles = int(left / pair_price) if math.isfinite(pair_price) else 0
            lines = rows * outside + columns * inside - rows * columns
            most = max(most, min(inside * outside, lines + singles))
    return most
