"""Reproductions on a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from anabranch.console import plain_table, print_table
from anabranch_publications.papers.findings import KINDS, VERDICTS, Counts, sentence
from anabranch_publications.papers.overview import Overview, origin
from anabranch_publications.papers.reproduce import Reproduction


def show_reproduction(console: Console, outcome: Reproduction, folder: Path) -> None:
    """Every published number or statement beside ours, with a verdict; then the counts."""
    for figure in outcome.figures:
        table = plain_table(f"{figure.key}  {figure.title}")
        for name in ("what", "of", "published", "ours", "verdict"):
            table.add_column(name)
        for finding in figure.findings:
            table.add_row(
                *(
                    Text(text)
                    for text in (
                        finding.what,
                        finding.kind,
                        finding.published,
                        finding.ours,
                        finding.verdict,
                    )
                )
            )
        if figure.findings:
            print_table(console, table)
    console.print(Text(f"{outcome.paper.key}: {sentence(outcome.counts())}"))
    console.print(Text(f"data, figures and predictions in {folder}"))


_COUNT_HEADINGS = (
    "printed",
    "agree",
    "as predicted",
    "differ",
    *(kind for kind in KINDS if kind != "printed"),
)
"""The printed claims by verdict, then the other kinds: a terminal has no room for more."""


def _count_texts(counts: Counts) -> list[str]:
    """Counts under :data:`_COUNT_HEADINGS`; of the other kinds how many agree, of how many."""
    printed = counts["printed"]
    others = (counts[kind] for kind in KINDS if kind != "printed")
    return [
        *map(str, (sum(printed.values()), *(printed[verdict] for verdict in VERDICTS))),
        *(f"{verdicts['agrees']}/{sum(verdicts.values())}" for verdicts in others),
    ]


def show_overview(console: Console, overview: Overview, folder: Path) -> None:
    """The counts over the papers, with those that failed."""
    table = plain_table("The publications, printed beside ours")
    for name in ("paper", "made by"):
        table.add_column(name, overflow="fold")
    for name in _COUNT_HEADINGS:
        table.add_column(name, justify="right")
    for paper, outcome in zip(overview.papers, overview.outcomes, strict=True):
        done = outcome is not None and not outcome.failed
        counts = (
            _count_texts(outcome.counts()) if outcome is not None and done else ["-"] * len(_COUNT_HEADINGS)
        )
        table.add_row(Text(paper.key), Text(origin(outcome)), *counts)
    table.add_row("all", "", *_count_texts(overview.counts()))
    print_table(console, table)
    console.print(Text(f"every number with its verdict in {folder / 'report.html'}"))
