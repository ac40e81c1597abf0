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

    On POSIX it is a lock on the folder itself (flock), by the descriptor that is open. Windows cannot open
    folders: there it is a lock on the file ``.NAME.lock`` beside it, which the system removes when it is
    closed.
    """

    def __init__(self, descriptor: int | None, folder: Path) -> None:
        """Locks a folder, by its descriptor if there is one.

        Raises:
            BlockingIOError: if it is locked.
            OSError: if it cannot be opened.
        """
        self._own: int | None = None
        self.held = True
        """False where the file system has no locks, as some network file systems: then nobody is refused."""
        if _fcntl is None or descriptor is None:
            self._own = _beside(folder)
            return
        try:
            _fcntl.flock(descriptor, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            self.held = False

    def close(self) -> None:
        """Lets others lock it, as soon as the folder's descriptor is closed."""
        if self._own is not None:
            descriptor, self._own = self._own, None
            os.close(descriptor)


def _beside(folder: Path) -> int:
    """Locks the file beside a folder."""
    removed_at_the_end: int = getattr(os, "O_TEMPORARY", 0)
    name = folder.with_name(f".{folder.name}.lock")
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | removed_at_the_end)
    try:
        _msvcrt.locking(descriptor, _msvcrt.LK_NBLCK, 1)
    except OSError as error:
        os.close(descriptor)
        # Windows has one error for all reasons.
        raise BlockingIOError from error
    return descriptor
