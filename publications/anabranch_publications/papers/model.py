"""What a reproduction is made of: findings beside what was published, tables and figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl
from matplotlib.figure import Figure

from anabranch.study.model import Progress, Study
from anabranch.study.result import StudyResult

Verdict = Literal["agrees", "differs, and it is known why", "differs"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "differs, and it is known why", "differs")


@dataclass(frozen=True, slots=True)
class Finding:
    """One published number or statement, and what came out here."""

    what: str
    published: str
    ours: str
    agrees: bool
    reason: str = ""
    """Why it differs, where that is known; or how a loose statement was read."""
    ratio: float | None = None
    """Ours over the published number, where both are numbers above zero; if it is not given, that of the two
    texts where both are a number with the same unit."""

    def __post_init__(self) -> None:
        """Takes the ratio from the texts, where that is possible."""
        if self.ratio is None:
            object.__setattr__(self, "ratio", _printed_ratio(self.published, self.ours))

    @property
    def verdict(self) -> Verdict:
        """Whether it agrees, and if not, whether it is known why."""
        if self.agrees:
            return "agrees"
        return "differs, and it is known why" if self.reason else "differs"


def _printed_ratio(published: str, ours: str) -> float | None:
    """The ratio of two numbers as printed, if both have the same unit and are above zero."""
    there, here = (re.fullmatch(r"(\d+(?:\.\d+)?)(?: ([a-zA-Z%]+))?", text) for text in (published, ours))
    if there is None or here is None or there[2] != here[2] or not float(there[1]) or not float(here[1]):
        return None
    return float(here[1]) / float(there[1])


def number(
    what: str,
    published: float,
    ours: float,
    *,
    unit: str,
    digits: int,
    tolerance: float = 0.0,
    reason: str = "",
) -> Finding:
    """A published number beside ours; they agree if they are equal as printed, or within a tolerance.

    Args:
        what: what was measured.
        published: the number as printed.
        ours: the number here, in the same unit.
        unit: the unit of both.
        digits: decimals of the printed number.
        tolerance: largest difference beyond rounding, in the same unit.
        reason: why it differs, or why there is a tolerance.
    """
    half = 0.5 * 10.0**-digits
    return Finding(
        what,
        f"{published:.{digits}f} {unit}".strip(),
        f"{ours:.{digits}f} {unit}".strip(),
        # A number that lies on the edge is printed either way.
        abs(ours - published) <= half * (1 + 1e-6) + tolerance,
        reason,
        ours / published if published > 0 else None,
    )


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
        """Its title, with the number that it has in the paper."""
        numbered = self.key[:1].isdigit() or "." in self.key
        return f"Figure {self.key}: {self.title}" if numbered else self.title


class Context:
    """Where a reproduction works: its folder, how much it does, and studies that several figures share."""

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
