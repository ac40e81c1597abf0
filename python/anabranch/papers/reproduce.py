"""Reproducing a paper: its figures, one after the other, and the folder that keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from anabranch import _core
from anabranch.errors import Problem, ReproductionError
from anabranch.papers.model import Context, FigureResult, Finding, Paper, Verdict
from anabranch.report.files import write_whole
from anabranch.report.style import save_figure
from anabranch.topology import suggest

VERDICTS: tuple[Verdict, ...] = ("agrees", "differs, and it is known why", "differs")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A paper's figures as they came out."""

    paper: Paper
    quick: bool
    figures: tuple[FigureResult, ...]

    def counts(self) -> dict[Verdict, int]:
        """Findings by verdict."""
        verdicts = [finding.verdict for figure in self.figures for finding in figure.findings]
        return {verdict: verdicts.count(verdict) for verdict in VERDICTS}

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "paper": self.paper.key,
            "title": self.paper.title,
            "source": self.paper.source,
            "version": _core.version(),
            "quick": self.quick,
            "counts": self.counts(),
            "figures": [
                {
                    "figure": figure.key,
                    "title": figure.title,
                    "note": figure.note,
                    "findings": [
                        {
                            "what": finding.what,
                            "published": finding.published,
                            "ours": finding.ours,
                            "ratio": finding.ratio,
                            "verdict": finding.verdict,
                            "reason": finding.reason,
                        }
                        for finding in figure.findings
                    ],
                }
                for figure in self.figures
            ],
        }

    def markdown(self, images: Mapping[str, Sequence[str]] | None = None) -> str:
        """One page: every published number or statement, ours, and a verdict.

        Args:
            images: files to show below each figure's table, by its key.
        """
        counts = "; ".join(f"{count} {verdict}" for verdict, count in self.counts().items())
        lines = [
            f"# {self.paper.title}",
            "",
            f"{self.paper.source}. Anabranch {_core.version()}{', quick' if self.quick else ''}: {counts}.",
        ]
        for figure in self.figures:
            lines += ["", f"## {_heading(figure)}", ""]
            if figure.note:
                lines += [figure.note, ""]
            if figure.findings:
                lines += ["| what | published | ours | verdict |", "|---|---|---|---|"]
                lines += [_row(finding) for finding in figure.findings]
            for title, table in figure.shown.items():
                lines += ["", f"{title}:", "", *_markdown(table)]
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
    ``README.md`` and ``summary.json`` over all of them; those of a single figure are in its own folder, so
    that they do not take the place of all the others'.

    Raises:
        ReproductionError: if the paper has no such figure.
        AnabranchError: if a study of it cannot be run.
    """
    specs = paper.figures
    if figure is not None:
        found = paper.figure(figure)
        if found is None:
            keys = [spec.key for spec in paper.figures]
            near = suggest(figure, keys)
            hint = f'nearest: "{near}"; ' if near else ""
            raise ReproductionError(
                [
                    Problem(
                        "figure", f'{paper.key} has no figure "{figure}"; {hint}there are {", ".join(keys)}'
                    )
                ]
            )
        specs = (found,)
    results: list[FigureResult] = []
    images: dict[str, list[str]] = {}
    for spec in specs:
        if announce is not None:
            announce(f"{spec.key}  {spec.title}")
        result = spec.make(context)
        images[result.key] = _write(result, context.folder / f"figure-{result.key}")
        results.append(result)
    outcome = Reproduction(paper, context.quick, tuple(results))
    folder = context.folder
    if figure is not None:
        folder /= f"figure-{results[0].key}"
    else:
        images = {key: [f"figure-{key}/{name}" for name in names] for key, names in images.items()}
    write_whole(folder / "README.md", outcome.markdown(images).encode())
    text = json.dumps(outcome.data(), indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / "summary.json", f"{text}\n".encode())
    return outcome


def _write(result: FigureResult, own: Path) -> list[str]:
    """Writes the data and the figures of one figure into its folder; returns its images."""
    for name, table in result.tables.items():
        write_whole(own / f"{name}.csv", table.write_csv().encode())
    images = []
    for name, drawn in result.figures.items():
        for extension in ("png", "svg"):
            save_figure(drawn, own / f"{name}.{extension}")
        images.append(f"{name}.png")
    return images


def _heading(figure: FigureResult) -> str:
    return (
        f"Figure {figure.key}: {figure.title}"
        if figure.key[:1].isdigit() or "." in figure.key
        else figure.title
    )


def _markdown(table: pl.DataFrame) -> list[str]:
    def text(value: object) -> str:
        return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

    rows = [[text(value) for value in row] for row in table.iter_rows()]
    aligned = ["---:" if dtype.is_numeric() else "---" for dtype in table.dtypes]
    return ["| " + " | ".join(cells) + " |" for cells in ([*table.columns], aligned, *rows)]


def _row(finding: Finding) -> str:
    known = finding.reason if finding.verdict != "agrees" else ""
    verdict = f"{finding.verdict}: {known}" if known else finding.verdict
    cells = (finding.what, finding.published, finding.ours, verdict)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
