"""Where the nodes of a network are drawn: by their places, or by how far apart they are in hops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Points = NDArray[np.float64]
"""Shape (nodes, 2)."""

_STEPS = 300
_NEAR = 1e-6


def positions(places: Sequence[tuple[float, float] | None], links: Sequence[tuple[int, int]]) -> Points:
    """A point for each node in the plane, x to the east and y to the north.

    Args:
        places: latitude and longitude of each node in degrees. Where one is missing, or two nodes share one,
            all nodes are placed by their links.
        links: the two nodes of each link.
    """
    known = [place for place in places if place is not None]
    if len(known) == len(places) and len({(round(a, 3), round(b, 3)) for a, b in known}) == len(known):
        return _projected(known)
    return _by_hops(len(places), links)


def _projected(places: Sequence[tuple[float, float]]) -> Points:
    """Equirectangular, true to scale at the mean latitude, and cut where nothing is."""
    latitude, longitude = np.array(places).T
    angle = np.radians(longitude)
    centre = math.degrees(math.atan2(np.sin(angle).sum(), np.cos(angle).sum()))
    east = (longitude - centre + 180.0) % 360.0 - 180.0
    return np.stack([east * math.cos(math.radians(float(latitude.mean()))), latitude], axis=1)


def _by_hops(nodes: int, links: Sequence[tuple[int, int]]) -> Points:
    """Distances as near to the numbers of hops as the plane allows: stress majorisation from a circle.

    Gansner, Koren and North, Graph Drawing by Stress Majorization, 2004, with weights d^-2; each step solves
    for one node with all others held.
    """
    angle = 2 * np.pi * np.arange(nodes) / max(nodes, 1)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) * max(nodes, 1) / 6
    if nodes < 3 or not links:
        return points
    ends = np.array(links)
    graph = sparse.csr_array((np.ones(len(links)), (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))
    hops = sparse.csgraph.shortest_path(graph, directed=False, unweighted=True)
    hops[np.isinf(hops)] = hops[np.isfinite(hops)].max() + 1
    np.fill_diagonal(hops, 1.0)
    weight = hops**-2
    np.fill_diagonal(weight, 0.0)
    for _ in range(_STEPS):
        moved = 0.0
        for node in range(nodes):
            away = points[node] - points
            length = np.maximum(np.linalg.norm(away, axis=1), 1e-9)
            wanted = points + away * (hops[node] / length)[:, None]
            after = (weight[node][:, None] * wanted).sum(axis=0) / weight[node].sum()
            moved = max(moved, float(np.abs(after - points[node]).max()))
            points[node] = after
        if moved < _NEAR:
            break
    return points
