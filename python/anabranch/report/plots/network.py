"""The network as a figure: links coloured by what they carry, as wide as their capacity, routes outlined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from anabranch.errors import ResultError
from anabranch.media.texts import printable
from anabranch.report.labels import text_width
from anabranch.report.land import draw_land
from anabranch.report.layout import Placement, nodes_of
from anabranch.report.layout import layout as place_nodes
from anabranch.report.network_parts import (
    capacity_words,
    draw_nodes,
    half_arrows,
    link_widths,
    load_bar,
    points_axes,
)
from anabranch.report.plots.choice import stopped, table_of
from anabranch.report.plots.pair_routes import pair_shares
from anabranch.report.plots.plot import Layout, Plot, fitted
from anabranch.report.style import plain, styled
from anabranch.result import Result
from anabranch.views.link_tables import all_drops, capacity_changed, link_values

By = Literal["utilization", "queue", "drops"]
Points = NDArray[np.float64]

RAMP = ("#bcc8d2", "#f2cf73", "#e69f00", "#d55e00", "#7d1340")
"""From an idle link to the greatest value: the colours of the page on a light ground."""
_ROUTE, _DOWN = "#0072B2", "#D55E00"
_MARGIN, _MOST_MARGIN = 18.0, 44.0
"""Points of print around the outermost nodes; at most so many left and right, for names."""
_FLATTEST, _HIGHEST = 0.2, {True: 1.0, False: 0.66}
"""Least height of the map and, in one column and in two, the greatest, as shares of its width."""
_BELOW, _TITLE = 33.0, 16.0
"""Points of print for the scale of colours, and for the title."""
_CROWDED = 60
"""More links than this are thinner."""
_FADED = 0.35
_MOST_SHARES = 40
"""Links of a pair's routes up to which there are shares of its packets."""
_PLACE = "plot.network"

_WORDS = {
    "utilization": ("mean utilization", "utilization", "%"),
    "queue": ("longest queue", "queue", "packets"),
    "drops": ("packets dropped", "packets dropped since the sample before", ""),
}
"""Over the whole run, at an instant, and the unit."""


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Where things are, in points of print."""

    points: Points
    scale: float
    origin: tuple[float, float]
    width: float
    height: float
    narrow: bool


def network_plot(
    result: Result, by: By, at_s: float | None, pair: tuple[str, str] | None, layout: Layout
) -> Plot:
    """The network, whole run or at an instant, with the routes of a pair if one is given."""
    if by not in _WORDS:
        raise ResultError(f"by: no measure {by!r} of links; choose from {', '.join(_WORDS)}")
    links = table_of(result, "links", _PLACE)
    names, places = nodes_of(result)
    number = {name: index for index, name in enumerate(names)}
    ends = [(number[a], number[b]) for a, b in links.select("from", "to").iter_rows()]
    values, at = _values(result, by, at_s)
    shares = pair_shares(result, pair) if pair is not None else None
    down = _down(result, at)
    placed = place_nodes(places, ends, names)
    with styled():
        font = (5.6, 4.4) if layout.narrow else (7.0, 5.4)
        sheet = _fit(placed, layout, max((text_width(plain(name), font[0]) for name in names), default=0.0))
        title = layout.title_of(str(result.summary.get("title") or ""))
        figure, axes = _axes(sheet, layout, bool(title))
        if placed.kind == "map":
            draw_land(axes, placed, np.array([sheet.scale, sheet.scale]), np.array(sheet.origin))
        full = 100.0 if by == "utilization" else max(float(values.max(initial=0.0)), 1.0)
        drawn = _draw_links(axes, sheet, ends, _widths(links, sheet), values, full, down, shares)
        # Both directions of a link lie beside each other.
        draw_nodes(axes, names, sheet.points, sorted({(min(pair), max(pair)) for pair in ends}), font)
        if shares is not None:
            _draw_shares(axes, sheet, ends, shares)
        _draw_scale(figure, drawn, sheet, by, at, _capacities(links))
        if title:
            size = 9 if sheet.narrow else 10
            figure.text(
                0.012, 1 - 8 / (figure.get_figheight() * 72),
                plain(fitted(printable(title), sheet.width - 10, size)), fontsize=size, va="center",
            )  # fmt: skip
    return Plot(figure, "network", tuple(_notes(result, pair, by, at)))


def _notes(result: Result, pair: tuple[str, str] | None, by: By, at: float | None) -> list[str]:
    found = ["Traffic keeps to the right."]
    if pair is not None:
        found.append(f"Outlined: the routes from {pair[0]} to {pair[1]} at the start of the run.")
    if by == "utilization" and at is not None and capacity_changed(result):
        found.append("Utilization is relative to the capacity at the end of the run.")
    return [*found, *stopped(result)]


def _values(result: Result, by: By, at_s: float | None) -> tuple[NDArray[np.float64], float | None]:
    """A value for each link, utilization in percent, and the instant of the sample."""
    links = result.links
    if at_s is None:
        whole = {
            "utilization": links["utilization"] * 100,
            "queue": links["queue_max_packets"],
            "drops": all_drops(links),
        }
        return whole[by].cast(pl.Float64).fill_null(0.0).to_numpy(), None
    samples = table_of(result, "link_series", f"{_PLACE}: at_s")
    times = samples["time_s"].unique().sort()
    if not 0 <= at_s <= times[-1]:
        raise ResultError(
            f"{_PLACE}: at_s: there is no sample at {at_s:g} s; samples go from {times[0]:g} s to "
            f"{times[-1]:g} s"
        )
    # A sample speaks of the time before it.
    at = times[int(times.search_sorted(at_s, side="left"))]
    earlier = times.filter(times < at)
    own = link_values(result, samples.filter(pl.col("time_s") == at)).sort("link")
    found = own["utilization"] * 100 if by == "utilization" else own[by]
    values = found.cast(pl.Float64).fill_null(0.0).to_numpy()
    if by == "drops" and earlier.len():
        before = samples.filter(pl.col("time_s") == earlier[-1]).sort("link")
        values = values - before["drops"].cast(pl.Float64).to_numpy()
    return values, float(at)


def _down(result: Result, at: float | None) -> set[int]:
    """Links that are down at an instant."""
    events = result.tables.get("events")
    if at is None or events is None:
        return set()
    number = dict(result.links.select("name", "link").iter_rows())
    down: set[int] = set()
    for time, kind, subject in events.select("time_s", "kind", "subject").iter_rows():
        if time < at and subject in number:
            (down.add if kind == "link down" else down.discard if kind == "link up" else int)(number[subject])
    return down


def _fit(placed: Placement, layout: Layout, longest: float) -> _Sheet:
    """The nodes on paper, true to scale, with room for names of this width."""
    width = layout.inches * 72.0
    points = placed.points * np.array([1.0, -1.0])
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    height = width * _HIGHEST[layout.narrow]
    aside = min(max(_MARGIN, longest), _MOST_MARGIN)
    inner = np.array([width - 2 * aside, height - 2 * _MARGIN])
    scale = float(np.min(inner / np.maximum(span, 1e-9))) if span.any() else 1.0
    height = max(span[1] * scale + 2 * _MARGIN, width * _FLATTEST)
    middle = (low + high) / 2
    origin = (width / 2 - middle[0] * scale, height / 2 - middle[1] * scale)
    return _Sheet(points * scale + origin, scale, origin, width, height, layout.narrow)


def _axes(sheet: _Sheet, layout: Layout, titled: bool) -> tuple[Figure, Axes]:
    """Axes whose units are points of print."""
    total = sheet.height + _BELOW + (_TITLE if titled else 0.0)
    figure = Figure(figsize=(layout.inches, total / 72.0))
    return figure, points_axes(figure, 0.0, _BELOW / total, sheet.width, sheet.height)


def _capacities(links: pl.DataFrame) -> tuple[float, float]:
    return float(links["capacity_mbps"].min()), float(links["capacity_mbps"].max())  # type: ignore[arg-type]


def _widths(links: pl.DataFrame, sheet: _Sheet) -> list[float]:
    """Points of print."""
    factor = (0.26 if sheet.narrow else 0.42) * (0.6 if links.height > _CROWDED else 1.0)
    return link_widths(links["capacity_mbps"].to_list(), 9 * factor)


def _draw_links(
    axes: Axes,
    sheet: _Sheet,
    ends: Sequence[tuple[int, int]],
    widths: Sequence[float],
    values: NDArray[np.float64],
    full: float,
    down: set[int],
    shares: Mapping[int, float] | None,
) -> PatchCollection:
    """Half arrows; those of a pair's routes have an outline, and all others fade."""
    shapes = half_arrows(sheet.points, ends, widths, 0.35)
    colours = LinearSegmentedColormap.from_list("links", RAMP)
    drawn = PatchCollection(shapes, cmap=colours, norm=Normalize(0.0, full), zorder=2, edgecolor="none")
    drawn.set_array(values)
    if shares is not None:
        drawn.set_alpha([1.0 if link in shares else _FADED for link in range(len(shapes))])
        for link in shares:
            edge = min(1.8, 0.6 + 0.5 * widths[link])
            outline = shapes[link].get_xy()
            axes.add_patch(Polygon(outline, facecolor="none", edgecolor=_ROUTE, linewidth=edge, zorder=1.9))
    axes.add_collection(drawn)
    for link in sorted(down):
        outline = shapes[link].get_xy()
        axes.add_patch(
            Polygon(
                outline, facecolor="white", edgecolor=_DOWN, linewidth=0.7, linestyle=(0, (3, 2)), zorder=2.2
            )
        )
    return drawn


def _draw_shares(
    axes: Axes, sheet: _Sheet, ends: Sequence[tuple[int, int]], shares: Mapping[int, float]
) -> None:
    """The share of the pair's packets where it changes, unless all of them are everywhere."""
    if len(shares) > _MOST_SHARES or all(share > 0.9999 for share in shares.values()):
        return
    coming = {(ends[link][1], round(share, 9)) for link, share in shares.items()}
    for link, share in shares.items():
        if (ends[link][0], round(share, 9)) in coming:
            continue
        a, b = (sheet.points[end] for end in ends[link])
        x, y = a + (b - a) * 0.45
        axes.text(
            x, y, f"{100 * share:.3g} %", fontsize=5.2 if sheet.narrow else 6.5, ha="center", va="center",
            color=_ROUTE, zorder=5, path_effects=[withStroke(linewidth=1.8, foreground="white")],
        )  # fmt: skip


def _draw_scale(
    figure: Figure,
    drawn: PatchCollection,
    sheet: _Sheet,
    by: By,
    at: float | None,
    capacities: tuple[float, float],
) -> None:
    """The scale of the colours, and what the width stands for."""
    total = figure.get_figheight() * 72.0
    size = 6.0 if sheet.narrow else 7.0
    words = capacity_words(capacities)
    aside = text_width(words, size) + 14.0
    place = (10 / sheet.width, 22 / total, (sheet.width - aside - 26) / sheet.width, 5.5 / total)
    whole, sampled, unit = _WORDS[by]
    label = whole if at is None else f"{sampled} at {at:g} s"
    bar = load_bar(figure, drawn, place, f"{label} in {unit}" if unit else label, size)
    bar.solids.set_alpha(1.0)  # type: ignore[union-attr]
    figure.text(
        1 - 6 / sheet.width, 24.5 / total, words, fontsize=size, ha="right", va="center", color="#555555"
    )
