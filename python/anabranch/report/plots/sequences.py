"""The sequence plot of a flow, set as the other figures are."""

from __future__ import annotations

from anabranch.errors import ResultError
from anabranch.report.plots.choice import chosen_flows, table_of
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
    recorded = table["flow"].unique().sort().to_list()
    if flow is None:
        number = recorded[0]
    else:
        number = int(chosen_flows(result, [flow], _PLACE)["flow"][0])
        if number not in recorded:
            names = dict(result.flows.select("flow", "name").iter_rows())
            some = ", ".join(f'"{names[each]}"' for each in recorded[:5])
            raise ResultError(
                f'{_PLACE}: flow "{flow}" was not recorded; name it in run.sequences and run it again. '
                f"There are the sequences of {some}"
            )
    name = str(result.flows.filter(result.flows["flow"] == number)["name"][0])
    figure = sequence_figure(table, number, start_s, end_s, name=name)
    with styled():
        axes = figure.axes[0]
        axes.set_title("", loc="left")
        figure.legends[0].remove()
        finish(figure, axes, layout, name)
    return Plot(figure, "sequence")
