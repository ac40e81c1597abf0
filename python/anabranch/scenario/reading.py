"""Reading a scenario file: size, encoding, TOML, and fields set from outside."""

from __future__ import annotations

import codecs
import errno
import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.errors import Origin, Problem, ScenarioError, reason
from anabranch.scenario.quantity import is_unicode, quoted, shown
from anabranch.text.suggest import suggest

LARGEST_FILE_BYTES = 10_000_000
"""A scenario of ten thousand flows, each written out, has about a tenth of it."""

MOST_STEPS = 64
"""Parts of a dotted key at most: a scenario needs ten."""
_MOST_FILES = 1000
"""Files of a folder among which the one is looked for that may be meant."""
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
        message = f"cannot be read: {reason(error)}{_near_file(path) if error.errno == errno.ENOENT else ''}"
        raise ScenarioError([Problem("", message)], str(path)) from None
    except ValueError:
        raise ScenarioError([Problem("", "cannot be read: not a file name")], quoted(str(path))) from None
    if len(content) > LARGEST_FILE_BYTES:
        message = f"larger than {LARGEST_FILE_BYTES // 1_000_000} MB, so it is not a scenario"
        raise ScenarioError([Problem("", message)], path.name)
    try:
        # Editors on Windows begin a file with a byte order mark.
        return content.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"line {line}: not UTF-8 text (byte 0x{content[error.start]:02x})"
        raise ScenarioError([Problem("", message)], path.name) from None


def _near_file(path: Path) -> str:
    """Says which scenario file of the folder may be meant by a name that no file has."""
    try:
        files = islice(path.parent.iterdir(), _MOST_FILES)
        names = sorted(each.name for each in files if each.suffix == ".toml")
    except OSError:
        return ""
    name = f"{path.name}.toml" if f"{path.name}.toml" in names else suggest(path.name, names)
    return f"; {quoted(str(path.with_name(name)))} is there" if name else ""


def parse_toml(text: str, origin: str | None) -> dict[str, Any]:
    """The plain data in a TOML text.

    Raises:
        ScenarioError: with every mistake of its syntax, a line each.
    """
    try:
        data: dict[str, Any] = _core.Document(text).data()
    except UnicodeEncodeError:
        message = "not valid TOML: the text holds half a character, which no file can"
        raise ScenarioError([Problem("", message)], origin) from None
    except ValueError as error:
        (mistakes,) = error.args
        raise ScenarioError([_of_syntax(*mistake) for mistake in mistakes], origin) from None
    return data


def _of_syntax(message: str, position: tuple[int, int] | None) -> Problem:
    return Problem("", message, *(position or ()))


def origin_of(name: str, text: str, changed: Iterable[str] = ()) -> Origin:
    """The origin of what stands in a text, but for some fields that were changed."""
    return Origin(name, partial(_positions, text), changed)


def _positions(text: str, places: Sequence[str]) -> list[tuple[int, int] | None]:
    return list(map(_core.Document(text).position, places))


def with_value(data: dict[str, Any], steps: Sequence[str | int], value: Any) -> dict[str, Any]:
    """Plain data with one field set; what is not on the way to it is shared with the old data.

    Tables on the way are made; entries of lists must exist. The plain name of an algorithm becomes a table,
    so that ``congestion_control.beta`` can be set where ``congestion_control`` is ``"cubic"``.

    Raises:
        ValueError: if there is no such place.
    """
    changed = dict(data)
    node: Any = changed
    for step, following in pairwise(steps):
        child = _step_into(node, step, {} if isinstance(following, str) else [], steps)
        if isinstance(child, str) and isinstance(following, str):
            child = {"algorithm": child}
        if not isinstance(child, dict | list):
            raise _no_place(steps)
        node[step] = child.copy()
        node = node[step]
    last = steps[-1]
    if isinstance(node, dict) and isinstance(last, str):
        node[last] = value
    else:
        _step_into(node, last, None, steps)
        node[last] = value
    return changed


def field_steps(field: str) -> list[str | int]:
    """``traffic[0].size`` as ``["traffic", 0, "size"]``.

    Raises:
        ValueError: if it is no such path.
    """
    steps: list[str | int] = []
    if not isinstance(field, str) or not is_unicode(field):
        raise ValueError(f"{shown(field)} is not a field; write one like network.links.capacity")
    for part in field.split("."):
        matches = list(_STEP.finditer(part))
        if not matches or "".join(match.group() for match in matches) != part:
            raise ValueError(
                f"{quoted(field)} is not a field; write one like network.links.capacity or traffic[0].flows"
            )
        steps += [match[1] if match[1] is not None else int(match[2]) for match in matches]
        if len(steps) > MOST_STEPS:
            raise ValueError(f"{quoted(field)} is not a field: it has more than {MOST_STEPS} parts")
    if isinstance(steps[0], int):
        raise _no_place(steps)
    return steps


def _step_into(node: Any, step: str | int, missing: Any, steps: Sequence[str | int]) -> Any:
    if isinstance(step, str) and isinstance(node, dict):
        return node.get(step, missing)
    if isinstance(step, int) and isinstance(node, list) and step < len(node):
        return node[step]
    raise _no_place(steps, list_before=step if isinstance(node, list) else None)


def _no_place(steps: Sequence[str | int], list_before: str | int | None = None) -> ValueError:
    """``list_before`` is the step that goes on from a list, where one does."""
    text = _path(steps)
    hint = ""
    if isinstance(list_before, str):
        at = steps.index(list_before)
        # ``traffic.0.size`` has the number, in the wrong form.
        into = [int(list_before)] if list_before.isdecimal() else [0, list_before]
        hint = f"; {_path(steps[:at])} is a list: write {_path([*steps[:at], *into, *steps[at + 1 :]])}"
    return ValueError(f"{quoted(text)} leads to no place in the scenario{hint}")


def _path(steps: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


def value_of(text: str) -> Any:
    """A value as TOML writes it; text that is not TOML stands for itself, so that quotes can be left out."""
    try:
        parsed = _core.Document(f"value = {text}").data()
    except (ValueError, UnicodeEncodeError):
        return text
    # A line break in the text could smuggle in other keys; such text stands for itself.
    return parsed["value"] if parsed.keys() == {"value"} else text
