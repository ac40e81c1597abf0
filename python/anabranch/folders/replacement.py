"""A folder that is written beside its place, and put there in one step."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from anabranch.errors import ResultError, reason
from anabranch.folders.lock import Lock
from anabranch.folders.manifest import (
    REMEDY,
    check_folder,
    files_in,
    foreign,
    free_name,
    read_manifest,
    record,
    some,
    sync,
    sync_all,
)
from anabranch.signals import deferred

# <fcntl.h>, <linux/fs.h>
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def check_target(folder: Path, kind: str, *, replace: bool = False) -> None:
    """Makes sure that a folder is new or empty, or that an earlier result of its kind is all that it has.

    Raises:
        ResultError: if something else is there; with ``replace`` only if it is no folder or cannot be moved.
    """
    check_folder(folder)
    if not folder.is_dir():
        return
    if os.path.ismount(folder) or Path.cwd().is_relative_to(folder.resolve()):
        raise ResultError(
            f"{folder}: is a mount point or the current folder, and cannot be replaced; choose a folder in it"
        )
    found = [] if replace else foreign(folder)
    if found:
        raise ResultError(
            f"{folder}: has what Anabranch did not write there: {some(found)}; {REMEDY}, which replaces an "
            "earlier result and leaves all else where it is"
        )
    if not replace and read_manifest(folder).get("kind", kind) != kind:
        raise ResultError(f"{folder}: has a result of another kind; {REMEDY}")


class Replacement:
    """A new folder beside the place where it goes. Nobody else can write to that place meanwhile."""

    def __init__(self, place: Path, kind: str) -> None:
        self.place = place
        """Where the folder goes."""
        self._kind = kind
        target = Path(os.path.abspath(place))  # noqa: PTH100 - Path.absolute keeps ".."
        self._target = target
        self._aside = target.with_name(f".{target.name}.old")
        self.partial = target.with_name(f".{target.name}.partial")
        """The folder to write to."""
        self._missing = [path for path in self.partial.parents if not path.exists()]
        self._locks: list[Lock] = []

    def open(self) -> None:
        """Locks the place, and makes the empty folder.

        Raises:
            ResultError: if another process writes there.
            OSError: if the folder cannot be made.
        """
        while not self._is_own():
            self.partial.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                self._lock(self.partial)
        # What a crash has left: all that is not ours is in the target, too (see put).
        if self._aside.is_dir():
            if self._target.exists():
                shutil.rmtree(self._aside)
            else:
                self._aside.rename(self._target)
        if self._target.is_dir():
            self._lock(self._target)
        for path in self.partial.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def put(self, origin: Mapping[str, Any] | None = None) -> None:
        """Puts the folder into its place, with a manifest of the files in it and of their origin.

        At any time the target is whole, the earlier one or the new one. What is not ours is linked into the
        new one before.

        Raises:
            OSError: if that fails; what was there before still is.
        """
        record(self.partial, self._kind, files_in(self.partial), origin)
        sync_all(self.partial)
        if self._target.is_dir():
            for name in foreign(self._target):
                _carry(self._target / name, self.partial / name)
        self._exchange()
        sync(self._target.parent)

    def close(self) -> None:
        """Removes what is beside the place, and lets others write there."""
        # Where nothing was replaced, the name may be another process's by now.
        if self._is_own():
            shutil.rmtree(self.partial, ignore_errors=True)
        for path in self._missing:
            with suppress(OSError):
                path.rmdir()
        for lock in self._locks:
            lock.close()

    def _is_own(self) -> bool:
        """Whether the folder beside the place is locked by this process."""
        return any(lock.is_on(self.partial) for lock in self._locks)

    def _lock(self, folder: Path) -> None:
        try:
            self._locks.append(Lock(folder))
        except BlockingIOError:
            message = "another process is writing to it; wait for it, or choose another name"
            raise ResultError(f"{self.place}: {message}") from None

    def _exchange(self) -> None:
        if not self._target.exists():
            self.partial.rename(self._target)
            return
        library = None if os.name == "nt" else ctypes.CDLL(None, use_errno=True)
        call = getattr(library, "renameat2", None)
        names = os.fsencode(self.partial), os.fsencode(self._target)
        if call and call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
            return
        # Not on every system: then in steps, which the next process takes back if this one is stopped.
        self._target.rename(self._aside)
        try:
            self.partial.rename(self._target)
        except OSError:
            self._aside.rename(self._target)
            raise
        self._aside.rename(self.partial)


@contextmanager
def replacing(folder: Path, kind: str, *, replace: bool = False) -> Iterator[Replacement]:
    """A folder to be written, which takes the place of an earlier one by ``put``, or not at all.

    Args:
        folder: the place.
        kind: what kind of result it is; no other kind is replaced.
        replace: go on though other things are there; they stay. One with the name of a file of ours gets
            another name (``name.~1~``).

    Raises:
        ResultError: if something else is there, another process writes there, or it cannot be written.
    """
    check_target(folder, kind, replace=replace)
    found = Replacement(folder, kind)
    try:
        try:
            found.open()
        except OSError as error:
            raise ResultError(f"{folder}: cannot be written: {reason(error)}") from None
        yield found
    finally:
        with deferred():
            found.close()


def _carry(source: Path, place: Path) -> None:
    """A file or folder in a second place as well."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, place, symlinks=True, copy_function=_link, dirs_exist_ok=True)
    else:
        _link(source, place)


def _link(source: str | Path, place: str | Path) -> None:
    """Another name of a file; a copy where the file system has none."""
    free = free_name(Path(place))
    try:
        os.link(source, free, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(source, free, follow_symlinks=False)
