"""The outlines of land and borders that maps show: ``python docs/generate/world.py countries-50m.json``.

Writes ``assets/world.json`` of the page anew, from the file of that name in the npm package ``world-atlas``
2.0.2 (ISC licence; Natural Earth 1:50m, public domain).
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.report.html.outlines import UNITS_PER_DEGREE

ASSETS = Path(__file__).parents[2] / "python" / "anabranch" / "report" / "html" / "assets"

Point = tuple[float, float]
"""Longitude and latitude in degrees."""


def convert(topology: dict[str, Any]) -> dict[str, list[list[int]]]:
    """The lines of land and of borders, from TopoJSON with the objects ``land`` and ``countries``."""
    arcs = _arcs(topology)
    rings = [
        _unwound([point for index in ring for point in _arc(arcs, index)])
        for polygon in _polygons(topology["objects"]["land"])
        for ring in polygon
    ]
    uses = Counter(
        index if index >= 0 else ~index
        for polygon in _polygons(topology["objects"]["countries"])
        for ring in polygon
        for index in ring
    )
    # What two countries have in common is a border; what one has alone is coast.
    shared = [arcs[index] for index, times in sorted(uses.items()) if times > 1]
    return {"land": [_steps(ring) for ring in rings], "borders": [_steps(arc) for arc in shared]}


def _steps(points: Sequence[Point]) -> list[int]:
    """The first point and the steps from there, in whole units; equal points in a row are one."""
    whole = np.round(np.array(points) * UNITS_PER_DEGREE).astype(int)
    steps = np.diff(whole, axis=0)
    outcome: list[int] = np.concatenate([whole[:1], steps[steps.any(axis=1)]]).ravel().tolist()
    return outcome


def _arcs(topology: dict[str, Any]) -> list[list[Point]]:
    """The arcs in degrees: TopoJSON writes each point as its integer distance from the one before."""
    (scale_x, scale_y), (left, bottom) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for deltas in topology["arcs"]:
        x = y = 0
        points = []
        for dx, dy in deltas:
            x, y = x + dx, y + dy
            points.append((x * scale_x + left, y * scale_y + bottom))
        arcs.append(points)
    return arcs


def _arc(arcs: Sequence[list[Point]], index: int) -> list[Point]:
    """An arc; ``~i`` stands for arc i from its end to its beginning."""
    return arcs[index] if index >= 0 else arcs[~index][::-1]


def _unwound(ring: Sequence[Point]) -> list[Point]:
    """A ring without jumps at the 180th meridian: it runs on beyond it, and a map repeats after 360 degrees.

    A ring around a pole (Antarctica) does not come back to where it began; it is closed along that pole.
    """
    outcome, turns = [ring[0]], 0
    for (before, _), (x, y) in pairwise(ring):
        turns += (before - x > 180) - (x - before > 180)
        outcome.append((x + 360 * turns, y))
    if turns:
        pole = math.copysign(90, outcome[0][1])
        outcome += [(outcome[-1][0], pole), (outcome[0][0], pole)]
    return outcome


def _polygons(geometry: dict[str, Any]) -> Iterable[list[list[int]]]:
    """The rings of arcs of every polygon below a geometry."""
    match geometry["type"]:
        case "Polygon":
            yield geometry["arcs"]
        case "MultiPolygon":
            yield from geometry["arcs"]
        case "GeometryCollection":
            for part in geometry["geometries"]:
                yield from _polygons(part)


if __name__ == "__main__":
    world = convert(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    (ASSETS / "world.json").write_text(json.dumps(world, separators=(",", ":")) + "\n", encoding="utf-8")
