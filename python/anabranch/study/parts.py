"""Questions to the tables of a study, and the checks beyond those of the core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from anabranch.errors import ProblemsError, StudyError
from anabranch.results.censored import CENSORED
from anabranch.scenario.place import joined
from anabranch.scenario.table import Table
from anabranch.study.levels import spread

Told = tuple[str, str]
"""A place and a message."""


class Part(Table):
    """A table of a study."""

    @classmethod
    def error_type(cls) -> type[ProblemsError]:
        """The error that mistakes of the table are raised as."""
        return StudyError

    @classmethod
    def check(cls, data: object, *, called: bool = False) -> list[Told]:
        """Places and messages of everything that is wrong with plain data; see :meth:`Table.check`."""
        problems = super().check(data, called=called)
        places = [at for at, _ in problems]
        beyond_bounds = [
            (at, message) for at, message in beyond(cls.__name__, data) if not _is_wrong(at, places)
        ]
        return [*problems, *beyond_bounds]


def _is_wrong(at: str, places: list[str]) -> bool:
    """Whether the table around a place has been told to be wrong."""
    table = at.rpartition(".")[0] if "." in at else ""
    return any(place == at or (place.startswith(table) if table else True) for place in places)


class RangeOfLevels(Part):
    """The levels of a range."""

    if TYPE_CHECKING:
        first: Any
        last: Any
        step: Any

    def levels(self) -> list[Any]:
        """The levels, as a scenario writes them."""
        return spread(self.first, self.last, self.step)


class TimesOfFlows(Part):
    """Whether a metric is of times that may be known only as more than a bound."""

    if TYPE_CHECKING:
        table: str
        column: str
        statistic: str

    @property
    def is_censored(self) -> bool:
        """Whether it is of times of flows, of which some may be known only as more than a bound."""
        return _is_censored(self.table, self.column, self.statistic)


def _is_censored(table: object, column: object, statistic: object) -> bool:
    return table == "flows" and column in CENSORED and statistic != "count"


def beyond(table: str, data: object) -> Iterator[Told]:
    """The problems of plain data of a table of a study that only Python sees.

    Args:
        table: the name of the class.
        data: the data; what is no table is the core's to tell.
    """
    if not isinstance(data, dict):
        return
    if table == "Range":
        yield from _of_range(data)
    elif table == "Metric":
        yield from _of_metric(data)
    else:
        for key, kind in _BELOW.get(table, ()):
            below = data.get(key)
            entries = enumerate(below) if isinstance(below, list) else ()
            listed = [(f"{key}[{at}]", entry) for at, entry in entries]
            for at, entry in listed if isinstance(below, list) else [(key, below)]:
                yield from ((joined(at, place), message) for place, message in beyond(kind, entry))


_BELOW: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Factor": (("range", "Range"),),
    "Study": (("factor", "Factor"), ("factors", "Factor"), ("metric", "Metric"), ("metrics", "Metric")),
}
"""Keys and names of fields that hold tables with something to check, by the table around them."""


def _of_range(data: Mapping[str, Any]) -> Iterator[Told]:
    ends = [
        data.get(key, data.get(name)) for key, name in (("from", "first"), ("to", "last"), ("step", "step"))
    ]
    if None in ends:
        return
    try:
        spread(*ends)
    except ValueError as error:
        yield "", str(error)


def _of_metric(data: Mapping[str, Any]) -> Iterator[Told]:
    scale = data.get("scale", 1.0)
    censored = _is_censored(data.get("table", "flows"), data.get("column"), data.get("statistic", "mean"))
    if censored and isinstance(scale, int | float) and scale < 0:
        yield (
            "scale",
            f"{float(scale)} would turn what an unfinished flow takes more than into less; times take a "
            "scale above 0",
        )
