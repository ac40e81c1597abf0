"""Reproducing a paper: its figures, one after the other, and the folder that keeps them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anabranch import __version__
from anabranch.errors import Problem
from anabranch.media.markdown import table_lines
from anabranch.media.page import REPORT
from anabranch.report.style import save_figure
from anabranch.results.folders import Addition, adding, write_whole
from anabranch.results.result import csv_bytes
from anabranch.scenario.unknown import unknown_choice
from anabranch_publications.errors import ReproductionError
from anabranch_publications.papers.findings import (
    Counts,
    count_findings,
    finding_data,
    finding_of,
    sentence,
    text_of,
)
from anabranch_publications.papers.model import Context, FigureResult, FigureSpec, Paper
from anabranch_publications.papers.paper_page import save_paper_page, shown_table, worded_table

SUMMARY = "summary.json"
"""Name of the file of a folder that holds its findings."""
FOLDER_KIND = "reproduction"
"""What the manifest of a paper's folder calls it."""


FORMAT = 4
"""Of ``summary.json``. 1 had verdicts that a text alone could change; 2 counted numbers that the set-up was
fitted to among the printed claims."""


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A paper's figures as they came out."""

    paper: Paper
    quick: bool
    figures: tuple[FigureResult, ...]
    failed: str = ""
    """Why it came to no end, if it did not."""
    version: str = field(default=__version__)
    """Of Anabranch, which made it."""
    date: str = field(default_factory=_today)
    """When, as ``YYYY-MM-DD`` (UTC); empty if that is not known."""

    def counts(self) -> Counts:
        """Findings by kind and verdict."""
        return count_findings(finding for figure in self.figures for finding in figure.findings)

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "format": FORMAT,
            "paper": self.paper.key,
            "title": self.paper.title,
            "source": self.paper.source,
            "version": self.version,
            "date": self.date,
            "quick": self.quick,
            "failed": self.failed,
            "counts": self.counts(),
            "figures": [
                {
                    "figure": figure.key,
                    "title": figure.title,
                    "note": figure.note,
                    "findings": [finding_data(finding) for finding in figure.findings],
                }
                for figure in self.figures
            ],
        }

    @classmethod
    def from_data(cls, paper: Paper, data: Mapping[str, Any]) -> Reproduction:
        """The findings of a ``summary.json``, without the tables and figures beside it.

        Raises:
            KeyError: if something is missing.
            ValueError: if it is another paper's or an older version's, a verdict is none, or what made a
                prediction is no longer there.
        """
        if data["paper"] != paper.key:
            raise ValueError(f'it is of the paper "{data["paper"]}"')
        if data.get("format") != FORMAT:
            raise ValueError(f"Anabranch {data.get('version')} wrote it, whose verdicts were of another kind")
        if not isinstance(data["quick"], bool):
            raise ValueError("quick is neither true nor false")  # noqa: TRY004 - the file is wrong
        figures = [
            FigureResult(
                text_of(figure, "figure"),
                text_of(figure, "title"),
                tuple(finding_of(row) for row in figure["findings"]),
                note=text_of(figure, "note"),
            )
            for figure in data["figures"]
        ]
        return cls(
            paper,
            data["quick"],
            tuple(figures),
            failed=text_of({"failed": "", **data}, "failed"),
            version=text_of(data, "version"),
            date=text_of({"date": "", **data}, "date"),
        )

    def save(self, folder: Path) -> Path:
        """Writes ``summary.json``.

        Raises:
            ResultError: if it cannot be written.
        """
        text = json.dumps(self.data(), indent=2, ensure_ascii=False, allow_nan=False)
        return write_whole(folder / SUMMARY, f"{text}\n".encode())

    def markdown(self, images: Mapping[str, Sequence[str]] | None = None) -> str:
        """One page: every published number or statement, ours, and a verdict.

        Args:
            images: files to show below each figure's table, by its key.
        """
        lines = [
            f"# {self.paper.title}",
            "",
            f"{self.paper.source}. Anabranch {self.version}{', quick' if self.quick else ''}, {self.date}: "
            f"{sentence(self.counts())}.",
        ]
        for figure in self.figures:
            lines += ["", f"## {figure.heading}", ""]
            if figure.note:
                lines += [figure.note, ""]
            if figure.findings:
                findings = worded_table([(figure, one) for one in figure.findings])
                lines += table_lines(findings.without("figure", "ratio"))
            for title, table in figure.shown.items():
                lines += ["", f"{title}:", "", *table_lines(shown_table(title, table))]
            for image in (images or {}).get(figure.key, ()):
                lines += ["", f"![{figure.title}]({image})"]
        return "\n".join(lines) + "\n"


def reproduce(
    paper: Paper,
    figure: str | None,
    context: Context,
    *,
    announce: Callable[[str], None] | None = None,
) -> Reproduction:
    """Reproduces a paper, or one figure of it, in the context's folder.

    The folder gets a folder for each figure with its data (CSV) and its figures (PNG and SVG), and
    ``report.html``, ``README.md`` and ``summary.json`` over all of them; those of a single figure are in its
    own folder, so that they do not take the place of all the others'.

    Args:
        paper: which.
        figure: the key of one figure; all of them if None.
        context: where, how much of it, on how many processes.
        announce: hears of each figure before it is made, and with ``quick`` how long it took.

    Raises:
        ReproductionError: if the paper has no such figure.
        ResultError: if the folder has files that Anabranch did not write, or cannot be written.
        AnabranchError: if a study of it cannot be run.
    """
    specs = _chosen(paper, figure)
    with opened(paper, figure, context.folder, replace=context.replace) as place:
        outcome = _made(paper, specs, figure, context, place.partial, announce or (lambda _: None))
        place.put()
    return outcome


def opened(
    paper: Paper, figure: str | None, folder: Path, *, replace: bool
) -> AbstractContextManager[Addition]:
    """The folder of a paper, which gets its pages and figures, or those of one figure."""
    pages = ("README.md", REPORT, SUMMARY)
    figures = [spec.key for spec in paper.figures if figure is None or spec.key == figure]
    claims = (*(pages if figure is None else ()), *(f"figure-{key}/" for key in figures))
    return adding(folder, FOLDER_KIND, claims, replace=replace)


def _chosen(paper: Paper, figure: str | None) -> Sequence[FigureSpec]:
    """The figures that are to be made.

    Raises:
        ReproductionError: if the paper has no such figure.
    """
    if figure is not None:
        chosen = paper.figure(figure)
        if chosen is None:
            keys = [spec.key for spec in paper.figures]
            raise ReproductionError([Problem(f"figure of {paper.key}", unknown_choice(figure, keys))])
        return (chosen,)
    return paper.figures


def _made(
    paper: Paper,
    specs: Sequence[FigureSpec],
    figure: str | None,
    context: Context,
    folder: Path,
    say: Callable[[str], None],
) -> Reproduction:
    """Makes figures, and writes them and their pages into a folder."""
    results: list[FigureResult] = []
    images: dict[str, list[str]] = {}
    for spec in specs:
        say(f"{spec.key}  {spec.title}")
        began = time.perf_counter()
        result = spec.make(context)
        images[result.key] = _write(result, folder / f"figure-{result.key}")
        results.append(result)
        if context.quick:
            say(f"    {time.perf_counter() - began:.1f} s")
    outcome = Reproduction(paper, context.quick, tuple(results))
    if figure is not None:
        folder /= f"figure-{results[0].key}"
    else:
        images = {key: [f"figure-{key}/{name}" for name in names] for key, names in images.items()}
    write_whole(folder / "README.md", outcome.markdown(images).encode())
    save_paper_page(outcome, folder, images)
    outcome.save(folder)
    return outcome


def _write(result: FigureResult, place: Path) -> list[str]:
    """Writes the data and the figures of one figure into its folder; returns its images."""
    for name, table in result.tables.items():
        write_whole(place / f"{name}.csv", csv_bytes(table))
    images = []
    for name, drawn in result.figures.items():
        for extension in ("png", "svg"):
            save_figure(drawn, place / f"{name}.{extension}")
        images.append(f"{name}.png")
    return images
