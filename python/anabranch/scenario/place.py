"""Places in a scenario as messages show them: ``traffic[0].from``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from anabranch.scenario.quantity import quoted

Location = Sequence[str | int]


def place(location: Location) -> str:
    """``("traffic", 0, "from")`` as ``traffic[0].from``."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + key_in_place(part)
    return text


def key_in_place(key: str) -> str:
    """A key as a place shows it: in quotes where TOML needs them, and always on one line."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else quoted(key)


def joined(start: str, below: str) -> str:
    """A place below another one."""
    if not start or not below:
        return start or below
    return f"{start}{below}" if below.startswith("[") else f"{start}.{below}"
