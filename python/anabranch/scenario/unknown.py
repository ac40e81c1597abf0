"""Messages on names that are not known: keys, choices, and the name that may be meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anabranch.scenario.quantity import quoted, shown
from anabranch.text.suggest import suggest

_LISTED_KEYS = 40


def unknown_key(key: str, choices: Iterable[str]) -> str:
    """A message on a key that a table does not have.

    Args:
        key: the key.
        choices: the keys that it has.
    """
    names = list(choices)
    hint = suggest(key, names)
    if hint:
        return f"no such key; nearest: {quoted(hint)}"
    return f"no such key; there are {', '.join(names[:_LISTED_KEYS])}" if names else "no such key"


def unknown_choice(read: object, choices: Sequence[str]) -> str:
    """A message on a value that is none of the choices."""
    hint = suggest(read, choices) if isinstance(read, str) else None
    every = ", ".join(quoted(choice) for choice in choices)
    if len(choices) == 1:
        return f"{shown(read)} is not known; it must be {every}"
    near = f"nearest: {quoted(hint)}; " if hint else ""
    return f"{shown(read)} is not known; {near}there are {every}"
