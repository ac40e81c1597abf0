"""Outlines of land and borders of countries for maps, and how the file that holds them is made.

``python -m anabranch.report.html.outlines countries-50m.json`` writes ``assets/world.json`` anew, from the
file of that name in the npm package ``world-atlas`` 2.0.2 (ISC licence; Natural Earth 1:50m, public domain).
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

import numpy as np
from numpy.typing import NDArray

UNITS_PER_DEGREE = 50
"""Lines count in fiftieths of a degree, about 2 km: as fine as the outlines are."""
_MOST_POINTS = 12_000
"""Points on one map; more are made fewer by a coarser grid."""

Point = tuple[float, float]
"""Longitude and latitude in degrees."""
Box = tuple[float, float, float, float]
"""West, south, east and north in degrees; east may lie beyond 180."""
_Line = NDArray[np.int64]
"""A row for each point: longitude and latitude, in units."""


def outlines(box: Box) -> dict[str, Any]:
    """SVG paths for a part of the Earth: x is the longitude, y the latitude northwards.

    Returns:
        ``land`` and ``borders``, and ``units``, of which a degree has that many.
    """
    shapes = {kind: [_clamped(line, box) for line in _near(kind, box)] for kind in ("land", "borders")}
    points = sum(len(line) for lines in shapes.values() for line in lines)
    grid = max(1, math.isqrt(points // _MOST_POINTS) * 2)
    return {
        "land": "".join(_path(line, grid, closed=True) for line in shapes["land"]),
        "borders": "".join(_path(line, grid, closed=False) for line in shapes["borders"]),
        "units": UNITS_PER_DEGREE / grid,
    }


@cache
def _world() -> dict[str, list[_Line]]:
    """All lines; in the file each is its first point and the steps from there."""
    text = resources.files("anabranch.report.html").joinpath("assets/world.json").read_text(encoding="utf-8")
    return {
        kind: [np.array(line).reshape(-1, 2).cumsum(axis=0) for line in lines]
        for kind, lines in json.loads(text).items()
    }


def _near(kind: str, box: Box) -> Iterable[_Line]:
    """The lines that may touch a box, moved by whole turns of the Earth where it lies there."""
    west, south, east, north = (side * UNITS_PER_DEGREE for side in box)
    turn = 360 * UNITS_PER_DEGREE
    for line in _world()[kind]:
        (left, bottom), (right, top) = line.min(axis=0), line.max(axis=0)
        if top < south or bottom > north:
            continue
        for shift in (-turn, 0, turn):
            if left + shift <= east and right + shift >= west:
                yield line + np.array([shift, 0])


def _clamped(line: _Line, box: Box) -> _Line:
    """A line whose points outside of the box are moved to its edge.

    That turns around no point inside the box more or less often than the line did, so that land stays land.
    """
    west, south, east, north = (round(side * UNITS_PER_DEGREE) for side in box)
    moved: _Line = np.clip(line, (west, south), (east, north))
    moved = moved[np.concatenate([[True], np.diff(moved, axis=0).any(axis=1)])]
    # Of points in a row along the same edge only the outer ones. Corners stay, because no two are the same.
    same = (moved[1:-1] == moved[:-2]) & (moved[1:-1] == moved[2:])
    upright = np.isin(moved[1:-1, 0], (west, east)) & same[:, 0]
    level = np.isin(moved[1:-1, 1], (south, north)) & same[:, 1]
    keep = np.ones(len(moved), dtype=bool)
    keep[1:-1] = ~(upright | level)
    kept: _Line = moved[keep]
    return kept


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
    found: list[int] = np.concatenate([whole[:1], steps[steps.any(axis=1)]]).ravel().tolist()
    return found


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


def _path(line: _Line, grid: int, *, closed: bool) -> str:
    """A piece of an SVG path on a grid of so many units; points that fall together are written once."""
    whole = np.round(line / grid).astype(int)
    steps = np.diff(whole, axis=0)
    steps = steps[steps.any(axis=1)]
    if len(steps) < (2 if closed else 1):
        return ""
    text = " ".join(map(str, steps.ravel().tolist())).replace(" -", "-")
    return f"M{whole[0, 0]} {whole[0, 1]}l{text}{'z' if closed else ''}"


if __name__ == "__main__":
    world = convert(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    target = Path(__file__).parent / "assets" / "world.json"
    target.write_text(json.dumps(world, separators=(",", ":")) + "\n", encoding="utf-8")
