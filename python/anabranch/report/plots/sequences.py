"""The sequence plot of a flow, set as the other figures are."""

from __future__ import annotations

from anabranch.report.plots.choice import recorded_flow, table_of
from anabranch.report.plots.plot import Layout, Plot, finish
from anabranch.report.sequence import sequence_figure
from anabranch.report.style import styled
from anabranch.result import Result

_PLACE = "plot.sequence"


def sequence_plot(
    result: Result, flow: str | int | None, start_s: float | None, end_s: float | None, layout: Layout
) -> Plot:
    """Segments sent and ACKs received of a flow over time."""
    table = table_of(result, "sequence", _PLACE)
    number, name = recorded_flow(result, table, flow, _PLACE, "run.sequences")
    figure = sequence_figure(table, number, start_s, end_s, name=name)
    with styled():
        axes = figure.axes[0]
        axes.set_title("", loc="left")
        figure.legends[0].remove()
        finish(figure, axes, layout, name)
    return Plot(figure, "sequence")
