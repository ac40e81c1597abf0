"""Reproductions as pieces, for a terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from anabranch.media.page import REPORT
from anabranch.media.pieces import Piece, Text
from anabranch_publications.papers.findings import sentence
from anabranch_publications.papers.overview import TITLE, Overview
from anabranch_publications.papers.paper_page import finding_table
from anabranch_publications.papers.reproduce import Reproduction


def reproduction_pieces(outcome: Reproduction, folder: Path) -> list[Piece]:
    """Every published number or statement beside ours, with a verdict; then the counts."""
    return [
        *(
            finding_table(f"{figure.key}  {figure.title}", figure.findings)
            for figure in outcome.figures
            if figure.findings
        ),
        Text(f"{outcome.paper.key}: {sentence(outcome.counts())}"),
        Text(f"data, figures and predictions in {folder}"),
    ]


def overview_pieces(overview: Overview, folder: Path) -> list[Piece]:
    """The counts over the papers, with those that failed."""
    table = overview.papers_table(REPORT).without("publication")
    names = [about.name for about in table.columns]
    ordered = table.only("paper", "made_by", *(name for name in names if name not in ("paper", "made_by")))
    return [
        replace(ordered, caption=TITLE),
        Text(f"every number with its verdict in {folder / REPORT}"),
    ]
