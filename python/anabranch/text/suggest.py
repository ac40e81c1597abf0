"""The name that a misspelt one was probably meant to be."""

import difflib
from collections.abc import Iterable


def suggest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate nearest to `name`, or None when none is near.

    Case and leading or trailing blanks do not count. Among equally near candidates the first one wins, so the
    answer depends on nothing but the arguments.
    """
    wanted = _plain(name)
    by_plain: dict[str, str] = {}
    for candidate in candidates:
        by_plain.setdefault(_plain(candidate), candidate)
    if wanted in by_plain:
        return by_plain[wanted]
    near = difflib.get_close_matches(wanted, list(by_plain), n=1, cutoff=0.6)
    return by_plain[near[0]] if near else None


def nearest_remedy(name: str, candidates: Iterable[str], otherwise: str | None = None) -> str:
    """The end of a message about an unknown name: `nearest: "Seattle"`, or what to say where none is near.

    Unless `otherwise` says it, this is the choice where it is small, and else nothing.
    """
    choices = list(candidates)
    nearest = suggest(name, choices)
    if nearest is not None:
        return f'nearest: "{nearest}"'
    if otherwise is not None:
        return otherwise
    if 0 < len(choices) <= 12:
        return "known: " + ", ".join(f'"{choice}"' for choice in choices)
    return ""


def listed(names: Iterable[str]) -> str:
    """Names for a sentence: ``a, b or c``."""
    *earlier, last = names
    return f"{', '.join(earlier)} or {last}" if earlier else last


def _plain(name: str) -> str:
    return name.strip().casefold()
