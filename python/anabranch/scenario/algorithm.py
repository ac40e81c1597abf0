"""The declarations of all algorithms, and those of the user's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field

from anabranch import _core
from anabranch.scenario.declared import merged
from anabranch.scenario.table import Table

if TYPE_CHECKING:
    from anabranch.scenario.choice import Algorithm

Declaration = Mapping[str, Any]

PYTHON = "python"
"""Name and key of an algorithm of the user's own."""
BESIDE = {"scheme": "metric"}
"""By kind of algorithm the parameter that a scenario has beside the choice, not in its table."""


class Own(Table):
    """An algorithm of your own, by its class in Python; all other keys are parameters of that class."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, bool | int | float | str]

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


def name_of(chosen: str | Algorithm | Own) -> str:
    """The name of the algorithm that is chosen."""
    return chosen if isinstance(chosen, str) else chosen.algorithm


@cache
def declarations() -> dict[str, dict[str, dict[str, Any]]]:
    """For each kind of algorithm and each name its declaration: ``text`` and ``parameters``."""
    return _by_name(merged(json.loads(_core.declarations())))


@cache
def _core_declarations() -> dict[str, dict[str, dict[str, Any]]]:
    return _by_name(json.loads(_core.declarations()))


def _by_name(registries: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    return {
        registry["name"]: {algorithm["name"]: algorithm for algorithm in registry["algorithms"]}
        for registry in registries
    }


def parameters_of(kind: str, name: str) -> list[str]:
    """The names of the parameters that a user may write for an algorithm."""
    return [entry["name"] for entry in declarations()[kind][name]["parameters"] if is_written(entry)]


def is_written(entry: Declaration) -> bool:
    """Whether a user may write a parameter; some are filled in by the program."""
    return entry["kind"] not in ("ids", "table")


@cache
def written_parameters(kind: str, name: str) -> Mapping[str, Declaration]:
    """The declarations of the parameters that an algorithm's table may have, by name."""
    declared = declarations()[kind][name]["parameters"]
    return {
        entry["name"]: entry for entry in declared if is_written(entry) and entry["name"] != BESIDE.get(kind)
    }


def core_parameters(kind: str, name: str) -> list[str]:
    """The names of the parameters that the core takes; none of an algorithm that only a planner has."""
    declared = _core_declarations()[kind].get(name, {"parameters": ()})
    return [entry["name"] for entry in declared["parameters"]]


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
