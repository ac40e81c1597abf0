"""Fields of a scenario by path: whether one exists, and which of two lies inside the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import JsonValue

from anabranch.scenario.algorithm import PYTHON, Own
from anabranch.scenario.messages import alternatives, field_of, fields_of, place
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.suggest import suggest

Steps = Sequence[str | int]


def unknown_field(steps: Steps, data: Any) -> str | None:
    """What is wrong with a path that no scenario has, with the nearest that one has; None if one has it.

    Args:
        steps: the path.
        data: the scenario as plain data, which says where code of the user's own has parameters.
    """
    annotation: Any = Scenario
    for index, step in enumerate(steps):
        choices = list(alternatives(annotation))
        if JsonValue in choices or Any in choices:
            # Parameters of generators: only the generator knows them.
            return None
        if isinstance(data, dict) and PYTHON in data and Own in choices:
            # Only the class knows them.
            return None
        if isinstance(step, int):
            lists = [get_args(choice)[0] for choice in choices if get_origin(choice) is list]
            if not lists:
                return f"{quoted(place(steps))} is no field of a scenario: {place(steps[:index])} is no list"
            annotation, data = lists[0], None
            continue
        inner = field_of(annotation, step)
        if inner is None:
            return f"{quoted(place(steps))} is no field of a scenario{_hint(steps, index, choices)}"
        annotation = inner
        data = data.get(step) if isinstance(data, dict) else None
    return None


def overlap(one: Steps, other: Steps) -> bool:
    """Whether two paths lead to the same field, or one of them to a table around the other."""
    return all(a == b for a, b in zip(one, other, strict=False))


def _hint(steps: Steps, index: int, choices: Sequence[Any]) -> str:
    keys = [key for choice in choices for key in fields_of(choice)]
    lists = any(get_origin(choice) is list for choice in choices)
    around = place(steps[:index])
    if lists:
        return f"; {around} is a list, so write {around}[0].{steps[index]}"
    near = suggest(str(steps[index]), keys)
    if near:
        return f"; nearest: {quoted(place([*steps[:index], near]))}"
    where = f"{around} has" if around else "there are"
    return f"; {where} {', '.join(keys)}" if keys else f"; {around} has no fields"
