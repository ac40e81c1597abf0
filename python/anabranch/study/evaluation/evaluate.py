"""Running an evaluation: one study of all scenarios, with the control and with CUBIC, and what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from anabranch.errors import Problem, ScenarioError, StudyError
from anabranch.setup import Needed, resolve
from anabranch.study.check import design
from anabranch.study.evaluation.cases import PLAINEST, Case, cases
from anabranch.study.evaluation.control import Control
from anabranch.study.evaluation.measures import RunMeasure, Tables
from anabranch.study.model import Factor, Level, Metric, Output, Progress, Study
from anabranch.study.student import half_width

REPLICATIONS = 5
"""Runs of each scenario, if nobody says how many."""
CONFIDENCE = 0.95
STUDY = "study"
"""The folder of the study's runs."""

Verdict = Literal["better", "worse", "higher", "lower", "alike", "unknown"]
OpenProgress = Callable[[str], AbstractContextManager[Progress | None]]


@dataclass(frozen=True)
class Performance:
    """Performance of a control in a scenario by one measure."""

    values: tuple[float | None, ...]
    """Of each replication."""
    reason: str | None = None
    """Why there is no mean: a run that failed, or has nothing to measure."""

    @property
    def ran(self) -> bool:
        """Whether there was a run: it may still have nothing to measure."""
        return bool(self.values)

    @property
    def mean(self) -> float | None:
        """Over the replications; None where one of them has no value."""
        values = self.numbers
        return sum(values) / len(values) if values and len(values) == len(self.values) else None

    @property
    def numbers(self) -> list[float]:
        """The values that there are."""
        return [value for value in self.values if value is not None]

    @property
    def half_width(self) -> float | None:
        """Half of the mean's confidence interval."""
        return None if self.mean is None else half_width(self.numbers, CONFIDENCE)


@dataclass(frozen=True)
class Row:
    """A measure of a scenario: of the control, and of CUBIC in its place."""

    case: Case
    measure: RunMeasure
    control: Performance
    cubic: Performance

    @property
    def verdict(self) -> Verdict:
        """The control beside CUBIC, by the paired differences of the replications."""
        if self.control.mean is None or self.cubic.mean is None:
            return "unknown"
        differences = [a - b for a, b in zip(self.control.numbers, self.cubic.numbers, strict=True)]
        mean = sum(differences) / len(differences)
        if abs(mean) < 0.5 * 10**-self.measure.digits:
            # As people read both, they are the same.
            return "alike"
        half = half_width(differences, CONFIDENCE)
        if half is None and len(set(differences)) > 1:
            return "unknown"
        if half is not None and abs(mean) <= half:
            return "alike"
        if not self.measure.better:
            return "higher" if mean > 0 else "lower"
        return "better" if (mean > 0) == (self.measure.better == "more") else "worse"


@dataclass(frozen=True)
class Extent:
    """The part of an evaluation that is wanted."""

    only: tuple[str, ...] = ()
    """Sections of RFC 9743, such as ``5.1`` or ``7.10``; all if empty."""
    replications: int = REPLICATIONS
    """Runs of each scenario."""


@dataclass(frozen=True)
class Evaluation:
    """A control over the scenarios of RFC 9743."""

    control: Control
    replications: int
    rows: tuple[Row, ...]

    @property
    def failed(self) -> list[Row]:
        """The rows in which the control could not run, or failed."""
        return [row for row in self.rows if not row.control.ran]

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "control": self.control.name,
            "transport": self.control.transport,
            "beside": self.control.cubic().name,
            "replications": self.replications,
            "confidence": CONFIDENCE,
            "rows": [
                {
                    "scenario": row.case.key,
                    "rfc9743": row.case.section,
                    "what": row.case.title,
                    "rfc5166": row.measure.section,
                    "measure": row.measure.name,
                    "better": row.measure.better,
                    "value": row.control.mean,
                    "half_width": row.control.half_width,
                    "values": list(row.control.values),
                    "reason": row.control.reason,
                    "cubic": row.cubic.mean,
                    "cubic_half_width": row.cubic.half_width,
                    "cubic_values": list(row.cubic.values),
                    "cubic_reason": row.cubic.reason,
                    "verdict": row.verdict,
                }
                for row in self.rows
            ],
        }


def evaluate(
    control: Control,
    folder: Path,
    extent: Extent | None = None,
    *,
    jobs: int | None = None,
    progress: OpenProgress | None = None,
    replace: bool = False,
) -> Evaluation:
    """Runs a control over the scenarios; runs that are in the folder already are not repeated.

    Args:
        control: what is evaluated.
        folder: where runs are kept.
        extent: the scenarios, and how often each of them runs; all, five times, if None.
        jobs: processes; all cores if None.
        progress: opens a report of progress, given a title.
        replace: go on though the folder of runs has files that Anabranch did not write.

    Raises:
        ScenarioError: if there is no such section, or the control can run nowhere.
        ConsentError: if nobody has agreed to its code.
        StudyError: if runs cannot be kept.
    """
    extent = extent or Extent()
    chosen = _chosen(extent.only)
    mistake = _lack(PLAINEST, control)
    if mistake is not None:
        raise ScenarioError([Problem("CONTROL", mistake)])
    cubic = control.cubic()
    pairs = [(case, subject) for case in chosen for subject in (control, cubic)]
    reasons = [_lack(case, subject) for case, subject in pairs]
    able = [pair for pair, reason in zip(pairs, reasons, strict=True) if reason is None]
    study = _study(control, able, extent.replications)
    place = folder / STUDY / design(study).fingerprint()[:10]
    with progress(study.title) if progress is not None else nullcontext() as report:
        result = study.run(jobs=jobs, out=place, progress=report, replace=replace)
    runs = {row["run"]: row for row in result.runs.iter_rows(named=True)}
    # Where nothing is random a study runs each cell once, which stands for all replications.
    answers: dict[tuple[str, bool], list[Performance]] = {}
    for cell, (case, subject) in enumerate(able):
        numbers = range(cell * result.replications, (cell + 1) * result.replications)
        answers[case.key, subject is control] = _answers(case, place, [runs[number] for number in numbers])
    for (case, subject), reason in zip(pairs, reasons, strict=True):
        if reason is not None:
            answers[case.key, subject is control] = [Performance((), reason)] * len(case.measures)
    rows = [
        Row(case, measure, *both)
        for case in chosen
        for measure, *both in zip(
            case.measures, answers[case.key, True], answers[case.key, False], strict=True
        )
    ]
    return Evaluation(control, result.replications, tuple(rows))


def _chosen(only: Sequence[str]) -> list[Case]:
    """The scenarios of some sections.

    Raises:
        ScenarioError: if a section has none.
    """
    every = cases()
    for section in only:
        if not any(_is_in(case, section) for case in every):
            sections = sorted({part for case in every for part in case.section.split(", ")}, key=_by_number)
            message = f'no scenario is of section "{section}" of RFC 9743; there are {", ".join(sections)}'
            raise ScenarioError([Problem("--only", message)])
    return [case for case in every if not only or any(_is_in(case, section) for section in only)]


def _by_number(section: str) -> list[int]:
    return [int(part) for part in section.split(".")]


def _is_in(case: Case, section: str) -> bool:
    return any(part == section or part.startswith(f"{section}.") for part in case.section.split(", "))


def _data(case: Case, subject: Control) -> dict[str, Any]:
    return {**case.scenario, "transport": subject.tables(case.transports)}


def _lack(case: Case, subject: Control) -> str | None:
    """Why a control cannot run in a scenario; None where it can."""
    try:
        resolve(subject.scenario(case.scenario, case.transports), Needed.ALL)
    except ScenarioError as error:
        return _line(str(error))
    return None


def _study(control: Control, able: Sequence[tuple[Case, Control]], replications: int) -> Study:
    """One study, whose only factor is which control runs in which scenario."""
    first, subject = able[0]
    levels = [
        Level.model_validate(
            {
                "label": f"{case.key}: {subject.name}"
                if subject is control
                else f"{case.key}: CUBIC's answer",
                "set": _fields(_data(case, subject)),
            }
        )
        for case, subject in able
    ]
    study = Study.from_data(
        {
            "title": f"RFC 9743: {control.name}",
            "scenario": _data(first, subject),
            "replications": replications,
            "keep": "tables",
        },
        base=control.base,
        provenance=control.provenance,
    )
    return study.model_copy(
        update={
            "factors": [Factor(label="scenario", level=levels)],
            "metrics": [Metric(name="delivered_bytes", column="delivered_bytes", statistic="sum")],
            "output": Output(spreadsheet=False, figures=[]),
        }
    )


def _fields(data: dict[str, Any]) -> dict[str, Any]:
    """A scenario as fields of a level; the replication in ``run`` is the study's."""
    run = {f"run.{key}": value for key, value in data["run"].items()}
    return {**_EMPTY, **{key: value for key, value in data.items() if key != "run"}, **run}


_EMPTY: dict[str, Any] = {"event": [], "routing": {}}
"""What a scenario has where another one has changes or several paths."""


def _answers(case: Case, place: Path, runs: Sequence[dict[str, Any]]) -> list[Performance]:
    """What the runs of a scenario answer to each of its measures."""
    reasons = [run["reason"] for run in runs if run["reason"] is not None]
    if reasons:
        times = "" if len(reasons) == len(runs) else f"{len(reasons)} of {len(runs)} runs: "
        return [Performance((), f"{times}{_line(reasons[0])}")] * len(case.measures)
    tables = [_tables(place, run["run"]) for run in runs]
    return [_answer(measure, tables) for measure in case.measures]


def _answer(measure: RunMeasure, tables: Sequence[Tables]) -> Performance:
    values = tuple(measure.of(each) for each in tables)
    lacking = sum(value is None for value in values)
    reason = f"in {lacking} of {len(values)} runs {measure.missing}" if lacking else None
    return Performance(values, reason)


def _tables(place: Path, run: int) -> Tables:
    """The tables of a run that measures look at.

    Raises:
        StudyError: if they cannot be read.
    """
    files = sorted((place / "tables").glob(f"*/{run:06d}.parquet"))
    try:
        return {file.parent.name: pl.read_parquet(file) for file in files}
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StudyError([Problem(str(place), f"tables of run {run} cannot be read: {error}")]) from None


def _line(text: str) -> str:
    """A message as one line."""
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())
