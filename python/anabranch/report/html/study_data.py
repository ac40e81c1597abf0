"""The data of the page of a study: cards, a figure for each metric, the table of cells."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from anabranch.media.page.data import table_data
from anabranch.report.html.study_svg import metric_figure
from anabranch.report.views.outcome import StudyOutcome
from anabranch.report.views.study import cell_table, study_cards
from anabranch.report.views.study_table import failed_runs, interval_words

_MOST_REASONS = 20


def study_document(result: StudyOutcome) -> dict[str, Any]:
    """Everything on the page of a study."""
    failed = failed_runs(result.runs)
    reasons = failed.group_by("reason", maintain_order=True).len().head(_MOST_REASONS)
    figures = [metric_figure(result, metric) for metric in result.metrics]
    return {
        "kind": "study",
        "title": result.title or "A study",
        "cards": [asdict(card) for card in study_cards(result)],
        "facts": [],
        "warnings": list(result.warnings),
        "failed": [[reason or "", count] for reason, count in reasons.iter_rows()],
        "figures": figures,
        "intervals": " ".join(_explained(result, figures)),
        "cells": table_data(cell_table(result)),
    }


def _explained(result: StudyOutcome, figures: list[dict[str, Any]]) -> list[str]:
    """What bars and arrows at points are."""
    intervals = any(figure["intervals"] for figure in figures)
    bounds = any(figure["bounds"] for figure in figures)
    return [
        *([f"Intervals: {interval_words(result)}."] if intervals else []),
        *(["Arrows: more than that, since flows are unfinished."] if bounds else []),
    ]
