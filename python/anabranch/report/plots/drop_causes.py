"""Drops by their cause in print."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from anabranch.errors import ResultError
from anabranch.media.palette import PALETTE
from anabranch.report.plots.plot import Layout, Plot, finish, fitted, new_figure
from anabranch.report.style import plain, styled
from anabranch.report.views.choice import Names, matching, stopped, table_of
from anabranch.report.views.link_tables import CAUSES
from anabranch.results.result import Result

_MOST_LINKS = 12
_CAUSE_LOOKS = (
    (PALETTE[0], ""), (PALETTE[4], ""), (PALETTE[1], "\\\\\\\\"), (PALETTE[5], "////"), (PALETTE[2], "...."),
    (PALETTE[3], "xxxx"), (PALETTE[7], "++++"),
)  # fmt: skip
"""Colour and hatch of the causes of drops, in the order of the core."""


def cause_plot(result: Result, links: Names | None, layout: Layout) -> Plot:
    """Packets that links dropped, by cause: the links that are named, or those that dropped most."""
    table = table_of(result, "links", "plot.drop_causes")
    causes = [
        (column, label, *look)
        for (column, label), look in zip(CAUSES, cycle(_CAUSE_LOOKS), strict=False)
        if column in table.columns
    ]
    table = table.with_columns(pl.sum_horizontal(cause[0] for cause in causes).alias("all"))
    notes = []
    if links is None:
        dropping = table.filter(pl.col("all") > 0)
        if dropping.is_empty():
            raise ResultError("plot.drop_causes: no link dropped a packet; there is nothing to draw")
        shown = dropping.sort("all", descending=True, maintain_order=True).head(_MOST_LINKS)
        if shown.height < dropping.height:
            notes.append(f"{shown.height} of the {dropping.height} links that dropped packets are shown.")
    else:
        shown = table[matching(table["name"].to_list(), links, "link")]
    with styled():
        figure, axes = new_figure(layout)
        _bars(axes, shown, causes, 105.0 if layout.narrow else 150.0)
        finish(figure, axes, layout, str(result.summary.get("title") or ""))
        # As high as its bars need.
        figure.set_figheight(figure.get_figheight() - 1.6 + 0.17 * shown.height)
    return Plot(figure, "drop_causes", (*notes, *stopped(result)))


def _bars(axes: Axes, shown: pl.DataFrame, causes: list[tuple[str, str, str, str]], room: float) -> None:
    left = np.zeros(shown.height)
    places = np.arange(shown.height)
    for column, label, color, hatch in causes:
        values = shown[column].to_numpy().astype(float)
        if values.any():
            axes.barh(
                places, values, 0.7, left=left, color="white" if hatch else color, edgecolor=color,
                hatch=hatch, label=label,
            )  # fmt: skip
        left += values
    axes.set_yticks(places, [plain(fitted(name, room, 8.0)) for name in shown["name"]])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("packets dropped")
    axes.set_xlim(0, max(float(left.max()) * 1.04, 1.0))
