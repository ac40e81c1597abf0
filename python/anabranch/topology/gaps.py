"""How missing coordinates and missing lengths are filled.

The rules, which every filled topology also states in its provenance:

0. Coordinates that only stand for unknown ones are none: 0/0, in the Gulf of Guinea, where several nodes have
   them or where no other node is within `NEAR_KM`; those that all nodes share (two may be in one building)
   and that links would get their length from; and those that two nodes share between which the source has a
   link of more than `SAME_SITE_KM`, by its length or by its delay at the speed of light in fibre.
1. A node without coordinates, in a component where some node has them, is put at the barycentre of its
   neighbours; all such nodes are solved for together, so that a chain of them is spaced evenly between its
   ends and a stub lies where it is attached. The barycentre is that of unit vectors, so the date line is no
   seam. Beyond `MAX_FILLED` such nodes none is placed.
2. Where no node of a component has coordinates, its nodes get none.
3. A link between two places is as long as the great circle. That says nothing where filling put both ends
   at the same point (a stub, say): such a link, and one with an end without a place, gets the median of the
   great-circle lengths between places of the source, or `DEFAULT_LENGTH_KM` where there are none. A length
   that the source states comes first.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .attributes.unread import UNREAD
from .model import Place, TopologyLink

MEAN_EARTH_RADIUS_KM: Final = 6371.0088
"""Mean radius R1 of the WGS 84 ellipsoid in km (IUGG; Moritz, Geodetic Reference System 1980)."""

DEFAULT_LENGTH_KM: Final = 100.0
"""The length in km of links in a graph without any place: 0.5 ms one way at 5 us/km."""

NEAR_KM: Final = 1000.0
"""A network with one node at 0/0 has another one within this distance, if it is there."""

SAME_SITE_KM: Final = 100.0
"""Nodes with the same coordinates are in one city: a link between them is shorter, also on a detour."""

_FIBRE_KM_PER_PS: Final = 2e-7
"""200 km/ms, about two thirds of the speed of light in a vacuum."""

MAX_FILLED: Final = 5000
"""Most nodes whose places are filled; where more lack one, none is. The Zoo's files need at most 119."""

SAME_POINT_KM: Final = 0.1
"""Ends closer than this, one of them filled, are at one point: rounding alone gives up to 0.03 km."""

_DECIMALS: Final = 4
"""Filled places are rounded to 1e-4 degrees (11 m), far above what rounding differs by between machines."""


def without_placeholders(
    placed: Mapping[str, Place], links: Sequence[TopologyLink], notes: list[str]
) -> dict[str, Place]:
    """The places that are some, by rule 0 of this module. What is left out is added to `notes`."""
    by_point: dict[tuple[float, float], list[str]] = {}
    for node, place in placed.items():
        by_point.setdefault((place.latitude, place.longitude), []).append(node)
    unknown: set[str] = set()
    at_zero = by_point.get((0.0, 0.0), [])
    elsewhere = (place for node, place in placed.items() if node not in at_zero)
    if len(at_zero) > 1 or not any(_distance_from_zero_km(place) <= NEAR_KM for place in elsewhere):
        unknown |= set(at_zero)
    if unknown:
        count = _nodes(len(unknown))
        notes.append(
            f"{UNREAD} the coordinates 0/0 of {count}, which stand for coordinates that nobody knew."
        )
    elif len(by_point) == 1 and len(placed) > 2 and any(map(_lacks_delay, links)):
        unknown |= placed.keys()
        ((latitude, longitude),) = by_point
        notes.append(
            f"{UNREAD} the coordinates {latitude:g}/{longitude:g}, which all {len(placed)} nodes have: links "
            "between them would have no delay."
        )
    apart_km: dict[tuple[float, float], float] = {}
    for link in links:
        a, b = placed.get(link.a), placed.get(link.b)
        if a is not None and a == b and (stated := _stated_km(link)) > SAME_SITE_KM:
            apart_km.setdefault((a.latitude, a.longitude), stated)
    for (latitude, longitude), apart in apart_km.items():
        nodes = by_point[latitude, longitude]
        if not unknown & set(nodes):
            notes.append(
                f"{UNREAD} the coordinates {latitude:g}/{longitude:g} that {_nodes(len(nodes))} share, "
                f"though a link between two of them is {apart:.0f} km long."
            )
            unknown |= set(nodes)
    return {node: place for node, place in placed.items() if node not in unknown}


def fill_places(
    placed: Mapping[str, Place], node_ids: Sequence[str], links: Sequence[tuple[str, str]]
) -> dict[str, Place]:
    """Places for the nodes that `placed` lacks, by rule 1 of this module; nodes of rule 2 are left out."""
    edges = [(a, b) for a, b in links if a not in placed or b not in placed]
    reachable = _connected_to(placed, edges)
    unknown = [node for node in node_ids if node not in placed and node in reachable]
    if not unknown or len(unknown) > MAX_FILLED:
        return {}
    index = {node: i for i, node in enumerate(unknown)}
    degree = np.zeros(len(unknown))
    known_sum = np.zeros((len(unknown), 3))
    inner: list[tuple[int, int]] = []
    for a, b in edges:
        for here, there in ((a, b), (b, a)):
            if here not in index:
                continue
            degree[index[here]] += 1.0
            if there in placed:
                known_sum[index[here]] += _unit_vector(placed[there])
            elif here == a:
                inner.append((index[a], index[b]))
    vectors = _solve_laplacian(degree, np.array(inner, dtype=np.intp).reshape(-1, 2), known_sum)
    return {node: place for node in unknown if (place := _place_of(vectors[index[node]])) is not None}


def median_length_km(lengths_km: Sequence[float]) -> float | None:
    """The median of the lengths above zero in km (rule 3), or None where there are none."""
    positive = [length for length in lengths_km if length > 0.0]
    return statistics.median(positive) if positive else None


def great_circle_km(latitude_a: float, longitude_a: float, latitude_b: float, longitude_b: float) -> float:
    """The great-circle distance in km between two points given in degrees.

    Haversine formula (Sinnott, "Virtues of the Haversine", Sky and Telescope 68, 1984), which stays exact for
    points close together. Latitudes lie within -90..90; longitudes may be given modulo 360.
    """
    phi_a = math.radians(latitude_a)
    phi_b = math.radians(latitude_b)
    half_d_phi = (phi_b - phi_a) / 2
    half_d_lambda = math.radians(longitude_b - longitude_a) / 2
    h = math.sin(half_d_phi) ** 2 + math.cos(phi_a) * math.cos(phi_b) * math.sin(half_d_lambda) ** 2
    # Rounding can lift h above 1 for antipodes, where asin has no value.
    return 2 * MEAN_EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(h)))


def _distance_from_zero_km(place: Place) -> float:
    return great_circle_km(0.0, 0.0, place.latitude, place.longitude)


def _lacks_delay(link: TopologyLink) -> bool:
    return link.length_km is None and link.delay_ps is None


def _stated_km(link: TopologyLink) -> float:
    """The length of a link as the source has it, or how far its delay reaches; 0 where it says neither."""
    if link.length_km is not None:
        return link.length_km
    return 0.0 if link.delay_ps is None else link.delay_ps * _FIBRE_KM_PER_PS


def _nodes(count: int) -> str:
    return f"{count} {'node' if count == 1 else 'nodes'}"


def _connected_to(placed: Mapping[str, Place], edges: Sequence[tuple[str, str]]) -> set[str]:
    """Every node that a path over `edges` joins to a node with a place."""
    neighbours: dict[str, list[str]] = {}
    for a, b in edges:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    reached = {node for node in neighbours if node in placed}
    stack = list(reached)
    while stack:
        for neighbour in neighbours[stack.pop()]:
            if neighbour not in reached:
                reached.add(neighbour)
                stack.append(neighbour)
    return reached


def _solve_laplacian(
    degree: NDArray[np.float64], inner: NDArray[np.intp], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve degree_i x_i - sum of x_j over inner neighbours j = right_i, for each of the columns of `right`.

    Conjugate gradients (Hestenes and Stiefel 1952). The matrix is a graph Laplacian whose every component is
    tied to a known place, so it is positive definite; n steps suffice but for rounding, so 10 n + 100 is
    generous.
    """

    def times(x: NDArray[np.float64]) -> NDArray[np.float64]:
        result = degree[:, None] * x
        np.subtract.at(result, inner[:, 0], x[inner[:, 1]])
        np.subtract.at(result, inner[:, 1], x[inner[:, 0]])
        return result

    x = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    squared = float((residual * residual).sum())
    target = squared * 1e-24
    for _ in range(10 * len(degree) + 100):
        if squared <= target:
            break
        image = times(direction)
        step = squared / float((direction * image).sum())
        x += step * direction
        residual -= step * image
        previous, squared = squared, float((residual * residual).sum())
        direction = residual + (squared / previous) * direction
    return x


def _unit_vector(place: Place) -> NDArray[np.float64]:
    phi, lam = math.radians(place.latitude), math.radians(place.longitude)
    return np.array([math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)])


def _place_of(vector: NDArray[np.float64]) -> Place | None:
    """The place in the direction of a vector; None at the centre of the Earth, which has no direction."""
    x, y, z = (float(component) for component in vector)
    if math.sqrt(x * x + y * y + z * z) < 1e-6:
        return None
    latitude = math.degrees(math.atan2(z, math.hypot(x, y)))
    longitude = math.degrees(math.atan2(y, x))
    return Place(round(latitude, _DECIMALS), round(longitude, _DECIMALS), "filled")
