"""From what a user writes to a design: every level looked at before anything runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.errors import Problem, ScenarioError, StudyError
from anabranch.own.failure import failed
from anabranch.own.running import guarded
from anabranch.plans.routes import plan
from anabranch.results.result import ENDS_OF_CENSORED, FactorInfo
from anabranch.routing import solved
from anabranch.scenario.files import FILE
from anabranch.scenario.place import place
from anabranch.scenario.plain import plain_data
from anabranch.scenario.quantity import quoted
from anabranch.scenario.reading import field_steps, with_value
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.chance import may_differ
from anabranch.setup.files import matrices_of
from anabranch.setup.model import NotLoaded
from anabranch.setup.problems import refused
from anabranch.study.counts import RUN_COUNTS
from anabranch.study.description import Factor, Metric, Study
from anabranch.study.design import HOSTS, Design, Dimension, Setting
from anabranch.study.fields import overlap, unknown_field
from anabranch.study.files import InputFiles, unpacked
from anabranch.study.levels import KINDS, as_text, column_name, measure, measure_text, numbers
from anabranch.study.live_runs import check_live, simulated_hosts
from anabranch.study.metrics import DEFAULTS, MetricError, unmatched, values
from anabranch.study.sources import scenario_of, study_agreement
from anabranch.study.up_time import Tables, with_measures

MOST_RUNS = 1_000_000
"""Most runs of a study: each is a file."""

_RUN_COLUMNS = ("run", "cell", "replication", "status", "reason", "runs", "failed", *RUN_COUNTS)
_REPLICATION = ["run", "replication"]


def design(study: Study, *, live: bool = False, against_simulation: bool = False) -> Design:
    """The design of a study.

    Args:
        study: what the user has written.
        live: whether its runs are live.
        against_simulation: whether each of them is simulated as well.

    Raises:
        StudyError: with everything that is wrong with it.
        ConsentError: if nobody has agreed to code that the scenario or a level names.
        LiveError: if this machine cannot make a live run.
    """
    built = _Check(study, live=live, beside=against_simulation).design()
    if not against_simulation:
        return built
    # The second factor: figures have a line for each of its levels.
    first, rest = built.dimensions[:1], built.dimensions[1:]
    return dataclasses.replace(built, dimensions=(*first, HOSTS, *rest))


class _Check:
    """Goes through a study once, and notes what is wrong."""

    def __init__(self, study: Study, *, live: bool, beside: bool) -> None:
        self._study = study
        self._live = live
        self._found: list[Problem] = []
        self._taken = dict.fromkeys(_RUN_COLUMNS, "a column of every study")
        if beside:
            self._taken[HOSTS.info.name] = "whether a run is live"

    def design(self) -> Design:
        data, origin, base, _ = scenario_of(self._study)
        self._files = InputFiles(base)
        data = self._adopted(data, (), "scenario")
        # Where it is no table, the check of the scenario says so.
        if isinstance(data.get("run"), dict):
            data = with_value(data, _REPLICATION, 0)
        self._check_overlaps()
        dimensions = tuple(self._dimension(number, data) for number in range(len(self._study.factors)))
        self._raise_if_any()
        built = Design(
            title=self._study.title,
            confidence=self._study.confidence,
            replications=self._study.replications,
            keep=self._study.keep,
            data=data,
            origin=origin,
            files=self._files.contents,
            dimensions=dimensions,
            metrics=self._metrics(),
            live=self._live,
        )
        self._check_count(built)
        self._raise_if_any()
        built = dataclasses.replace(built, agreement=study_agreement(self._study))
        self._check_levels(built)
        self._raise_if_any()
        return dataclasses.replace(built, solved=solved(), replications=self._replications(built))

    def _problem(self, where: str, message: str) -> None:
        problem = Problem(where, message)
        if problem not in self._found:
            self._found.append(problem)

    def _raise_if_any(self) -> None:
        if self._found:
            raise StudyError(self._found, self._study.origin)

    def _adopted(self, data: Any, steps: Sequence[str | int], where: str) -> Any:
        """A scenario, or a part of it, with the files that it names taken over."""
        try:
            return self._files.adopt(data, steps)
        except ValueError as error:
            self._problem(where, str(error))
            return data

    def _check_overlaps(self) -> None:
        """No field twice, in one factor or in two, and no table together with a field in it."""
        fields = [
            (number, name, steps)
            for number, factor in enumerate(self._study.factors)
            for name, steps in sorted({name: field_steps(name) for name in _fields(factor)}.items())
        ]
        for number, name, steps in fields:
            if overlap(steps, _REPLICATION):
                self._problem(
                    f"factor[{number}]",
                    f"{quoted(name)} is set by the study itself, from 0 up; write replications = ...",
                )
        for (a, one, one_steps), (b, other, other_steps) in combinations(fields, 2):
            if not overlap(one_steps, other_steps):
                continue
            owner = "this factor" if a == b else f"factor[{a}]"
            if one == other:
                message = f"{quoted(other)} is set by {owner} as well; a field belongs to one factor"
            else:
                message = f"{quoted(other)} and {quoted(one)} of {owner} overlap: one would undo the other"
            self._problem(f"factor[{b}]", message)

    def _dimension(self, number: int, data: dict[str, Any]) -> Dimension:
        factor = self._study.factors[number]
        where = f"factor[{number}]"
        for name in _fields(factor):
            message = unknown_field(field_steps(name), data)
            if message:
                self._problem(where if factor.level is not None else f"{where}.field", message)
        if factor.matrices is not None:
            texts, settings = self._matrices(factor, f"{where}.matrices")
            measured = None
        elif factor.level is not None:
            texts = tuple(level.label for level in factor.level)
            settings = [level.settings for level in factor.level]
            # Names that are numbers make an axis of numbers.
            measured = numbers([measure_text(text) for text in texts])
        else:
            given = factor.range.levels() if factor.range is not None else factor.levels or []
            texts = tuple(as_text(entry) for entry in given)
            settings = [{factor.field or "": entry} for entry in given]
            measured = numbers([measure(entry) for entry in given])
        levels, unit = measured if measured is not None else (texts, None)
        self._check_duplicates(factor, number, levels, texts)
        info = FactorInfo(
            name=self._factor_column(factor, number, unit),
            label=factor.label or factor.field or "",
            kind="categorical" if measured is None else "continuous",
            unit=unit,
            levels=levels,
        )
        kept = (self._settings(each, level_place(factor, number, i)) for i, each in enumerate(settings))
        return Dimension(info, tuple(kept))

    def _matrices(self, factor: Factor, where: str) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
        """The matrices of a series: their names, and what each sets."""
        name = (factor.matrices or "").removeprefix(FILE)
        try:
            listed = matrices_of(name, self._files.base)
        except ValueError as error:
            self._problem(where, str(error))
            return (), []
        field = factor.field or ""
        settings = [
            {f"{field}.from": FILE + file, **({} if number is None else {f"{field}.number": number})}
            for file, number, _ in listed
        ]
        return tuple(label for _, _, label in listed), settings

    def _factor_column(self, factor: Factor, number: int, unit: str | None) -> str:
        """The column of a factor: its label, or else the last key of its field where that is unique."""
        label = factor.label or ""
        if factor.field is not None and factor.label in (None, factor.field):
            label = str([step for step in field_steps(factor.field) if isinstance(step, str)][-1])
            if column_name(label, unit) in self._taken:
                label = factor.field
        name = column_name(label, unit)
        self._take(name, f"factor[{number}].{'field' if factor.label is None else 'label'}")
        return name

    def _take(self, name: str, where: str) -> None:
        """Notes a column that another part of the study has already, or that has no letters."""
        if not name:
            self._problem(where, "makes no name of a column; use letters or digits")
        elif name in self._taken:
            self._problem(
                where, f"makes the column {quoted(name)}, which is {self._taken[name]}; give another"
            )
        self._taken.setdefault(name, f"that of {where}")

    def _settings(self, given: Mapping[str, Any], where: str) -> tuple[Setting, ...]:
        settings = []
        for name, entry in given.items():
            steps = field_steps(name)
            settings.append((tuple(steps), self._adopted(plain_data(entry), steps, where)))
        return tuple(settings)

    def _check_duplicates(
        self, factor: Factor, number: int, levels: tuple[float | str, ...], texts: tuple[str, ...]
    ) -> None:
        first: dict[float | str, int] = {}
        for index, level in enumerate(levels):
            if level in first:
                earlier = f"level {first[level]}, {quoted(texts[first[level]])}"
                again = f"{quoted(texts[index])} is the same as {earlier}; each level stands once"
                self._problem(level_place(factor, number, index), again)
            first.setdefault(level, index)

    def _metrics(self) -> tuple[Metric, ...]:
        metrics = tuple(self._study.metrics) or DEFAULTS
        for number, metric in enumerate(metrics):
            ends = ("ci", "min", "max", *(ENDS_OF_CENSORED if metric.is_censored else ()))
            ends = (*ends, *(("rows",) if metric.where else ()))
            for name in (metric.name, *(f"{metric.name}_{end}" for end in ends)):
                self._take(name, f"metric[{number}].name")
        return metrics

    def _check_count(self, built: Design) -> None:
        if built.runs > MOST_RUNS:
            levels = " x ".join(str(len(dimension.choices)) for dimension in built.dimensions) or "1"
            self._problem(
                "",
                f"{levels} levels x {built.replications} replications make {built.runs:,} runs; at most "
                f"{MOST_RUNS:,} are allowed",
            )

    def _check_levels(self, built: Design) -> None:
        """Each level once, beside the first levels of the other factors."""
        # Files under the names that the study gives them are found in its folder only.
        with unpacked(built.files) as folder:
            first = tuple(0 for _ in built.dimensions)
            setup, problems = _problems(built, first, folder)
            for problem in problems:
                self._note_level(built, first, problem, None)
            if setup is not None:
                self._check_metrics(built, setup, folder)
            for number, levels in _beside_the_first(built):
                for problem in _problems(built, levels, folder)[1]:
                    if problem not in problems:
                        self._note_level(built, levels, problem, number)

    def _replications(self, built: Design) -> int:
        """As many as the study asks for; one where it is certain that they would be the same run."""
        if built.live or built.replications == 1:
            # The kernel has its own timers: no two live runs are the same.
            return built.replications
        first = tuple(0 for _ in built.dimensions)
        cells = [first, *(levels for _, levels in _beside_the_first(built))]
        with unpacked(built.files) as folder:
            repeats = all(_repeats(built, levels, folder) for levels in cells)
        return 1 if repeats else built.replications

    def _note_level(
        self, built: Design, levels: tuple[int, ...], problem: Problem, suspect: int | None
    ) -> None:
        """Notes a problem of a scenario at the level that causes it, where one can be told."""
        fields_of_levels = [
            [place(steps) for steps, _ in d.choices[i]] for d, i in zip(built.dimensions, levels, strict=True)
        ]
        # What is wrong inside a level's field, or with a table that it adds to, is the level's mistake.
        inner = (n for n, fields in enumerate(fields_of_levels) for f in fields if _inside(problem.place, f))
        outer = (n for n, fields in enumerate(fields_of_levels) for f in fields if _inside(f, problem.place))
        if suspect is None:
            suspect = next(chain(inner, outer), None)
        message = problem.message + _example(problem.message)
        if suspect is None:
            self._problem(f"scenario.{problem.place}".rstrip("."), message)
            return
        factor, index = self._study.factors[suspect], levels[suspect]
        choice = built.dimensions[suspect].choices[index]
        level = factor.level[index].label if factor.level is not None else choice[0][1]
        text = quoted(as_text(level)) if isinstance(level, str) else as_text(level)
        name = factor.label or factor.field or ""
        inside = f"{problem.place}: " if problem.place != name else ""
        self._problem(level_place(factor, suspect, index), f"{name} = {text}: {inside}{message}")

    def _check_metrics(self, built: Design, setup: Setup, folder: Path) -> None:
        """Every metric against the tables of a run that ends as it begins."""
        try:
            tables, summary = _first_tables(built, setup)
        except (_core.SetupError, ScenarioError) as error:
            problem = error if isinstance(error, ScenarioError) else refused(error, built.origin, setup)
            self._problem("scenario", str(problem))
            return
        except _core.OwnCodeError as error:
            self._problem("scenario", str(failed(error)))
            return
        absent: dict[int, str] = {}
        for number, metric in enumerate(built.metrics):
            try:
                values(metric, tables, summary)
                message = unmatched(metric, tables)
            except MetricError as error:
                self._problem(f"metric[{number}].{error.key}", str(error))
                continue
            if message is not None:
                absent[number] = message
        for number in _absent_everywhere(built, folder, absent):
            self._problem(f"metric[{number}].where", absent[number])


def _first_tables(built: Design, setup: Setup) -> tuple[Tables, Mapping[str, Any]]:
    """Tables and summary of a run that ends as it begins.

    Raises:
        ScenarioError: if the setup has no plan.
        anabranch._core.SetupError: if the engine refuses it.
        anabranch._core.OwnCodeError: if code of the user's own fails.
    """
    shortest = setup.replace(duration=1, captures=[])
    routes = plan(shortest, built.origin).plan
    with guarded(shortest.agreement):
        outcome = shortest.core().simulate(routes)
    tables = outcome["tables"]
    if built.live:
        tables["flows"] = simulated_hosts(tables["flows"])
    summary = outcome["summary"]
    return with_measures(built.metrics, tables, shortest, routes, float(str(summary["ended_s"]))), summary


def _absent_everywhere(built: Design, folder: Path, absent: Collection[int]) -> set[int]:
    """Of metrics whose rows are not in the first cell, those whose rows are in no other one either."""
    left = set(absent)
    for _, levels in _beside_the_first(built):
        if not left:
            break
        setup, _ = _problems(built, levels, folder)
        if setup is None:
            continue
        try:
            tables, _ = _first_tables(built, setup)
        except (_core.SetupError, _core.OwnCodeError, ScenarioError):
            # Its run will tell.
            continue
        left = {number for number in left if unmatched(built.metrics[number], tables) is not None}
    return left


def level_place(factor: Factor, number: int, index: int) -> str:
    """The place of a level in the study."""
    if factor.level is not None:
        return f"factor[{number}].level[{index}]"
    return f"factor[{number}].range" if factor.range is not None else f"factor[{number}].levels[{index}]"


def _beside_the_first(built: Design) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each level but the first of each factor, beside the first ones of the others; its factor before it."""
    first = tuple(0 for _ in built.dimensions)
    for number, dimension in enumerate(built.dimensions):
        for index in range(1, len(dimension.choices)):
            yield number, (*first[:number], index, *first[number + 1 :])


def _fields(factor: Factor) -> Iterator[str]:
    """The fields that a factor sets, each once."""
    if factor.level is not None:
        yield from dict.fromkeys(name for level in factor.level for name in level.settings)
    elif factor.field is not None:
        below = ("",) if factor.matrices is None else (".from", ".number")
        yield from (f"{factor.field}{key}" for key in below)


def _problems(built: Design, levels: tuple[int, ...], base: Path) -> tuple[Setup | None, list[Problem]]:
    """What is wrong with the scenario of a cell; its setup if nothing is."""
    try:
        scenario = built.scenario(levels, base)
        if scenario.capture:
            return None, [Problem("capture", "a study keeps no captures; leave it out")]
        setup = resolve(scenario, Needed.ALL)
        if built.live:
            check_live(scenario, setup)
    except ScenarioError as error:
        return None, list(error.problems)
    here = [
        maker.cls.__name__
        for maker in setup.own_code
        if not isinstance(maker, NotLoaded) and maker.cls.__module__ == "__main__"
    ]
    if here:
        message = f"{here[0]} cannot be sent to workers; put it into a file, and name it as file:{here[0]}"
        return None, [Problem("transport", message)]
    return setup, []


def _repeats(built: Design, levels: tuple[int, ...], base: Path) -> bool:
    """Whether it is certain that all replications of a cell are the same run."""
    scenario = built.scenario(levels, base)
    setup = resolve(scenario, Needed.ALL)

    def has_single_paths() -> bool:
        made = plan(setup, built.origin).plan
        return not any(one.splits() for one in (made, *made.others()))

    if may_differ(setup, has_single_paths):
        return False
    settings = scenario.run_settings.model_copy(update={"replication": scenario.run_settings.replication + 1})
    other = resolve(scenario.model_copy(update={"run_settings": settings}), Needed.ALL)
    return other.replace(replication=setup.replication) == setup


def _inside(inner: str, outer: str) -> bool:
    """Whether a place is another one or lies within it."""
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


def _example(message: str) -> str:
    """What is right, where a message only says what is wrong with a unit."""
    kinds = (kind for kind in KINDS if f"not a unit of {kind.noun} " in message)
    return next((f"; write it like {quoted(kind.example)}" for kind in kinds), "")
