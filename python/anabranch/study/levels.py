"""Levels of a factor: numbers with units told from text, ranges written out, names for columns."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import tomli_w

from anabranch._core import Other
from anabranch.scenario.quantity import ByteCount, PacketCount, Quantity, Rate, Span, Speed

MOST_LEVELS = 100_000
"""Most levels of one factor; a range of more is a slip of its step."""

KINDS: tuple[type[Quantity], ...] = (Span, Rate, ByteCount, PacketCount, Speed)
_KIND_OF_UNIT = {unit: kind for kind in KINDS for unit in kind.units}
_WITH_UNIT = re.compile(r"\s*[0-9.][0-9._]*(?:[eE][-+]?[0-9]+)?\s*([^\s0-9]\S*)\s*")

_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Measure:
    """A level as a number: exact, in base units of its kind, or a plain number."""

    value: Fraction
    kind: type[Quantity] | None
    """None for a plain number."""
    unit: str | None
    """The unit that it was written in."""


def measure(value: object) -> Measure | None:
    """A level as a number; None if it is none, such as a name."""
    if isinstance(value, Quantity):
        return _quantity(value.text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        # What is infinite, not a number or beyond all floats is for the scenario to refuse.
        if not -_LARGEST <= value <= _LARGEST:
            return None
        return Measure(Fraction(str(value)), None, None)
    return _quantity(value) if isinstance(value, str) else None


def measure_text(text: str) -> Measure | None:
    """A level's name as a number, with or without a unit; None if it is none."""
    plain = re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text)
    return Measure(Fraction(text), None, None) if plain else _quantity(text)


def number_text(value: float, unit: str | None) -> str:
    """A number of a factor as a name that reads back to it."""
    digits = str(int(value)) if value.is_integer() else repr(value)
    return digits if unit is None else f"{digits} {unit}"


def numbers(measures: Sequence[Measure | None]) -> tuple[tuple[float, ...], str | None] | None:
    """Numbers in the unit of the first, and that unit; None unless all are of one dimension."""
    quantities = [entry for entry in measures if entry is not None]
    if not quantities or len(quantities) < len(measures) or len({entry.kind for entry in quantities}) > 1:
        return None
    kind, unit = quantities[0].kind, quantities[0].unit
    size = int(kind(f"1 {unit}")) if kind is not None else 1
    return tuple(float(entry.value / size) for entry in quantities), unit


def spread(first: object, last: object, step: object) -> list[Any]:
    """The levels ``first``, ``first + step``, ... up to ``last``, as a scenario writes them.

    Raises:
        ValueError: with what was read and what would be right.
    """
    ends = [measure(value) for value in (first, last, step)]
    low, high, width = ends
    if width is None and isinstance(step, str) and measure(step.lstrip().removeprefix("-")) is not None:
        raise ValueError("step must be above zero")
    if low is None or high is None or width is None:
        raise ValueError('a range goes from one number or quantity to another, such as "0 us" to "2 ms"')
    if not low.kind is high.kind is width.kind:
        raise ValueError("from, to and step must be of one kind, such as three times")
    if width.value <= 0:
        raise ValueError("step must be above zero")
    if high.value < low.value:
        raise ValueError("to is below from")
    count = (high.value - low.value) // width.value + 1
    if count > MOST_LEVELS:
        raise ValueError(f"makes {count:,} levels; at most {MOST_LEVELS:,} are allowed. Is the step right?")
    whole = all(not isinstance(value, float) for value in (first, last, step))
    return [_written(low, low.value + index * width.value, whole) for index in range(count)]


def as_text(value: object) -> str:
    """A level as text for people: text without quotes, anything else as TOML writes it."""
    if isinstance(value, str | Quantity | Other):
        return str(value)
    text = tomli_w.dumps({"x": [value]}, multiline_strings=False)
    return " ".join(text.removeprefix("x = [").strip().removesuffix("]").strip().removesuffix(",").split())


def column_name(label: str, unit: str | None) -> str:
    """A label as the name of a column, its unit at the end: ``inter_arrival_us``."""
    words = _slug(label)
    if unit is None:
        return words
    suffix = _slug(unit.replace("µ", "u").replace("/", "_per_"))
    return words if words == suffix or words.endswith(f"_{suffix}") else f"{words}_{suffix}".removeprefix("_")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def _quantity(text: str) -> Measure | None:
    match = _WITH_UNIT.fullmatch(text)
    kind = _KIND_OF_UNIT.get(match[1]) if match else None
    if match is None or kind is None:
        return None
    try:
        return Measure(Fraction(int(kind(text))), kind, match[1])
    except ValueError:
        # Such as more than the largest time; the scenario says so.
        return None


def _written(start: Measure, value: Fraction, whole: bool) -> Any:
    """A value of a range as a scenario has it: in the unit of the range's start where that is exact."""
    if start.kind is None:
        return int(value) if whole else float(value)
    in_unit = value / int(start.kind(f"1 {start.unit}"))
    if in_unit.denominator == 1:
        return f"{in_unit.numerator} {start.unit}"
    return start.kind(int(value)).text
