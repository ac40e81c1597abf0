"""The files that a scenario names, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

FILE = "file:"
"""Before the name of a file, relative to the scenario's folder."""
_FIELDS = {
    ("network", "topology"): "topologies",
    ("routing", "demand", "pair", "from"): "inputs",
    ("profile", None, "from"): "inputs",
}
"""Fields that may name a file, None for a place in a list; the folder where results and studies keep it."""


def with_files(value: Any, change: Callable[[str, str], str], steps: Sequence[str | int] = ()) -> Any:
    """Plain data of a scenario, or of a part of it, with every name of a file changed.

    Args:
        value: the data.
        change: gets a name without ``file:`` and the folder where it is kept; returns another one.
        steps: where in a scenario the data stand.
    """
    at = tuple(None if isinstance(step, int) else step for step in steps)
    if at in _FIELDS:
        named = isinstance(value, str) and value.startswith(FILE) and value != FILE
        return FILE + change(value.removeprefix(FILE), _FIELDS[at]) if named else value
    if not any(field[: len(at)] == at for field in _FIELDS):
        return value
    if isinstance(value, dict):
        return {key: with_files(entry, change, (*steps, key)) for key, entry in value.items()}
    if isinstance(value, list):
        return [with_files(entry, change, (*steps, place)) for place, entry in enumerate(value)]
    return value
