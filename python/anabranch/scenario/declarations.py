"""The declarations of all algorithms, as the core has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from anabranch import _core

Declaration = Mapping[str, Any]

PYTHON = "python"
"""Name and key of an algorithm of the user's own."""
BESIDE = {"scheme": "metric"}
"""By kind of algorithm the parameter that a scenario has beside the choice, not in its table."""


@cache
def _registries() -> list[dict[str, Any]]:
    registries: list[dict[str, Any]] = json.loads(_core.declarations())
    return registries


@cache
def declarations() -> dict[str, dict[str, dict[str, Any]]]:
    """For each kind of algorithm and each name its declaration: ``text``, ``parameters``, properties."""
    return {
        registry["name"]: {algorithm["name"]: algorithm for algorithm in registry["algorithms"]}
        for registry in _registries()
    }


@cache
def kinds_of_own_code() -> frozenset[str]:
    """The kinds of algorithms that may be code of the user's own."""
    return frozenset(registry["name"] for registry in _registries() if registry["external"])


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
