"""Outlines of land and borders of countries for maps, of the file that ``docs/generate/world.py`` makes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNITS_PER_DEGREE = 50
"""Lines count in fiftieths of a degree, about 2 km: as fine as the outlines are."""
_MOST_POINTS = 12_000
"""Points on one map; more are made fewer by a coarser grid."""

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


def _path(line: _Line, grid: int, *, closed: bool) -> str:
    """A piece of an SVG path on a grid of so many units; points that fall together are written once."""
    whole = np.round(line / grid).astype(int)
    steps = np.diff(whole, axis=0)
    steps = steps[steps.any(axis=1)]
    if len(steps) < (2 if closed else 1):
        return ""
    text = " ".join(map(str, steps.ravel().tolist())).replace(" -", "-")
    return f"M{whole[0, 0]} {whole[0, 1]}l{text}{'z' if closed else ''}"
