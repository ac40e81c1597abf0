"""Values of files that a folder of results has: whoever made the folder may have changed them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import polars as pl

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


Check = Callable[[Any], Any]
"""Returns a value as it was written, or raises ValueError with what is wrong with it."""


def _number(least: float = -math.inf, most: float = math.inf) -> Check:
    """Numbers within bounds."""

    def checked(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{_shown(value)} is not a number")  # noqa: TRY004 - a value of a file
        if not least <= value <= most:
            raise ValueError(f"{_shown(value)} is no number of a run")
        return float(value)

    return checked


def _count(value: Any) -> int:
    """A whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"{_shown(value)} is no count")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is not text")  # noqa: TRY004 - a value of a file
    return value


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_shown(value)} is neither true nor false")  # noqa: TRY004 - a value of a file
    return value


def _or_null(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _some(check: Check, least: int = 0) -> Check:
    """Lists of so many values at least."""

    def checked(values: Any) -> list[Any]:
        if not isinstance(values, list) or len(values) < least:
            raise ValueError(f"{_shown(values)} is no list of {least} at least")
        return [_at(f"{place}", check, value) for place, value in enumerate(values)]

    return checked


def _shown(value: Any) -> str:
    return json.dumps(value)[:40]


def _at(place: str, check: Check, value: Any) -> Any:
    """The value at a place, which an error then begins with."""
    try:
        return check(value)
    except ValueError as error:
        inner = str(error)
        raise ValueError(f"{place}.{inner}" if _INNER.match(inner) else f"{place}: {inner}") from None


_INNER = re.compile(r"[a-z_0-9.]+: ")
_positive, _share, _any_number = _number(0), _number(0, 1.0000001), _number()


def _comparison(value: Any) -> Any:
    """The part of a summary about what stands beside a measurement."""
    return _table(dict, {"title": _text, "notes": _some(_text)})(value)


_SUMMARY: Mapping[str, Check] = {
    **dict.fromkeys(
        ("format_version", "seed", "replication", "packet_hops", "events", "packets", "tcp_packets", "bytes",
         "subflows_established", "subflows_finished", "subflows_lasting", "unanswered"),
        _count,
    ),
    **dict.fromkeys(("version", "scenario_sha256", "topology_sha256"), _text),
    "title": _or_null(_text),
    **dict.fromkeys(("network", "warnings", "captures", "measured_by", "notes"), _some(_text)),
    **dict.fromkeys(("ended_s", "wall_s", "interval_s"), _positive),
    "interrupted": _switch,
    "jain_index": _or_null(_share),
    **dict.fromkeys(("delivered_mbps", "throughput_mbps"), _or_null(_positive)),
    **dict.fromkeys(("window_start_s", "window_end_s"), _any_number),
    **dict.fromkeys(("began_unix_s", "t1_s", "t2_s"), _or_null(_any_number)),
    "against": _comparison,
}  # fmt: skip
"""What a summary of a run or of captures may have; further keys are the run's own."""


def check_summary(data: Mapping[str, Any]) -> None:
    """Makes sure that a summary has what a run writes.

    Raises:
        ValueError: with the first value that cannot be, and its key.
    """
    for key, check in _SUMMARY.items():
        if key in data:
            _at(key, check, data[key])


@dataclass(frozen=True, slots=True)
class StoredFactor:
    """A factor of a study."""

    name: str
    label: str
    kind: Literal["continuous", "categorical"]
    unit: str | None
    levels: list[float | str]


@dataclass(frozen=True, slots=True)
class StoredMetric:
    """A metric of a study."""

    name: str
    label: str
    censored: bool = False
    better: Literal["more", "less", ""] = ""


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """The content of study.json for a reader of results."""

    title: str
    confidence: float
    replications: int
    runs: int
    cells: int
    factors: list[StoredFactor]
    metrics: list[StoredMetric]
    live: bool = False

    @classmethod
    def of_data(cls, data: Any) -> StoredStudy:
        """The content of a study.json; further keys do not count.

        Raises:
            ValueError: with the first value that cannot be, and its place.
        """
        study: StoredStudy = _table(cls, _STUDY)(data)
        return study


def _name(value: Any) -> str:
    if not _text(value):
        raise ValueError("is empty")
    return _text(value)


def _kind(value: Any) -> str:
    if value not in ("continuous", "categorical"):
        raise ValueError(f"{_shown(value)} is no kind of a factor")
    return _text(value)


def _better(value: Any) -> str:
    if value not in ("more", "less", ""):
        raise ValueError(f"{_shown(value)} is neither more nor less")
    return _text(value)


def _level(value: Any) -> float | str:
    return value if isinstance(value, str) else float(_any_number(value))


def _probability(value: Any) -> float:
    number: float = _any_number(value)
    if not 0 < number < 1:
        raise ValueError(f"{_shown(value)} is no probability between 0 and 1")
    return number


def _times(value: Any) -> int:
    if _count(value) == 0:
        raise ValueError("0 is no number of replications")
    return _count(value)


def _table(made: Callable[..., Any], checks: Mapping[str, Check]) -> Check:
    """Tables of which an object is made; those whose keys end with ``?`` may be left out."""

    def checked(data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError(f"{_shown(data)} is no table")  # noqa: TRY004 - a value of a file
        values = {}
        for key, check in checks.items():
            name = key.removesuffix("?")
            if name in data:
                values[name] = _at(name, check, data[name])
            elif name == key:
                raise ValueError(f"{name}: is missing")
        return made(**values)

    return checked


_FACTOR = {"name": _name, "label": _text, "kind": _kind, "unit": _or_null(_text), "levels": _some(_level, 1)}
_METRIC = {"name": _name, "label": _text, "censored?": _switch, "better?": _better}
_STUDY: Mapping[str, Check] = {
    "title": _text,
    "confidence": _probability,
    "replications": _times,
    "runs": _count,
    "cells": _count,
    "factors": _some(_table(StoredFactor, _FACTOR)),
    "metrics": _some(_table(StoredMetric, _METRIC)),
    "live?": _switch,
}


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
