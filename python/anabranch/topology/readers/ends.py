"""How tables and documents call the two ends of a link."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_PAIRS: Final = (
    ("from", "to"),
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("src", "dst"),
    ("src", "dest"),
    ("origin", "destination"),
    ("origin", "target"),
    ("u", "v"),
    ("a", "b"),
    ("a", "z"),
    ("s", "t"),
    ("s", "d"),
    ("i", "j"),
    ("1", "2"),
    ("local", "remote"),
)
"""Names of the first and of the second end, without words that say only that they are ends; in this order."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OF_ENDS: Final = frozenset(
    ("node", "router", "switch", "host", "vertex", "device", "site", "end", "id", "name")
)


def ends_of(names: Iterable[str]) -> tuple[str, str] | None:
    """The names of the two ends among those of columns or keys; None if there are none.

    Case and punctuation do not count, nor do words such as `node` and `id`: `Source Node`, `src_id`, `nodeA`.
    """
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(_plain(name), name)
    for first, second in _PAIRS:
        if first in plain and second in plain:
            return plain[first], plain[second]
    return None


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """A name in lower case without words that say only that it is an end."""
    words = [word.lower() for word in _WORDS.findall(name)]
    names = [word for word in words if word not in _OF_ENDS]
    return names[0] if len(names) == 1 else name.strip().lower()
