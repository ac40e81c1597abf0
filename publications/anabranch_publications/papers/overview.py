"""All publications on one page: every published number, ours, the ratio and a verdict; the counts on top."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from anabranch import __version__
from anabranch.errors import AnabranchError
from anabranch.media.columns import Column
from anabranch.media.markdown import article_text
from anabranch.media.page import REPORT
from anabranch.media.page.sections import save_page
from anabranch.media.palette import PALETTE
from anabranch.media.pieces import Article, Cell, DataTable, Link, Section
from anabranch.media.pieces import Figure as Picture
from anabranch.report.style import figure_bytes, styled
from anabranch.results.folders import Addition, adding, read_inside, write_whole
from anabranch.results.stored import read_json
from anabranch_publications.papers.findings import (
    KINDS,
    VERDICTS,
    Counts,
    Verdict,
    count_findings,
    sentence,
)
from anabranch_publications.papers.model import Context, FigureResult, Paper
from anabranch_publications.papers.paper_page import (
    FINDING_CHOICES,
    FINDINGS,
    count_cards,
    finding_cells,
    worded_table,
)
from anabranch_publications.papers.reproduce import FORMAT, SUMMARY, Reproduction, opened, reproduce

TITLE = "The publications, printed beside ours"
_RATIOS = "ratios"
"""Name of the files of the figure, without their endings."""
FOLDER_KIND = "reproductions"
"""What the manifest of the folder of all papers calls it."""
FILES = ("README.md", REPORT, SUMMARY, f"{_RATIOS}.png", f"{_RATIOS}.svg")
"""What is written into it, besides the papers' folders."""
_MARKS: dict[Verdict, tuple[str, str, str]] = {
    "agrees": (PALETTE[0], "o", PALETTE[0]),
    "differs as predicted": (PALETTE[4], "D", "none"),
    "refuted": (PALETTE[2], "s", "none"),
    "differs": (PALETTE[1], "X", PALETTE[1]),
}
"""Colour, marker and filling, which tell the verdicts apart without colours, too."""
_RATIO_NOTE = "Ours over the published number, for printed claims where both are numbers above zero"
_FARTHEST = 4.0
"""Ratios beyond this factor are drawn at the edge: running times of another decade would squeeze the rest."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The outcome of several papers, each of which may be of another day, and in full or quick."""

    papers: tuple[Paper, ...]
    outcomes: tuple[Reproduction | None, ...]
    """One for each paper; None if it has not been reproduced yet."""

    @classmethod
    def read(cls, papers: Iterable[Paper], folder: Path) -> Overview:
        """The content of the papers' own folders, below this one.

        A ``summary.json`` that cannot be read becomes a paper that failed, with the reason.
        """
        chosen = tuple(papers)
        return cls(chosen, tuple(_read(paper, folder / paper.key / SUMMARY) for paper in chosen))

    def made(self) -> list[Reproduction]:
        """The papers that came to their end."""
        return [outcome for outcome in self.outcomes if outcome is not None and not outcome.failed]

    def failed(self) -> list[Reproduction]:
        """The papers that did not."""
        return [outcome for outcome in self.outcomes if outcome is not None and outcome.failed]

    def figures(self) -> Iterator[tuple[Reproduction, FigureResult]]:
        """Every figure of every paper."""
        return ((outcome, figure) for outcome in self.made() for figure in outcome.figures)

    def counts(self) -> Counts:
        """Findings of all papers by kind and verdict."""
        return count_findings(finding for _, figure in self.figures() for finding in figure.findings)

    def sentence(self) -> str:
        """The counts as the README quotes them."""
        return sentence(self.counts())

    def data(self) -> dict[str, Any]:
        """Plain data for JSON, in the shape of a paper's, under the name ``all``."""
        return {
            "format": FORMAT,
            "paper": "all",
            "title": TITLE,
            "source": "",
            "version": __version__,
            "date": max((outcome.date for outcome in self.made()), default=""),
            "quick": any(outcome.quick for outcome in self.made()),
            "failed": "; ".join(f"{outcome.paper.key}: {outcome.failed}" for outcome in self.failed()),
            "counts": self.counts(),
            "figures": [],
            "papers": [
                {"paper": paper.key, "title": paper.title, "source": paper.source}
                | (
                    {"version": None, "date": None, "quick": None, "failed": None, "counts": None}
                    if outcome is None
                    else {
                        "version": outcome.version,
                        "date": outcome.date,
                        "quick": outcome.quick,
                        "failed": outcome.failed,
                        "counts": outcome.counts(),
                    }
                )
                for paper, outcome in zip(self.papers, self.outcomes, strict=True)
            ],
        }

    def markdown(self) -> str:
        """The page as text: the counts, then a table of findings for each paper."""
        note = [f"{_RATIO_NOTE}."] if self.made() else []
        papers = self.papers_table("README.md")
        sections = [Section("papers", "By publication", note, [papers], [self._drawing()] if note else [])]
        for outcome in self.made():
            findings = [(figure, one) for figure in outcome.figures for one in figure.findings]
            title = f"{outcome.paper.key}: {outcome.paper.title}"
            sections.append(Section(outcome.paper.key, title, tables=[worded_table(findings)]))
        return article_text(Article(TITLE, [self._lead()], [], sections))

    def _drawing(self) -> Picture:
        image = figure_bytes(ratio_figure(self), "svg")
        note = f"{_RATIO_NOTE}. An arrow stands for a ratio beyond the edge."
        title = "Ratio of ours to the published number, by paper and verdict"
        return Picture(title, image, note=note, href=f"{_RATIOS}.svg")

    def save(self, folder: Path) -> Path:
        """Writes ``report.html``, which it returns, ``README.md``, ``summary.json`` and the figure of ratios.

        Raises:
            ResultError: if one cannot be written.
        """
        figure = ratio_figure(self)
        for form in ("svg", "png"):
            write_whole(folder / f"{_RATIOS}.{form}", figure_bytes(figure, form))
        write_whole(folder / "README.md", self.markdown().encode())
        text = json.dumps(self.data(), indent=2, ensure_ascii=False, allow_nan=False)
        write_whole(folder / SUMMARY, f"{text}\n".encode())
        sections = [
            Section(
                "papers", "By publication", tables=[self.papers_table(REPORT)], figures=[self._drawing()]
            ),
            Section("findings", "All numbers and statements", tables=[self._findings_table()]),
        ]
        return save_page(folder, Article(TITLE, [self._lead()], count_cards(self.counts()), sections))

    def _lead(self) -> str:
        return (
            "What the publications behind Anabranch print, beside what came out here. Counted apart: printed "
            "numbers that our set-up was fitted to, which hold by construction; bounds and references that "
            "we set; and questions that the publications leave open. Differs as predicted: an experiment or "
            "a calculation of the same run predicts our number, which is inside. Refuted: the publication "
            "itself contradicts the claim. "
            f"Now {self.sentence()}."
        )

    def papers_table(self, page: str) -> DataTable:
        """The counts of each paper, and of all of them.

        Args:
            page: the file in a paper's folder to which its name leads.
        """
        rows: list[list[Cell]] = []
        for paper, outcome in zip(self.papers, self.outcomes, strict=True):
            is_made = outcome in self.made()
            counts = count_numbers(outcome.counts()) if outcome is not None and is_made else _NO_COUNTS
            name: Cell = Link(paper.key, f"{paper.key}/{page}") if is_made else paper.key
            rows.append([name, f"{paper.title} ({paper.source})", *counts, origin(outcome)])
        rows.append(["all", "", *count_numbers(self.counts()), ""])
        return DataTable.of_rows("papers", "Counts", PAPERS, rows, most=len(rows))

    def _findings_table(self) -> DataTable:
        columns = (Column("paper", "paper"), Column("figure", "figure"), *FINDINGS)
        rows = [
            [
                outcome.paper.key,
                Link(figure.key, f"{outcome.paper.key}/{REPORT}#section-{figure.key}"),
                *finding_cells(finding),
            ]
            for outcome, figure in self.figures()
            for finding in figure.findings
        ]
        choices = ("paper", *FINDING_CHOICES)
        return DataTable.of_rows(
            "findings", "Every number and statement", columns, rows, choices=choices, searchable=True
        )


def reproduce_all(
    papers: Iterable[Paper],
    folder: Path,
    context: Callable[[Path], Context],
    *,
    announce: Callable[[str], None] | None = None,
    complain: Callable[[str], None],
    show: Callable[[Reproduction, Path], None],
    replace: bool = False,
) -> Overview:
    """Reproduces papers one after the other, each in its own folder, and writes the page over all of them.

    A paper that fails is a row with its reason, and the others go on. The page is written anew after each
    paper, so that whoever stops it has what there is.

    Args:
        papers: which.
        folder: where.
        context: makes a paper's context, given its folder.
        announce: hears of each figure before it is made.
        complain: hears of each paper that failed, in full.
        show: takes each paper that came to its end, and its folder.
        replace: go on though folders have files that Anabranch did not write; they stay.

    Raises:
        ResultError: if a folder has files that Anabranch did not write, or the pages cannot be written.
    """
    chosen = tuple(papers)
    with adding(folder, FOLDER_KIND, FILES, replace=replace) as place:
        for paper in chosen:
            # Before the work, not after it.
            with opened(paper, None, folder / paper.key, replace=replace):
                pass
        return _each(chosen, folder, place, context, announce, complain, show)


def _each(
    chosen: Sequence[Paper],
    folder: Path,
    place: Addition,
    context: Callable[[Path], Context],
    announce: Callable[[str], None] | None,
    complain: Callable[[str], None],
    show: Callable[[Reproduction, Path], None],
) -> Overview:
    overview = Overview.read(chosen, folder)
    for paper in chosen:
        paper_folder = folder / paper.key
        working = context(paper_folder)
        try:
            outcome = reproduce(paper, None, working, announce=announce)
        except AnabranchError as error:
            outcome = Reproduction(paper, working.quick, (), failed=str(error))
            complain(f"{paper.key} failed: {error}")
        # A mistake of ours in one paper must not cost the hours of the others.
        except Exception as error:  # noqa: BLE001
            outcome = Reproduction(paper, working.quick, (), failed=f"{type(error).__name__}: {error}")
            complain(f"{paper.key} failed:\n{''.join(traceback.format_exception(error))}")
        if outcome.failed:
            with opened(paper, None, paper_folder, replace=working.replace) as failed:
                outcome.save(failed.partial)
                failed.put()
        else:
            show(outcome, paper_folder)
        overview = Overview.read(chosen, folder)
        overview.save(place.partial)
        place.put()
    return overview


def origin(outcome: Reproduction | None) -> str:
    """By which version a paper was reproduced, when, and how far; or why it was not."""
    if outcome is None:
        return "not yet run"
    if outcome.failed:
        return f"failed: {outcome.failed}"
    parts = (f"Anabranch {outcome.version}", outcome.date, "quick" if outcome.quick else "in full")
    return ", ".join(part for part in parts if part)


def _read(paper: Paper, file: Path) -> Reproduction | None:
    try:
        return Reproduction.from_data(paper, read_json(read_inside(file.parent, file.name)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = (
            f"{file.name} cannot be read ({type(error).__name__}: {error}); run it again: "
            f"anabranch reproduce {paper.key}"
        )
        return Reproduction(paper, quick=False, figures=(), failed=reason, version="", date="")


_COUNTS = (
    "printed claims",
    *(f"of them {verdict}" for verdict in ("agree", "differ as predicted", "refuted", "differ")),
    "by construction",
    "of these agree",
    "bounds of ours",
    "of these agree",
    "questions of ours",
    "of these as expected",
)
_NO_COUNTS: list[int | None] = [None] * len(_COUNTS)
PAPERS = (
    Column("paper", "paper", priority=9),
    Column("publication", "publication"),
    # By place: two of the headings are the same.
    *(Column(f"count_{place}", heading, format="d", priority=9) for place, heading in enumerate(_COUNTS)),
    Column("made_by", "made by", priority=9, folds=True),
)
"""What is said of each paper, in every medium."""


def count_numbers(counts: Counts) -> list[int]:
    """Counts as a row of :data:`PAPERS` has them."""
    row = [sum(counts["printed"].values()), *(counts["printed"][verdict] for verdict in VERDICTS)]
    for kind in KINDS:
        if kind != "printed":
            row += [sum(counts[kind].values()), counts[kind]["agrees"]]
    return row


def ratio_figure(overview: Overview) -> Figure:
    """Ours over the published number of printed claims, a row of points for each paper."""
    made = overview.made()
    with styled():
        figure = Figure(figsize=(7, 1.2 + 0.62 * max(1, len(made))), layout="constrained")
        axes = figure.add_subplot()
        axes.axvline(1, color="black", linewidth=0.8, zorder=1)
        for verdict, (color, marker, filling) in _MARKS.items():
            points = list(_ratio_points(made, verdict))
            below = [(1 / _FARTHEST, row) for ratio, row in points if ratio < 1 / _FARTHEST]
            above = [(_FARTHEST, row) for ratio, row in points if ratio > _FARTHEST]
            inside = [(ratio, row) for ratio, row in points if 1 / _FARTHEST <= ratio <= _FARTHEST]
            for shape, shown in ((marker, inside), ("<", below), (">", above)):
                axes.scatter(
                    [x for x, _ in shown], [y for _, y in shown],
                    s=22, marker=shape, facecolors=filling, edgecolors=color, linewidths=0.9, zorder=3,
                    label=f"{verdict} ({len(points)})" if shape == marker else None,
                )  # fmt: skip
        axes.set_xscale("log")
        axes.set_xlim(0.96 / _FARTHEST, _FARTHEST / 0.96)
        ticks = (0.25, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 4)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_yticks(range(len(made)), [outcome.paper.key for outcome in made])
        axes.set_ylim(max(1, len(made)) - 0.5, -0.5)
        axes.set_xlabel("ours over the published number")
        figure.legend(loc="outside upper left", ncols=3)
    return figure


def _ratio_points(made: Iterable[Reproduction], verdict: Verdict) -> Iterator[tuple[float, float]]:
    """Ratios and heights, which go in five steps, so that equal ratios do not cover each other."""
    for row, outcome in enumerate(made):
        findings = [finding for figure in outcome.figures for finding in figure.findings]
        for number, finding in enumerate(findings):
            if finding.kind == "printed" and finding.verdict == verdict and finding.ratio:
                yield finding.ratio, row + 0.14 * (number % 5 - 2)
