"""From what the core says of a setup, which is JSON, to tables with types."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from anabranch.scenario import leaves
from anabranch.scenario.algorithms import application, load_balancing, loss, protocol, queue, scheme
from anabranch.scenario.choice import Algorithm, leaf_of_core
from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.record import Record, field_names

T = TypeVar("T")
Reader = Callable[[Any], Any]

_BROUGHT: Mapping[str, type[Record]] = {
    "application": leaves.PythonApplication,
    "load_balancing": leaves.PythonLoadBalancing,
}
"""What stands for code of the user's own, by the kind of algorithm."""
_NAMES: Mapping[str, Any] = {
    name: value
    for module in (leaves, application, load_balancing, loss, protocol, queue, scheme)
    for name, value in vars(module).items()
    if isinstance(value, type | types.UnionType)
}
"""What annotations name that are looked at by type checkers alone."""
_TAGS = ("kind", "distribution")
"""The field that tells records of a union apart."""


def typed(kind: type[T], text: str) -> T:
    """A value of a type, which may be a union or a list, of JSON of the core's.

    Args:
        kind: the type: tables of a setup, records, algorithms, and lists and tuples of them.
        text: what the core says.
    """
    wanted: Any = kind
    value: T = reader_of(wanted)(json.loads(text))
    return value


@cache
def reader_of(kind: Any) -> Reader:
    """The function that makes a value of a type of the core's plain data."""
    if isinstance(kind, type) and issubclass(kind, Algorithm):
        return _algorithm_reader(kind.kind)
    if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, Record)):
        return _table_reader(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list:
        return _list_reader(reader_of(inner[0]))
    if origin is tuple:
        return _tuple_reader([reader_of(entry) for entry in inner])
    if isinstance(kind, types.UnionType):
        return _union_reader(inner)
    return _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _list_reader(entry: Reader) -> Reader:
    return _as_it_is if entry is _as_it_is else lambda values: list(map(entry, values))


def _tuple_reader(entries: list[Reader]) -> Reader:
    # A large network has hundreds of thousands of pairs with their rates.
    if all(read is _as_it_is for read in entries):
        return tuple
    return lambda values: tuple(read(value) for read, value in zip(entries, values, strict=True))


def _table_reader(kind: Any) -> Reader:
    fields = fields_of(kind)
    return lambda values: kind(**fields(values))


@cache
def fields_of(kind: Any) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """The functions that make the fields of a dataclass or a record of plain data, each by its own type.

    Fields that are not there are left out.
    """
    hints = get_type_hints(kind, localns=dict(_NAMES))
    names = field_names(kind) if issubclass(kind, Record) else tuple(kind.__dataclass_fields__)
    readers = {("from" if name == "origin" else name): (name, reader_of(hints[name])) for name in names}

    def read(values: Mapping[str, Any]) -> dict[str, Any]:
        pairs = ((readers[key], value) for key, value in values.items())
        return {name: value if read is _as_it_is else read(value) for (name, read), value in pairs}

    return read


def _algorithm_reader(kind: str) -> Reader:
    if kind == "scheme":
        return _scheme
    brought = _BROUGHT.get(kind)

    def read(config: Mapping[str, Any]) -> Any:
        if brought is not None and config["algorithm"] == PYTHON:
            return brought(**config)
        return leaf_of_core(kind, config)

    return read


def _scheme(config: Mapping[str, Any]) -> Any:
    """A scheme, whose limits are a table of their own."""
    limits = config.get("limits")
    scheme = leaf_of_core("scheme", {key: value for key, value in config.items() if key != "limits"})
    if limits is None:
        return scheme
    return type(scheme).filled({**dict(scheme.items()), "limits": leaves.PathLimitsSetup(**limits)})


def _union_reader(kinds: tuple[Any, ...]) -> Reader:
    """Of one of several types: a list, an algorithm, or the record with the same tag."""
    classes: list[Any] = [kind for kind in kinds if isinstance(kind, type)]
    lists = next((reader_of(kind) for kind in kinds if get_origin(kind) is list), _as_it_is)
    algorithm = next((kind for kind in classes if issubclass(kind, Algorithm)), None)
    tables = [kind for kind in classes if issubclass(kind, Record)]

    def read_table(value: Mapping[str, Any]) -> Any:
        if algorithm is not None:
            return reader_of(algorithm)(value)
        return reader_of(next(kind for kind in tables if _is_meant(kind, value)))(value)

    def read(value: Any) -> Any:
        if isinstance(value, list):
            return lists(value)
        return read_table(value) if isinstance(value, dict) else value

    return read


def _is_meant(kind: type[Record], value: Mapping[str, Any]) -> bool:
    """Whether data are those of a record: by its tag, or by the names of its fields where it has none."""
    tag = field_names(kind)[0]
    if tag in _TAGS:
        return bool(value[tag] == getattr(kind, tag))
    return value.keys() == set(field_names(kind))
