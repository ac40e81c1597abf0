"""The places of nodes on a map: by their coordinates, or else by the shape of the network."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from anabranch.results.result import Result

Points = NDArray[np.float64]
"""A row for each node: x to the right, y downwards."""

_MOST_EXACT = 400
"""Nodes up to which every distance is looked at; beyond, those from some nodes only."""
_PIVOTS = 50
"""About so many nodes whose distances give the first positions."""
_ROUNDS, _PAIRS_MOVED = 200, 8_000_000
"""At most so many rounds, and fewer where there are many pairs of nodes."""
_LEAF = 0.9
"""Length of the line to a leaf, where one hop is 1."""
_LONE_DEGREES = 40.0
"""How far a map of a single node reaches to each side."""
_WIDEST_TIER, _TIER_WIDTH, _HOST_STEP = 100, 2.4, 0.03
"""Hosts that stand side by side at most, the width of all tiers, and by how much each of more is lower."""
_NOISE = 1e-9
"""Below it, as a share of the largest, a coordinate is rounding alone."""
_SPREAD = 0.012
"""Nodes in one place stand on a circle of this radius, as a share of the map's width."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Positions of all nodes.

    Attributes:
        points: a row for each node.
        kind: ``map``, ``tiers`` or ``distances``.
        longitude: of x = 0 in degrees, for a map.
        stretch: what a degree of longitude is multiplied by, for a map.
    """

    points: Points
    kind: str
    longitude: float = 0.0
    stretch: float = 1.0

    def box(self) -> tuple[float, float, float, float]:
        """West, south, east and north of what a map shows, in degrees, with room to move about."""
        (left, top), (right, bottom) = self.points.min(axis=0), self.points.max(axis=0)
        # A drawing is up to 2.7 times as wide as high, and some of it is margin.
        room = 0.6 * max(right - left, 2.7 * (bottom - top)) or _LONE_DEGREES
        west, east = ((x / self.stretch + self.longitude) for x in (left - room, right + room))
        return (
            max(west, self.longitude - 180),
            max(-bottom - room, -90),
            min(east, self.longitude + 180),
            min(-top + room, 90),
        )


def nodes_of(result: Result) -> tuple[list[str], list[tuple[float, float] | None]]:
    """Names and places of the nodes; older results have only the names of those that a link ends at."""
    if "nodes" not in result.tables:
        ends = (name for pair in result.links.select("from", "to").iter_rows() for name in pair)
        names = list(dict.fromkeys(ends))
        return names, [None] * len(names)
    nodes = result.tables["nodes"]
    rows = nodes.select("latitude_deg", "longitude_deg").iter_rows()
    return nodes["name"].to_list(), [None if None in row else (row[0], row[1]) for row in rows]


def layout(
    places: Sequence[tuple[float, float] | None], ends: Sequence[tuple[int, int]], names: Sequence[str]
) -> Placement:
    """The layout of a network.

    Args:
        places: latitude and longitude of each node in degrees, or None.
        ends: the two nodes of each link.
        names: of the nodes, by which those of a tier without any other order are sorted.
    """
    return _laid_out(tuple(places), tuple(ends), tuple(names))


@lru_cache(maxsize=8)
def _laid_out(
    places: Sequence[tuple[float, float] | None], ends: Sequence[tuple[int, int]], names: Sequence[str]
) -> Placement:
    """The layout of a network, kept: a scenario that runs again and again has the same one."""
    placement = _placed(places, ends, names)
    placement.points.flags.writeable = False
    return placement


def _placed(
    places: Sequence[tuple[float, float] | None], ends: Sequence[tuple[int, int]], names: Sequence[str]
) -> Placement:
    located = [place for place in places if place is not None]
    if located and len(located) == len(places) and (len(set(located)) > 1 or len(places) == 1):
        return _map(located)
    neighbours = [sorted(near) for near in _neighbours(len(places), ends)]
    tiers = _tiers(neighbours)
    if tiers is not None:
        return Placement(_in_tiers(tiers, neighbours, names), "tiers")
    return Placement(_with_leaves(neighbours, names), "distances")


def _map(places: Sequence[tuple[float, float]]) -> Placement:
    """Equirectangular, true to scale at the middle latitude; no distances are torn apart at 180 degrees."""
    latitudes = np.array([latitude for latitude, _ in places])
    longitudes = np.array([longitude for _, longitude in places])
    around = np.where(longitudes < 0, longitudes + 360, longitudes)
    if np.ptp(around) < np.ptp(longitudes):
        longitudes = around
    stretch = math.cos(math.radians((latitudes.max() + latitudes.min()) / 2))
    middle = float((longitudes.max() + longitudes.min()) / 2)
    points = np.column_stack([(longitudes - middle) * stretch, -latitudes])
    return Placement(_apart(points), "map", middle, stretch)


def _apart(points: Points) -> Points:
    """Nodes in the same place, side by side."""
    radius = _SPREAD * float(max(np.ptp(points[:, 0]), np.ptp(points[:, 1]))) or 1.0
    together = defaultdict(list)
    for node, (x, y) in enumerate(points):
        together[round(x / radius), round(y / radius)].append(node)
    moved = points.copy()
    for nodes in together.values():
        for number, node in enumerate(nodes if len(nodes) > 1 else []):
            angle = 2 * math.pi * number / len(nodes)
            moved[node] += radius * max(1, len(nodes) / 6) * np.array([math.cos(angle), math.sin(angle)])
    return moved


def _neighbours(nodes: int, ends: Sequence[tuple[int, int]]) -> list[set[int]]:
    neighbours: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in ends:
        neighbours[a].add(b)
        neighbours[b].add(a)
    return neighbours


def _tiers(neighbours: Sequence[Sequence[int]]) -> list[int] | None:
    """The tier of each node, counted from the hosts up; None if the network is not built in tiers.

    Hosts have one neighbour. There are at least three tiers, each link joins two that follow each other, and
    no two hosts are further apart than up to the top and down again.
    """
    hosts = [node for node, near in enumerate(neighbours) if len(near) == 1]
    tier = _hops(neighbours, hosts)
    if not hosts or max(tier) < 2 or min(tier) < 0:
        return None
    if any(abs(tier[node] - tier[near]) != 1 for node, row in enumerate(neighbours) for near in row):
        return None
    top = sum(height == max(tier) for height in tier)
    farthest = max(_hops(neighbours, hosts[:1]))
    return tier if top > 1 and farthest <= 2 * max(tier) else None


def _hops(neighbours: Sequence[Sequence[int]], starts: Sequence[int]) -> list[int]:
    """Hops from the nearest start to each node; -1 where there is no way."""
    hops = [-1] * len(neighbours)
    for start in starts:
        hops[start] = 0
    front = list(starts)
    while front:
        following = []
        for node in front:
            for near in neighbours[node]:
                if hops[near] < 0:
                    hops[near] = hops[node] + 1
                    following.append(near)
        front = following
    return hops


def _in_tiers(tiers: Sequence[int], neighbours: Sequence[Sequence[int]], names: Sequence[str]) -> Points:
    """The top tier above, what hangs together without it (a pod) side by side, all tiers of the same width.

    A pod's part of a tier is in the order of what is above it. Where hosts are too many to stand side by
    side, those of a switch descend like stairs.
    """
    points = np.zeros((len(tiers), 2))
    height = max(tiers)
    order = {node: number for number, node in enumerate(sorted(range(len(names)), key=_natural(names)))}
    pod = _pods(tiers, neighbours, order)
    for tier in range(height, -1, -1):
        tier_nodes = [node for node in range(len(tiers)) if tiers[node] == tier]
        place = {}
        for node in tier_nodes:
            above = [points[near][0] for near in neighbours[node] if tiers[near] == tier + 1]
            # Rounded, so that nodes below the same ones are in the order of their names.
            place[node] = (pod[node], round(float(np.mean(above)), 9) if above else 0.0, order[node])
        tier_nodes.sort(key=place.__getitem__)
        for number, node in enumerate(tier_nodes):
            points[node] = ((number + 0.5) / len(tier_nodes) * _TIER_WIDTH, (height - tier) / height)
        if tier == 0 and len(tier_nodes) > _WIDEST_TIER:
            _descend(points, tier_nodes, neighbours)
    return points


def _pods(tiers: Sequence[int], neighbours: Sequence[Sequence[int]], order: dict[int, int]) -> dict[int, int]:
    """The least place among those nodes that each node is joined to below the top tier; 0 in the top tier."""
    top, pod = max(tiers), dict[int, int]()
    for first in sorted(order, key=order.__getitem__):
        if tiers[first] == top:
            pod[first] = 0
        front = [] if first in pod else [first]
        pod |= dict.fromkeys(front, order[first])
        while front:
            node = front.pop()
            for near in neighbours[node]:
                if near not in pod and tiers[near] != top:
                    pod[near] = order[first]
                    front.append(near)
    return pod


def _descend(points: Points, hosts: Sequence[int], neighbours: Sequence[Sequence[int]]) -> None:
    """Lets the hosts of each switch stand lower one after the other, so that neither they nor links meet."""
    stairs: dict[int, int] = defaultdict(int)
    for host in hosts:
        (switch,) = neighbours[host]
        points[host][1] += _HOST_STEP * stairs[switch]
        stairs[switch] += 1


def _natural(names: Sequence[str]) -> Callable[[int], tuple[int, str]]:
    """Sorts ``h2`` before ``h10``."""
    return lambda node: (len(names[node]), names[node])


def _with_leaves(neighbours: Sequence[Sequence[int]], names: Sequence[str]) -> Points:
    """Nodes with one neighbour are in a fan around it, away from the rest, which is laid out without them."""
    core = [node for node, near in enumerate(neighbours) if len(near) != 1]
    inner = {node: index for index, node in enumerate(core)}
    if not core or len(core) == len(neighbours):
        return _by_distances(neighbours)
    placed = _by_distances([[inner[near] for near in neighbours[node] if near in inner] for node in core])
    points = np.zeros((len(neighbours), 2))
    points[core] = placed
    middle = placed.mean(axis=0)
    for hub in core:
        leaves = sorted((near for near in neighbours[hub] if near not in inner), key=_natural(names))
        near = [points[node] for node in neighbours[hub] if node in inner]
        away = points[hub] - (np.mean(near, axis=0) if near else middle)
        direction = math.atan2(away[1], away[0]) if away.any() else math.pi
        if math.cos(direction) < 0:
            # The first one above, on either side.
            leaves.reverse()
        # Further apart than letters are high, and round the whole circle only where nothing else is.
        most = 1.5 * math.pi if near else 2 * math.pi * (1 - 1 / max(1, len(leaves)))
        fan = min(0.35 * (len(leaves) - 1), most)
        for number, leaf in enumerate(leaves):
            angle = direction + fan * (number / (len(leaves) - 1) - 0.5 if len(leaves) > 1 else 0.0)
            points[leaf] = points[hub] + _LEAF * np.array([math.cos(angle), math.sin(angle)])
    return points


def _by_distances(neighbours: Sequence[Sequence[int]]) -> Points:
    """Distances on paper as near as can be to those in hops.

    Classical scaling to some pivots (Brandes and Pich 2006), then, unless the network is large, stress
    majorization with weights 1/d^2 (Gansner, Koren and North 2004): the stress that Kamada and Kawai (1989)
    take for the energy of springs. Nothing is drawn at random.
    """
    nodes = len(neighbours)
    if nodes == 1:
        return np.zeros((1, 2))
    every = range(nodes) if nodes <= _MOST_EXACT else range(0, nodes, -(-nodes // _PIVOTS))
    hops = np.array([_hops(neighbours, [node]) for node in every], dtype=float)
    # What has no way to the rest stands beside it.
    hops[hops < 0] = hops.max() + 1
    squared = hops[:: -(-len(hops) // _PIVOTS)] ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    _, _, axes = np.linalg.svd(np.einsum("ik,jk->ij", centred, centred))
    points: Points = (axes[:2] @ centred).T
    points /= np.abs(points).max() or 1.0
    # What falls together, as leaves of one node do, must be apart before stress can move it.
    angles = 2.399963 * np.arange(nodes)
    points = points * hops.max() / 2 + 0.01 * np.column_stack([np.cos(angles), np.sin(angles)])
    if nodes <= _MOST_EXACT:
        points = _least_stress(points, hops)
    return _lying(points)


def _least_stress(points: Points, distances: NDArray[np.float64]) -> Points:
    """Guttman transforms with the weights d^-2, a Jacobi step each."""
    np.fill_diagonal(distances, 1.0)
    weights = distances**-2.0
    np.fill_diagonal(weights, 0.0)
    total = weights.sum(axis=1)
    x, y = points.T
    for _ in range(min(_ROUNDS, _PAIRS_MOVED // len(points) ** 2)):
        dx, dy = x[:, None] - x, y[:, None] - y
        pull = weights * distances / np.maximum(np.sqrt(dx * dx + dy * dy), 1e-9)
        # Not by matrix products: those start threads, which costs more than it gains.
        x = (np.einsum("ij,j->i", weights, x) + np.einsum("ij,ij->i", pull, dx)) / total
        y = (np.einsum("ij,j->i", weights, y) + np.einsum("ij,ij->i", pull, dy)) / total
    return np.column_stack([x, y])


def _lying(points: Points) -> Points:
    """The longer way from left to right, the first node that is off the middle on the left, and above."""
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned: Points = centred @ axes.T
    # Of a node in the middle only rounding has a sign.
    off = np.abs(turned) > _NOISE * np.abs(turned).max()
    first = turned[off.argmax(axis=0), range(turned.shape[1])]
    return turned * np.where(off.any(axis=0) & (first > 0), -1.0, 1.0)
