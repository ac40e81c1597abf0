"""``report.html`` of a paper: a section for each figure, with its findings, tables and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from anabranch.report.sections import (
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
from anabranch_publications.papers.findings import KINDS, Counts, Finding, Kind, Verdict, explained
from anabranch_publications.papers.model import FigureResult

if TYPE_CHECKING:
    from anabranch_publications.papers.reproduce import Reproduction

_TONES: Mapping[Verdict, tuple[str, Tone]] = {
    "agrees": ("agrees", "good"),
    "differs as predicted": ("differs as predicted", "known"),
    "differs": ("differs", "bad"),
}

FINDING_COLUMNS = (
    PageColumn("what"),
    PageColumn("of", choices=True),
    PageColumn("published"),
    PageColumn("ours"),
    PageColumn("ratio", numeric=True),
    PageColumn("agrees if"),
    PageColumn("verdict", choices=True),
    PageColumn("predicted, by what; or what is suspected"),
)
"""What is said of each finding."""


def finding_cells(finding: Finding) -> list[Cell]:
    """A finding, as :data:`FINDING_COLUMNS` has it."""
    badge = Badge(*_TONES[finding.verdict])
    return [
        finding.what,
        finding.kind,
        finding.published,
        finding.ours,
        finding.ratio,
        finding.judged,
        badge,
        explained(finding),
    ]


def count_cards(counts: Counts) -> list[PageCard]:
    """The printed claims by verdict; then the other kinds, which count for themselves."""
    printed = counts["printed"]
    total = sum(printed.values())

    def card(label: str, verdict: Verdict) -> PageCard:
        share = f"{100 * printed[verdict] / total:.0f} %" if total else ""
        return PageCard(label, str(printed[verdict]), share)

    def own(kind: Kind) -> PageCard:
        agree, all_of_them = counts[kind]["agrees"], sum(counts[kind].values())
        return PageCard(KINDS[kind].capitalize(), str(all_of_them), f"{agree} of them agree")

    return [
        PageCard("Printed claims", str(total), "numbers and statements"),
        card("Agree", "agrees"),
        card("Differ as predicted", "differs as predicted"),
        card("Differ", "differs"),
        own("fitted"),
        own("bound"),
        own("question"),
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
