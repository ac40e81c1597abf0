"""Text files beside a scenario."""

from __future__ import annotations

from pathlib import Path

from anabranch.errors import reason
from anabranch.scenario.files import FILE
from anabranch.scenario.quantity import quoted
from anabranch.setup.problems import Problems

_MOST_BYTES = 256 * 2**20


def text_of(source: str, base: Path | None, place: str, problems: Problems) -> str | None:
    """What a file has; None, and a problem at the place, where it cannot be read.

    Args:
        source: ``file:`` and a name.
        base: the folder that names are relative to; None for the current one.
        place: the field, for messages.
        problems: takes what is wrong.
    """
    name = source.removeprefix(FILE)
    file = Path(name) if base is None else base / name
    try:
        if file.exists() and not file.is_file():
            # A device or a pipe may never end.
            problems.add(place, f"{quoted(name)} cannot be read: it is not a file")
        elif file.stat().st_size > _MOST_BYTES:
            problems.add(place, f"{quoted(name)} is larger than 256 MiB, the most that is read")
        else:
            return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = reason(error) if isinstance(error, OSError) else "it is no text in UTF-8"
        problems.add(place, f"{quoted(name)} cannot be read: {why}")
    except ValueError as error:
        problems.add(place, f"{quoted(name)} cannot be read: {error}")
    return None
