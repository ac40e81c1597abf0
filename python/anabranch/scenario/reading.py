"""Reading a scenario file: size, encoding, TOML, and fields set from outside."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

from anabranch.errors import Problem, ScenarioError
from anabranch.scenario.quantity import quoted

LARGEST_FILE_BYTES = 10_000_000
"""A scenario of ten thousand flows, each written out, has about a tenth of it."""

_STEP = re.compile(r"([^.\[\]]+)|\[(\d{1,6})\]")


def read_text(path: Path) -> str:
    """The text of a scenario file.

    Raises:
        ScenarioError: if it cannot be read, is too large, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise ScenarioError([Problem("", f"cannot be read: {error.strerror}")], str(path)) from None
    except ValueError:
        raise ScenarioError([Problem("", "cannot be read: not a file name")], quoted(str(path))) from None
    if len(content) > LARGEST_FILE_BYTES:
        message = f"larger than {LARGEST_FILE_BYTES // 1_000_000} MB, so it is not a scenario"
        raise ScenarioError([Problem("", message)], path.name)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"line {line}: not UTF-8 text (byte 0x{content[error.start]:02x})"
        raise ScenarioError([Problem("", message)], path.name) from None


def parse_toml(text: str, origin: str | None) -> dict[str, Any]:
    """The plain data in a TOML text.

    Raises:
        ScenarioError: with the line of the first mistake.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError([Problem("", _toml_message(str(error)))], origin) from None
    except RecursionError:
        raise ScenarioError([Problem("", "not valid TOML: nested too deeply")], origin) from None
    except ValueError as error:
        # Such as a whole number of thousands of digits, or a date that does not exist.
        raise ScenarioError([Problem("", f"not valid TOML: {error}")], origin) from None


def override(data: dict[str, Any], field: str, value: str) -> None:
    """Sets one field of plain data, such as ``traffic[0].size``, to a value as TOML writes it.

    Text that is not TOML stands for itself, so that quotes can be left out: ``10 Mbps``. Tables on the
    way are made; entries of lists must exist.

    Raises:
        ScenarioError: if there is no such place.
    """
    steps = _steps(field)
    node: Any = data
    for step, following in pairwise(steps):
        node = _descend(node, step, {} if isinstance(following, str) else [], field)
    last = steps[-1]
    in_table = isinstance(node, dict) and isinstance(last, str)
    in_list = isinstance(node, list) and isinstance(last, int) and last < len(node)
    if not in_table and not in_list:
        raise _no_place(field)
    node[last] = _value(value)


def _steps(field: str) -> list[str | int]:
    steps: list[str | int] = []
    for part in field.split("."):
        found = list(_STEP.finditer(part))
        if not found or "".join(match.group() for match in found) != part:
            message = (
                f"{quoted(field)} is not a field; write one like network.links.capacity or traffic[0].flows"
            )
            raise ScenarioError([Problem("", message)], "--set")
        steps += [match[1] if match[1] is not None else int(match[2]) for match in found]
    if isinstance(steps[0], int):
        raise _no_place(field)
    return steps


def _descend(node: Any, step: str | int, missing: dict[str, Any] | list[Any], field: str) -> Any:
    if isinstance(step, str) and isinstance(node, dict):
        return node.setdefault(step, missing)
    if isinstance(step, int) and isinstance(node, list) and step < len(node):
        return node[step]
    raise _no_place(field)


def _no_place(field: str) -> ScenarioError:
    return ScenarioError([Problem("", f"{quoted(field)} leads to no place in the scenario")], "--set")


def _value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    # A line break in the text could smuggle in other keys; such text stands for itself.
    return parsed["value"] if parsed.keys() == {"value"} else text


def _toml_message(message: str) -> str:
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    if found:
        return f"line {found[2]}, column {found[3]}: not valid TOML: {_uncapitalized(found[1])}"
    end = message.removesuffix(" (at end of document)")
    return f"not valid TOML: {_uncapitalized(end)}, at the end of the file"


def _uncapitalized(text: str) -> str:
    return text[:1].lower() + text[1:]
