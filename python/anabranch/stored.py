"""Values of files that a folder of results has: whoever made the folder may have changed them."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Annotated, Any, Literal, NoReturn

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

REMEDY = "the file is damaged, or was changed; run it again"
"""What to do about a value that no run has written."""

_MOST_DIGITS = 400
"""Digits of a whole number: more than the largest double has."""


def read_json(text: str | bytes) -> Any:
    """Returns the data of a JSON text (RFC 8259).

    Raises:
        ValueError: if it is none: also for NaN and Infinity, numbers that no double holds, a key twice, and
            more levels than can be read.
    """
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_short,
            object_pairs_hook=_unique,
        )
    except RecursionError:
        raise ValueError("is nested too deep") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"has {name}, which is no number")


def _short(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"has {text[:20]}..., which has too many digits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"has {text[:20]}, which is too large")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"has the key {json.dumps(twice[:40])} twice")
    return entries


_LARGEST = 1e150
"""Magnitude that no number of a run reaches; squares of it are finite, and sums of them."""


def metric_value(given: Any) -> float | None:
    """Returns the value of a metric as it was written: a number of a run, or null.

    Raises:
        ValueError: if it is something else.
    """
    if given is None:
        return None
    number = math.nan
    if isinstance(given, int | float) and not isinstance(given, bool):
        with suppress(OverflowError):
            number = float(given)
    if not abs(number) <= _LARGEST:
        raise ValueError(f"{json.dumps(given)[:40]} is no number of a run")
    return number


_MOST_COUNTED = 1e12
"""More flows than any run has, and few enough that those of a million runs are a 64-bit number."""


def is_count(number: float | None) -> bool:
    """Whether a number counts flows or rows of a run."""
    return number is not None and 0 <= number <= _MOST_COUNTED and number.is_integer()


def check_censored(
    value: float | None, more_than: float | None, done: float | None, flows: float | None
) -> None:
    """Makes sure that the columns of a censored metric are those of one run.

    Args:
        value: of the metric; null where unfinished flows leave it open.
        more_than: what it is more than then.
        done: how many flows are done.
        flows: of how many.

    Raises:
        ValueError: if they cannot be together.
    """
    if not (is_count(done) and is_count(flows)):
        raise ValueError(f"{done} of {flows} flows done cannot be")
    unfinished = (flows or 0.0) - (done or 0.0)
    if unfinished < 0:
        raise ValueError(f"{done} of {flows} flows done cannot be")
    if min(value or 0.0, more_than or 0.0) < 0:
        raise ValueError(f"{value if more_than is None else more_than} is no time")
    if more_than is not None and (value is not None or not unfinished):
        raise ValueError(
            f"more than {more_than} cannot be beside {value}, with {unfinished:g} flows unfinished"
        )
    if value is None and more_than is None and done and not unfinished:
        raise ValueError(f"all {done:g} flows are done, and there is no time")


Count = Annotated[int, Field(ge=0, lt=2**63)]
"""A whole number from 0."""
Share = Annotated[float, Field(ge=0, le=1.0000001)]
"""From 0 to 1, but for rounding."""
Positive = Annotated[float, Field(ge=0)]


class _Stored(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False, extra="ignore")


class Summary(_Stored):
    """What a summary of a run or of captures may have; further keys are the run's own."""

    format_version: Count = 1
    title: str | None = ""
    version: str = ""
    seed: Count = 0
    replication: Count = 0
    scenario_sha256: str = ""
    topology_sha256: str = ""
    network: list[str] = []
    warnings: list[str] = []
    captures: list[str] = []
    ended_s: Positive = 0.0
    interrupted: bool = False
    packet_hops: Count = 0
    events: Count = 0
    jain_index: Share | None = None
    delivered_mbps: Positive | None = None
    wall_s: Positive = 0.0
    began_unix_s: float = 0.0
    t1_s: float | None = None
    t2_s: float | None = None
    window_start_s: float = 0.0
    window_end_s: float = 0.0
    interval_s: Positive = 0.0
    throughput_mbps: Positive | None = None
    packets: Count = 0
    tcp_packets: Count = 0
    bytes: Count = 0
    subflows_established: Count = 0
    subflows_finished: Count = 0
    unanswered: Count = 0


class StoredFactor(_Stored):
    """A factor of a study."""

    name: Annotated[str, Field(min_length=1)]
    label: str
    kind: Literal["continuous", "categorical"]
    unit: str | None
    levels: Annotated[list[float | str], Field(min_length=1)]


class StoredMetric(_Stored):
    """A metric of a study."""

    name: Annotated[str, Field(min_length=1)]
    label: str
    censored: bool = False


class StoredStudy(_Stored):
    """What study.json has for a reader of results."""

    title: str
    confidence: Annotated[float, Field(gt=0, lt=1)]
    replications: Annotated[int, Field(ge=1, lt=2**63)]
    runs: Count
    cells: Count
    factors: list[StoredFactor]
    metrics: list[StoredMetric]
    live: bool = False


def check(model: type[_Stored], data: dict[str, Any]) -> Any:
    """Returns the data as the model has them.

    Raises:
        ValueError: with the first value that cannot be, and its place.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}") from None


def check_table(name: str, table: pl.DataFrame) -> None:
    """Makes sure that a table has no number that a run does not write.

    Raises:
        ValueError: if a column has NaN, Infinity or more than any run writes, or a count below 0.
    """
    for column in table:
        if column.dtype.is_float() and not column.is_null().all():
            wrong = not (column.abs() <= _LARGEST).all()
        else:
            wrong = column.dtype.is_signed_integer() and (column < 0).any()
        if wrong:
            raise ValueError(f"{name}: column {column.name} has a value that is no number of a run")
