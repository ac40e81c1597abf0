"""``report.html`` of a paper: a section for each figure, with its findings, tables and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from anabranch_publications.papers.model import FigureResult, Finding, Verdict
from anabranch_publications.sections import (
    Badge,
    Cell,
    PageCard,
    PageColumn,
    PageFigure,
    PageTable,
    Section,
    Tone,
    save_page,
)

if TYPE_CHECKING:
    from anabranch_publications.papers.reproduce import Reproduction

_TONES: Mapping[Verdict, tuple[str, Tone]] = {
    "agrees": ("agrees", "good"),
    "differs, and it is known why": ("differs, known why", "known"),
    "differs": ("differs", "bad"),
}

FINDING_COLUMNS = (
    PageColumn("what"),
    PageColumn("published"),
    PageColumn("ours"),
    PageColumn("ratio", numeric=True),
    PageColumn("verdict", choices=True),
    PageColumn("reason, or how it was read"),
)
"""What is said of each finding."""


def finding_cells(finding: Finding) -> list[Cell]:
    """A finding, as :data:`FINDING_COLUMNS` has it."""
    badge = Badge(*_TONES[finding.verdict])
    return [finding.what, finding.published, finding.ours, finding.ratio, badge, finding.reason]


def count_cards(counts: Mapping[Verdict, int]) -> list[PageCard]:
    """How many were compared, and how many of them have each verdict."""
    total = sum(counts.values())

    def card(label: str, verdict: Verdict) -> PageCard:
        share = f"{100 * counts[verdict] / total:.0f} %" if total else ""
        return PageCard(label, str(counts[verdict]), share)

    return [
        PageCard("Compared", str(total), "numbers and statements"),
        card("Agree", "agrees"),
        card("Differ, known why", "differs, and it is known why"),
        card("Differ without a reason", "differs"),
    ]


def save_paper_page(outcome: Reproduction, folder: Path, images: Mapping[str, Sequence[str]]) -> Path:
    """Writes ``report.html``.

    Args:
        outcome: the paper, with its tables and figures.
        folder: where.
        images: the files of each figure, relative to the folder, by its key.

    Raises:
        ResultError: if it cannot be written.
    """
    extent = "a quick run (fewer levels and replications)" if outcome.quick else "a full run"
    lead = f"{outcome.paper.source}. What it prints beside what came out here on {outcome.date}, in {extent}."
    sections = [_section(figure, images.get(figure.key, ())) for figure in outcome.figures]
    return save_page(folder, outcome.paper.title, lead, count_cards(outcome.counts()), sections)


def _section(figure: FigureResult, images: Sequence[str]) -> Section:
    tables = []
    if figure.findings:
        rows = [finding_cells(finding) for finding in figure.findings]
        tables.append(PageTable("Published and ours", FINDING_COLUMNS, rows, searchable=len(rows) > 12))
    tables += [_shown(title, table) for title, table in figure.shown.items()]
    drawings = [
        PageFigure.of(name.replace("_", " "), drawn, href=str(Path(image).with_suffix(".svg")))
        for (name, drawn), image in zip(figure.figures.items(), images, strict=True)
    ]
    return Section(figure.key, figure.heading, [figure.note] if figure.note else [], tables, drawings)


def _shown(title: str, table: pl.DataFrame) -> PageTable:
    columns = [
        PageColumn(name, numeric=dtype.is_numeric())
        for name, dtype in zip(table.columns, table.dtypes, strict=True)
    ]
    rows = [
        [
            value if value is None or column.numeric else str(value)
            for value, column in zip(row, columns, strict=True)
        ]
        for row in table.iter_rows()
    ]
    return PageTable(title, columns, rows)
