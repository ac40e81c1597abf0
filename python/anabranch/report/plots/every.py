"""All figures of a run or a study as files: what ``anabranch report --figures`` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.report.looks import check_forms
from anabranch.report.plots.plot import Plot, Width
from anabranch.report.plots.run_plots import RunPlots
from anabranch.report.sequence import MOST_DRAWN_FLOWS
from anabranch.results.result import Result

FOLDER = "figures"
"""Name of the folder of figures in that of a result."""
_MOST_CONNECTIONS = 20
"""Connections of Multipath TCP whose subflows have a figure."""


def save_run_figures(
    result: Result, folder: Path | str, forms: Sequence[str] = ("pdf",), width: Width = "double"
) -> list[Path]:
    """Writes every figure that a run has something for: ``figures/goodput.pdf``, ``figures/rtt.pdf``, ...

    Args:
        result: the run.
        folder: the folder ``figures`` is made in it if it is not there.
        forms: of ``png``, ``pdf`` and ``svg``.
        width: of each figure.

    Returns:
        The files, in the order in which they were written.

    Raises:
        ResultError: for a form that does not exist, or if a file cannot be written.
    """
    check_forms(forms)
    files = []
    for name, plot in run_figures(result, width):
        files += [plot.save(Path(folder) / FOLDER / f"{name}.{form}") for form in dict.fromkeys(forms)]
    return files


def run_figures(result: Result, width: Width = "double") -> Iterator[tuple[str, Plot]]:
    """Every figure of a run with the name of its file; drawn one after the other, as they are asked for."""
    plots = RunPlots(result)
    for name in plots.names():
        if name == "network":
            yield from _networks(result, plots, width)
        elif name == "latency":
            yield name, plots.latency(width=width)
            yield "latency-distribution", plots.latency(by="distribution", width=width)
        elif name == "subflows":
            for stem, flow in _flows(result, "subflow_series", "subflows", _MOST_CONNECTIONS):
                yield stem, plots.subflows(flow, width=width)
        elif name == "log":
            for stem, flow in _flows(result, "log", "log", MOST_DRAWN_FLOWS):
                yield stem, plots.log(flow, width=width)
        elif name == "sequence":
            for stem, flow in _flows(result, "sequence", "sequence", MOST_DRAWN_FLOWS):
                yield stem, plots.sequence(flow, width=width)
        else:
            yield name, getattr(plots, name)(width=width)


def _networks(result: Result, plots: RunPlots, width: Width) -> Iterator[tuple[str, Plot]]:
    """The network by each measure of which there is something."""
    yield "network", plots.network(width=width)
    if (result.links["queue_max_packets"] > 0).any():
        yield "network-queue", plots.network(by="queue", width=width)
    if "drop_causes" in plots.names():
        yield "network-drops", plots.network(by="drops", width=width)


def _flows(result: Result, table: str, name: str, most: int) -> list[tuple[str, int]]:
    """Name of the file and number of each flow of a table; a single flow needs none in its name."""
    flows = result.tables[table]["flow"].unique().sort().to_list()
    if len(flows) == 1:
        return [(name, flows[0])]
    words = dict(result.flows.select("flow", "name").iter_rows())
    # The number tells flows apart whose names have the same letters once a file system accepts them.
    return [(f"{name}-{flow}-{re.sub(r'[^A-Za-z0-9_.]+', '-', words[flow])}", flow) for flow in flows[:most]]
