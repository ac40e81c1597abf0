"""Text files beside a scenario."""

from __future__ import annotations

from pathlib import Path

from anabranch import _core
from anabranch.errors import reason
from anabranch.scenario.quantity import quoted

_MOST_BYTES = 256 * 2**20


def text_of(name: str, base: Path | None) -> str:
    """The text of a file.

    Args:
        name: of the file, as the scenario writes it.
        base: the folder that names are relative to; None for the current one.

    Raises:
        anabranch._core.ProblemError: if it cannot be read, with why.
    """
    file = Path(name) if base is None else base / name
    try:
        if file.exists() and not file.is_file():
            # A device or a pipe may never end.
            why = "cannot be read: it is not a file"
        elif file.stat().st_size > _MOST_BYTES:
            why = "is larger than 256 MiB, the most that is read"
        else:
            return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        why = f"cannot be read: {reason(error)}"
    except UnicodeDecodeError:
        why = "cannot be read: it is no text in UTF-8"
    except ValueError as error:
        why = f"cannot be read: {error}"
    raise _core.ProblemError(f"{quoted(name)} {why}")
