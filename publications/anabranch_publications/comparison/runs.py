"""Running a comparison: what each system is on each network, a study for each part, and what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from anabranch.errors import AnabranchError, Problem, ScenarioError
from anabranch.plans.routes import plan
from anabranch.scenario.provenance import agreed_together
from anabranch.setup import Needed, resolve
from anabranch.study import Factor, FactorInfo, Level, Metric, MetricInfo, Study, StudyResult
from anabranch.study.check import design
from anabranch.study.model import Output, Progress
from anabranch_publications.comparison.measures import MEASURES, PER_FLOW, QUEUES, Values, expected, measured
from anabranch_publications.comparison.place import controller_table
from anabranch_publications.comparison.statics import Static, least_load, routing_of, statics
from anabranch_publications.comparison.subjects import SENDER, Part, Subject
from anabranch_publications.comparison.systems import System
from anabranch_publications.errors import ComparisonError

REPLICATIONS, REPLICATIONS_QUICK = 5, 3
_MOST_EDGES, _MOST_EDGES_QUICK = 60, 30
"""Networks with more have no worst-case load under failures: it takes a plan for each edge."""

OpenProgress = Callable[[str], AbstractContextManager[Progress | None]]
Missing = dict[tuple[str, str, str], str]
"""Why a network's system has no value of a measure."""


@dataclass(frozen=True)
class Comparison:
    """Systems on networks, as they came out."""

    subjects: tuple[Subject, ...]
    systems: tuple[System, ...]
    quick: bool
    result: StudyResult
    """A row for each network and system in ``cells``, for each replication in ``runs``."""
    missing: Missing = field(default_factory=dict)

    def row(self, subject: Subject, system: System) -> dict[str, Any]:
        """The cell of a network and a system, by column."""
        rows = self.result.cells.filter(
            (pl.col("network") == subject.name) & (pl.col("system") == system.name)
        )
        return rows.row(0, named=True)

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "quick": self.quick,
            "replications": self.result.replications,
            "confidence": self.result.confidence,
            "networks": [
                {
                    "network": subject.name,
                    "title": subject.title,
                    "size": subject.size,
                    "failure": subject.failed,
                    "demand": subject.demand,
                    "systems": [self._system(subject, system) for system in self.systems],
                }
                for subject in self.subjects
            ],
            "measures": {name: {"label": m.label, "meaning": m.meaning} for name, m in MEASURES.items()},
        }

    def _system(self, subject: Subject, system: System) -> dict[str, Any]:
        row = self.row(subject, system)
        return {
            "system": system.name,
            "what": system.what,
            "values": {name: row[name] for name in MEASURES},
            "half_widths": {name: row[f"{name}_ci"] for name in MEASURES},
            "missing": {
                name: reason
                for name in MEASURES
                if (reason := self.missing.get((subject.name, system.name, name))) is not None
            },
        }


def compare(
    subjects: Sequence[Subject],
    systems: Sequence[System],
    folder: Path,
    *,
    replications: int | None = None,
    quick: bool = False,
    jobs: int | None = None,
    progress: OpenProgress | None = None,
    announce: Callable[[str], None] | None = None,
    replace: bool = False,
) -> Comparison:
    """Runs systems on networks; runs that are in the folder already are not repeated.

    Args:
        subjects: the networks with their traffic.
        systems: the systems.
        folder: where runs are kept.
        replications: of each run; 5, or 3 if quick, where it is left out.
        quick: fewer replications, and no failures on larger networks; subjects say how long runs are.
        jobs: processes; all cores if None.
        progress: opens a report of a study's progress, given its title.
        announce: told what is done next.
        replace: go on though folders of runs have files that Anabranch did not write.

    Raises:
        ComparisonError: if the folder is a file.
        StudyError: if runs cannot be kept.
    """
    if folder.exists() and not folder.is_dir():
        raise ComparisonError([Problem("--out", f"{folder} exists and is not a folder; choose another name")])
    count = replications or (REPLICATIONS_QUICK if quick else REPLICATIONS)
    missing: Missing = {}
    rows: list[dict[str, Any]] = []
    for subject in subjects:
        if announce is not None:
            announce(f"{subject.name}: {subject.failed}")
        on = _OnSubject(subject, tuple(systems), quick, missing)
        for part in subject.parts:
            if announce is not None:
                announce(f"{subject.name}: {part.name}")
            on.take(part, folder / "studies", count, jobs, progress, replace=replace)
        rows += on.rows(count)
    return Comparison(
        tuple(subjects), tuple(systems), quick, _result(rows, subjects, systems, count), missing
    )


class _OnSubject:
    """All systems on one network."""

    def __init__(self, subject: Subject, systems: tuple[System, ...], quick: bool, missing: Missing) -> None:
        self._subject = subject
        self._systems = systems
        self._quick = quick
        self._missing = missing
        self._fields: dict[str, dict[str, Any]] = {}
        self._static: dict[str, Values] = {}
        self._values: dict[tuple[str, int], Values] = {}
        least, reason = None, subject.unbounded
        if subject.demand is not None:
            try:
                least = least_load(subject)
            except ScenarioError as error:
                reason = _line(error)
        shared: dict[str, Static] = {}
        for system in systems:
            routing = routing_of(system, subject, least)
            self._fields[system.name] = _fields(system, subject, routing)
            self._static[system.name] = self._evaluate(
                system, routing, None if least is not None else reason, shared
            )

    def _evaluate(
        self, system: System, routing: Mapping[str, Any], reason: str | None, shared: dict[str, Static]
    ) -> Values:
        """Worst-case loads and entries; systems with the same routes share the answer."""
        values: Values = {} if system.controller is not None else {"control_messages_per_s": 0.0}
        names = ["worst_load", "worst_failure_load", "stranded_percent"]
        names += [] if system.entries == "flow" else ["entries_mean", "entries_max"]
        if system.chooses_in_run:
            reason = "a class chooses the paths while a run is under way"
        most = _MOST_EDGES_QUICK if self._quick else _MOST_EDGES
        failures = len(self._subject.links) <= 2 * most
        key = str(
            (
                system.entries,
                sorted((k, str(v)) for k, v in routing.items() if k not in ("load_balancing", "reaction")),
            )
        )
        if reason is None and key not in shared:
            try:
                shared[key] = statics(system, self._subject, routing, failures=failures)
            except ScenarioError as error:
                reason = _line(error)
        if reason is not None:
            self._note(system, names, reason)
            return values
        loads = shared[key]
        values |= {"worst_load": loads.load, "worst_failure_load": loads.failure_load}
        values["stranded_percent"] = loads.stranded_percent
        if not failures:
            self._note(system, names[1:3], f"more than {most} edges, each of which would need a plan")
        elif loads.failure_load is None:
            self._note(system, names[1:2], "no two routers have a route after a failure")
        if system.entries != "flow":
            values |= {"entries_mean": loads.entries_mean, "entries_max": loads.entries_max}
        return values

    def take(
        self,
        part: Part,
        folder: Path,
        replications: int,
        jobs: int | None,
        progress: OpenProgress | None,
        *,
        replace: bool,
    ) -> None:
        """Runs a part for every system that can, and measures it."""
        able = [system for system in self._systems if self._can(system, part)]
        if not able:
            return
        study = self._study(part, able, replications)
        store = folder / f"{self._subject.slug}-{part.name}-{design(study).fingerprint()[:10]}"
        with progress(study.title) if progress is not None else nullcontext() as report:
            result = study.run(jobs=jobs, out=store, progress=report, replace=replace)
        for run, cell, replication, reason in result.runs.select(
            "run", "cell", "replication", "reason"
        ).iter_rows():
            system = able[cell]
            if reason is not None:
                self._note(system, expected(part), reason)
                continue
            values = measured(part, _tables(store, run), self._subject.links)
            self._values.setdefault((system.name, replication), {}).update(values)

    def _can(self, system: System, part: Part) -> bool:
        """Whether a system can carry the traffic of a part; why not is noted."""
        if system.needs_demand and self._subject.demand is None:
            self._note(system, expected(part), self._subject.unbounded)
            return False
        try:
            fields = self._fields[system.name]
            setup = resolve(self._subject.scenario(part, fields, system.provenance), Needed.ALL)
            plan(setup, self._subject.origin)
        except ScenarioError as error:
            self._note(system, expected(part), _line(error))
            return False
        return True

    def _study(self, part: Part, systems: Sequence[System], replications: int) -> Study:
        data = {**self._subject.data, **part.settings, "title": f"{self._subject.name}: {part.name}"}
        data["transport"] = {SENDER: {"preset": "cubic"}}
        levels = [
            Level.model_validate({"label": system.name, "set": self._fields[system.name]})
            for system in systems
        ]
        study = Study.from_data(
            {"title": data["title"], "scenario": data, "replications": replications, "keep": "tables"},
            origin=self._subject.origin,
            base=self._subject.base,
            provenance=agreed_together([system.provenance for system in systems]),
        )
        metric = Metric(name="delivered_bytes", column="delivered_bytes", statistic="sum")
        return _copied(study, factors=[Factor(label="system", level=levels)], metrics=[metric])

    def rows(self, replications: int) -> list[dict[str, Any]]:
        """A row for each system and replication; a measure that one of them lacks is left out of all."""
        rows = []
        for system in self._systems:
            runs = [self._values.get((system.name, number), {}) for number in range(replications)]
            runs = [{**run, **self._static[system.name]} for run in runs]
            for name in MEASURES:
                lacking = sum(run.get(name) is None for run in runs)
                if lacking:
                    self._note(system, [name], self._why(name, lacking, replications))
                    for run in runs:
                        run[name] = None
            rows += [
                {
                    "network": self._subject.name,
                    "system": system.name,
                    "replication": number,
                    **{name: run[name] for name in MEASURES},
                }
                for number, run in enumerate(runs)
            ]
        return rows

    def _why(self, name: str, lacking: int, replications: int) -> str:
        """Why runs that took place have no value of a measure."""
        expecting = {measure for part in self._subject.parts for measure in expected(part)}
        runs = f"in {lacking} of {replications} runs"
        if name.startswith("failure_") and name not in expecting:
            return self._subject.failed
        if name == "failure_back_s":
            return f"{runs} the total is not back before the end"
        if name in ("completion_median_ms", "completion_p95_ms", "unfinished_percent"):
            return f"{runs} too many transfers do not end" if name in expecting else "no flow has a size"
        if name in PER_FLOW and all(part.transfers for part in self._subject.parts if part.window_s):
            return "every flow has a size"
        if name in QUEUES and not self._subject.links:
            return "there are no two routers with a link"
        return f"{runs} nothing was delivered"

    def _note(self, system: System, names: Iterable[str], reason: str) -> None:
        for name in names:
            self._missing.setdefault((self._subject.name, system.name, name), reason)


def _fields(system: System, subject: Subject, routing: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a scenario that a system sets."""
    fields: dict[str, Any] = {"transport": {SENDER: dict(system.transport)}}
    if system.controller is None:
        return {**fields, "routing": dict(routing)}
    if subject.reaction is not None:
        fields["routing"] = {"reaction": subject.reaction}
    return {**fields, "controller": controller_table(subject, system.controller)}


def _copied(study: Study, **fields: Any) -> Study:
    return study.model_copy(update={**fields, "output": Output(spreadsheet=False, figures=[])})


def _tables(folder: Path, run: int) -> dict[str, pl.DataFrame]:
    files = sorted((folder / "tables").glob(f"*/{run:06d}.parquet"))
    return {file.parent.name: pl.read_parquet(file) for file in files}


def _line(error: AnabranchError) -> str:
    """What is wrong, as one line."""
    return "; ".join(str(error).splitlines())


def _result(
    rows: list[dict[str, Any]], subjects: Sequence[Subject], systems: Sequence[System], replications: int
) -> StudyResult:
    schema: dict[str, Any] = {"network": pl.String, "system": pl.String, "replication": pl.Int64}
    table = pl.DataFrame(rows, schema=schema | dict.fromkeys(MEASURES, pl.Float64))
    runs = table.select(
        pl.int_range(pl.len()).alias("run"),
        (pl.int_range(pl.len()) // replications).alias("cell"),
        "network",
        "system",
        "replication",
        pl.lit("ok").alias("status"),
        pl.lit(None, pl.String).alias("reason"),
        *MEASURES,
    )
    factors = [
        FactorInfo("network", "network", "categorical", None, tuple(subject.name for subject in subjects)),
        FactorInfo("system", "system", "categorical", None, tuple(system.name for system in systems)),
    ]
    return StudyResult.from_runs(
        title="Systems on one network and workload",
        confidence=0.95,
        replications=replications,
        factors=factors,
        metrics=[MetricInfo(measure.name, measure.label) for measure in MEASURES.values()],
        runs=runs,
    )
