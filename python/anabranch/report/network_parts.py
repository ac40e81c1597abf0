"""Pieces of drawings of networks: links as half arrows, nodes with their names, rates in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from anabranch.report.labels import place_labels
from anabranch.report.layout import Points
from anabranch.report.style import plain
from anabranch.units import with_unit

MOST_NAMED = 60
"""More nodes than this are dots without names."""
_LARGE = 30
"""More nodes than this have smaller names."""


def points_axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes whose units are points of print; where they begin is a share of the figure, of its final size."""
    room = figure.get_size_inches() * 72.0
    axes = figure.add_axes((left, bottom, width / room[0], height / room[1]))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    return axes


def load_bar(
    figure: Figure,
    links: PatchCollection,
    place: tuple[float, float, float, float],
    label: str,
    font: float,
    **more: Any,
) -> Colorbar:
    """The scale of the colours of links, in a place of the figure."""
    bar = figure.colorbar(links, cax=figure.add_axes(place), orientation="horizontal", **more)
    bar.outline.set_linewidth(0.4)
    bar.ax.tick_params(labelsize=font, length=2, pad=1)
    bar.set_label(label, fontsize=font, labelpad=1)
    return bar


def half_arrow(start: Points, end: Points, width: float, offset: float) -> Polygon:
    """From just off one node to just off the other, on the right side of the line between them."""
    way = end - start
    length = max(float(np.hypot(*way)), 1e-6)
    along = way / length
    right = np.array([along[1], -along[0]])
    first, last = min(4.0, 0.2 * length), length - min(4.0, 0.2 * length)
    head = min(2.2 * width + 1.5, 0.4 * (last - first))

    def at(distance: float, aside: float) -> NDArray[np.float64]:
        return np.asarray(start + along * distance + right * aside)

    inner, outer = offset, offset + width
    return Polygon(
        [at(first, inner), at(last, inner), at(last - head, outer + 0.9 * width),
         at(last - head, outer), at(first, outer)]
    )  # fmt: skip


def half_arrows(
    points: Points, ends: Sequence[tuple[int, int]], widths: Sequence[float], gap: float
) -> list[Polygon]:
    """A half arrow for each link, parallel links side by side; ``gap`` is between the two directions."""
    beside: dict[tuple[int, int], int] = {}
    shapes = []
    for (a, b), width in zip(ends, widths, strict=True):
        parallel = beside.get((a, b), 0)
        beside[a, b] = parallel + 1
        shapes.append(half_arrow(points[a], points[b], width, gap + parallel * (width + 1.0)))
    return shapes


def draw_nodes(
    axes: Axes,
    names: Sequence[str],
    points: Points,
    ends: Sequence[tuple[int, int]],
    font: tuple[float, float] = (7.0, 5.4),
) -> None:
    """Nodes, and their names where there are not too many, off the links with these ends.

    The units of the axes are points of print; ``font`` is the size of names in small and large networks.
    """
    many, large = len(points) > MOST_NAMED, len(points) > _LARGE
    axes.plot(
        points[:, 0], points[:, 1], linestyle="none", marker="o",
        markersize=1.5 if many else 3.2 if large else 4.6,
        markerfacecolor="white", markeredgecolor="#333333", markeredgewidth=0.8, zorder=3,
    )  # fmt: skip
    if many:
        return
    size = font[large]
    shown = [plain(name) for name in names]
    segments = [(points[a], points[b]) for a, b in ends]
    for name, (x, y, align) in zip(shown, place_labels(axes, shown, points, segments, size), strict=True):
        axes.text(
            x, y, name, ha=align, va="center", fontsize=size, color="#111111", zorder=4,
            path_effects=[withStroke(linewidth=1.6, foreground="white", alpha=0.9)],
        )  # fmt: skip


def link_widths(capacities_mbps: Sequence[float], widest: float) -> list[float]:
    """The width of each link by the logarithm of its capacity, as on pages, so that 1 and 100 Gbps both show.

    Args:
        capacities_mbps: of each link.
        widest: width of the link of most capacity where capacities differ by a decade or more; the narrowest
            has a third of it, and links that are all alike five ninths.
    """
    least, most = min(capacities_mbps, default=0.0), max(capacities_mbps, default=0.0)
    if not least > 0 or most == least:
        return [widest * 5 / 9] * len(capacities_mbps)
    decades = max(1.0, math.log10(most / least))
    return [widest * (3 + 6 * math.log10(value / least) / decades) / 9 for value in capacities_mbps]


def capacity_words(capacities_mbps: Sequence[float]) -> str:
    """The meaning of the width of links."""
    least, most = (with_unit(value, "Mbps") for value in (min(capacities_mbps), max(capacities_mbps)))
    return f"each link {most}" if least == most else f"width: capacity, {least} to {most}"
