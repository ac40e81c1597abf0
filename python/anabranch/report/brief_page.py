"""The page of a network for those who decide: one page, which fetches nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.figure import Figure

from anabranch.media.page.sections import page
from anabranch.media.pieces import Article, Section
from anabranch.report.style import picture, styled
from anabranch.report.views.brief import brief_cards, brief_tables, brief_words
from anabranch.report.views.loads import percent
from anabranch.results.folders import write_whole

if TYPE_CHECKING:
    from anabranch.plans.brief import Brief
    from anabranch.plans.worst_loads import WorstLoads

_MOST_YEARS: Final = 10
_COLORS: Final = {"today": "#0072B2", "planned": "#009E73"}
_TITLES: Final = {
    "growth": "Growth",
    "failures": "The worst failures",
    "capacity": "What to buy",
    "costs": "What to configure",
}


def save_brief_page(path: Path | str, brief: Brief) -> Path:
    """Writes the page into a file.

    Raises:
        ResultError: if it cannot be written.
    """
    return write_whole(Path(path), brief_page(brief).encode())


def brief_page(brief: Brief) -> str:
    """The page as HTML."""
    sections = []
    for table in brief_tables(brief):
        if table.name == "plan":
            # The cards have it.
            continue
        figures = []
        if table.name == "growth" and brief.growth_a_year:
            note = "The dashed line is a full link. Routes are those of today's traffic." + _above(brief)
            figures = [picture("The highest load by year", _growth(brief, brief.growth_a_year), note=note)]
        sections.append(Section(table.name, _TITLES[table.name], [], [table], figures, figures_first=True))
    method = Section(
        "method",
        "How to read the numbers",
        [
            "Nothing is simulated. The load of a link is the traffic over its capacity, for "
            f"{_traffic(brief.present)}. After a failure routers find new routes. Above 100 % traffic is "
            "lost, or "
            "senders slow down. Failures that come together, and prices of work, are not in it.",
        ],
    )
    lead = [*brief_words(brief), *(f"Note: {warning}" for warning in brief.warnings)]
    title = f"{brief.present.title or 'A network'}: what breaks, when it is full, what to do"
    return page(Article(title, lead, brief_cards(brief), [*sections, method]))


def _traffic(loads: WorstLoads) -> str:
    if loads.matrix_name is None:
        return "the worst traffic matrix within the bounds of [routing.demand]"
    return f"the traffic matrix {loads.matrix_name}"


def _top(brief: Brief) -> float:
    """The highest load that the picture of growth has room for."""
    return max(2.0, min(4.0, 1.5 * max(loads.max_load for _, loads in brief.states)))


def _above(brief: Brief) -> str:
    """A sentence on the lines that begin above the picture; empty without any."""
    above = [f"{label} ({percent(load)})" for load, _, label, _ in _lines(brief) if load > _top(brief)]
    return f" Above the picture from the beginning: {'; '.join(above)}." if above else ""


def _lines(brief: Brief) -> Iterator[tuple[float, str, str, str]]:
    """Load today, look, label and colour of each line."""
    for when, loads in brief.states:
        up = "all links up" if not loads.out_of_service else "no failure"
        yield loads.max_load, "-", f"{when}, {up}", _COLORS[when]
        if loads.worst_failure is not None:
            yield loads.worst_failure.load, ":", f"{when}, worst failure", _COLORS[when]


def _growth(brief: Brief, growth: float) -> Figure:
    """Lines of the highest load over the years, without a failure and in the worst one."""
    years = np.linspace(0, _MOST_YEARS, 101)
    with styled():
        figure = Figure(figsize=(7.2, 2.8), layout="constrained")
        axes = figure.subplots()
        for load, line, label, color in _lines(brief):
            if load <= _top(brief):
                axes.plot(years, 100 * load * (1 + growth) ** years, line, color=color, label=label)
        axes.axhline(100, color="#404040", linewidth=1.0, linestyle="--")
        axes.set_xlim(0, _MOST_YEARS)
        axes.set_ylim(0, 100 * _top(brief))
        axes.set_xlabel("years from now")
        axes.set_ylabel("highest load in %")
        figure.legend(loc="outside lower center", ncols=4)
    return figure
