"""Whether a file has changed since somebody looked at it."""

from __future__ import annotations

from pathlib import Path


def stamp(file: Path) -> str | None:
    """A mark of the state of a file: time, size and number; None where there is no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return f"{status.st_mtime_ns}-{status.st_size}-{status.st_ino}"
