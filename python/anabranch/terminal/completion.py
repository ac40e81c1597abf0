"""Answers to the Tab key of a shell, from data that were made before, so that nothing has to be imported.

The shells' scripts are those of typer, and so are the environment variables by which they ask. The data are
in ``completion.json`` (``make reference``): commands with their options and the values of these, and every
field of a scenario with its values.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("completion.json")
VARIABLE = "_ANABRANCH_COMPLETE"
_FIELDS = "fields"
"""Name of the list that the options have that set a field."""
_MANY = 40
"""From so many values on, those with a common beginning up to a slash are one."""
_INDEX = re.compile(r"\[\d+\]")
_USER_NAME = re.compile(r"^(transport\.)[^.*=]+(?=\.)")
"""What the user has named: a table of transport."""

Candidate = tuple[str, str]
"""A value, and what it is."""


def answer() -> bool:
    """Answers a shell, if one asks; False if somebody else has to, as of commands of other distributions."""
    instruction = os.environ.get(VARIABLE, "")
    shell = instruction.removeprefix("complete_")
    if shell == instruction or shell not in _SHELLS:
        return False
    words, current, cut = _asked(shell)
    data = json.loads(DATA.read_text(encoding="utf-8"))
    matches = candidates(data, words, current)
    if matches is None:
        return False
    _SHELLS[shell]([(value[cut:], text) for value, text in matches])
    return True


def _asked(shell: str) -> tuple[list[str], str, int]:
    """The words before the one at the cursor, this one, and how much of it the shell keeps.

    Bash takes ``=`` for the end of a word, so that it asks for what follows it.
    """
    if shell == "bash":
        # One word a line, as the script joins them.
        words = os.environ.get("COMP_WORDS", "").split("\n")
        place = int(os.environ.get("COMP_CWORD", "0") or 0)
        typed = [*words[1:place], words[place] if place < len(words) else ""]
        joined = _joined(typed)
        last = joined[-1] if joined else ""
        return joined[:-1], last, last.rfind("=") + 1 if "=" in typed[-2:] else 0
    text = os.environ.get("_TYPER_COMPLETE_ARGS", "")
    typed = _split(text)[1:]
    if shell in ("powershell", "pwsh"):
        word = os.environ.get("_TYPER_COMPLETE_WORD_TO_COMPLETE", "")
        return (typed[:-1] if word else typed), word, 0
    if typed and not text.endswith(" "):
        return typed[:-1], typed[-1], 0
    return typed, "", 0


def _joined(words: Sequence[str]) -> list[str]:
    """Words that bash has cut at ``=``, in one piece again; quotes around them are left out."""
    whole: list[str] = []
    for place, word in enumerate(words):
        if place and (word == "=" or words[place - 1] == "="):
            whole[-1] += word
        else:
            whole.append(word)
    return [word.replace('"', "").replace("'", "").replace("\\", "") for word in whole]


def _split(text: str) -> list[str]:
    """Words as a shell splits them; a quote may still be open."""
    return [
        re.sub(r"\\(.)|[\"']", r"\1", word)
        for word in re.findall(r"(?:\\.|\"[^\"]*\"?|'[^']*'?|[^\s\"'\\])+", text)
    ]


def candidates(data: Mapping[str, Any], words: Sequence[str], current: str) -> list[Candidate] | None:
    """Candidates for the word at the cursor; None where the data do not know the command.

    Args:
        data: what is in :data:`DATA`.
        words: the words before the cursor, without the program's name.
        current: what is there of the word at the cursor.
    """
    command, rest = data["program"], list(words)
    while rest and "commands" in command:
        word = rest.pop(0)
        if word.startswith("-"):
            continue
        if word not in command["commands"]:
            return None
        command = command["commands"][word]
    options, arguments = command["options"], 0
    pending = None
    for word in rest:
        if pending is not None:
            pending = None
        elif word.startswith("-"):
            option = options.get(word)
            pending = option if option is not None and option["takes"] else None
        else:
            arguments += 1
    if pending is not None:
        return _values(data, pending, current)
    if current.startswith("--") and "=" in current:
        name, _, value = current.partition("=")
        values = _values(data, options.get(name, {}), value)
        return [(f"{name}={each}", text) for each, text in values]
    if current.startswith("-"):
        return [(name, each["help"]) for name, each in options.items() if name.startswith(current)]
    if "commands" in command:
        helps = {name: each["help"] for name, each in command["commands"].items()}
        if command is data["program"]:
            helps |= dict.fromkeys(_offered(), "")
        return [(name, text) for name, text in helps.items() if name.startswith(current)]
    places = command["arguments"]
    place = min(arguments, len(places) - 1) if places and places[-1]["many"] else arguments
    return _values(data, places[place], current) if place < len(places) else []


def _offered() -> Iterable[str]:
    """The commands of other distributions, by the files that list their entry points; nothing is imported."""
    names = set()
    for folder in filter(None, sys.path):
        try:
            installed = [each for each in os.listdir(folder) if each.startswith("anabranch_")]  # noqa: PTH208
        except OSError:
            continue
        for each in installed:
            listed = Path(folder, each, "entry_points.txt")
            if each.endswith(".dist-info") and listed.is_file():
                section = listed.read_text(encoding="utf-8").partition("[anabranch.commands]")[2]
                lines = section.partition("\n[")[0].splitlines()
                names |= {line.partition("=")[0].strip() for line in lines if "=" in line}
    return sorted(names)


def _values(data: Mapping[str, Any], taken: Mapping[str, Any], current: str) -> list[Candidate]:
    """The values of an option or an argument that begin so."""
    name = taken.get("values")
    if name is None:
        return []
    if name == _FIELDS:
        return [(value, "") for value in _settings(data, current)]
    return [(value, "") for value in _narrowed(data["lists"][name], current)]


def _narrowed(values: Sequence[str], current: str) -> list[str]:
    """The values that begin so; of many those up to the next slash, if there is more than one of these."""
    alike = [value for value in values if value.startswith(current)]
    if len(alike) <= _MANY:
        return alike
    heads = dict.fromkeys(
        value[: len(current)] + rest[: rest.find("/") + 1 or None]
        for value in alike
        for rest in (value[len(current) :],)
    )
    return list(heads) if len(heads) > 1 else alike


def _settings(data: Mapping[str, Any], current: str) -> list[str]:
    """Fields that begin so, one step at a time, and behind ``=`` their values."""
    fields: Mapping[str, Any] = data["fields"]
    path, equals, value = current.partition("=")
    general = _USER_NAME.sub(r"\1*", _INDEX.sub("[0]", path))
    if equals:
        values_of = fields.get(general, [])
        values = data["lists"][values_of] if isinstance(values_of, str) else values_of
        # The last one is an example of a form, which is shown and never put in.
        return [f"{path}={each}" for each in _narrowed(values, value) if not each.startswith("<")]
    below = {each: choices for each, choices in fields.items() if each.startswith(general)}
    while below:
        steps = _next_steps(below, general)
        if len(steps) != 1:
            return [path + step[len(general) :] for step in steps if "*" not in step[len(general) :]]
        (only,) = steps
        if "*" in only[len(general) :]:
            # A name that only the user knows.
            return []
        if only.endswith("="):
            return _ends(data, path + only[len(general) : -1], below.get(only[:-1], []))
        path, general = path + only[len(general) :], only
    return []


def _next_steps(fields: Mapping[str, Any], start: str) -> list[str]:
    """The next names behind the beginning of a path: a field ends with ``=``, a table with ``.``."""
    steps: dict[str, None] = {}
    for field, values in fields.items():
        end = field.find(".", len(start))
        if end >= 0:
            steps[field[: end + 1]] = None
        elif values is not None:
            steps[f"{field}="] = None
    return list(steps)


def _ends(data: Mapping[str, Any], path: str, values_of: Any) -> list[str]:
    """A field with its values; two forms of one without any, so that no shell puts a blank behind it."""
    values = data["lists"][values_of] if isinstance(values_of, str) else values_of
    return [f"{path}={each}" for each in _narrowed(values, "")] or [f"{path}=", f"{path}=<value>"]


def _say(text: str) -> None:
    """Writes an answer without the characters that a terminal would obey; the console is slow to import."""
    from anabranch.process.foreign import plain  # noqa: PLC0415 - after all else

    sys.stdout.write(plain(text))


def _bash(matches: Sequence[Candidate]) -> None:
    _say("\n".join(value for value, _ in matches))


def _zsh(matches: Sequence[Candidate]) -> None:
    def escaped(text: str) -> str:
        return re.sub(r"([$`])", r"\\\1", text).replace('"', '""').replace("'", "''").replace(":", r"\\:")

    described = (
        f'"{escaped(value)}":"{escaped(text)}"' if text else f'"{escaped(value)}"' for value, text in matches
    )
    listed = "\n".join(described)
    _say(f"_arguments '*: :(({listed}))'" if matches else "_files")


def _fish(matches: Sequence[Candidate]) -> None:
    if os.environ.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        # 1: there are none, so that fish completes names of files.
        sys.exit(0 if matches else 1)
    _say("\n".join(f"{value}\t{text}" if text else value for value, text in matches))


def _powershell(matches: Sequence[Candidate]) -> None:
    _say("\n".join(f"{value}:::{text or ' '}" for value, text in matches))


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish, "powershell": _powershell, "pwsh": _powershell}
