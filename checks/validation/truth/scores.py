"""The scores of this version: how far the model is from Linux, from scripts and from another simulator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

VALIDATION = Path(__file__).parents[1]
ROOT = VALIDATION.parents[1]
sys.path[:0] = [str(VALIDATION), str(VALIDATION / "linux")]

from fabric import configurations  # noqa: E402
from linux_page import GROUPS, RECORDED_BOUNDS, bounds, percentile, recorded_errors  # noqa: E402
from measure import Outcome, simulate  # noqa: E402
from points import points  # noqa: E402
from recorded import SCATTERING, RecordedOutcome, recorded, simulate_recorded  # noqa: E402

SITUATIONS = {
    "d-degraded": ", a slow link",
    "d-dies": ", a link that dies",
    "g-no-trim": ", without trimming",
}
"""What runs of uet-htsim have beside even traffic over whole links, by their group."""


@dataclass(frozen=True, slots=True)
class Score:
    """A number that a version is held to, or compared by.

    Attributes:
        table: the table of the page that has it: one of `TABLES`.
        subject: what was compared: a group of points, or a category of scripts.
        count: of the points or scripts.
        median_percent: of the absolute errors; None where it is no error.
        worst_percent: the same.
        passed: of the scripts, or points within the spread of runs; None where errors are compared.
        not_applicable: of the scripts: with no meaning for the model; None where there are none.
    """

    table: str
    subject: str
    count: int
    median_percent: float | None = None
    worst_percent: float | None = None
    passed: int | None = None
    not_applicable: int | None = None

    @classmethod
    def of_errors(cls, table: str, subject: str, errors: Iterable[float]) -> Score:
        """The score of errors, as shares."""
        sizes = [abs(error) for error in errors]
        return cls(table, subject, len(sizes), _percent(median(sizes)), _percent(max(sizes)))

    @classmethod
    def read(cls, data: dict[str, Any]) -> Score:
        """A score of plain data, in which what there is not is left out."""
        return cls(**data)

    def data(self) -> dict[str, Any]:
        """Plain data without what there is not."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Held:
    """A bound, the error that it holds, and whether it does."""

    name: str
    error: float
    most: float

    @property
    def is_kept(self) -> bool:
        """Whether the error is within it."""
        return self.error <= self.most


def _percent(share: float) -> float:
    return round(100 * share, 3)


def linux() -> tuple[list[Score], list[Held]]:
    """Scores and bounds of all points of the kernel, simulated anew."""
    every = [point for file in ("measured.csv", "told.csv", "slow_start.csv") for point in points(file)]
    outcomes = simulate(point for point in every if point.group in GROUPS)
    scenarios = simulate_recorded(recorded())
    return [*_measured(outcomes), *_recorded(scenarios)], [*_held(outcomes), *_held_recorded(scenarios)]


def _measured(outcomes: Iterable[Outcome]) -> Iterator[Score]:
    groups: dict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        point = outcome.point
        control = f", {point.control}" if point.group == "single" else ""
        groups[f"{GROUPS[point.group]}{control}"].append(outcome.error)
    for subject, errors in groups.items():
        yield Score.of_errors("linux", subject, errors)


def _recorded(outcomes: list[RecordedOutcome]) -> Iterator[Score]:
    groups: dict[str, list[RecordedOutcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.point.group].append(outcome)
    for group, members in groups.items():
        score = Score.of_errors("recorded", group, (each.error for each in members))
        if group in SCATTERING:
            within = sum(each.is_within_spread for each in members)
            score = Score("recorded", group, len(members), passed=within)
        yield score
    yield Score.of_errors("recorded", "all that do not scatter", recorded_errors(outcomes))


def _held(outcomes: list[Outcome]) -> Iterator[Held]:
    for bound in bounds():
        if (error := bound.error(outcomes)) is not None:
            yield Held(bound.name, error, bound.most)


def _held_recorded(outcomes: list[RecordedOutcome]) -> Iterator[Held]:
    errors = recorded_errors(outcomes)
    values = {"median": median(errors), "95th percentile": percentile(errors, 0.95), "worst": max(errors)}
    for name, most in RECORDED_BOUNDS.items():
        yield Held(f"scenarios, {name}", values[name] or 0.0, most)
    scattering = [each for each in outcomes if each.point.group in SCATTERING]
    outside = sum(not each.is_within_spread for each in scattering)
    yield Held("scenarios that scatter, outside of the spread", outside / len(scattering), 0.0)


def _interpreter() -> str:
    """The program that plays scripts, with the features that all crates together ask for.

    The Rust tests build it like that; ``cargo run --package`` would compile what it stands on once more.

    Raises:
        CalledProcessError: if it cannot be built.
    """
    command = ["cargo", "build", "--quiet", "--locked", "--workspace", "--exclude", "anabranch-python"]
    command += ["--bin", "anabranch-scripts", "--message-format=json-render-diagnostics"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    programs = (json.loads(line).get("executable") for line in done.stdout.splitlines())
    return next(program for program in programs if program is not None)


def scripts(folder: Path, corpus: str) -> list[Score]:
    """The scores of a folder of scripts by category, which is the folder of a script; and of all.

    Raises:
        CalledProcessError: if the interpreter cannot be built, or the folder has no scripts.
    """
    command = [_interpreter(), "--json", "--summary", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    # Scripts that fail (1) or cannot be read (2) are counted.
    if done.returncode not in (0, 1, 2) or not done.stdout:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    summary = json.loads(done.stdout)
    rows = [*summary["categories"], {"category": "all", **summary["total"]}]
    return [
        Score(
            f"scripts: {corpus}",
            row["category"],
            row["scripts"],
            passed=row["pass"],
            not_applicable=row["not_applicable"],
        )
        for row in rows
    ]


MEASURES = {"medians": "medians of completion times", "maxima": "maxima of completion times"}
OF_COLLECTIVES = {"makespans": "makespans of collectives"}
"""What is compared: steps of collectives begin later there, so that flows of theirs are not compared."""


def fabric(folder: Path) -> list[Score]:
    """The scores of the runs of uet-htsim, by path selector."""
    groups: dict[str, list[float]] = defaultdict(list)
    for name, (theirs, ours) in configurations(folder):
        for measure, words in (OF_COLLECTIVES if name[0] == "e-collective" else MEASURES).items():
            a, b = (getattr(numbers, measure) for numbers in (theirs, ours))
            if a and b:
                subject = f"{name[3]}{SITUATIONS.get(name[0], '')}, {words}"
                groups[subject].append((sum(b) / len(b)) / (sum(a) / len(a)) - 1)
    return [Score.of_errors("fabric", subject, errors) for subject, errors in groups.items()]
