"""What the models of algorithms have in common. They are generated from the core's declarations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from anabranch import _core
from anabranch.scenario.quantity import Quantity
from anabranch.scenario.table import Table, alternative

NAME_ONLY = "name"
"""Tag of the alternative that is a plain name."""


class Algorithm(Table):
    """An algorithm by name, with its parameters; what is left out has the default of its declaration."""

    algorithm: str

    def core(self) -> dict[str, Any]:
        """The algorithm as the core reads it: numbers in base units."""
        return {name: core_value(getattr(self, name)) for name in type(self).model_fields}


def core_value(value: object) -> Any:
    """A value of a table as the core reads it: quantities as integers in base units."""
    if isinstance(value, Algorithm):
        return value.core()
    return int(value) if isinstance(value, Quantity) else value


def configuration(chosen: str | Algorithm) -> dict[str, Any]:
    """A choice as the core reads it, whether it is a plain name or a table."""
    return {"algorithm": chosen} if isinstance(chosen, str) else chosen.core()


def name_of(chosen: str | Algorithm) -> str:
    """The name of the algorithm that is chosen."""
    return chosen if isinstance(chosen, str) else chosen.algorithm


def by_algorithm(value: object) -> str:
    """The tag of the alternative that a value of such a field means."""
    if isinstance(value, dict):
        return alternative(str(value.get("algorithm", "")))
    return alternative(value.algorithm if isinstance(value, Algorithm) else NAME_ONLY)


@cache
def declarations() -> dict[str, dict[str, dict[str, Any]]]:
    """For each kind of algorithm and each name the declaration of the core: ``text`` and ``parameters``."""
    return {
        registry["name"]: {algorithm["name"]: algorithm for algorithm in registry["algorithms"]}
        for registry in json.loads(_core.declarations())
    }


def parameters_of(kind: str, name: str) -> list[str]:
    """The names of an algorithm's parameters."""
    return [parameter["name"] for parameter in declarations()[kind][name]["parameters"]]


def owners(parameter: str, kinds: Iterator[str] | list[str] | None = None) -> list[tuple[str, str]]:
    """Every algorithm that has a parameter of this name: its kind and its name.

    Args:
        parameter: the name.
        kinds: look at these kinds only; left out, at all of them.
    """
    return [
        (kind, name)
        for kind in (declarations() if kinds is None else kinds)
        for name in declarations()[kind]
        if parameter in parameters_of(kind, name)
    ]
