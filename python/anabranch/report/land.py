"""Land and borders of countries below a network that has coordinates."""

from __future__ import annotations

import re

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from anabranch.report.html.outlines import outlines
from anabranch.report.layout import Placement, Points

_LOOKS = {"land": ("#edf0ec", "#b9c1b9"), "borders": ("none", "#c3cac3")}
"""Face and edge."""


def draw_land(axes: Axes, placed: Placement, scale: Points, origin: Points) -> None:
    """Draws what lies below a network.

    Args:
        axes: whose units are points of print.
        placed: the nodes, on a map.
        scale: points of print for one unit of the placement, to the right and upwards.
        origin: where the placement's zero is, in points of print.
    """
    shapes = outlines(placed.box())
    # From longitude and latitude.
    across = np.array([placed.stretch, 1.0]) * scale
    start = origin - np.array([placed.longitude * placed.stretch, 0.0]) * scale
    for kind, (face, edge) in _LOOKS.items():
        path = _path(shapes[kind], across / shapes["units"], start)
        if path is not None:
            axes.add_patch(
                PathPatch(path, facecolor=face, edgecolor=edge, linewidth=0.4, zorder=1, gid=f"map-{kind}")
            )


def _path(text: str, scale: Points, origin: Points) -> Path | None:
    """A path of matplotlib's from one of SVG that has only ``M``, ``l`` and ``z``; None for an empty one."""
    vertices, codes = [], []
    for piece in text.split("M")[1:]:
        numbers = np.array(re.findall(r"-?\d+", piece), dtype=float).reshape(-1, 2)
        points = numbers.cumsum(axis=0) * scale + origin
        vertices.append(points)
        codes += [Path.MOVETO] + [Path.LINETO] * (len(points) - 1)
        if piece.endswith("z"):
            vertices.append(points[:1])
            codes.append(Path.CLOSEPOLY)
    return Path(np.concatenate(vertices), codes) if vertices else None
