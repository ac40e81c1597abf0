"""A study that a user writes, as types, in a file or in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from anabranch.errors import Problem, ScenarioError, StudyError
from anabranch.scenario.document import Document
from anabranch.scenario.forms import Field
from anabranch.scenario.plain import Noted, plain_data
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.reading import origin_of, parse_toml, read_text
from anabranch.study.parts import Part
from anabranch.study.tables import Factor, Level, Metric, Output, Range

__all__ = ["Factor", "Level", "Metric", "Output", "Progress", "Range", "Study"]

Progress = Callable[[int, int, int], None]
"""Called now and then with the runs done, the failed ones among them, and all runs."""


class Study(Document, Part):
    """Runs of one scenario over all combinations of the levels of its factors, each several times."""

    title: str
    """One line for people."""
    scenario: Any
    """The scenario: a file, relative to the study's own, or a whole scenario in a table."""
    replications: int
    """Runs of each combination; replication r has ``run.replication = r``, and so its own random streams."""
    confidence: float
    """Probability with which a confidence interval holds the mean."""
    keep: str
    """What is kept of each run: its metrics, or its tables as well."""
    factors: list[Factor]
    """What differs, the slowest first; without any, there are only replications."""
    metrics: list[Metric]
    """What is measured; left out: goodput, completion times, fairness, retransmissions, queues and losses."""
    output: Output
    """What is written for people when all runs are done."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            scenario: Any,
            title: Any = ...,
            replications: Any = ...,
            confidence: Any = ...,
            keep: Any = ...,
            factors: Any = ...,
            metrics: Any = ...,
            output: Any = ...,
            **keys: Any,
        ) -> None: ...

    def _build(self, values: Mapping[str, Any]) -> None:
        """Checks keywords with their values, and keeps them; the scenario may be the path of a file."""
        path = values.get("scenario")
        super()._build({**values, "scenario": str(path)} if isinstance(path, Path) else values)

    def _value(self, field: Field) -> Any:
        """The object of a field; the table of a scenario stays plain, and is read when the study begins."""
        return self._given["scenario"] if field.name == "scenario" else super()._value(field)

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: a scenario that knows where it comes from, too."""
        scenario = self.__dict__.get("scenario")
        kept = {"scenario": scenario} if isinstance(scenario, Document) else {}
        return {**super().__getstate__(), **kept}

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """The study in a TOML file.

        Raises:
            StudyError: with everything that is wrong with it.
        """
        path = Path(path)
        try:
            text = read_text(path)
            data = parse_toml(text, path.name)
        except ScenarioError as error:
            raise StudyError(error.problems, error.origin) from None
        if data.keys() & {"network", "traffic", "run"} and "scenario" not in data:
            message = f"is a scenario; run it by: anabranch run {path}"
            raise StudyError([Problem("", message)], path.name)
        origin = origin_of(path.name, text)
        return cls.from_data(data, origin=origin, base=path.parent, provenance=Provenance.of_file(path))

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
        noted = Noted("")
        given = plain_data(data, noted)
        problems = noted.joined(cls.check(given))
        if problems:
            raise StudyError(problems, origin)
        study = cls.of_data(given)
        study._origin, study._base = origin, base
        study._provenance = provenance or Provenance()
        return study
