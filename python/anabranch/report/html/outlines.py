"""Outlines of land and borders of countries for maps, and how the file that holds them is made.

``python -m anabranch.report.html.outlines countries-110m.json`` writes ``assets/world.json`` anew, from the
file of that name in the npm package ``world-atlas`` 2.0.2 (ISC licence; Natural Earth 1:110m, public domain).
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

UNITS_PER_DEGREE = 20
"""Paths count in twentieths of a degree, about 5 km: finer than the outlines are."""

Point = tuple[float, float]
"""Longitude and latitude in degrees."""


@cache
def outlines() -> dict[str, str]:
    """SVG paths ``land`` and ``borders``: x is the longitude, y the latitude northwards, in these units."""
    text = resources.files("anabranch.report.html").joinpath("assets/world.json").read_text(encoding="utf-8")
    paths: dict[str, str] = json.loads(text)
    return paths


def convert(topology: dict[str, Any]) -> dict[str, str]:
    """Both paths from a TopoJSON document with the objects ``land`` and ``countries``."""
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
    return {
        "land": "".join(_path(ring, closed=True) for ring in rings),
        "borders": "".join(_path(arc, closed=False) for arc in shared),
    }


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
    found, turns = [ring[0]], 0
    for (before, _), (x, y) in pairwise(ring):
        turns += (before - x > 180) - (x - before > 180)
        found.append((x + 360 * turns, y))
    if turns:
        pole = math.copysign(90, found[0][1])
        found += [(found[-1][0], pole), (found[0][0], pole)]
    return found


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


def _path(points: Sequence[Point], *, closed: bool) -> str:
    """A piece of an SVG path in whole units; points that fall together are written once."""
    whole = [(round(x * UNITS_PER_DEGREE), round(y * UNITS_PER_DEGREE)) for x, y in points]
    steps, (x, y) = [], whole[0]
    for to_x, to_y in whole[1:]:
        if (to_x, to_y) != (x, y):
            steps.append(f"{to_x - x} {to_y - y}".replace(" -", "-"))
            x, y = to_x, to_y
    text = "".join(step if step.startswith("-") else f" {step}" for step in steps).lstrip()
    return f"M{whole[0][0]} {whole[0][1]}l{text}{'z' if closed else ''}" if steps else ""


if __name__ == "__main__":
    paths = convert(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    target = Path(__file__).parent / "assets" / "world.json"
    target.write_text(json.dumps(paths, separators=(",", ":")) + "\n", encoding="utf-8")
