"""TOML text as plain data, with bounds on what it may cost, and messages that show what would be right."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_STEPS = 64
"""Parts of a dotted key at most: a scenario needs ten, and the parser's costs grow with the square."""
MOST_VALUES = 500_000
"""Values in a file at most. Twenty thousand flows with every default written out have that many."""

# What is no key: comments, and strings of all four kinds, also those that do not end. Each branch takes all
# it can and gives nothing back, so that the time grows with the text.
_STRINGS = re.compile(
    r'(?P<comment>#[^\n]*+)|"""(?:[^"\\]++|\\.|"(?!""))*+(?:"""|\Z)|'
    r"'''(?:[^']++|'(?!''))*+(?:'''|\Z)"
    r"""|"(?:[^"\\\n]++|\\[^\n])*+"?|'[^'\n]*+'?""",
    re.DOTALL,
)
_STEP = r"[A-Za-z0-9_-]++[ \t]*+"
_TOO_MANY_STEPS = re.compile(rf"(?<![A-Za-z0-9_-]){_STEP}(?:\.[ \t]*+{_STEP}){{{MOST_STEPS},{MOST_STEPS}}}")
_LONGEST_SHOWN = 200
_BARE = re.compile(r"""(?P<before>[=\[,]\s*)(?P<value>[A-Za-z0-9_.+/*-][^,"'\[\]{}#=]*+)(?!=)""")


def parse(text: str) -> dict[str, Any]:
    """The plain data in a TOML text.

    Raises:
        ValueError: with the line of the first mistake; so if it has more steps or values than are taken.
    """
    bare = _STRINGS.sub(lambda found: "" if found["comment"] else "x", text)
    if _TOO_MANY_STEPS.search(bare):
        raise ValueError(f"a dotted key has more than {MOST_STEPS} parts, so it is not a scenario's")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(_explained(str(error), text)) from None
    except RecursionError:
        raise ValueError("not valid TOML: nested too deeply") from None
    except ValueError as error:
        # Such as a whole number of thousands of digits, or a date that does not exist.
        raise ValueError(f"not valid TOML: {error}") from None
    if _has_more_values(data, MOST_VALUES):
        raise ValueError(f"has more than {MOST_VALUES:,} values, so it is not a scenario")
    return data


def _has_more_values(data: object, most: int) -> bool:
    count, waiting = 0, [data]
    while waiting:
        node = waiting.pop()
        entries = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        count += len(entries)
        if count > most:
            return True
        waiting += [entry for entry in entries if isinstance(entry, dict | list)]
    return False


def _explained(message: str, text: str) -> str:
    """The parser's message with its place, and the line as it would be where quotes are forgotten."""
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    if not found:
        end = message.removesuffix(" (at end of document)")
        return f"not valid TOML: {_uncapitalized(end)}, at the end of the file"
    line, column = int(found[2]), int(found[3])
    place = f"line {line}, column {column}: not valid TOML"
    written = text.split("\n")[line - 1]
    if found[1] == "Illegal character '\\n'" and re.search("[\"']", written[: column - 1]):
        return f"{place}: the text in quotes does not end on its line"
    mended = _mended(written)
    hint = f"; write {mended}" if mended else ""
    return f"{place}: {_uncapitalized(found[1])}{hint}"


def _mended(line: str) -> str | None:
    """A line whose first text without quotes has them; None where there is none, or the line is long."""
    if len(line) > _LONGEST_SHOWN:
        return None
    bare = _STRINGS.sub(lambda found: '"' * len(found[0]), line)
    for found in _BARE.finditer(bare, pos=bare.find("=") if "=" in bare else len(bare)):
        start, end = found.start("value"), found.start("value") + len(found["value"].rstrip())
        if _is_no_value(line[start:end]):
            value = line[start:end].lower()
            value = value if value in ("true", "false") else f'"{line[start:end]}"'
            return f"{line[:start]}{value}{line[end:]}".strip()
    return None


def _is_no_value(text: str) -> bool:
    try:
        tomllib.loads(f"x = {text}")
    except ValueError:
        return True
    return False


def _uncapitalized(text: str) -> str:
    return text[:1].lower() + text[1:]
