"""Every field of a scenario by its path, and the fields that a shorter path may mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from anabranch.scenario.forms import TABLE, Form, alternatives, form_below, table_forms
from anabranch.scenario.place import place
from anabranch.scenario.quantity import quoted
from anabranch.scenario.unknown import unknown_key
from anabranch.text.suggest import suggest

_SCENARIO: Form = {"kind": TABLE, "table": "Scenario"}
_TABLES = (TABLE, "list", "named")
ANY_NAME = "*"
"""Stands in a path for a name that the user has chosen."""
_TIERS = (
    ("run", "network", "network.links", "routing"),
    ("traffic[0]", "event[0]", "controller", "profile[0]", "capture[0]"),
)
"""Tables whose fields are meant first, and next, by whoever leaves a table out."""
_OTHER_WORDS = {
    "bandwidth": "capacity",
    "bw": "capacity",
    "rate": "capacity",
    "latency": "delay",
    "buffer": "queue",
    "time": "duration",
    "tcp": "transport",
    "cc": "transport",
    "protocol": "transport",
    "src": "from",
    "source": "from",
    "dst": "to",
    "destination": "to",
    "topo": "topology",
    "lb": "load_balancing",
    "balancing": "load_balancing",
    "algorithm": "scheme",
    "plr": "loss",
    "packet_loss": "loss",
}
"""Words of other programs for fields of a scenario."""


@cache
def field_paths() -> dict[str, tuple[Form, ...]]:
    """The single forms of every field by its path, such as ``traffic[0].size``.

    An entry of a list is its first one, a name that the user chooses is :data:`ANY_NAME`. Parameters of
    algorithms are left out: which ones there are depends on the choice.
    """
    forms: dict[str, list[Form]] = {}
    for path, form in _below(_SCENARIO, "", frozenset()):
        forms.setdefault(path, []).append(form)
    return {path: tuple(each) for path, each in forms.items()}


def _below(form: Form, path: str, around: frozenset[str]) -> Iterator[tuple[str, Form]]:
    """The fields below a path, with each of their single forms."""
    for choice in alternatives(form):
        if path:
            yield path, choice
        if choice["kind"] == TABLE and choice["table"] not in around:
            for key, field in table_forms()[choice["table"]].by_key.items():
                below = f"{path}.{key}" if path else key
                yield from _below(field.form, below, around | {choice["table"]})
        elif choice["kind"] == "list":
            yield from _below(choice["of"], f"{path}[0]", around)
        elif choice["kind"] == "named":
            yield from _below(choice["of"], f"{path}.{ANY_NAME}", around)


def meant_fields(steps: Sequence[str | int]) -> list[str]:
    """The fields that a path may mean that leads nowhere: those of the nearest tables, three at most.

    Args:
        steps: the path, such as ``["network", "capacity"]``.
    """
    names = [step for step in steps if isinstance(step, str)]
    if not names:
        return []
    paths = {path: _names(path) for path in field_paths() if ANY_NAME not in path and not path.endswith("]")}
    word = _OTHER_WORDS.get(names[-1].lower(), names[-1])
    fields = _inside(paths, [*names[:-1], *word.split(".")])
    if not fields:
        usual = [each for path, each in paths.items() if _tier(path) < len(_TIERS)]
        near = suggest(names[-1], dict.fromkeys(each[-1] for each in usual))
        fields = _inside(paths, [*names[:-1], near]) if near else []
    nearest = min(map(_tier, fields), default=0)
    return [path for path in fields if _tier(path) == nearest][:3]


def other_field(steps: Sequence[str | int], value: Any) -> str | None:
    """A message on a field that is set where another one is meant; None for all other fields.

    Args:
        steps: the path of the field.
        value: what it is set to, as plain data.
    """
    path, first = place(steps), str(steps[0])
    if form_below(_SCENARIO, first) is None:
        meant = meant_fields(steps)
        keys = table_forms()["Scenario"].keys()
        if not meant:
            return f"{quoted(first)}: {unknown_key(first, keys)}"
        return f"{quoted(path)}: no such key; write {' or '.join(meant)}"
    if len(steps) == 1:
        if not _holds_tables(first) or isinstance(value, dict | list):
            return None
        inside = (f"{first}.", f"{first}[0].", f"{first}.{ANY_NAME}.")
        below = (each for each in field_paths() if each.startswith(inside) and not _holds_tables(each))
        meant = [each for each in meant_fields(steps) if not _holds_tables(each)] or [next(below)]
        return f"{quoted(path)}: holds a table, not a value; write {' or '.join(meant)}"
    meant = meant_fields(steps) if _leads_nowhere(steps) else []
    meant = [each for each in meant if each.startswith(first)]
    return f"{quoted(path)}: no such key; write {' or '.join(meant)}" if meant else None


def _holds_tables(path: str) -> bool:
    return all(form["kind"] in _TABLES for form in field_paths()[path])


def _leads_nowhere(steps: Sequence[str | int]) -> bool:
    """Whether no scenario has such a path; parameters of algorithms count as there."""
    form: Form | None = _SCENARIO
    for step in steps:
        if form is None or isinstance(step, str) == any(
            each["kind"] == "list" for each in alternatives(form)
        ):
            return form is None
        if any(choice["kind"] in ("algorithm", "free") for choice in alternatives(form)):
            return False
        form = form_below(form, step)
    return form is None


def _inside(paths: dict[str, list[str]], names: list[str]) -> list[str]:
    """The paths that have these names in this order and end with the last of them, the shortest first."""
    fields = [path for path, steps in paths.items() if steps[-1] == names[-1] and _in_order(names, steps)]
    return sorted(fields, key=lambda path: len(paths[path]))


def _in_order(names: Sequence[str], steps: Sequence[str]) -> bool:
    left = iter(steps)
    return all(name in left for name in names)


def _tier(path: str) -> int:
    table = path.rpartition(".")[0]
    return next((place for place, tables in enumerate(_TIERS) if table in tables), len(_TIERS))


def _names(path: str) -> list[str]:
    return path.replace("[0]", "").split(".")
