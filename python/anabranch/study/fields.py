"""Fields of a scenario by path: whether one exists, and which of two lies inside the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.forms import Form, alternatives, form_below, keys_below
from anabranch.scenario.place import place
from anabranch.scenario.quantity import quoted
from anabranch.text.suggest import suggest

Steps = Sequence[str | int]
_SCENARIO: Form = {"kind": "table", "table": "Scenario"}


def unknown_field(steps: Steps, data: Any) -> str | None:
    """A message on a path that no scenario has, with the nearest that one has; None if one has it.

    Args:
        steps: the path.
        data: the scenario as plain data, which says where code of the user's own has parameters.
    """
    form = _SCENARIO
    for index, step in enumerate(steps):
        choices = list(alternatives(form))
        if any(choice["kind"] == "free" for choice in choices):
            # Parameters of generators: only the generator knows them.
            return None
        if isinstance(data, dict) and PYTHON in data and any(each["kind"] == "algorithm" for each in choices):
            # Only the class knows them.
            return None
        below = form_below(form, step)
        if below is None and isinstance(step, int):
            return f"{quoted(place(steps))} is no field of a scenario: {place(steps[:index])} is no list"
        if below is None:
            return f"{quoted(place(steps))} is no field of a scenario{_hint(steps, index, choices)}"
        form = below
        data = data.get(step) if isinstance(data, dict) else None
    return None


def overlap(one: Steps, other: Steps) -> bool:
    """Whether two paths lead to the same field, or one of them to a table around the other."""
    return all(a == b for a, b in zip(one, other, strict=False))


def _hint(steps: Steps, index: int, choices: Sequence[Form]) -> str:
    keys = [key for choice in choices for key in keys_below(choice)]
    lists = any(choice["kind"] == "list" for choice in choices)
    around = place(steps[:index])
    if lists:
        return f"; {around} is a list, so write {around}[0].{steps[index]}"
    near = suggest(str(steps[index]), keys)
    if near:
        return f"; nearest: {quoted(place([*steps[:index], near]))}"
    where = f"{around} has" if around else "there are"
    return f"; {where} {', '.join(keys)}" if keys else f"; {around} has no fields"
