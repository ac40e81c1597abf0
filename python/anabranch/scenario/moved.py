"""Parameters that stood beside their algorithm in files of earlier versions, and stand with it now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tomli_w

from anabranch.scenario.algorithm import declarations, owners, parameters_of
from anabranch.scenario.table import refuse


def refuse_moved(
    data: object,
    fields: Iterable[str],
    known: set[str],
    *,
    renamed: Mapping[str, str] | None = None,
    fields_renamed: Mapping[str, str] | None = None,
    tables: Iterable[str] = (),
) -> None:
    """Refuses a parameter of an algorithm that stands in the table of its choice, with the line to write.

    Args:
        data: the table as it was read.
        fields: the fields of the table that choose an algorithm, each called like the kind of algorithm.
        known: every key that the table has.
        renamed: old names of parameters, with the new ones.
        fields_renamed: old names of fields, with the new ones.
        tables: tables that held nothing but parameters of algorithms.
    """
    if not isinstance(data, dict):
        return
    new_names: dict[str, str] = {**(renamed or {}), **(fields_renamed or {})}
    found: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for key, value in data.items():
        inner: dict[str, Any] = value if key in tables and isinstance(value, dict) else {key: value}
        for old, entry in inner.items():
            new: str = new_names.get(old, old)
            found[new] = entry
            origin[new] = key
    for name, key in origin.items():
        if key in known:
            continue
        if name in fields:
            refuse(key, f"is now called {name}; write {_chosen(name, found, known)}")
        having = owners(name, list(fields))
        if having:
            field, algorithm = _owner(found, having)
            written = line(field, algorithm, _own(found, field, algorithm, known))
            refuse(key, f"stands with its algorithm; write {written}")


def line(field: str, name: str, parameters: Mapping[str, Any]) -> str:
    """The line of a scenario that chooses an algorithm with parameters."""
    return f"{field} = {_inline({'algorithm': name, **parameters})}"


def _inline(value: Any) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_inline(entry)}' for key, entry in value.items())} }}"
    return tomli_w.dumps({"value": value}).strip().removeprefix("value = ")


def _chosen(field: str, found: Mapping[str, Any], known: set[str]) -> str:
    """The line of a field that chooses an algorithm, with the parameters that stand beside it."""
    value = found[field]
    if not isinstance(value, str) or value not in declarations()[field]:
        return f"{field} = {_inline(value)}"
    own = _own(found, field, value, known)
    return line(field, value, own) if own else f"{field} = {_inline(value)}"


def _owner(found: Mapping[str, Any], having: list[tuple[str, str]]) -> tuple[str, str]:
    """The field and the algorithm that a parameter most likely meant: the one that the table chooses."""
    chosen = [(kind, name) for kind, name in having if found.get(kind) == name]
    return (chosen or having)[0]


def _own(found: Mapping[str, Any], kind: str, name: str, known: set[str]) -> dict[str, Any]:
    """All parameters of an algorithm that stand beside it, under their new names."""
    own = parameters_of(kind, name)
    written = (str, int, float, bool, dict)
    return {
        key: value
        for key, value in found.items()
        if key not in known and key in own and isinstance(value, written)
    }
