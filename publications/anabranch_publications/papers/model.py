"""The parts of a reproduction: papers and their figures, which have findings, tables and drawings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from anabranch.study.model import Progress, Study
from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding


@dataclass(frozen=True, slots=True)
class FigureResult:
    """One figure or table of a paper, reproduced."""

    key: str
    title: str
    findings: tuple[Finding, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    shown: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Short tables for the page itself, by their heading."""
    note: str = ""
    """What a reader must know, such as what the paper leaves open and what was taken here."""

    @property
    def heading(self) -> str:
        """The title of the figure, with the number that it has in the paper."""
        numbered = self.key[:1].isdigit() or "." in self.key
        return f"Figure {self.key}: {self.title}" if numbered else self.title


class Context:
    """The place of a reproduction: its folder, how much it does, and studies that several figures share."""

    def __init__(
        self,
        folder: Path,
        *,
        quick: bool = False,
        jobs: int | None = None,
        progress: Callable[[str], AbstractContextManager[Progress | None]] | None = None,
        replace: bool = False,
    ) -> None:
        """A context.

        Args:
            folder: studies are kept below it, and go on where they stopped.
            quick: fewer levels and replications.
            jobs: processes of a study; all cores if None.
            progress: opens a report of a study's progress, given its title.
            replace: go on though folders have files that Anabranch did not write.
        """
        self.folder = folder
        self.quick = quick
        self.replace = replace
        self._jobs = jobs
        self._progress = progress
        self._done: dict[str, StudyResult] = {}

    def study(self, name: str, make: Callable[[], Study]) -> StudyResult:
        """The result of a study, which is run when it is first asked for.

        Raises:
            AnabranchError: if the study cannot be run, or its folder holds another one.
        """
        if name not in self._done:
            folder = self.folder / "studies" / (f"{name}-quick" if self.quick else name)
            study = make()
            with self._progress(study.title) if self._progress is not None else nullcontext() as progress:
                self._done[name] = study.run(
                    jobs=self._jobs, out=folder, progress=progress, replace=self.replace
                )
        return self._done[name]


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """A figure that can be reproduced."""

    key: str
    title: str
    make: Callable[[Context], FigureResult]


@dataclass(frozen=True, slots=True)
class Paper:
    """A publication: what it is, and its figures by key, in their order."""

    key: str
    title: str
    source: str
    figures: tuple[FigureSpec, ...]

    def figure(self, key: str) -> FigureSpec | None:
        """The figure of that key."""
        return next((figure for figure in self.figures if figure.key == key), None)
