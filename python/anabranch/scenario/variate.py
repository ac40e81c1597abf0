"""Random variates: a time or a size that is drawn: ``{ distribution = "exponential", mean = "1 s" }``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Self

from anabranch import _core
from anabranch.scenario.forms import TableForm, table_forms
from anabranch.scenario.quantity import ByteCount, Number, Quantity, Span, quoted, shown
from anabranch.scenario.table import Table

Amount = Span | ByteCount | Number
"""What a distribution is of."""
_DRAWN: tuple[type[Quantity], ...] = (Span, ByteCount, Number)
_UNIT = re.compile(r"([^\W\d_]+)\s*$")
_AMOUNTS = ("value", "low", "high", "mean", "standard_deviation", "scale", "values")
"""Keys of quantities, in the order of the tables."""


class Distribution(Table):
    """A distribution of a random variate; one that stands alone may be of times, of sizes or of numbers."""

    distribution: str
    _of: str

    @classmethod
    def of_data(cls, data: Mapping[str, Any], *, of: str = "") -> Self:
        """The distribution in plain data that hold."""
        table = super().of_data(data)
        table.__dict__["_of"] = of or _quantity_of(data).__name__
        return table

    def _keep(self, given: dict[str, Any], values: Mapping[str, Any]) -> None:
        super()._keep(given, values)
        self.__dict__["_of"] = _quantity_of(given).__name__

    @classmethod
    def check(cls, data: object, *, called: bool = False) -> list[tuple[str, str]]:
        """Places and messages of what is wrong with plain data, whose first amount says of what they are."""
        form = cls.form()
        tag = form.tag or {}
        if not isinstance(data, dict):
            return _core.check_table(form.full_name, data, called)
        if data.get("distribution") not in (tag["word"], None):
            message = f"{shown(data['distribution'])} is not known; it must be {quoted(tag['word'])}"
            return [("distribution", message)]
        problems = (
            [] if "distribution" in data else [("distribution", f"is missing ({_lowered(tag['text'])})")]
        )
        mixed, kind = _mixed(data)
        core_problems = _core.check_table(f"{form.name}[{kind.__name__}]", data, called)
        places = {at for at, _ in mixed}
        return [*problems, *mixed, *(each for each in core_problems if each[0] not in places)]

    def _full_form(self) -> TableForm:
        return table_forms()[f"{type(self).form().name}[{self._of}]"]

    def mean_base_units(self) -> float:
        """The mean, in base units, possibly infinite; of a Gaussian as if nothing fell below zero."""
        core = self.core()
        match core:
            case {"distribution": "constant", "value": value}:
                mean = value
            case {"distribution": "uniform"}:
                mean = (core["low"] + core["high"]) / 2
            case {"distribution": "pareto", "scale": scale, "shape": shape}:
                mean = scale * shape / (shape - 1) if shape > 1 else math.inf
            case {"distribution": "empirical", "values": values}:
                weights = core["weights"] or [1.0] * len(values)
                mean = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
            case {"distribution": "cumulative", "values": values, "probabilities": shares}:
                lines = zip(pairwise(values), pairwise(shares), strict=True)
                between = sum((low + high) / 2 * (q - p) for (low, high), (p, q) in lines)
                mean = values[0] * shares[0] + between
            case _:
                mean = core["mean"]
        return float(mean)

    def core(self) -> dict[str, Any]:
        """The variate as the engine has it: numbers in base units."""
        given = {name: getattr(self, name) for name in type(self).form().fields}
        numbers = {
            name: [float(each) for each in value] if isinstance(value, list) else float(value)
            for name, value in given.items()
            if value is not None
        }
        name = (type(self).form().tag or {})["word"]
        if name == "uniform" and "mean" in numbers:
            # The standard deviation of a uniform variate is its width / sqrt(12).
            mean, half_width = float(given["mean"]), math.sqrt(3) * float(given["standard_deviation"])
            numbers = {"low": mean - half_width, "high": mean + half_width}
        return {"distribution": name, **numbers}


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")


def _amounts(data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The amounts in plain data of a distribution, with their places."""
    amounts = []
    for key in _AMOUNTS:
        if key not in data:
            continue
        value = data[key]
        listed = isinstance(value, list)
        amounts += [(f"{key}[{at}]", each) for at, each in enumerate(value)] if listed else [(key, value)]
    return amounts


def _kind(value: Any) -> type[Quantity] | None:
    """The quantity that an amount is of; None where it is of none that is drawn."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Number
    unit = _UNIT.search(value) if isinstance(value, str) else None
    return next((kind for kind in _DRAWN if unit and unit[1] in kind.units), None)


def _quantity_of(data: Mapping[str, Any]) -> type[Quantity]:
    """The quantity of the first amount of plain data."""
    kinds = (_kind(value) for _, value in _amounts(data))
    return next((kind for kind in kinds if kind is not None), Span)


def _mixed(data: Mapping[str, Any]) -> tuple[list[tuple[str, str]], type[Quantity]]:
    """What is wrong with amounts that are of no quantity, or of another one than those before."""
    problems: list[tuple[str, str]] = []
    first: tuple[str, type[Quantity]] | None = None
    for place, value in _amounts(data):
        kind = _kind(value)
        if kind is None:
            problems.append((place, _no_amount(value)))
        elif first is None:
            first = (place, kind)
        elif kind is not first[1]:
            text = quoted(value) if isinstance(value, str) else quoted(str(value))
            problems.append((place, f"{text} is {kind.noun}, and {first[0]} is {first[1].noun}"))
    return problems, first[1] if first else Span


def _no_amount(value: object) -> str:
    return (
        f"{shown(value)} is neither a time, a size nor a whole number; write text such as "
        f"{quoted(Span.example)} or {quoted(ByteCount.example)}, or a number such as {Number.example}"
    )
