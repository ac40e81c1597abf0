"""A folder of results: written beside its place, and put there in one step.

``manifest.json`` lists the files of a folder that are ours. All others are the user's: they refuse a write,
or with ``replace`` go over into the new folder as they are.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import itertools
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from anabranch.errors import ResultError, reason

MANIFEST = "manifest.json"
_FORMAT = "anabranch-manifest"
_FORMAT_VERSION = 1
_MOST_NAMES = 5
# <fcntl.h>, <linux/fs.h>
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder; empty if it has none."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) and manifest.get("format") == _FORMAT else {}


def foreign(folder: Path) -> list[str]:
    """What is in a folder and is not ours: files, and folders with nothing of ours in them (``name/``)."""
    manifest = read_manifest(folder)
    return list(_foreign(folder, "", {MANIFEST, *manifest["files"]} if manifest else set()))


def _foreign(folder: Path, prefix: str, ours: set[str]) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        name = f"{prefix}{path.name}"
        if path.is_dir() and not path.is_symlink():
            if any(file.startswith(f"{name}/") for file in ours):
                yield from _foreign(path, f"{name}/", ours)
            else:
                yield f"{name}/"
        elif name not in ours:
            yield name


def check_target(folder: Path, kind: str, *, replace: bool = False) -> None:
    """Makes sure that a folder is new or empty, or that an earlier result of its kind is all that it has.

    Raises:
        ResultError: if something else is there; with ``replace`` only if it is no folder or cannot be moved.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ResultError(f"{folder}: exists and is not a folder; choose another name")
    if not folder.is_dir():
        return
    if folder.is_mount() or Path.cwd().is_relative_to(folder.resolve()):
        raise ResultError(
            f"{folder}: is a mount point or the current folder, and cannot be replaced; choose a folder in it"
        )
    found = [] if replace else foreign(folder)
    remedy = "choose another name, or give --replace (replace=True)"
    if found:
        raise ResultError(
            f"{folder}: has what Anabranch did not write there: {_some(found)}; {remedy}, which replaces an "
            "earlier result and leaves all else where it is"
        )
    if not replace and read_manifest(folder).get("kind", kind) != kind:
        raise ResultError(f"{folder}: has a result of another kind; {remedy}")


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


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
        self._locks: list[int] = []

    def open(self) -> None:
        """Locks the place, and makes the empty folder.

        Raises:
            ResultError: if another process writes there.
            OSError: if the folder cannot be made.
        """
        while not any(self._is_partial(lock) for lock in self._locks):
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

    def put(self) -> None:
        """Puts the folder into its place, with a manifest of the files in it.

        At any time the target is whole, the earlier one or the new one. What is not ours is linked into the
        new one before.

        Raises:
            OSError: if that fails; what was there before still is.
        """
        record(self.partial, self._kind, (path for path in self.partial.rglob("*") if not path.is_dir()))
        for folder, _, names in os.walk(self.partial):
            for name in (*names, ""):
                _sync(Path(folder, name))
        if self._target.is_dir():
            for name in foreign(self._target):
                _carry(self._target / name, self.partial / name)
        self._exchange()
        _sync(self._target.parent)

    def close(self) -> None:
        """Removes what is beside the place, and lets others write there."""
        # Where nothing was replaced, the name may be another process's by now.
        if any(self._is_partial(lock) for lock in self._locks):
            shutil.rmtree(self.partial, ignore_errors=True)
        for path in self._missing:
            with suppress(OSError):
                path.rmdir()
        for lock in self._locks:
            os.close(lock)

    def _lock(self, folder: Path) -> None:
        """Opens a folder and locks it. The lock ends with the process."""
        self._locks.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
        try:
            fcntl.flock(self._locks[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Any other says that the file system has no locks.
            if error.errno == errno.EWOULDBLOCK:
                os.close(self._locks.pop())
                message = "another process is writing to it; wait for it, or choose another name"
                raise ResultError(f"{self.place}: {message}") from None

    def _is_partial(self, lock: int) -> bool:
        """Whether a folder is the one of that name, which another process may have moved or made anew."""
        try:
            return os.path.samestat(os.fstat(lock), self.partial.stat())
        except FileNotFoundError:
            return False

    def _exchange(self) -> None:
        if not self._target.exists():
            self.partial.rename(self._target)
            return
        call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
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
        found.close()


def record(folder: Path, kind: str, files: Iterable[Path]) -> None:
    """Adds files to the manifest of the folder that they are in; where there is none, it makes one of a kind.

    Raises:
        OSError: if it cannot be written.
    """
    manifest = read_manifest(folder)
    known = {*manifest.get("files", ()), *(file.relative_to(folder).as_posix() for file in files)}
    manifest = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "kind": manifest.get("kind", kind),
        "files": sorted(known),
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    partial = folder / f".{MANIFEST}.tmp"
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(folder / MANIFEST)


def _sync(path: Path) -> None:
    """Waits until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot do it for a folder.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _carry(source: Path, place: Path) -> None:
    """A file or folder in a second place as well."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, place, symlinks=True, copy_function=_link, dirs_exist_ok=True)
    else:
        _link(source, place)


def _link(source: str | Path, place: str | Path) -> None:
    """Another name of a file; a copy where the file system has none."""
    names = itertools.chain([f"{place}"], (f"{place}.~{number}~" for number in itertools.count(1)))
    free = next(name for name in names if not os.path.lexists(name))
    try:
        os.link(source, free, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(source, free, follow_symlinks=False)
