"""Files for a folder that keeps what it has: they get there together, or none of them does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anabranch.errors import ResultError, reason
from anabranch.folders.lock import Lock
from anabranch.folders.manifest import (
    MANIFEST,
    PARTIAL,
    READY,
    REMEDY,
    check_folder,
    files_in,
    foreign,
    free_name,
    ours,
    read_manifest,
    record,
    some,
    sync,
    sync_all,
)
from anabranch.signals import deferred


class Addition:
    """Files on their way into a folder. Nobody else can add to it meanwhile.

    They are written into a folder within. Once all of them are on the disk, that folder gets another name:
    from then on they belong to the result, and whoever opens it next ends the move if this process cannot.
    """

    def __init__(
        self,
        place: Path,
        kind: str,
        claims: Iterable[str] = (),
        *,
        replace: bool = False,
        known: bool = False,
    ) -> None:
        """Opens a folder; see :func:`adding`."""
        self.place = place
        """The folder that gets them."""
        self._kind = kind
        self._claims = tuple(claims)
        self._replace = replace
        self._known = known
        self._folder = Path(os.path.abspath(place))  # noqa: PTH100 - Path.absolute keeps ".."
        self._ready = self._folder / READY
        self.partial = self._folder / PARTIAL
        """Where to write them."""
        self._missing = [path for path in (self._folder, *self._folder.parents) if not path.exists()]
        self._lock: Lock | None = None
        self._begun = False

    def open(self) -> None:
        """Locks the folder, ends what an earlier process could not, and looks what is there.

        Raises:
            ResultError: if another process writes there, or something else is there.
            OSError: if it cannot be written.
        """
        check_folder(self._folder)
        while self._lock is None or not self._lock.is_on(self._folder):
            self.close_lock()
            self._folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                self._lock = self._locked()
        if self._ready.is_dir():
            self._move()
        self._check()
        if self.partial.is_dir():
            shutil.rmtree(self.partial)
        if not read_manifest(self._folder):
            # From here on, whatever happens, the folder is known as ours.
            self._begun = True
            record(self._folder, self._kind, ())
        self.partial.mkdir()

    def put(self) -> list[Path]:
        """Moves all files that have been written into the folder.

        Returns:
            The files, by name.

        Raises:
            ResultError: if they cannot be moved, or a file that is not ours has the name of one, and none is
                to be replaced. Then nothing is changed.
        """
        names = files_in(self.partial)
        with deferred():
            self._refuse(_in_the_way(self._folder, names))
            try:
                sync_all(self.partial)
                self.partial.rename(self._ready)
                sync(self._folder)
                self._move()
                self.partial.mkdir()
            except OSError as error:
                raise ResultError(f"{self.place}: cannot be written: {reason(error)}") from None
        return [self.place / name for name in names]

    def claim(self, names: Iterable[str]) -> None:
        """Takes names for files that are written into the folder itself.

        Raises:
            OSError: if that cannot be written.
        """
        names = list(names)
        _make_way(self._folder, names)
        record(self._folder, self._kind, names)

    def close(self) -> None:
        """Removes what has not been put, and lets others write there."""
        if self._lock is not None:
            shutil.rmtree(self.partial, ignore_errors=True)
            empty = [path.name for path in self._folder.iterdir()] == [MANIFEST]
            if self._begun and (empty or self._known) and not read_manifest(self._folder).get("files"):
                (self._folder / MANIFEST).unlink()
        for path in self._missing:
            with suppress(OSError):
                path.rmdir()
        self.close_lock()

    def close_lock(self) -> None:
        """Lets others write there."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _locked(self) -> Lock:
        try:
            return Lock(self._folder)
        except BlockingIOError:
            message = "another process is writing to it; wait for it, or choose another name"
            raise ResultError(f"{self.place}: {message}") from None

    def _check(self) -> None:
        kind = read_manifest(self._folder).get("kind", self._kind if self._known else None)
        if kind is None:
            self._refuse(foreign(self._folder))
        elif kind != self._kind:
            raise ResultError(f"{self.place}: has a result of another kind ({kind}); choose another name")
        else:
            self._refuse(_in_the_way(self._folder, self._claims))

    def _refuse(self, found: list[str]) -> None:
        if found and not self._replace:
            raise ResultError(
                f"{self.place}: has what Anabranch did not write there: {some(found)}; {REMEDY}, which keeps "
                "it, under another name where a file of the result has its own"
            )

    def _move(self) -> None:
        # In this order, each step can be done again: what is listed as ours is not the user's any more.
        files = files_in(self._ready)
        _make_way(self._folder, files)
        record(self._folder, self._kind, files)
        for name in files:
            place = self._folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            (self._ready / name).replace(place)
        shutil.rmtree(self._ready)
        sync(self._folder)


@contextmanager
def adding(
    folder: Path, kind: str, claims: Iterable[str] = (), *, replace: bool = False, known: bool = False
) -> Iterator[Addition]:
    """A folder that gets files by ``put``, all that have been written or none.

    Args:
        folder: the place; made if it is not there.
        kind: what kind of folder it is. Files go to no other kind.
        claims: names of files that will be written, and of folders (``name/``), for the check beforehand.
        replace: go on though other things are there; they stay. One with the name of a file of ours gets
            another name (``name.~1~``).
        known: whether the folder is of this kind though it may have no manifest.

    Raises:
        ResultError: if something else is there, another process writes there, or it cannot be written.
    """
    found = Addition(folder, kind, claims, replace=replace, known=known)
    try:
        try:
            found.open()
        except OSError as error:
            raise ResultError(f"{folder}: cannot be written: {reason(error)}") from None
        try:
            yield found
        except ResultError as error:
            raise ResultError(str(error).replace(f"{found.partial}{os.sep}", f"{folder}{os.sep}")) from None
    finally:
        with deferred():
            found.close()


def _in_the_way(folder: Path, names: Iterable[str]) -> list[str]:
    """What is not ours and has one of the names, or that of a folder on the way to one."""
    known = ours(folder)
    others = set(foreign(folder))
    found = set()
    for name in names:
        *parents, last = name.split("/")
        for depth in range(1, len(parents) + 1):
            path = folder.joinpath(*parents[:depth])
            if path.is_symlink() or (path.exists() and not path.is_dir()):
                found.add("/".join(parents[:depth]))
        path = folder / name
        if not last:
            # With something of ours in it, names will tell.
            found |= {name} & others
        elif os.path.lexists(path) and (name not in known or (path.is_dir() and not path.is_symlink())):
            found.add(name)
    return sorted(found)


def _make_way(folder: Path, names: Iterable[str]) -> None:
    """Gives what is not ours and has one of the names another one."""
    for name in _in_the_way(folder, names):
        (folder / name).rename(free_name(folder / name))
