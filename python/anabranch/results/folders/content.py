"""The content of the files of a folder: sizes and hashes."""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from anabranch.results.folders.directory import Directory, opened_below, sync

_PIECE_BYTES = 1 << 20
_SHA256 = "[0-9a-f]{64}"


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file: its size and its hash."""

    size: int
    """In bytes."""
    sha256: str

    @classmethod
    def of(cls, directory: Directory, name: str, *, synced: bool = False) -> Self:
        """The content of a regular file; ``synced`` waits until it is on the disk.

        Raises:
            OSError: if it is something else, or cannot be read.
        """
        with directory.open_file(name) as file:
            digest = hashlib.sha256()
            size = 0
            while piece := file.read(_PIECE_BYTES):
                digest.update(piece)
                size += len(piece)
            if synced:
                sync(file.fileno())
            return cls(size, digest.hexdigest())

    @classmethod
    def from_data(cls, data: object) -> Self | None:
        """The content that an entry in JSON states; None if it states none."""
        match data:
            case {"bytes": int(size), "sha256": str(sha256)} if (
                size >= 0 and not isinstance(size, bool) and re.fullmatch(_SHA256, sha256)
            ):
                return cls(size, sha256)
        return None

    def data(self) -> dict[str, Any]:
        """As an entry in JSON."""
        return {"bytes": self.size, "sha256": self.sha256}

    def is_in(self, directory: Directory, name: str) -> bool:
        """Whether a regular file of this name holds it."""
        status = directory.entry(name)
        if status is None or not stat.S_ISREG(status.st_mode) or status.st_size != self.size:
            return False
        with suppress(OSError):
            return Content.of(directory, name) == self
        return False


def files_below(directory: Directory) -> list[str]:
    """All files in a folder and below, relative to it; a link counts as a file."""
    return sorted(_files_below(directory, ""))


def _files_below(directory: Directory, prefix: str) -> Iterator[str]:
    for entry in directory.names():
        status = directory.entry(entry)
        if status is not None and stat.S_ISDIR(status.st_mode):
            with opened_below(directory, [entry]) as below:
                yield from _files_below(below, f"{prefix}{entry}/")
        else:
            yield f"{prefix}{entry}"


def contents_below(directory: Directory) -> dict[str, Content]:
    """The contents of all files below a folder, by name; files and folders are on the disk then.

    Raises:
        OSError: if one is no regular file, or cannot be read.
    """
    contents = {name: Content.of(directory, name, synced=True) for name in files_below(directory)}
    _sync_folders(directory)
    return contents


def _sync_folders(directory: Directory) -> None:
    for entry in directory.names():
        status = directory.entry(entry)
        if status is not None and stat.S_ISDIR(status.st_mode):
            with opened_below(directory, [entry]) as below:
                _sync_folders(below)
    directory.sync()
