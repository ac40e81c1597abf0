"""Scenarios, routes, results and studies in a notebook: tables as on a terminal, and a figure."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tomli_w
from rich.console import Console

from anabranch.media.pieces import Piece
from anabranch.media.terminal import show
from anabranch.result import Result
from anabranch.routes import Routes
from anabranch.scenario.scenario import Scenario
from anabranch.views.routes import route_pieces
from anabranch.views.run import run_pieces
from anabranch.views.study import study_pieces

if TYPE_CHECKING:
    from anabranch.report.plots.plot import Plot
    from anabranch.study import Study, StudyResult

_WIDTH = 110
_TEXT = (
    "<pre style=\"font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; "
    'white-space: pre; line-height: 1.25; overflow-x: auto">{code}</pre>'
)
"""Named letters of one width: where a page has another family for text, columns would be out of line."""

_NOTES = '<p style="font-size: 0.85em">{notes}</p>'


def scenario_html(scenario: Scenario) -> str:
    """The settings of the scenario, as TOML; defaults are left out."""
    settings = scenario.data(given_only=True)
    return _TEXT.format(code=html.escape(tomli_w.dumps(settings)))


def design_html(study: Study) -> str:
    """The settings of the study, as TOML; defaults are left out."""
    settings = study.data(given_only=True)
    return _TEXT.format(code=html.escape(tomli_w.dumps(settings)))


def routes_html(routes: Routes) -> str:
    """The table of the routes."""
    return _printed(route_pieces(routes))


def result_html(result: Result) -> str:
    """The table of the flows and, where the run has series, goodput and latencies over time."""
    from anabranch.report.plots.run_plots import RunPlots  # noqa: PLC0415 - slow to import

    table = _printed(run_pieces(_title(result), result))
    plots = RunPlots(result)
    drawn = [_drawn(getattr(plots, name)()) for name in ("goodput", "latency") if name in plots.names()]
    return "".join([_warned(result.summary.get("warnings", ())), table, *drawn])


def study_html(result: StudyResult) -> str:
    """The table of the cells, and the first metric over the factors."""
    table = _printed(study_pieces(result.title, result))
    return _warned(result.warnings) + table + _drawn(result.plot.metric(result.metrics[0].name))


def _warned(warnings: Sequence[str]) -> str:
    """What misleads whoever does not know it, above what it is about."""
    lines = "".join(f"<li>{html.escape(warning)}</li>" for warning in warnings)
    return (
        f'<p style="margin-bottom: 0"><b>Warnings</b></p><ul style="margin-top: 0">{lines}</ul>'
        if lines
        else ""
    )


def _title(result: Result) -> str:
    return str(result.summary.get("title", ""))


def _printed(pieces: Sequence[Piece]) -> str:
    console = Console(record=True, file=io.StringIO(), width=_WIDTH, force_jupyter=False)
    show(console, pieces)
    return console.export_html(inline_styles=True, code_format=_TEXT)


def _drawn(plot: Plot) -> str:
    from anabranch.report.style import figure_bytes  # noqa: PLC0415 - slow to import

    svg = figure_bytes(plot.figure, "svg").decode()
    # Without the XML declaration, which has no place in the middle of a page.
    svg = svg[svg.index("<svg") :]
    return svg + (_NOTES.format(notes=html.escape(" ".join(plot.notes))) if plot.notes else "")
