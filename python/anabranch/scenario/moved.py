"""Parameters that stood beside their algorithm in files of earlier versions, and stand with it now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tomli_w

from anabranch.scenario.algorithm import declarations, owners
from anabranch.scenario.table import refuse


def refuse_moved(
    data: object,
    fields: Iterable[str],
    known: set[str],
    *,
    renamed: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> None:
    """Refuses a parameter of an algorithm that stands in the table of its choice, with the line to write.

    Args:
        data: the table as it was read.
        fields: the fields of the table that choose an algorithm.
        known: every key that the table has.
        renamed: old names of parameters, with the new ones.
        kinds: the kind of algorithm that a field chooses, where it has another name than the field.
    """
    if not isinstance(data, dict):
        return
    kind_of = {field: (kinds or {}).get(field, field) for field in fields}
    for key in data:
        parameter = (renamed or {}).get(key, key)
        found = owners(parameter, list(kind_of.values())) if key not in known else []
        if not found:
            continue
        field, name = _owner(data, found, kind_of)
        moved = _moved_with(data, kind_of[field], name, renamed or {}, known)
        refuse(key, f"stands with its algorithm; write {line(field, name, moved)}")


def line(field: str, name: str, parameters: Mapping[str, Any]) -> str:
    """The line of a scenario that chooses an algorithm with parameters."""
    values = "".join(f", {tomli_w.dumps({key: value}).strip()}" for key, value in parameters.items())
    return f'{field} = {{ algorithm = "{name}"{values} }}'


def _owner(
    data: Mapping[str, Any], found: list[tuple[str, str]], kind_of: Mapping[str, str]
) -> tuple[str, str]:
    """The field and the algorithm that a parameter most likely meant: the one that the table chooses."""
    field_of = {kind: field for field, kind in kind_of.items()}
    chosen = [(kind, name) for kind, name in found if data.get(field_of[kind]) == name]
    kind, name = (chosen or found)[0]
    return field_of[kind], name


def _moved_with(
    data: Mapping[str, Any], kind: str, name: str, renamed: Mapping[str, str], known: set[str]
) -> dict[str, Any]:
    """All parameters of an algorithm that stand beside it, under their new names."""
    own = {parameter["name"] for parameter in declarations()[kind][name]["parameters"]}
    return {
        renamed.get(key, key): value
        for key, value in data.items()
        if key not in known and renamed.get(key, key) in own and isinstance(value, str | int | float | bool)
    }
