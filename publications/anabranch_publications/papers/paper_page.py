"""``report.html`` of a paper: a section for each figure, with its findings, tables and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from anabranch.media.columns import Column
from anabranch.media.page.sections import save_page
from anabranch.media.pieces import Article, Badge, Card, Cell, DataTable, Section, Tone
from anabranch.report.style import picture
from anabranch_publications.papers.findings import (
    KINDS,
    Counts,
    Finding,
    Kind,
    Verdict,
    explained,
    verdict_text,
)
from anabranch_publications.papers.model import FigureResult

if TYPE_CHECKING:
    from anabranch_publications.papers.reproduce import Reproduction

_TONES: Mapping[Verdict, tuple[str, Tone]] = {
    "agrees": ("agrees", "good"),
    "differs as predicted": ("differs as predicted", "known"),
    "refuted": ("refuted", "known"),
    "differs": ("differs", "bad"),
}

_SHOWN = 9
FINDINGS = (
    Column("what", "what", priority=_SHOWN, folds=True),
    Column("of", "of", priority=_SHOWN),
    Column("published", "published", priority=_SHOWN),
    Column("ours", "ours", priority=_SHOWN),
    Column("ratio", "ratio", digits=3),
    Column("agrees_if", "agrees if"),
    Column("verdict", "verdict", priority=_SHOWN),
    Column("why", "predicted or refuted, by what; or what is suspected"),
)
"""What is said of each finding, in every medium."""
FINDING_CHOICES = ("of", "verdict")


def finding_cells(finding: Finding) -> list[Cell]:
    """A finding, as :data:`FINDINGS` has it."""
    badge = Badge(*_TONES[finding.verdict])
    return [
        finding.what, finding.kind, finding.published, finding.ours, finding.ratio, finding.judged, badge,
        explained(finding),
    ]  # fmt: skip


def finding_table(caption: str, findings: Sequence[Finding]) -> DataTable:
    """Findings one below the other."""
    rows = [finding_cells(finding) for finding in findings]
    return DataTable.of_rows(
        "findings",
        caption,
        FINDINGS,
        rows,
        choices=FINDING_CHOICES,
        searchable=len(rows) > 12,
        most=len(rows),
    )


def worded_table(findings: Sequence[tuple[FigureResult, Finding]]) -> DataTable:
    """Findings with their figures for a text, where the verdict says in words why it differs."""
    rows = [[figure.key, *finding_cells(one)[:-2], verdict_text(one)] for figure, one in findings]
    return DataTable.of_rows("findings", "Findings", (Column("figure", "figure"), *FINDINGS[:-1]), rows)


def shown_table(caption: str, frame: pl.DataFrame) -> DataTable:
    """A short table of a figure, with the names of its own columns."""
    columns = tuple(
        Column(name, name, digits=4 if dtype.is_numeric() else 0)
        for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
    )
    values = tuple(
        column if column.dtype.is_numeric() else column.cast(pl.String) for column in frame.get_columns()
    )
    return DataTable("shown", caption, columns, values)


def count_cards(counts: Counts) -> list[Card]:
    """The printed claims by verdict; then the other kinds, which count for themselves."""
    printed = counts["printed"]
    total = sum(printed.values())

    def card(label: str, verdict: Verdict) -> Card:
        share = f"{100 * printed[verdict] / total:.0f} %" if total else ""
        return Card(label, str(printed[verdict]), share)

    def own(kind: Kind) -> Card:
        agree, all_of_them = counts[kind]["agrees"], sum(counts[kind].values())
        return Card(KINDS[kind].capitalize(), str(all_of_them), f"{agree} of them agree")

    return [
        Card("Printed claims", str(total), "numbers and statements"),
        card("Agree", "agrees"),
        card("Differ as predicted", "differs as predicted"),
        card("Refuted", "refuted"),
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
    cards = count_cards(outcome.counts())
    return save_page(folder, Article(outcome.paper.title, [lead], cards, sections))


def _section(figure: FigureResult, images: Sequence[str]) -> Section:
    tables = []
    if figure.findings:
        tables.append(finding_table("Published and ours", figure.findings))
    tables += [shown_table(title, table) for title, table in figure.shown.items()]
    drawings = [
        picture(name.replace("_", " "), drawn, href=str(Path(image).with_suffix(".svg")))
        for (name, drawn), image in zip(figure.figures.items(), images, strict=True)
    ]
    return Section(figure.key, figure.heading, [figure.note] if figure.note else [], tables, drawings)
