"""What the models of algorithms have in common. They are generated from the declarations."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from anabranch import _core
from anabranch.scenario.quantity import HALF_CHARACTER, Quantity, is_unicode, quoted, shown
from anabranch.scenario.table import Table, alternative

NAME_ONLY = "name"
"""Tag of the alternative that is a plain name."""
PYTHON = "python"
"""Name and key of an algorithm of the user's own."""


class Algorithm(Table):
    """An algorithm by name, with its parameters; what is left out has the default of its declaration."""

    algorithm: str
    """Its name."""

    def core(self) -> dict[str, Any]:
        """The algorithm as the core reads it: numbers in base units, without the room of a queue."""
        kinds = {entry["name"]: entry["kind"] for entry in self.declared()["parameters"]}
        return {
            name: configuration(value) if kinds.get(name) == "algorithm" else core_value(value)
            for name, value in ((name, getattr(self, name)) for name in type(self).model_fields)
            if kinds.get(name) != "room"
        }

    @classmethod
    def declared(cls) -> dict[str, Any]:
        """Its declaration."""
        # A module of generated models has the name of its kind.
        kind = cls.__module__.rpartition(".")[2]
        return declarations()[kind][cls.model_fields["algorithm"].default]


def _single(value: object) -> object:
    """Refuses what is no parameter of a class of the user's own."""
    if isinstance(value, str) and not is_unicode(value):
        raise ValueError(f"{quoted(value)} {HALF_CHARACTER}")
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"{shown(value)} is neither text, a number that can be used, true nor false")


class Own(Table):
    """An algorithm of your own, by its class in Python; all other keys are parameters of that class."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[bool | int | float | str, BeforeValidator(_single)]]

    python: Annotated[str, Field(min_length=1)]
    """Module and class: ``my_module:Vegas``."""

    @property
    def algorithm(self) -> str:
        """What the core calls it."""
        return PYTHON

    @property
    def parameters(self) -> dict[str, bool | int | float | str]:
        """The parameters that the scenario gives."""
        return dict(self.__pydantic_extra__ or {})


def core_value(value: object) -> Any:
    """A value of a table as the core reads it: quantities as integers in base units."""
    if isinstance(value, Algorithm):
        return value.core()
    return int(value) if isinstance(value, Quantity) else value


def configuration(chosen: str | Algorithm) -> dict[str, Any]:
    """A choice as the core reads it, whether it is a plain name or a table."""
    return {"algorithm": chosen} if isinstance(chosen, str) else chosen.core()


def resolved(kind: str, chosen: str | Algorithm | Mapping[str, Any]) -> dict[str, Any]:
    """A choice as the core reads it, with the defaults of all parameters that are left out."""
    config = chosen if isinstance(chosen, Mapping) else configuration(chosen)
    found: dict[str, Any] = {"algorithm": config["algorithm"]}
    for entry in declarations()[kind][config["algorithm"]]["parameters"]:
        value = config.get(entry["name"], entry["default"])
        if entry["kind"] == "algorithm":
            value = resolved(entry["registry"], value)
        if entry["kind"] != "ids":
            found[entry["name"]] = value
    return found


def parameters(kind: str, chosen: str | Algorithm) -> dict[str, Any]:
    """The parameters of a choice as the core reads them, with the defaults of those that are left out."""
    return {name: value for name, value in resolved(kind, chosen).items() if name != "algorithm"}


def complete(kind: str) -> Callable[[str], str]:
    """Refuses the plain name of an algorithm that has parameters without defaults."""

    def check(name: str) -> str:
        declared = declarations()[kind][name]["parameters"]
        missing = [entry["name"] for entry in declared if entry["required"]]
        if missing:
            values = "".join(f", {entry} = ..." for entry in missing)
            raise ValueError(
                f"{quoted(name)} needs {' and '.join(missing)}; "
                f"write {{ algorithm = {quoted(name)}{values} }}"
            )
        return name

    return check


def ascending(numbers: list[int]) -> list[int]:
    """Refuses places in a sequence that do not rise from 1 on."""
    for before, number in pairwise([0, *numbers]):
        if number <= before:
            raise ValueError(f"{number} stands behind {before}; the numbers must rise, from 1 on")
    return numbers


def name_of(chosen: str | Algorithm | Own) -> str:
    """The name of the algorithm that is chosen."""
    return chosen if isinstance(chosen, str) else chosen.algorithm


def by_algorithm(value: object) -> str:
    """The tag of the alternative that a value of such a field means."""
    if isinstance(value, dict):
        is_own = PYTHON in value and "algorithm" not in value
        return alternative(PYTHON if is_own else str(value.get("algorithm", "")))
    return alternative(value.algorithm if isinstance(value, Algorithm | Own) else NAME_ONLY)


@cache
def declarations() -> dict[str, dict[str, dict[str, Any]]]:
    """For each kind of algorithm and each name its declaration: ``text``, ``parameters``, properties."""
    return {
        registry["name"]: {algorithm["name"]: algorithm for algorithm in registry["algorithms"]}
        for registry in json.loads(_core.declarations())
    }


def parameters_of(kind: str, name: str) -> list[str]:
    """The names of the parameters that an algorithm's table may have."""
    declared = declarations()[kind][name]["parameters"]
    return [parameter["name"] for parameter in declared if parameter["kind"] not in ("ids", "table")]


def owners(parameter: str, kinds: Iterable[str] | None = None) -> list[tuple[str, str]]:
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
