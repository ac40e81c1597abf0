"""The network as a figure: links coloured by what they carry, as wide as their capacity, routes outlined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from anabranch.errors import ResultError
from anabranch.media.links import PERCENT, capacity_words, scale_of_counts
from anabranch.media.palette import ROUTE
from anabranch.media.pieces import Map
from anabranch.media.texts import printable
from anabranch.report.labels import text_width
from anabranch.report.layout import nodes_of
from anabranch.report.map_print import Sheet, draw_map, draw_scale, fitted_sheet
from anabranch.report.plots.pair_routes import pair_shares
from anabranch.report.plots.plot import Layout, Plot, fitted
from anabranch.report.style import plain, styled
from anabranch.report.views.choice import stopped, table_of
from anabranch.report.views.link_tables import all_drops, capacity_changed
from anabranch.report.views.over_time import every_link_chart
from anabranch.results.result import Result

By = Literal["utilization", "queue", "drops"]

_MARGIN, _MOST_MARGIN = 18.0, 44.0
"""Points of print around the outermost nodes; at most so many left and right, for names."""
_FLATTEST, _HIGHEST = 0.2, {True: 1.0, False: 0.66}
"""Least height of the map and, in one column and in two, the greatest, as shares of its width."""
_BELOW, _TITLE = 33.0, 16.0
"""Points of print for the scale of colours, and for the title."""
_CROWDED = 60
"""More links than this are thinner."""
_MOST_SHARES = 40
"""Links of a pair's routes up to which there are shares of its packets."""
_PLACE = "plot.network"

_WORDS = {
    "utilization": ("mean utilization", "utilization", "%"),
    "queue": ("longest queue", "queue", "packets"),
    "drops": ("packets dropped", "packets dropped since the sample before", ""),
}
"""Over the whole run, at an instant, and the unit."""


def network_plot(
    result: Result, by: By, at_s: float | None, pair: tuple[str, str] | None, layout: Layout
) -> Plot:
    """The network, whole run or at an instant, with the routes of a pair if one is given."""
    if by not in _WORDS:
        raise ResultError(f"by: no measure {by!r} of links; choose from {', '.join(_WORDS)}")
    links = table_of(result, "links", _PLACE)
    names, places = nodes_of(result)
    number = {name: index for index, name in enumerate(names)}
    values, at = _values(result, by, at_s)
    most = float(values.max(initial=0.0))
    shown = Map(
        names,
        places,
        [(number[a], number[b]) for a, b in links.select("from", "to").iter_rows()],
        links["capacity_mbps"].to_list(),
        values.tolist(),
        PERCENT if by == "utilization" else scale_of_counts(most),
        down=_down(result, at),
        shares=pair_shares(result, pair) if pair is not None else None,
    )
    with styled():
        font = (5.6, 4.4) if layout.narrow else (7.0, 5.4)
        longest = max((text_width(plain(name), font[0]) for name in names), default=0.0)
        width = layout.inches * 72.0
        margins = (min(max(_MARGIN, longest), _MOST_MARGIN), _MARGIN)
        sheet = fitted_sheet(shown, width, (width * _FLATTEST, width * _HIGHEST[layout.narrow]), margins)
        title = layout.title_of(str(result.summary.get("title") or ""))
        figure = Figure(figsize=(layout.inches, (sheet.height + _BELOW + (_TITLE if title else 0.0)) / 72.0))
        factor = (0.26 if layout.narrow else 0.42) * (0.6 if links.height > _CROWDED else 1.0)
        drawn = draw_map(figure, shown, sheet, _BELOW, 9 * factor, font)
        if shown.shares is not None:
            _draw_shares(figure.axes[0], sheet, shown.ends, shown.shares, 5.2 if layout.narrow else 6.5)
        _draw_scale(figure, drawn, width, 6.0 if layout.narrow else 7.0, _label(by, at), shown)
        if title:
            size = 9 if layout.narrow else 10
            figure.text(
                0.012, 1 - 8 / (figure.get_figheight() * 72),
                plain(fitted(printable(title), width - 10, size)), fontsize=size, va="center",
            )  # fmt: skip
    return Plot(figure, "network", tuple(_notes(result, pair, by, at)))


def _notes(result: Result, pair: tuple[str, str] | None, by: By, at: float | None) -> list[str]:
    sentences = ["Traffic keeps to the right."]
    if pair is not None:
        sentences.append(f"Outlined: the routes from {pair[0]} to {pair[1]} at the start of the run.")
    if by == "utilization" and at is not None and capacity_changed(result):
        sentences.append("Utilization is relative to the capacity at the end of the run.")
    return [*sentences, *stopped(result)]


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
    chart = every_link_chart(result)
    assert chart is not None  # noqa: S101 - there are samples
    rows = chart.samples.filter(pl.col("time_s") == at).sort("line")
    sampled = {
        "utilization": rows["utilization"] * 100,
        "queue": rows["queue_packets"],
        "drops": rows["drops"],
    }
    return sampled[by].cast(pl.Float64).fill_null(0.0).to_numpy(), float(at)


def _down(result: Result, at: float | None) -> frozenset[int]:
    """Links that are down at an instant."""
    events = result.tables.get("events")
    if at is None or events is None:
        return frozenset()
    number = dict(result.links.select("name", "link").iter_rows())
    down: set[int] = set()
    for time, kind, subject in events.select("time_s", "kind", "subject").iter_rows():
        if time < at and subject in number:
            (down.add if kind == "link down" else down.discard if kind == "link up" else int)(number[subject])
    return frozenset(down)


def _draw_shares(
    axes: Axes, sheet: Sheet, ends: Sequence[tuple[int, int]], shares: Mapping[int, float], size: float
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
            x, y, f"{100 * share:.3g} %", fontsize=size, ha="center", va="center",
            color=ROUTE, zorder=5, path_effects=[withStroke(linewidth=1.8, foreground="white")],
        )  # fmt: skip


def _label(by: By, at: float | None) -> str:
    whole, sampled, unit = _WORDS[by]
    label = whole if at is None else f"{sampled} at {at:g} s"
    return f"{label} in {unit}" if unit else label


def _draw_scale(
    figure: Figure, links: PatchCollection, width: float, size: float, label: str, shown: Map
) -> None:
    """The scale of the colours, and what the width stands for."""
    total = figure.get_figheight() * 72.0
    words = capacity_words(shown.capacities_mbps)
    aside = text_width(words, size) + 14.0
    bar = draw_scale(
        figure, links, (10 / width, 22 / total, (width - aside - 26) / width, 5.5 / total), label, size, shown
    )
    bar.solids.set_alpha(1.0)  # type: ignore[union-attr]
    figure.text(1 - 6 / width, 24.5 / total, words, fontsize=size, ha="right", va="center", color="#555555")
