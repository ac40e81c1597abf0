"""Figures of Garcia-Aviles 2017 in our style: a median with its range, and values over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from anabranch.report.figures import label_axes
from anabranch.report.looks import looks
from anabranch.report.style import plain, styled

Point = tuple[float, float, float, float]
"""Where on the x axis; median, least and most."""


def medians(
    title: str,
    x: str,
    y: str,
    series: Mapping[str, Sequence[Point]],
    *,
    lines: Mapping[str, float] | None = None,
    models: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Figure:
    """Medians over a number, with bars from the least to the most.

    Args:
        title: of the figure.
        x: label of the x axis.
        y: label of the y axis.
        series: points by name.
        lines: levels that hold everywhere, such as a baseline.
        models: closed forms, drawn as lines without markers.
    """
    with styled():
        figure = Figure(figsize=(6.3, 3.4), layout="constrained")
        axes = figure.subplots()
        names = list(series)
        for (name, points), look in zip(series.items(), looks(names), strict=True):
            places = [point[0] for point in points]
            middle = [point[1] for point in points]
            bars = ([p[1] - p[2] for p in points], [p[3] - p[1] for p in points])
            axes.errorbar(
                places, middle, yerr=bars, color=look.color, marker=look.marker, label=plain(name), capsize=2
            )
            for place in (models or {}).get(name, ()):
                axes.plot(*place, marker="_", markersize=14, color=look.color, linestyle="none")
        for number, (name, level) in enumerate((lines or {}).items()):
            axes.axhline(level, color="#555555", linestyle=(":", "--")[number % 2], label=plain(name))
        label_axes(axes, x, y, title)
        axes.legend(loc="best")
    return figure


def over_time(
    title: str, panels: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]], y: str
) -> Figure:
    """Values over time, a panel below the other for each label.

    Args:
        title: of the figure.
        panels: series by name, by panel: times in s, and values.
        y: label of the y axes.
    """
    with styled():
        figure = Figure(figsize=(6.3, 0.8 + 1.9 * len(panels)), layout="constrained")
        grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True).ravel()
        for axes, (label, series) in zip(grid, panels.items(), strict=True):
            for (name, (times, values)), look in zip(series.items(), looks(list(series)), strict=True):
                axes.plot(times, values, color=look.color, linewidth=0.8, label=plain(name))
            label_axes(axes, "time in s", y, f"{title}: {label}")
            axes.legend(loc="best")
    return figure


def distribution(title: str, x: str, series: Mapping[str, Sequence[float]]) -> Figure:
    """Empirical distribution functions."""
    with styled():
        figure = Figure(figsize=(6.3, 3.4), layout="constrained")
        axes = figure.subplots()
        for (name, values), look in zip(series.items(), looks(list(series)), strict=True):
            ordered = sorted(values)
            steps = [(index + 1) / len(ordered) for index in range(len(ordered))]
            axes.step(ordered, steps, where="post", color=look.color, linestyle=look.dash, label=plain(name))
        label_axes(axes, x, "share of runs", title)
        axes.set_xlim(left=min(min(values) for values in series.values()) * 0.95)
        axes.legend(loc="best")
    return figure


def region(title: str, limit: float, points: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Rates of two hosts against each other, with the line that both together cannot pass."""
    with styled():
        figure = Figure(figsize=(4.2, 4.0), layout="constrained")
        axes = figure.subplots()
        axes.plot([0, limit], [limit, 0], color="#555555", label=f"{limit:g} Mbps together")
        for (name, pairs), look in zip(points.items(), looks(list(points)), strict=True):
            places = ([pair[0] for pair in pairs], [pair[1] for pair in pairs])
            axes.plot(*places, color=look.color, marker=look.marker, linestyle="none", label=plain(name))
        label_axes(axes, "host 1 in Mbps", "host 2 in Mbps", title)
        axes.legend(loc="best")
    return figure
