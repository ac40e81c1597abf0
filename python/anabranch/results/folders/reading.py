"""Reading folders that may come from elsewhere: regular files of theirs, and nothing that a link leads to."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import IO

from anabranch.results.folders.directory import opened, opened_below

_MOST_BYTES = 1 << 30
"""Of a file that is read whole, such as a summary."""


def open_inside(folder: Path, name: str) -> IO[bytes]:
    """Opens a file of a folder for reading.

    Args:
        folder: as the user gave it; it may itself be a link.
        name: of the file, relative to it.

    Raises:
        OSError: if it is a link, or behind one in the folder, no regular file, or cannot be read.
    """
    with opened(folder) as directory:
        return directory.open_file(name)


def read_inside(folder: Path, name: str, most: int = _MOST_BYTES) -> bytes:
    """The content of a file of a folder; see :func:`open_inside`.

    Raises:
        OSError: in its cases, and if the file is larger than ``most`` bytes.
    """
    with opened(folder) as directory:
        return directory.read(name, most)


def regular_files(folder: Path, below: str = "") -> list[str]:
    """The regular files in a folder, or in one below it, by name; empty if there is no such folder.

    Raises:
        OSError: if it cannot be read, or is a link.
    """
    steps = below.split("/") if below else []
    try:
        with opened(folder) as directory, opened_below(directory, steps) as place:
            entries = ((name, place.entry(name)) for name in place.names())
            return [name for name, entry in entries if entry is not None and stat.S_ISREG(entry.st_mode)]
    except FileNotFoundError:
        return []
