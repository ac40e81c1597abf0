"""The generated classes of tables and algorithms, by the names that the core has for them.

They stand on all of this package, and so they are looked up where plain data become objects, not imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anabranch.scenario.algorithm import Own
    from anabranch.scenario.choice import Algorithm
    from anabranch.scenario.table import Table


@cache
def class_of(name: str) -> type[Table]:
    """The class of a table.

    Raises:
        LookupError: if there is none of this name.
    """
    waiting: list[type[Table]] = [import_module("anabranch.scenario.tables").LinkSettings.__base__]
    for table in waiting:
        if table.__name__ == name:
            return table
        waiting += table.__subclasses__()
    raise LookupError(name)


@cache
def classes_of(kind: str) -> Mapping[str, type[Algorithm]]:
    """The classes of all algorithms of a kind, by the names of the algorithms."""
    module = import_module(f"anabranch.scenario.algorithms.{kind}")
    classes: list[Any] = [entry for entry in vars(module).values() if isinstance(entry, type)]
    # What the module imports is of another kind, or of none.
    return {entry.algorithm: entry for entry in classes if getattr(entry, "kind", "") == kind}


def own_class() -> type[Own]:
    """The class of an algorithm of the user's own."""
    loaded: type[Own] = import_module("anabranch.scenario.algorithm").Own
    return loaded
