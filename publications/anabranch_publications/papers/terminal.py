"""Reproductions on a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from anabranch.console import plain_table, print_table
from anabranch_publications.papers.overview import Overview, origin
from anabranch_publications.papers.reproduce import Reproduction


def show_reproduction(console: Console, outcome: Reproduction, folder: Path) -> None:
    """Every published number or statement beside ours, with a verdict; then the counts."""
    for figure in outcome.figures:
        table = plain_table(f"{figure.key}  {figure.title}")
        for name in ("what", "published", "ours", "verdict"):
            table.add_column(name)
        for finding in figure.findings:
            table.add_row(
                *(Text(text) for text in (finding.what, finding.published, finding.ours, finding.verdict))
            )
        if figure.findings:
            print_table(console, table)
    agree, known, unknown = outcome.counts().values()
    counts = (
        f"{agree} {'agrees' if agree == 1 else 'agree'}, "
        f"{known} {'differs' if known == 1 else 'differ'} for a reason that is known, "
        f"{unknown} {'differs' if unknown == 1 else 'differ'} without one"
    )
    console.print(Text(f"{outcome.paper.key}: {counts}"))
    console.print(Text(f"data, figures and reasons in {folder}"))


def show_overview(console: Console, overview: Overview, folder: Path) -> None:
    """The counts over the papers, with those that failed."""
    table = plain_table("The publications, printed beside ours")
    for name in ("paper", "made by"):
        table.add_column(name, overflow="fold")
    for name in ("agree", "differ, known why", "differ"):
        table.add_column(name, justify="right")
    for paper, outcome in zip(overview.papers, overview.outcomes, strict=True):
        counts = outcome.counts().values() if outcome is not None and not outcome.failed else "---"
        table.add_row(Text(paper.key), Text(origin(outcome)), *(str(count) for count in counts))
    table.add_row("all", "", *(str(count) for count in overview.counts().values()))
    print_table(console, table)
    console.print(Text(f"every number with its reason in {folder / 'report.html'}"))
