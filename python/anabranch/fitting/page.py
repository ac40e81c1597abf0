"""The page of a fit: measured beside simulated, the models that were tried, what cannot be told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from anabranch.fitting.features import Features
from anabranch.fitting.outcome import Fit
from anabranch.fitting.tables import (
    held_out_table,
    live_table,
    model_table,
    parameter_table,
    residual_table,
    sentence,
)
from anabranch.fitting.writing import SCENARIO, estimate_words, label, scenario_text
from anabranch.media.page.sections import save_page
from anabranch.media.pieces import Article, Card, Section
from anabranch.report.style import picture, styled

if TYPE_CHECKING:
    from anabranch.fitting.exchange import Numbers

_MEASURED, _SIMULATED = "#0072B2", "#D55E00"
_STEPS = 150
_LEAST_STEP_S = 0.1
_CARDS = 4


def save_fit_page(fit: Fit, folder: Path | str) -> Path:
    """Writes ``report.html`` into a folder.

    Raises:
        ResultError: if it cannot be written.
    """
    return save_page(folder, fit_article(fit))


def fit_article(fit: Fit) -> Article:
    """The page as data."""
    lead = [
        sentence(fit.verdict),
        f"The path below was inferred from {', '.join(fit.names)}, made by {fit.transport}; "
        f"{SCENARIO} beside this page is the scenario, and runs as it is.",
    ]
    cards = [Card(label(one.name), estimate_words(one).partition(" (")[0]) for one in fit.ranges[:_CARDS]]
    if fit.score is not None:
        cards.append(Card("misfit", f"{fit.score:.2f}", "explained" if fit.is_explained else "not explained"))
    sections = [
        Section("path", "The path", (), [parameter_table(fit)]),
        *_over_time(fit),
        Section("unknown", "What cannot be told", _unknown(fit)),
        *([Section("held", "Held out", (), [held_out_table(fit)])] if fit.held_out else []),
        *([Section("live", "By the kernel", [_BY_KERNEL], [live_table(fit)])] if fit.live else []),
        Section("models", "Models", [_MODELS], [model_table(fit), residual_table(fit)]),
        Section("notes", "Notes", [*map(sentence, fit.notes), f"{fit.runs} simulations."]),
        Section("scenario", "Scenario", file=scenario_text(fit)),
    ]
    return Article(f"Fit to {', '.join(fit.names)}", lead, cards, sections)


_BY_KERNEL = (
    "The transfer was made again over the fitted path, between real hosts; losses that were replayed in the "
    "simulation were replayed here. Differences are those of the kernel from the measurement."
)
_MODELS = (
    "Each kind of path of which the measurement has a sign was simulated; the best three were refined. The "
    "misfit is the mean square of the comparisons in standard errors; what a model takes from the "
    "measurement costs ln(m)/m for each number beyond three, of m comparisons."
)


def _unknown(fit: Fit) -> list[str]:
    if not fit.unknown:
        return ["The measurement leaves nothing open but the ranges above."]
    return [sentence(one) for one in fit.unknown]


def _over_time(fit: Fit) -> list[Section]:
    """Goodput, round-trip times, losses and retransmissions of both, and all round-trip times."""
    if fit.measured is None:
        return []
    step_s = max(_LEAST_STEP_S, fit.duration_s / _STEPS)
    parts: list[tuple[str, str, Callable[[Features], Numbers]]] = [
        ("Goodput", "Mbps", lambda one: one.series_mbps(step_s)),
        ("Round-trip time", "ms", lambda one: one.rtt_series_ms(step_s)),
        ("Lost packets", "all until then", lambda one: _lost(one, step_s)),
        ("Retransmissions", "all until then", lambda one: np.cumsum(one.loss_series(step_s))),
    ]
    with styled():
        figures = [
            picture(f"{title}, measured and simulated", _lines(fit, title, unit, of, step_s))
            for title, unit, of in parts
        ]
        figures.append(picture("Distribution of round-trip times", _distribution(fit)))
    words = [
        "Of the largest flow. Random losses are replayed in the simulation, so that both lose the same "
        "packets; what the queue drops is the simulation's own."
    ]
    if fit.simulated is None:
        words.append("Nothing got through in the simulation.")
    return [Section("time", "Measured beside simulated", words, figures=figures)]


def _lost(one: Features, step_s: float) -> Numbers:
    edges = np.arange(0.0, one.duration_s + 1e-9, step_s)
    counts = np.histogram(one.flow.sent_s[one.flow.is_lost], edges)[0]
    return np.asarray(np.cumsum(counts), float)


def _lines(fit: Fit, title: str, unit: str, of: Callable[[Features], Numbers], step_s: float) -> Figure:
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.subplots()
    for one, colour, name, dash in _both(fit):
        values = of(one)
        axes.plot((np.arange(values.size) + 1) * step_s, values, dash, color=colour, label=name)
    axes.set_xlabel("time in s")
    axes.set_ylabel(f"{title.lower()} in {unit}" if unit in ("Mbps", "ms") else f"{title.lower()}, {unit}")
    axes.set_ylim(bottom=0)
    axes.legend(loc="best")
    return figure


def _distribution(fit: Fit) -> Figure:
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.subplots()
    for one, colour, name, dash in _both(fit):
        shares = np.linspace(0, 100, 201)
        axes.plot(np.percentile(one.rtt_ms, shares), shares, dash, color=colour, label=name)
    axes.set_xlabel("round-trip time in ms")
    axes.set_ylabel("at most so long, in %")
    axes.legend(loc="best")
    return figure


def _both(fit: Fit) -> list[tuple[Features, str, str, str]]:
    both = [(fit.measured, _MEASURED, "measured", "-"), (fit.simulated, _SIMULATED, "simulated", "--")]
    return [
        (one, colour, name, dash) for one, colour, name, dash in both if one is not None and one.rtt_ms.size
    ]
