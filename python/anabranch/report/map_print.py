"""Maps in print: links as half arrows, nodes with their names, land below them.

Both directions of a link are drawn side by side, traffic on the right; colour is the value and width the
capacity. What has more traffic than it can carry is orange, with a dark edge for eyes without the colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from anabranch.media.links import link_widths
from anabranch.media.palette import OVERLOAD, RAMP, ROUTE
from anabranch.media.pieces import Map
from anabranch.report.labels import place_labels
from anabranch.report.land import draw_land
from anabranch.report.layout import Placement, Points, layout
from anabranch.report.style import plain

_DOWN, _CHOSEN = "#D55E00", "#FFD400"
_FADED = 0.35
_GAP = 0.35
"""Points of print between the two directions of a link."""
_POINTS = 72.0
MOST_NAMED = 60
"""More nodes than this are dots without names."""
_LARGE = 30
"""More nodes than this have smaller names."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The place of a map on paper, in points of print, upwards."""

    placed: Placement
    points: Points
    scale: Points
    """Points of print for one unit of the placement, to the right and upwards."""
    origin: Points
    width: float
    height: float


def fitted_sheet(
    shown: Map, width: float, heights: tuple[float, float], margins: tuple[float, float], stretch: float = 1.0
) -> Sheet:
    """The nodes of a map on paper.

    Args:
        shown: the map.
        width: of the sheet.
        heights: the least and the greatest of the sheet.
        margins: around the outermost nodes, aside and above.
        stretch: by so much a flat map may be higher than it is, so that its crowded corners can be read.
    """
    placed = layout(shown.places, shown.ends, shown.nodes)
    # On paper, y goes up.
    upright = placed.points * np.array([1.0, -1.0])
    low, high = upright.min(axis=0), upright.max(axis=0)
    span, around = high - low, 2 * np.array(margins)
    scale = np.ones(2)
    if span.any():
        scale = (np.array([width, heights[1]]) - around) / np.maximum(span, 1e-9)
        scale[1] = min(scale[1], scale[0] * stretch)
        scale[0] = min(scale[0], scale[1])
    height = max(float(span[1] * scale[1] + around[1]), heights[0])
    origin = np.array([width, height]) / 2 - (low + high) / 2 * scale
    return Sheet(placed, upright * scale + origin, scale, origin, width, height)


def draw_map(
    figure: Figure, shown: Map, sheet: Sheet, below: float, widest: float, font: tuple[float, float]
) -> PatchCollection:
    """Draws a map into a figure of its final size.

    Args:
        figure: where.
        shown: the map.
        sheet: of :func:`fitted_sheet`.
        below: points of print below the map.
        widest: width of the widest link.
        font: size of names in small and in large networks.

    Returns:
        The links, for the scale of their colours.
    """
    room = figure.get_size_inches() * _POINTS
    axes = figure.add_axes((0.0, below / room[1], sheet.width / room[0], sheet.height / room[1]))
    axes.set_xlim(0, sheet.width)
    axes.set_ylim(0, sheet.height)
    axes.set_axis_off()
    if sheet.placed.kind == "map":
        draw_land(axes, sheet.placed, sheet.scale, sheet.origin)
    links = _draw_links(axes, shown, sheet, [widest * share for share in link_widths(shown.capacities_mbps)])
    # What the reader looks for first is kept clear of names.
    first = [] if shown.chosen is None else [shown.ends[shown.chosen]] * 8
    lines = sorted({(min(pair), max(pair)) for pair in shown.ends})
    draw_nodes(axes, shown.nodes, sheet.points, [*lines, *first], font)
    return links


def _draw_links(axes: Axes, shown: Map, sheet: Sheet, widths: Sequence[float]) -> PatchCollection:
    shapes = half_arrows(sheet.points, shown.ends, widths, _GAP)
    values = np.array(shown.values, dtype=float)
    limit = math.inf if shown.scale.limit is None else shown.scale.limit
    colours: Colormap = LinearSegmentedColormap.from_list("links", RAMP).with_extremes(over=OVERLOAD)
    # Rounding alone is no overload.
    values = np.where(values > limit, values, np.minimum(values, shown.scale.full))
    links = PatchCollection(shapes, cmap=colours, norm=Normalize(0.0, shown.scale.full), zorder=2)
    links.set_array(values)
    links.set_edgecolor(["#111111" if value > limit else "none" for value in values])
    links.set_linewidth([0.7 if value > limit else 0.0 for value in values])
    axes.add_collection(links)
    if shown.shares is not None:
        links.set_alpha([1.0 if link in shown.shares else _FADED for link in range(len(shapes))])
    for link in shown.shares or ():
        edge = min(1.8, 0.6 + 0.5 * widths[link])
        _outline(axes, shapes[link], "none", 1.9, edgecolor=ROUTE, linewidth=edge)
    for link in sorted(shown.down):
        _outline(axes, shapes[link], "white", 2.2, edgecolor=_DOWN, linewidth=0.7, linestyle=(0, (3, 2)))
    if shown.chosen is not None:
        chosen_colours = colours(links.norm(values[shown.chosen]))
        _outline(axes, shapes[shown.chosen], "none", 2.4, edgecolor=_CHOSEN, linewidth=3.6)
        _outline(axes, shapes[shown.chosen], chosen_colours, 2.5, edgecolor="none")
    return links


def _outline(axes: Axes, shape: Polygon, face: Any, above: float, **edge: Any) -> None:
    axes.add_patch(Polygon(shape.get_xy(), facecolor=face, zorder=above, **edge))


def draw_scale(
    figure: Figure,
    links: PatchCollection,
    place: tuple[float, float, float, float],
    label: str,
    font: float,
    shown: Map,
) -> Colorbar:
    """The scale of the colours of links, in a place of the figure; it names an overload if there is one."""
    limit = shown.scale.limit
    is_over = limit is not None and max(shown.values, default=0.0) > limit
    bar = figure.colorbar(
        links, cax=figure.add_axes(place), orientation="horizontal", extend="max" if is_over else "neither",
        extendfrac=0.08,
    )  # fmt: skip
    bar.outline.set_linewidth(0.4)
    bar.ax.tick_params(labelsize=font, length=2, pad=1)
    bar.set_label(label, fontsize=font, labelpad=1)
    if is_over:
        bar.ax.text(
            1.09, 0.5, "overload", transform=bar.ax.transAxes, fontsize=font, fontweight="bold", va="center",
            color="#8a3800",
        )  # fmt: skip
    return bar


def half_arrow(start: Points, end: Points, width: float, offset: float) -> Polygon:
    """From just off one node to just off the other, on the right side of the line between them."""
    vector = end - start
    length = max(float(np.hypot(*vector)), 1e-6)
    along = vector / length
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
