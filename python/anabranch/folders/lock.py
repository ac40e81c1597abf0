"""The right to write to a folder, which one process has at a time. It ends with the process."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

# POSIX has the first, Windows the second.
_fcntl: Any = None
_msvcrt: Any = None
try:
    _fcntl = import_module("fcntl")
except ImportError:
    _msvcrt = import_module("msvcrt")


class Lock:
    """A folder that no other process can lock meanwhile.

    On POSIX it is a lock on the folder itself (flock). Windows cannot open folders: there it is a lock on the
    file ``.NAME.lock`` beside it, which the system removes when it is closed. Where a file system has no
    locks, as some network file systems, nobody is refused.
    """

    def __init__(self, folder: Path) -> None:
        """Locks a folder.

        Raises:
            BlockingIOError: if it is locked.
            OSError: if it cannot be opened.
        """
        self._folder = folder
        self._descriptor = _open(folder)
        try:
            _take(self._descriptor)
        except BlockingIOError:
            os.close(self._descriptor)
            raise

    def is_on(self, folder: Path) -> bool:
        """Whether the folder that has this name now is the one that is locked, which may have been moved."""
        if _fcntl is None:
            return folder == self._folder and folder.is_dir()
        try:
            return os.path.samestat(os.fstat(self._descriptor), folder.stat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Lets others lock it."""
        os.close(self._descriptor)


def _open(folder: Path) -> int:
    if _fcntl is not None:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    removed_at_the_end: int = getattr(os, "O_TEMPORARY", 0)
    return os.open(folder.with_name(f".{folder.name}.lock"), os.O_RDWR | os.O_CREAT | removed_at_the_end)


def _take(descriptor: int) -> None:
    """Locks an open file, unless its file system has no locks.

    Raises:
        BlockingIOError: if another process has locked it.
    """
    if _fcntl is None:
        try:
            _msvcrt.locking(descriptor, _msvcrt.LK_NBLCK, 1)
        except OSError as error:
            # Windows has one error for all reasons.
            raise BlockingIOError from error
        return
    try:
        _fcntl.flock(descriptor, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return
