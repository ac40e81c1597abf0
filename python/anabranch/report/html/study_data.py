"""The data of the page of a study: cards, a figure for each metric, the table of cells."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import polars as pl

from anabranch.media.pieces import Card
from anabranch.report.html.encode import column, words
from anabranch.report.html.study_svg import metric_figure
from anabranch.report.study_table import axis_title, failed_runs, interval_words, is_continuous
from anabranch.units import quantity, suited_label
from anabranch.views.outcome import StudyOutcome

_MOST_REASONS = 20


def study_document(result: StudyOutcome) -> dict[str, Any]:
    """Everything on the page of a study."""
    failed = failed_runs(result.runs)
    reasons = failed.group_by("reason", maintain_order=True).len().head(_MOST_REASONS)
    figures = [metric_figure(result, metric) for metric in result.metrics]
    return {
        "kind": "study",
        "title": result.title or "A study",
        "cards": [asdict(card) for card in _cards(result, failed.height)],
        "facts": [],
        "warnings": list(result.warnings),
        "failed": [[reason or "", count] for reason, count in reasons.iter_rows()],
        "figures": figures,
        "intervals": " ".join(_explained(result, figures)),
        "cells": {"rows": result.cells.height, "columns": _cell_columns(result)},
    }


def _cards(result: StudyOutcome, failed: int) -> list[Card]:
    replications = f"{quantity(result.replications)} replications each"
    return [
        Card("Runs", quantity(result.runs.height), f"{_live(result)}{quantity(failed)} failed"),
        Card("Cells", quantity(result.cells.height), replications),
        *(
            Card("Factor", factor.label, f"{quantity(len(factor.levels))} levels")
            for factor in result.factors
        ),
    ]


def _explained(result: StudyOutcome, figures: list[dict[str, Any]]) -> list[str]:
    """What bars and arrows at points are."""
    intervals = any(figure["intervals"] for figure in figures)
    bounds = any(figure["bounds"] for figure in figures)
    return [
        *([f"Intervals: {interval_words(result)}."] if intervals else []),
        *(["Arrows: more than that, since flows are unfinished."] if bounds else []),
    ]


def _live(result: StudyOutcome) -> str:
    """How many runs were live, if any."""
    if not result.live:
        return ""
    # A study beside its simulation has a factor that says which were.
    beside = "hosts" in result.runs.columns
    count = result.runs.filter(pl.col("hosts") == "live").height if beside else result.runs.height
    return f"{quantity(count)} live, "


def _cell_columns(result: StudyOutcome) -> list[dict[str, Any]]:
    cells = result.cells
    found: list[dict[str, Any]] = []
    for factor in result.factors:
        if is_continuous(factor):
            found.append(_numbers(cells[factor.name], factor.name, axis_title(factor)))
        else:
            found.append({"heading": factor.label, **words([str(level) for level in cells[factor.name]])})
    found += [_numbers(cells["runs"], "runs", "runs"), _numbers(cells["failed"], "failed", "failed")]
    for metric in result.metrics:
        bounds = [f"{metric.name}_more_than"] if metric.censored else []
        most = max(float(cells[name].abs().max() or 0.0) for name in (metric.name, *bounds))  # type: ignore[arg-type]
        scale, label = suited_label(metric.label, most)
        found.append(_numbers(cells[metric.name], metric.name, label, scale))
        endings = [("_ci", "±"), ("_min", "min"), ("_max", "max")]
        endings += [("_more_than", "more than")] if metric.censored else []
        for ending, heading in endings:
            name = f"{metric.name}{ending}"
            if cells[name].null_count() < cells.height:
                found.append(_numbers(cells[name], name, heading, scale))
        if metric.censored:
            counts = {f"{metric.name}_done": "flows done", f"{metric.name}_flows": "of flows"}
            found += [_numbers(cells[name], name, heading) for name, heading in counts.items()]
    return found


def _numbers(values: pl.Series, key: str, heading: str, factor: float = 1.0) -> dict[str, Any]:
    return {"key": key, "heading": heading, "unit": "", "factor": factor, "data": column(values, "f8")}
