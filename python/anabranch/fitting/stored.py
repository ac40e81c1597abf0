"""A fit as it is read back from its folder, which anybody may have made or changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from anabranch.errors import ResultError, reason
from anabranch.fitting.hypotheses.sprayed import BALANCINGS
from anabranch.fitting.path import BY_SUBFLOW, PathModel, Sprayed
from anabranch.fitting.writing import DOCUMENT, SCENARIO
from anabranch.results.folders import read_inside
from anabranch.results.stored import read_json

_LARGEST: Final = 1e12
"""Of any number of a path: a Tbps in bps is the largest that a fit writes."""
_MOST_ENTRIES: Final = 1_000_000
_MOST_MEMBERS: Final = 1_000
_MOST_FLOWS: Final = 10_000
_DISCIPLINES: Final = ("codel", "fq-codel")
_SPREADS: Final = (*BALANCINGS, BY_SUBFLOW)


@dataclass(frozen=True)
class Fitted:
    """A fit as predictions need it."""

    members: tuple[PathModel, ...]
    """The best model first."""
    score: float | None
    verdict: str
    unknown: tuple[str, ...]
    duration_s: float


def read_fitted(place: Path | str) -> Fitted:
    """A fit from its folder, or from ``fitted.toml`` or ``fit.json`` in it.

    Raises:
        ResultError: if there is none, or a value of it is none that a fit writes.
    """
    place = Path(place)
    folder = place.parent if place.name in (SCENARIO, DOCUMENT) else place
    file = folder / DOCUMENT
    try:
        data = _table(read_json(read_inside(folder, DOCUMENT)), "the file")
        return Fitted(
            tuple(map(_model, _entries(data, "members", _MOST_MEMBERS, least=1))),
            None if data.get("score") is None else _number(data, "score"),
            _text(data.get("verdict"), "verdict"),
            tuple(_text(one, "cannot_tell") for one in _entries(data, "cannot_tell", _MOST_MEMBERS)),
            _number(data, "duration_s", is_positive=True),
        )
    except OSError as error:
        raise ResultError(
            f"{file}: cannot be read: {reason(error)}; give the folder that anabranch fit wrote"
        ) from None
    except ValueError as error:
        raise ResultError(
            f"{file}: is no fit of this version: {error}; make it anew with anabranch fit"
        ) from None


def _model(given: Any) -> PathModel:
    data = _table(given, "a member")
    names = {one.name for one in fields(PathModel)}
    if unknown := data.keys() - names:
        raise ValueError(f"unknown parameter {min(unknown)[:40]!r}")
    paths = [_table(path, "a path") for path in _entries(data, "paths", _MOST_MEMBERS)]
    whole: dict[str, Any] = {
        "lost_packets": _packets(data),
        "elastic_flows": _whole(data.get("elastic_flows", 0), _MOST_FLOWS),
    }
    chosen: dict[str, Any] = {
        "discipline": _choice(data.get("discipline"), "discipline", _DISCIPLINES),
        "balancing": _choice(data.get("balancing"), "balancing", _SPREADS),
        "paths": tuple(Sprayed(**_positive(path)) for path in paths),
        "udp_spans": _rows(data, "udp_spans", 3),
        "capacity_steps": _rows(data, "capacity_steps", 2),
    }
    rest = names - whole.keys() - chosen.keys() - {"rate_mbps", "rtt_ms", "buffer_bytes"}
    numbers: dict[str, Any] = {name: _number(data, name) for name in rest if data.get(name) is not None}
    if numbers.get("loss", 0.0) >= 1:
        raise ValueError("loss is no share below 1")
    return PathModel(**_positive(data), **whole, **chosen, **numbers)


def _positive(data: Mapping[str, Any]) -> dict[str, Any]:
    """What each path has."""
    return {name: _number(data, name, is_positive=True) for name in ("rate_mbps", "rtt_ms", "buffer_bytes")}


def _packets(data: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(_whole(one, 2**53) for one in _entries(data, "lost_packets", _MOST_ENTRIES))


def _rows(data: Mapping[str, Any], name: str, width: int) -> tuple[Any, ...]:
    """Rows of so many numbers."""
    rows = []
    for row in _entries(data, name, _MOST_ENTRIES):
        if not isinstance(row, list) or len(row) != width:
            raise ValueError(f"{name} has a row that is none of {width} numbers")
        rows.append(tuple(_number({name: one}, name) for one in row))
    return tuple(rows)


def _number(data: Mapping[str, Any], name: str, *, is_positive: bool = False) -> float:
    value: Any = data.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and 0 <= value <= _LARGEST and (value or not is_positive):
        return float(value)
    raise ValueError(f"{name} is {str(value)[:40]!r}")


def _whole(value: Any, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{str(value)[:40]!r} is no count")
    return value


def _choice(value: Any, name: str, choices: tuple[str, ...]) -> str | None:
    if value is None or (isinstance(value, str) and value in choices):
        return value
    raise ValueError(f"{name} is {str(value)[:40]!r}")


def _text(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"{name} is {str(value)[:40]!r}")


def _table(value: Any, what: str) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    raise ValueError(f"{what} is no table")


def _entries(data: Mapping[str, Any], name: str, most: int, *, least: int = 0) -> list[Any]:
    value = data.get(name, [])
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise ValueError(f"{name} is no list of {least} to {most:,}")
    return value
