"""What a user writes: a study as types, in a file or in Python."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import CoreSchema

from anabranch.censored import CENSORED
from anabranch.errors import Problem, ProblemsError, ScenarioError, StudyError
from anabranch.scenario.document import Document
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.quantity import quoted, shown
from anabranch.scenario.reading import field_steps, parse_toml, read_text
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.table import Table, Text, read, refuse, untouched
from anabranch.study.levels import spread

if TYPE_CHECKING:
    from anabranch.study.result import StudyResult

Progress = Callable[[int, int, int], None]
"""Called now and then with the runs done, the failed ones among them, and all runs."""

STATISTICS = ("mean", "median", "min", "max", "sum", "count", "jain", "first")
"""Statistics beside the percentiles ``p1`` to ``p99``."""


def _field(value: str) -> str:
    field_steps(value)
    return value


_MOST_LETTERS = 200
"""Letters of a name that becomes one of a file, with its ending."""


def _statistic(value: str) -> str:
    if value not in STATISTICS and not re.fullmatch(r"p[1-9][0-9]?", value):
        listed = ", ".join(quoted(name) for name in STATISTICS)
        raise ValueError(f'{quoted(value)} is not known; there are {listed}, and percentiles such as "p95"')
    return value


def _column(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", value):
        raise ValueError(f'{quoted(value)} is no column name; write letters, digits and _, such as "fct_us"')
    if len(value) > _MOST_LETTERS:
        raise ValueError(
            f"has {len(value)} letters, and figures have it as their file name; {_MOST_LETTERS} at most"
        )
    return value


def _scenario(value: object) -> object:
    if isinstance(value, str | Path | dict | Scenario):
        return value
    raise ValueError(f'{shown(value)} is neither a file name, such as "dumbbell.toml", nor a scenario')


class _ScenarioSchema:
    """JSON Schema of the field ``scenario``: a file name, or a whole scenario."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        del schema
        return {"anyOf": [{"type": "string"}, handler(Scenario.__pydantic_core_schema__)]}


FieldName = Annotated[str, AfterValidator(_field)]
ColumnName = Annotated[str, AfterValidator(_column)]
NotEmpty = Annotated[str, Field(min_length=1)]


class _Part(Table):
    """A table of a study."""

    @classmethod
    def error_type(cls) -> type[ProblemsError]:
        """What its mistakes are raised as."""
        return StudyError


class Range(_Part):
    """Equally spaced levels, both ends included."""

    first: Any = Field(alias="from")
    """The first level: a number or a quantity."""
    last: Any = Field(alias="to")
    """The last level, if whole steps lead there; nothing beyond it."""
    step: Any
    """From each level to the next."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.levels()
        return self

    def levels(self) -> list[Any]:
        """The levels, as a scenario writes them."""
        return spread(self.first, self.last, self.step)


class Level(_Part):
    """One level of a factor that sets several fields together."""

    label: NotEmpty
    """Its name in tables and figures."""
    settings: Annotated[dict[FieldName, Any], Field(min_length=1, alias="set")]
    """Fields of the scenario, each with its value."""


class Factor(_Part):
    """What differs from cell to cell: a field with its levels, or levels that set several fields."""

    field: FieldName | None = None
    """A field of the scenario, such as ``network.links.queue`` or ``traffic[0].flows``."""
    label: NotEmpty | None = None
    """Its name in tables and figures; the field, where it is left out."""
    levels: list[Any] | None = None
    """Values of the field."""
    range: Range | None = None
    """In place of ``levels``: equally spaced ones."""
    level: list[Level] | None = None
    """In place of ``field``: levels with names that set several fields together."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.level is not None:
            for name in ("field", "levels", "range"):
                if getattr(self, name) is not None:
                    refuse(name, "the levels in [[factor.level]] say themselves what they set; leave it out")
            if self.label is None:
                refuse("label", "is missing; a factor that sets several fields needs a name")
            if not self.level:
                refuse("level", "is empty; a factor has at least one level")
            return self
        if self.field is None:
            refuse("field", "is missing; it names what the levels set, such as network.links.queue")
        if (self.levels is None) == (self.range is None):
            both = ", not both" if self.levels is not None else ""
            refuse("levels", f"give either levels or range{both}")
        if self.levels is not None and not self.levels:
            refuse("levels", "is empty; a factor has at least one level")
        return self


class Metric(_Part):
    """A number for each run, taken from one column of its tables."""

    name: ColumnName
    """Name of its column; the unit comes last, as in ``fct_us``."""
    label: NotEmpty | None = None
    """Its name in tables and figures; ``name``, where it is left out."""
    table: NotEmpty = "flows"
    """A table of the result, or ``"summary"``."""
    column: NotEmpty
    """Column of the table, or key of the summary."""
    statistic: Annotated[str, AfterValidator(_statistic)] = "mean"
    """``mean``, ``median``, ``min``, ``max``, ``sum``, ``count``, ``jain`` (Jain's index), ``first``, or a
    percentile, ``p1`` to ``p99``. What is null does not count."""
    scale: float = 1.0
    """The statistic is multiplied by it: 1e6 makes microseconds of seconds."""
    where: dict[str, Any] = {}
    """Only the rows whose columns equal these values, or one of them where it is a list."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for column, wanted in self.where.items():
            values = wanted if isinstance(wanted, list) else [wanted]
            if not values or any(isinstance(v, bool) or not isinstance(v, str | int) for v in values):
                refuse(f"where.{column}", f"{shown(wanted)} is no text or whole number, and no list of them")
        if not math.isfinite(self.scale) or self.scale == 0:
            refuse(
                "scale", f"{self.scale} leaves nothing of the statistic; give a finite number that is not 0"
            )
        if self.is_censored and self.scale < 0:
            refuse(
                "scale",
                f"{self.scale} would turn what an unfinished flow takes more than into less; times take a "
                "scale above 0",
            )
        if self.where and self.table == "summary":
            refuse("where", "the summary has no rows to choose from; leave it out")
        return self

    @property
    def is_censored(self) -> bool:
        """Whether it is of times of flows, of which some may be known only as more than a bound."""
        return self.table == "flows" and self.column in CENSORED and self.statistic != "count"


class Output(_Part):
    """What a study leaves for people, beside its tables."""

    spreadsheet: bool | None = None
    """A workbook with a sheet for each metric, table and chart: ``study.xlsx``; left out: where XlsxWriter is
    installed, as ``anabranch[spreadsheet]`` does."""
    figures: list[Literal["png", "pdf", "svg"]] = ["png"]
    """Forms of the figure of each metric, in ``figures/``; empty for none."""


class Study(Document):
    """Runs of one scenario over all combinations of the levels of its factors, each several times."""

    @classmethod
    def error_type(cls) -> type[ProblemsError]:
        """What its mistakes are raised as."""
        return StudyError

    title: Text = ""
    """One line for people."""
    scenario: Annotated[Any, AfterValidator(_scenario), _ScenarioSchema()]
    """The scenario: a file, relative to the study's own, or a whole scenario in a table."""
    replications: Annotated[int, Field(ge=1)] = 1
    """Runs of each combination; replication r has ``run.replication = r``, and so its own random streams."""
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """Probability with which a confidence interval holds the mean."""
    keep: Literal["metrics", "tables"] = "metrics"
    """What is kept of each run: its metrics, or its tables as well."""
    factors: Annotated[list[Factor], Field(alias="factor")] = []
    """What differs, the slowest first; without any, there are only replications."""
    metrics: Annotated[list[Metric], Field(alias="metric")] = []
    """What is measured; left out: goodput, completion times, fairness, retransmissions, queues and losses."""

    output: Output = untouched(Output)
    """What is written for people when all runs are done."""

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """The study in a TOML file.

        Raises:
            StudyError: with everything that is wrong with it.
        """
        path = Path(path)
        try:
            data = parse_toml(read_text(path), path.name)
        except ScenarioError as error:
            raise StudyError(error.problems, error.origin) from None
        if data.keys() & {"network", "traffic", "run"} and "scenario" not in data:
            message = f"is a scenario; run it by: anabranch run {path}"
            raise StudyError([Problem("", message)], path.name)
        return cls.from_data(data, origin=path.name, base=path.parent, provenance=Provenance.of_file(path))

    @classmethod
    def from_data(
        cls,
        data: object,
        *,
        origin: str | None = None,
        base: Path | None = None,
        provenance: Provenance | None = None,
    ) -> Self:
        """The study in plain data, as a TOML parser returns it.

        Args:
            data: the data.
            origin: name of the file it came from, for messages.
            base: folder that names of files are relative to; None for the current one.
            provenance: the file that it was read from, which decides whether its code runs unasked; left out
                where the program itself has made the data.

        Raises:
            StudyError: with everything that is wrong with it.
        """
        try:
            study = read(cls, data)
        except StudyError as error:
            raise StudyError(error.problems, origin) from None
        study._origin, study._base = origin, base
        study._provenance = provenance or Provenance()
        return study

    def run(
        self,
        jobs: int | None = None,
        dask: str | None = None,
        out: Path | str | None = None,
        progress: Progress | None = None,
        *,
        replace: bool = False,
        live: bool = False,
        against_simulation: bool = False,
        trust: bool = False,
    ) -> StudyResult:
        """Runs it; with ``out``, every run is kept in that folder, and a second call goes on there.

        Args:
            jobs: processes on this machine; every core that this process may use, where it is left out.
            dask: address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``, in place of processes here.
            out: the folder.
            progress: called now and then with the runs done, the failed ones among them, and all runs.
            replace: go on though the folder has files that Anabranch did not write; they stay.
            live: make live runs, one at a time; a run that is not valid is repeated, and counts as failed at
                the third time.
            against_simulation: simulate each live run as well, as a factor ``hosts`` of two levels.
            trust: let code in Python run that the scenario or a level names, whoever has written it
                (docs/security.md).

        Raises:
            ConsentError: if nobody has agreed to code that would run.
            LiveError: if the machine cannot make live runs.
            StudyError: if the study cannot be run, or the folder is not this study's, has other files, is
                being written to, or cannot be written.
        """
        from anabranch.study.execute import Execution, run_study  # noqa: PLC0415 - execute.py imports this module

        way = Execution(live=live, against_simulation=against_simulation, jobs=jobs, dask=dask)
        study = self.trusted() if trust else self
        return run_study(study, way, out=out, progress=progress, replace=replace)
