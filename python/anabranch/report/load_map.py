"""The map of a network under its worst-case traffic, and the traffic matrix behind one link.

Both directions of a link are drawn side by side, traffic on the right; colour is load and width capacity. The
colours grow darker with the load for any colour vision. What has more traffic than it can carry is orange.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from anabranch.columns import FULL
from anabranch.media.palette import OVERLOAD
from anabranch.report.labels import text_width
from anabranch.report.land import draw_land
from anabranch.report.layout import Points, layout
from anabranch.report.network_parts import (
    capacity_words,
    draw_nodes,
    half_arrows,
    link_widths,
    load_bar,
    points_axes,
)
from anabranch.report.style import plain, styled
from anabranch.units import plain as digits
from anabranch.units import suited

if TYPE_CHECKING:
    from anabranch.plans.worst_loads import WorstLoads

_WIDTH = 7.2
"""Of the whole figure, in inches: both columns of a journal."""
_MAP_WIDTH = 4.35
_MAP_HEIGHTS = (2.3, 4.6)
_MARGIN = 18.0
_MOST_STRETCH = 1.4
_POINTS = 72.0
_MOST_NUMBERED = 15
"""A matrix of more rows or columns has no numbers in its cells."""
_MOST_CELLS = 60

_CHOSEN = "#FFD400"
"""Around the chosen link."""
_WIDEST, _CROWDED = 3.6, 100
"""Points of the widest link; more links than this are thinner."""
_GAP = 0.35
"""Points between the two directions of a link."""


def load_map(loads: WorstLoads, link: str | None = None) -> Figure:
    """The map, and beside it the matrix that gives one link its load.

    Args:
        loads: of a scenario.
        link: which link's matrix is shown; that of the worst one if None.

    Raises:
        KeyError: no link between routers has this name.
    """
    number_of = {known.link: arc for arc, known in enumerate(loads.links)}
    chosen = number_of[loads.worst.link if link is None else link]
    with styled():
        number = {name: index for index, name in enumerate(loads.routers)}
        ends = [(number[link.source], number[link.destination]) for link in loads.links]
        placed = layout(list(loads.places.values()), ends, loads.routers)
        # On paper, y goes up.
        upright = placed.points * np.array([1.0, -1.0])
        scale, origin, height = _fit(upright)
        points = upright * scale + origin
        figure = Figure(figsize=(_WIDTH, height / _POINTS + 0.62))
        below = 1 - (height + 22) / (figure.get_figheight() * _POINTS)
        axes = points_axes(figure, 0.0, below, _MAP_WIDTH * _POINTS, height)
        if placed.kind == "map":
            draw_land(axes, placed, scale, origin)
        links = _draw_links(axes, loads, points, ends, chosen)
        # What the reader looks for first is kept clear.
        draw_nodes(axes, loads.routers, points, [*ends, *([ends[chosen]] * 8)])
        _draw_bar(figure, links, overload=loads.max_load > FULL)
        _title(figure, loads, chosen)
        _draw_matrix(figure, loads, loads.links[chosen].link)
    return figure


def _colours() -> Colormap:
    """Pale to nearly black blue; above the capacity orange, which no colour vision takes for blue."""
    blues = ("#b4c8dc", "#6f9fcb", "#2f6fae", "#123a6b", "#081a36")
    return LinearSegmentedColormap.from_list("load", blues).with_extremes(over=OVERLOAD)


def _fit(points: Points) -> tuple[Points, Points, float]:
    """Scale and origin that bring points into a box of the map's width in points of print; its height."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    width = _MAP_WIDTH * _POINTS - 2 * _MARGIN
    wanted = width * span[1] / span[0] * 1.25
    height = min(max(wanted, _MAP_HEIGHTS[0] * _POINTS), _MAP_HEIGHTS[1] * _POINTS)
    scale = np.array([width / span[0], height / span[1]])
    # A flat map is stretched a little, so that its crowded corners can be read.
    scale[1] = min(scale[1], scale[0] * _MOST_STRETCH)
    scale[0] = min(scale[0], scale[1])
    middle = np.array([_MAP_WIDTH * _POINTS, height + 2 * _MARGIN]) / 2
    return scale, middle - (low + high) / 2 * scale, height + 2 * _MARGIN


def _draw_links(
    axes: Axes, loads: WorstLoads, points: Points, ends: list[tuple[int, int]], chosen: int
) -> PatchCollection:
    """A half arrow for each direction; the heavier ones on top, the chosen one with an outline."""
    widest = _WIDEST * (0.85 if len(loads.links) > _CROWDED else 1.0)
    widths = link_widths([link.capacity_mbps for link in loads.links], widest)
    shapes = half_arrows(points, ends, widths, _GAP)
    load = np.array([link.load for link in loads.links])
    order = np.argsort(load, kind="stable")
    # Rounding alone is no overload.
    top = 1.0 if loads.max_load > FULL else max(0.1, math.ceil(loads.max_load * 10 - 1e-6) / 10)
    drawn = PatchCollection(
        [shapes[arc] for arc in order], cmap=_colours(), norm=Normalize(0.0, top), zorder=2
    )
    drawn.set_array(np.where(load > FULL, load, np.minimum(load, 1.0))[order])
    # A dark edge tells overload without any colour.
    drawn.set_edgecolor(["#111111" if load[arc] > FULL else "none" for arc in order])
    drawn.set_linewidth([0.7 if load[arc] > FULL else 0.0 for arc in order])
    axes.add_collection(drawn)
    outline = shapes[chosen].get_xy()
    axes.add_patch(Polygon(outline, facecolor="none", edgecolor=_CHOSEN, linewidth=3.6, zorder=2.4))
    own = drawn.cmap(drawn.norm(load[chosen]))
    axes.add_patch(Polygon(outline, facecolor=own, edgecolor="none", zorder=2.5))
    return drawn


def _draw_bar(figure: Figure, links: PatchCollection, *, overload: bool) -> None:
    total = figure.get_size_inches()[1] * _POINTS
    place = (0.05, 21 / total, _MAP_WIDTH / _WIDTH - 0.1, 6 / total)
    extend = {"extend": "max" if overload else "neither", "extendfrac": 0.08}
    bar = load_bar(figure, links, place, "worst-case load (traffic / capacity)", 7, **extend)
    if overload:
        bar.ax.text(
            1.09, 0.5, "overload", transform=bar.ax.transAxes, fontsize=7, fontweight="bold", va="center",
            color="#8a3800",
        )  # fmt: skip


def _title(figure: Figure, loads: WorstLoads, chosen: int) -> None:
    total = figure.get_size_inches()[1] * _POINTS
    shown = loads.links[chosen]
    width = capacity_words([link.capacity_mbps for link in loads.links])
    figure.text(
        0.012, 1 - 9 / total,
        plain(f"{loads.scheme}: worst-case load {shown.load:.3f}, {shown.link} (outlined)"),
        fontsize=8.5, va="center",
    )  # fmt: skip
    figure.text(0.012, 1 - 19 / total, plain(f"traffic keeps to the right; {width}"), fontsize=6.5,
                va="center", color="#555555")  # fmt: skip


def _matrix_axes(figure: Figure, left: float, below: float, shape: tuple[int, ...]) -> Axes:
    """Axes with room for names of these widths, in points, and with cells not much longer than wide."""
    width, height = (size * _POINTS for size in figure.get_size_inches())
    x, y = _MAP_WIDTH * _POINTS + 18 + left, 20 + below
    wide, high = width - 6 - x, height - 26 - y
    if high > wide / shape[1] * shape[0] * 1.5:
        y += high - wide / shape[1] * shape[0] * 1.5
        high = wide / shape[1] * shape[0] * 1.5
    return figure.add_axes((x / width, y / height, wide / width, high / height))


def _draw_matrix(figure: Figure, loads: WorstLoads, link: str) -> None:
    """The matrix behind a link as a heat map; rows and columns without traffic are left out."""
    matrix = loads.matrix_mbps(link)
    rows, columns = (np.flatnonzero(matrix.sum(axis=axis) > 0) for axis in (1, 0))
    rows, columns = rows[:_MOST_CELLS], columns[:_MOST_CELLS]
    factor, unit = suited(float(matrix.max(initial=0.0)), "Mbps")
    shown = matrix[np.ix_(rows, columns)] * factor
    names = [plain(name) for name in loads.routers]
    font = 6.5 if max(shown.shape) <= _MOST_NUMBERED else max(3.4, 6.5 * _MOST_NUMBERED / max(shown.shape))
    axes = _matrix_axes(
        figure,
        max((text_width(names[r], font) for r in rows), default=0.0),
        max((text_width(names[c], font) for c in columns), default=0.0),
        shown.shape,
    )
    masked = np.ma.masked_equal(shown, 0.0)
    blues = LinearSegmentedColormap.from_list(
        "rate", matplotlib.colormaps["Blues"](np.linspace(0.18, 0.95, 256))
    )
    axes.imshow(masked, cmap=blues, vmin=0, vmax=float(shown.max(initial=1e-9)), aspect="auto")
    axes.grid(visible=False)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(visible=True, which="minor", color="#e4e4e4", linewidth=0.4)
    axes.tick_params(which="both", length=0, pad=2)
    axes.set_xticks(range(len(columns)), [names[c] for c in columns], rotation=90, fontsize=font)
    axes.set_yticks(range(len(rows)), [names[r] for r in rows], fontsize=font)
    axes.set_ylabel("from", fontsize=7, labelpad=1)
    axes.set_xlabel("to", fontsize=7, labelpad=3)
    numbered = max(shown.shape) <= _MOST_NUMBERED
    darkest = "" if numbered else f" (darkest: {digits(float(shown.max()), 3)})"
    axes.set_title(f"traffic behind it, in {unit}{darkest}", fontsize=8, loc="left", pad=3)
    for side in axes.spines.values():
        side.set_visible(True)
        side.set_linewidth(0.5)
    if numbered:
        for r, c in zip(*np.nonzero(shown), strict=True):
            dark = shown[r, c] > 0.55 * shown.max()
            axes.text(
                c, r, digits(shown[r, c], 3), ha="center", va="center", fontsize=5.5,
                color="white" if dark else "#111111",
            )  # fmt: skip
