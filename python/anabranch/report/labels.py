"""The places of names on a map, at which they hide each other and the lines as little as can be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

Points = NDArray[np.float64]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in points."""
Align = Literal["left", "center", "right"]

_AWAY = 3.6
"""Points between a node's middle and its name."""
# Direction of the name from its point, how it is aligned, and how much it is liked less than the first.
_SIDES: tuple[tuple[float, float, Align, float], ...] = (
    (1, 0, "left", 0.0), (-1, 0, "right", 0.0), (0, 1, "center", 0.1), (0, -1, "center", 0.1),
    (0.75, 0.85, "left", 0.2), (0.75, -0.85, "left", 0.2), (-0.75, 0.85, "right", 0.2),
    (-0.75, -0.85, "right", 0.2),
)  # fmt: skip
_STEP = 2.5
"""Points from one place of a line to the next that is looked at."""


def place_labels(
    axes: Axes,
    names: Sequence[str],
    points: Points,
    segments: Sequence[tuple[Points, Points]],
    font_size: float,
) -> list[tuple[float, float, Align]]:
    """For each name the place of its anchor and its alignment; the axes have points of print as units.

    Names at crowded points choose first. Each takes the side that costs least: covering another name or
    leaving the axes costs most, then covering a point, then a line.
    """
    sizes = [text_width(name, font_size) + 1.0 for name in names]
    height = font_size * 1.05
    inked = [
        a + (b - a) * np.linspace(0.0, 1.0, 2 + int(np.hypot(*(b - a)) / _STEP))[:, None] for a, b in segments
    ]
    lines: Points = np.concatenate(inked) if inked else np.empty((0, 2))
    room: Box = (*axes.get_xlim(), *axes.get_ylim())
    crowd = [(np.hypot(*(points - point).T) < 40).sum() for point in points]
    taken: list[Box] = []
    places: dict[int, tuple[float, float, Align]] = {}
    for index in sorted(range(len(names)), key=lambda i: (-crowd[i], i)):
        best: tuple[float, Box, tuple[float, float, Align]] | None = None
        for far in (1.0, 1.7, 2.6):
            for x, y, align, dislike in _SIDES:
                vertical = height / 2 if x == 0 else 0.0
                at = points[index] + far * _AWAY * np.array([x, y]) + np.array([0.0, vertical * np.sign(y)])
                box = _box(at, sizes[index], height, align)
                cost = dislike + (far - 1) * 2 + _cost(box, taken, points, lines, room)
                if best is None or cost < best[0] - 1e-9:
                    best = (cost, box, (float(at[0]), float(at[1]), align))
        assert best is not None  # noqa: S101 - there are sides
        taken.append(best[1])
        places[index] = best[2]
    return [places[index] for index in range(len(names))]


@cache
def text_width(text: str, font_size: float) -> float:
    """Width of a text in points of print; dollars are escaped as for matplotlib."""
    font = FontProperties(family=["DejaVu Sans"], size=font_size)
    letters = text.replace(r"\$", "$")
    return float(text_to_path.get_text_width_height_descent(letters, font, ismath=False)[0])


def _box(at: Points, width: float, height: float, align: Align) -> Box:
    left = float(at[0]) - {"left": 0.0, "center": width / 2, "right": width}[align]
    return (left, float(at[1]) - height / 2, left + width, float(at[1]) + height / 2)


def _cost(box: Box, taken: Sequence[Box], points: Points, lines: Points, room: Box) -> float:
    area = (box[2] - box[0]) * (box[3] - box[1])
    over = sum(
        max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
        * max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
        for other in taken
    )
    outside = max(0.0, room[0] - box[0], box[2] - room[1]) + max(0.0, room[2] - box[1], box[3] - room[3])
    return (
        60.0 * over / area
        + 10.0 * outside
        + 8.0 * float(_inside(box, points, 2.0).sum())
        + 0.16 * float(_inside(box, lines, 1.0).sum())
    )


def _inside(box: Box, points: Points, margin: float) -> NDArray[np.bool_]:
    x, y = points[:, 0], points[:, 1]
    return np.asarray(
        (x > box[0] - margin) & (x < box[2] + margin) & (y > box[1] - margin) & (y < box[3] + margin)
    )
