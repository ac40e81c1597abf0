"""Figures of a study on the page: those for print as SVG, in its colours, with their values in words."""

from __future__ import annotations

import re
from dataclasses import replace
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch.media.palette import PALETTE, Look
from anabranch.media.texts import printable
from anabranch.report.looks import looks
from anabranch.report.scales import scale_axes
from anabranch.report.study_figures import draw_block, group_names, panels_abreast
from anabranch.report.style import plain, styled
from anabranch.report.views.outcome import StudyOutcome
from anabranch.report.views.study_table import (
    Block,
    MetricColumn,
    MetricTable,
    axis_title,
    level_text,
    metric_table,
)
from anabranch.results.result import MetricInfo
from anabranch.text.units import estimate

_SIZES = {1: (5.2, 2.75), 2: (4.8, 2.6), 3: (3.5, 2.2)}
"""Inches of a panel, by how many stand in a row."""
_LABELS = 0.6
"""Inches beside an axis that its labels take."""
_KEY = (26 / 72, 14 / 72)
"""Inches of a sign in the legend."""
_PIXELS_PER_POINT = 1.5
_LONGEST_NAME = 18
"""Letters of a name under bars."""
_HEIGHT_PER_LETTER = 0.035
"""Inches below the axes that a letter of a slanted name takes."""
_INK = "#55626f"
_ON_THE_PAGE = {
    **{color.lower(): f"var(--c{number})" for number, color in enumerate(PALETTE)},
    "#ffffff": "var(--paper)",
    "#404040": "var(--text)",
    "#dddddd": "var(--grid)",
    _INK: "var(--text-2)",
}
"""The page's variable for each colour of the figures."""
_STYLE: Any = {
    "svg.fonttype": "none",
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), "none"),
    **dict.fromkeys(("xtick.color", "ytick.color", "axes.edgecolor"), _INK),
}


def metric_figure(result: StudyOutcome, metric: MetricInfo) -> dict[str, Any]:
    """A metric over the first factor: a series for each level of the second, a panel for each of the rest.

    Returns:
        ``name``, ``label``, ``across`` (the first factor), ``panels`` (title and SVG; none where no run has
        a value), ``legend`` (key and name of each series; empty for one), and whether it has ``intervals``
        and ``bounds``.
    """
    table = metric_table(result, metric)
    names = [column.name for column in table.blocks[0].columns]
    measured = any(True for _ in table.values())
    with styled(), matplotlib.rc_context(_STYLE):
        panels = _panels(table) if measured else []
        keys = [_key(table, look, name) for look, name in zip(looks(names), names, strict=True)]
    return {
        "name": metric.name,
        "label": printable(table.shown[1]),
        "abreast": panels_abreast(len(table.blocks)),
        "across": axis_title(table.first) if table.first else "",
        "panels": panels,
        "legend": keys if measured and len(names) > 1 else [],
        "intervals": table.has_intervals,
        "bounds": table.has_bounds,
    }


def _panels(table: MetricTable) -> list[dict[str, Any]]:
    """A figure for each block, so that a narrow page puts them below each other; all have the same axes."""
    drawn, alone = [], len(table.blocks) == 1
    size = _SIZES[panels_abreast(len(table.blocks))]
    for block in table.blocks:
        figure = Figure(size, layout="constrained")
        axes = figure.subplots()
        marked = draw_block(axes, table, replace(block, title=""))
        scale_axes(axes, table, size[0] - _LABELS)
        if not table.continuous:
            _cut_names(figure, axes, table)
        for number, series in enumerate(marked):
            for index, artist in enumerate(series.patches if hasattr(series, "patches") else series[:1]):
                artist.set_gid(f"{number}.{index}")
        drawn.append((block, figure, axes))
    limits = [axes.get_ylim() for _, _, axes in drawn]
    panels = []
    for number, (block, figure, axes) in enumerate(drawn):
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        picture = _picture(figure, f"{table.metric.name} {number}", _PIXELS_PER_POINT)
        _explain(picture, table, block)
        label = f"{table.metric.label}{f', {block.title}' if block.title else ''}"
        picture.attrib |= {
            "class": "plot alone" if alone else "plot",
            "role": "img",
            "aria-label": printable(label),
        }
        panels.append({"title": block.title, "svg": _written(picture)})
    return panels


def _cut_names(figure: Figure, axes: Axes, table: MetricTable) -> None:
    """Short names under bars, and room for them where they are slanted."""
    names = [_cut(name) for name in group_names(table)]
    axes.set_xticklabels([plain(name) for name in names])
    if axes.get_xticklabels()[0].get_rotation():
        figure.set_figheight(figure.get_figheight() + max(map(len, names)) * _HEIGHT_PER_LETTER)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _picture(figure: Figure, salt: str, scale: float) -> ElementTree.Element:
    """The figure as SVG for a page: no names but those that it refers to, which are of this picture alone."""
    file = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": salt}):
        figure.savefig(file, format="svg")
    picture = ElementTree.fromstring(file.getvalue())  # noqa: S314 - matplotlib's own
    for element in picture.iter():
        element.tag = element.tag.partition("}")[2]
        element.attrib = {key.rpartition("}")[2]: _colored(value) for key, value in element.attrib.items()}
        for unwanted in [part for part in element if part.tag.endswith(("}metadata", "}style"))]:
            element.remove(unwanted)
    width, height = (size * 72 * scale for size in figure.get_size_inches())
    picture.attrib = {"viewBox": picture.attrib["viewBox"], "width": f"{width:g}", "height": f"{height:g}"}
    return picture


def _colored(value: str) -> str:
    return re.sub(r"#[0-9a-f]{6}\b", lambda color: _ON_THE_PAGE.get(color[0], color[0]), value)


def _explain(picture: ElementTree.Element, table: MetricTable, block: Block) -> None:
    """What marks, bars and names say when they are hovered."""
    groups = {group.get("id", ""): group for group in picture.iter("g")}
    for number, column in enumerate(block.columns):
        places = [index for index, mean in enumerate(column.means) if mean is not None]
        marks = [groups[f"{number}.{index}"] for index in places if f"{number}.{index}" in groups]
        if table.continuous:
            marks = list(groups[f"{number}.0"].iter("use")) if places else []
        for index, mark in zip(places, marks, strict=True):
            _say(mark, _words(table, column, index))
    for number, name in enumerate([] if table.continuous else group_names(table), start=1):
        (text,) = groups[f"xtick_{number}"].iter("text")
        # In letters that the font of print may lack.
        text.text = _cut(name)
        _say(text, name)


def _say(element: ElementTree.Element, words: str) -> None:
    title = ElementTree.Element("title")
    title.text = words
    element.append(title)


def _words(table: MetricTable, column: MetricColumn, index: int) -> str:
    """What a point says when it is hovered."""
    mean, half = column.means[index] or 0.0, column.half_widths[index]
    level = table.blocks[0].rows[index]
    where = [level_text(table.first, level)] if table.first else []
    where += [column.name] if len(table.blocks[0].columns) > 1 else []
    factor, _ = table.shown
    value = estimate(mean * factor, None if half is None else half * factor)
    return f"{', '.join(where)}{': ' if where else ''}{value}"


def _key(table: MetricTable, look: Look, name: str) -> dict[str, str]:
    """The sign of a series in the legend, and its name."""
    figure = Figure(_KEY)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 2), ylim=(0, 2))
    axes.set_axis_off()
    fill = "white" if look.hollow else look.color
    if not table.continuous:
        hatch = "////" if look.hollow else ""
        axes.bar(1, 1.4, 1.2, 0.3, color=fill, edgecolor=look.color, hatch=hatch)
    else:
        axes.plot([0, 1, 2], [1, 1, 1], look.line, color=look.color, marker=look.marker, markevery=[1],
                  markerfacecolor=fill)  # fmt: skip
    picture = _picture(figure, f"{table.metric.name}, {name}", 1.0)
    picture.set("aria-hidden", "true")
    return {"key": _written(picture), "name": name}


def _written(picture: ElementTree.Element) -> Markup:
    for group in picture.iter("g"):
        group.attrib.pop("id", None)
    return Markup(ElementTree.tostring(picture, encoding="unicode"))  # noqa: S704 - escaped there
