"""A folder that is written beside its place, and put there in one step."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from anabranch.errors import ResultError, reason, written_for
from anabranch.process.real_path import real_path
from anabranch.process.signals import deferred
from anabranch.results.folders.carrying import carry, check_carried
from anabranch.results.folders.content import contents_below
from anabranch.results.folders.directory import (
    Directory,
    is_trusted,
    missing_folders,
    open_directory,
    opened,
    opened_below,
    remove_if_empty,
    write_new,
)
from anabranch.results.folders.manifest import (
    MANIFEST,
    REMEDY,
    Inventory,
    Manifest,
    check_folder,
    foreign,
    manifest_in,
    read_manifest,
    some,
)
from anabranch.results.folders.messages import another_writer, unwritable
from anabranch.results.folders.mounts import check_mounts
from anabranch.results.folders.staging import NEW, OLD, BusyError, Staging, changed_meanwhile, staging

# <linux/fs.h>
_RENAME_EXCHANGE = 2


def check_target(folder: Path, kind: str, *, replace: bool = False) -> None:
    """Makes sure that a folder is new or empty, or that an earlier result of its kind is all that it has.

    Raises:
        ResultError: if something else is there; with ``replace`` only if it is no folder or cannot be moved.
    """
    check_folder(folder)
    if not folder.is_dir():
        return
    with opened(folder) as directory:
        if _is_mount_point(folder, directory) or Path.cwd().is_relative_to(real_path(folder)):
            raise ResultError(
                f"{folder}: is a mount point or the current folder, and cannot be replaced; choose a folder "
                "in it"
            )
        check_mounts(folder, directory)
    if replace:
        return
    manifest = read_manifest(folder)
    if manifest is not None and manifest.kind != kind:
        raise ResultError(f"{folder}: has a result of another kind; {REMEDY}")
    others = foreign(folder)
    if others:
        raise ResultError(
            f"{folder}: has what Anabranch did not write there: {some(others)}; {REMEDY}, which replaces an "
            "earlier result and leaves all else where it is"
        )


def _is_mount_point(folder: Path, directory: Directory) -> bool:
    with opened(Path(os.path.abspath(folder)).parent) as around:  # noqa: PTH100 - Path.absolute keeps ".."
        return os.path.ismount(folder) or directory.mount() != around.mount()


class Replacement:
    """A new folder beside the place where it goes. Nobody else can write to that place meanwhile."""

    def __init__(self, place: Path, kind: str) -> None:
        self.place = place
        """Where the folder goes."""
        self._kind = kind
        absolute = Path(os.path.abspath(place))  # noqa: PTH100 - Path.absolute keeps ".."
        self._name = absolute.name
        self._around = absolute.parent
        self._missing: list[Path] = []
        self._held = ExitStack()
        self._staging: Staging | None = None
        self._new: Directory | None = None
        self._target: Directory | None = None
        self._inventory: Inventory | None = None

    def open(self) -> None:
        """Locks the place, and makes the empty folder.

        Raises:
            ResultError: if another process writes there, or what is there is another user's or cannot stay.
            OSError: if the folder cannot be made.
        """
        self._missing = missing_folders(self._around)
        around = open_directory(self._around, make=True)
        self._held.callback(around.close)
        try:
            made = self._held.enter_context(staging(around, self._name, self._recover))
            self._target = self._opened_target(around)
        except (BusyError, BlockingIOError):
            raise another_writer(self.place) from None
        if self._target is not None and self._inventory is not None:
            for name in self._inventory.foreign(manifest_in(self._target)):
                check_carried(self._target, name.removesuffix("/"), made.inside, self.place)
        made.inside.make(NEW)
        self._new = made.inside.below(NEW)
        self._held.callback(self._new.close)
        # It stays locked when it has got its name.
        self._new.lock()
        self._staging = made

    @property
    def partial(self) -> Path:
        """The folder to write to."""
        return self._opened_new.path

    @property
    def _opened_new(self) -> Directory:
        assert self._new is not None  # noqa: S101 - from open on
        return self._new

    def write(self, name: str, content: bytes, *, executable: bool = False) -> None:
        """Writes a file of the new folder.

        Raises:
            ResultError: if it cannot be written.
        """
        try:
            *folders, last = name.split("/")
            with opened_below(self._opened_new, folders, make=True) as folder:
                write_new(folder, last, content, executable=executable, synced=False)
        except OSError as error:
            raise unwritable(self.place / name, error) from None

    def put(self, origin: Mapping[str, Any] | None = None) -> None:
        """Puts the folder into its place, with a manifest of the files in it and of their origin.

        At any time the target is whole, the earlier one or the new one. What is not ours is linked into the
        new one before.

        Raises:
            ResultError: if something in the earlier folder cannot be kept, or another file system is mounted
                there by now.
            OSError: if that fails; what was there before still is.
        """
        made, new = self._staging, self._opened_new
        assert made is not None  # noqa: S101 - from open on
        if new.entry(MANIFEST) is not None:
            # Of a try before, such as one that found no room.
            new.remove(MANIFEST)
        if self._target is not None:
            check_mounts(self.place, self._target)
        manifest = Manifest(self._kind, origin or {}, contents_below(new))
        write_new(new, MANIFEST, manifest.text())
        carried: set[str] = set()
        self._carry(new, carried)
        new.sync()
        with deferred():
            self._exchange(made)
            if new.descriptor is not None:
                # What came into the earlier folder in the last moment.
                self._carry(new, carried)
            made.around.sync()

    def close(self) -> None:
        """Removes what is beside the place, and lets others write there."""
        self._held.close()
        remove_if_empty(self._missing)

    def _opened_target(self, around: Directory) -> Directory | None:
        """The folder that is there, locked; None if there is none.

        Raises:
            BlockingIOError: if another process has locked it.
        """
        status = around.entry(self._name)
        if status is None:
            return None
        if not stat.S_ISDIR(status.st_mode):
            raise ResultError(f"{self.place}: exists and is not a folder; choose another name")
        if not is_trusted(status, around.status()):
            raise ResultError(f"{self.place}: is another user's; choose another name")
        target = around.below(self._name)
        self._held.callback(target.close)
        target.lock()
        self._inventory = Inventory(target)
        return target

    def _carry(self, new: Directory, carried: set[str]) -> None:
        """Gives what is not ours in the earlier folder a second name in the new one."""
        if self._target is None or self._inventory is None:
            return
        for name in self._inventory.foreign(manifest_in(self._target)):
            if name not in carried:
                carry(self._target, name.removesuffix("/"), new, self.place)
                carried.add(name)

    def _exchange(self, made: Staging) -> None:
        """Puts the new folder into its place, and the earlier one where the new one was.

        Raises:
            OSError: if the place has another folder by now, or it cannot be done.
        """
        around, status = made.around, made.around.entry(self._name)
        if self._target is None:
            # A folder that is there by now is replaced only if it is empty, anything else not at all.
            made.inside.move(NEW, around, self._name)
            return
        if status is None or not os.path.samestat(status, self._target.status()):
            raise changed_meanwhile(self.place)
        if not _exchanged(made.inside, around, self._name):
            # Not on every system: then in steps, which the next process takes back if this one is stopped.
            around.move(self._name, made.inside, OLD)
            try:
                made.inside.move(NEW, around, self._name)
            except OSError:
                made.inside.move(OLD, around, self._name)
                raise

    def _recover(self, left: Staging) -> None:
        """Gives an earlier result its place back, which a process took from it that was killed then."""
        if left.inside.entry(OLD) is not None and left.around.entry(self._name) is None:
            left.inside.move(OLD, left.around, self._name)


def _exchanged(inside: Directory, around: Directory, name: str) -> bool:
    """Whether the system could exchange the new folder with the one that is there."""
    numbers = inside.descriptor, around.descriptor
    if None in numbers:
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    code: int = call(numbers[0], os.fsencode(NEW), numbers[1], os.fsencode(name), _RENAME_EXCHANGE)
    return code == 0


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
    replacement = Replacement(folder, kind)
    try:
        try:
            replacement.open()
        except OSError as error:
            raise ResultError(f"{folder}: cannot be written: {reason(error)}") from None
        with written_for(folder, replacement.partial):
            yield replacement
    finally:
        with deferred():
            replacement.close()
