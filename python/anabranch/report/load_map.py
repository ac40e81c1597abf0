"""The map of a network under its worst-case traffic, and the traffic matrix behind one link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from anabranch.media.links import capacity_words
from anabranch.report.labels import text_width
from anabranch.report.map_print import draw_map, draw_scale, fitted_sheet
from anabranch.report.style import plain, styled
from anabranch.report.views.loads import load_map_of
from anabranch.text.units import plain as digits
from anabranch.text.units import suited

if TYPE_CHECKING:
    from anabranch.plans.worst_loads import WorstLoads

_WIDTH = 7.2
"""Of the whole figure, in inches: both columns of a journal."""
_MAP_WIDTH = 4.35
_POINTS = 72.0
_MAP_HEIGHTS = (2.8 * _POINTS, 5.1 * _POINTS)
_ABOVE, _BELOW = 22.0, 22.6
"""Points of print above and below the map, for the title and the scale of colours."""
_MARGIN = 18.0
_MOST_STRETCH = 1.25
_MOST_NUMBERED = 15
"""A matrix of more rows or columns has no numbers in its cells."""
_MOST_CELLS = 60

_WIDEST, _CROWDED = 3.6, 100
"""Points of the widest link; more links than this are thinner."""


def load_map(loads: WorstLoads, link: str | None = None) -> Figure:
    """The map, and beside it the matrix that gives one link its load.

    Args:
        loads: of a scenario.
        link: which link's matrix is shown; that of the worst one if None.

    Raises:
        KeyError: no link between routers has this name.
    """
    chosen = loads.worst.link if link is None else link
    shown = load_map_of(loads, chosen)
    with styled():
        sheet = fitted_sheet(shown, _MAP_WIDTH * _POINTS, _MAP_HEIGHTS, (_MARGIN, _MARGIN), _MOST_STRETCH)
        figure = Figure(figsize=(_WIDTH, (sheet.height + _ABOVE + _BELOW) / _POINTS))
        widest = _WIDEST * (0.85 if len(loads.links) > _CROWDED else 1.0)
        links = draw_map(figure, shown, sheet, _BELOW, widest, (7.0, 5.4))
        total = figure.get_size_inches()[1] * _POINTS
        place = (0.05, 21 / total, _MAP_WIDTH / _WIDTH - 0.1, 6 / total)
        label = "load (traffic / capacity)" if loads.matrix_name else "worst-case load (traffic / capacity)"
        draw_scale(figure, links, place, label, 7, shown)
        _title(figure, loads, chosen)
        _draw_matrix(figure, loads, chosen)
    return figure


def _title(figure: Figure, loads: WorstLoads, chosen: str) -> None:
    total = figure.get_size_inches()[1] * _POINTS
    (load,) = (one.load for one in loads.links if one.link == chosen)
    width = capacity_words([link.capacity_mbps for link in loads.links])
    what = "worst-case load" if loads.matrix_name is None else "load"
    figure.text(
        0.012, 1 - 9 / total,
        plain(f"{loads.scheme}: {what} {load:.3f}, {chosen} (outlined)"),
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
