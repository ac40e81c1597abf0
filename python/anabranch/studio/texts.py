"""The text of a scenario: what is wrong with it, its data, and changes of fields in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from anabranch import _core
from anabranch.errors import AnabranchError, ConsentError, Problem, ProblemsError, ScenarioError
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.reading import field_steps, parse_toml, value_of
from anabranch.scenario.scenario import Scenario

UNSAVED = "untitled.toml"
"""The name of a text that is in no file yet."""


@dataclass(frozen=True, slots=True)
class ScenarioText:
    """A text of a scenario, and the file that it stands for."""

    text: str
    file: Path
    """Which need not be there; names of files in the text are relative to its folder."""
    trust: bool = False

    def scenario(self) -> Scenario:
        """The scenario in the text; code that it names runs only where the user has agreed to it.

        Raises:
            ScenarioError: with everything that is wrong with it.
        """
        scenario = Scenario.loads(
            self.text, origin=self.file.name, base=self.file.parent, provenance=Provenance.of_file(self.file)
        )
        return scenario.trusted() if self.trust else scenario

    def data(self) -> dict[str, Any] | None:
        """The plain data in the text; None where it is no TOML."""
        try:
            return parse_toml(self.text, None)
        except ScenarioError:
            return None

    def network(self) -> Scenario:
        """The scenario of the network alone, whatever is wrong with the rest.

        Raises:
            ScenarioError: with what is wrong with the network.
        """
        data = self.data() or {}
        return Scenario.from_data(
            {"network": data.get("network", {})},
            base=self.file.parent,
            provenance=Provenance.of_file(self.file),
        )


def problem_list(error: AnabranchError) -> list[dict[str, Any]]:
    """Mistakes for the page: ``place``, ``message``, ``line`` and ``column``, which are None if unknown."""
    if isinstance(error, ConsentError):
        remedy = "look at it first, and then start the studio with --trust; docs/security.md says more"
        return [_told(Problem("", f"{error.listing}\n{remedy}"))]
    if isinstance(error, ProblemsError):
        return [_told(problem) for problem in error.problems]
    return [_told(Problem("", str(error)))]


def _told(problem: Problem) -> dict[str, Any]:
    return {
        "place": problem.place,
        "message": problem.message,
        "line": problem.line,
        "column": problem.column,
    }


def edited(text: str, changes: Sequence[Mapping[str, Any]]) -> str:
    """The text with changes in place; everything else stays as it stands, comments too.

    Args:
        text: TOML.
        changes: each has ``place``, a path such as ``traffic[0].size`` or a list of keys and numbers, and
            one of ``value`` (plain data), ``typed`` (a text as ``--set`` takes it), ``append`` (plain data
            for the list there) and ``remove``.

    Raises:
        ScenarioError: if a change leads nowhere, or the text is no TOML.
    """
    parse_toml(text, None)
    try:
        return _core.edited_toml(text, [_change(change) for change in changes])
    except ValueError as error:
        raise ScenarioError([Problem("", str(error))]) from None


def _change(change: Mapping[str, Any]) -> tuple[list[str | int], str, str]:
    """A change as the core takes it.

    Raises:
        ValueError: if its place is none.
    """
    place = change["place"]
    steps = field_steps(place) if isinstance(place, str) else list(place)
    if change.get("remove"):
        return steps, "remove", ""
    if "append" in change:
        return steps, "append", toml_value(change["append"])
    value = value_of(change["typed"]) if "typed" in change else change["value"]
    return steps, "set", toml_value(value)


def toml_value(value: Any) -> str:
    """Plain data as a value of TOML in one line.

    Raises:
        ValueError: if TOML has no such value.
    """
    if isinstance(value, dict):
        entries = ", ".join(f"{_key(key)} = {toml_value(entry)}" for key, entry in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    try:
        return tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n")
    except TypeError:
        raise ValueError(f"{value!r} is no value of a scenario") from None


def _key(key: str) -> str:
    return tomli_w.dumps({key: 0}).removesuffix(" = 0\n")


def settings_between(before: Any, after: Any, place: str = "") -> list[tuple[str, Any]] | None:
    """The fields to set to get from one plain data to another; None where ``--set`` cannot do that."""
    if before == after and type(before) is type(after):
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        if before.keys() - after.keys():
            return None
        parts = [
            settings_between(before.get(key), value, f"{place}.{key}" if place else key)
            for key, value in after.items()
        ]
        return None if None in parts else [each for part in parts if part is not None for each in part]
    are_lists = isinstance(before, list) and isinstance(after, list) and len(before) == len(after)
    if are_lists and all(isinstance(each, dict) for each in [*before, *after]):
        parts = [
            settings_between(old, new, f"{place}[{number}]")
            for number, (old, new) in enumerate(zip(before, after, strict=True))
        ]
        return None if None in parts else [each for part in parts if part is not None for each in part]
    try:
        field_steps(place)
    except ValueError:
        return None
    return [(place, after)]
