"""Files for a folder that keeps what it has: they get there together, or none of them does."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace as replaced
from pathlib import Path
from typing import IO

from anabranch.errors import ResultError, reason, written_for
from anabranch.process.signals import deferred
from anabranch.results.folders.content import Content, contents_below, files_below
from anabranch.results.folders.directory import (
    Directory,
    free_name,
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
    manifest_in,
    some,
)
from anabranch.results.folders.messages import another_writer
from anabranch.results.folders.mounts import check_mounts
from anabranch.results.folders.staging import NEW, BusyError, Staging, staging

_HERE = "."
"""The place of the folder's own files, in a ticket."""


class Addition:
    """Files on their way into a folder. Nobody else can add to it meanwhile.

    They are written into a staging folder within. Once all of them are on the disk, its ticket says so: from
    then on they belong to the result, and whoever opens the folder next ends the move if this process cannot.
    """

    def __init__(
        self,
        place: Path,
        kind: str,
        claims: Iterable[str] = (),
        *,
        growing: Iterable[str] = (),
        replace: bool = False,
        is_of_kind: bool = False,
    ) -> None:
        """Takes a folder; see :func:`adding`.

        Args:
            place: the folder.
            kind: of it.
            claims: see :func:`adding`.
            growing: files that grow and folders that get further files (``name/``), for :meth:`grow`. A
                manifest is believed for none but these.
            replace: see :func:`adding`.
            is_of_kind: see :func:`adding`.
        """
        self.place = place
        """The folder that gets them."""
        self._kind = kind
        self._claims = tuple(claims)
        self._growing = tuple(growing)
        self._replace = replace
        self._is_of_kind = is_of_kind
        self._path = Path(os.path.abspath(place))  # noqa: PTH100 - Path.absolute keeps ".."
        self._missing: list[Path] = []
        self._held = ExitStack()
        self._folder: Directory | None = None
        self._staging: Staging | None = None
        self._new: Directory | None = None
        self._manifest = Manifest(kind)
        self._begun = False

    def open(self) -> None:
        """Locks the folder, ends what an earlier process could not, and looks what is there.

        Raises:
            ResultError: if another process writes there, something else is there, or it is another user's.
            OSError: if it cannot be written.
        """
        check_folder(self._path)
        self._missing = missing_folders(self._path)
        try:
            self._folder = self._locked()
            self._staging = self._held.enter_context(staging(self._folder, _HERE, self._recover))
        except (BusyError, BlockingIOError):
            raise another_writer(self.place) from None
        manifest = manifest_in(self._folder)
        self._check(manifest)
        self._manifest = manifest or self._manifest
        if manifest is None:
            # From here on, whatever happens, the folder is known as ours.
            self._begun = True
            _make_way(self._folder, _there(self._folder, [MANIFEST]))
            self._record()
        self._renew()

    @property
    def partial(self) -> Path:
        """The folder to write the files to."""
        assert self._new is not None  # noqa: S101 - from open on
        return self._new.path

    @property
    def _opened(self) -> tuple[Directory, Staging, Directory]:
        """The folder, the staging folder in it, and what is made in that."""
        assert self._folder is not None  # noqa: S101 - from open on
        assert self._staging is not None  # noqa: S101 - from open on
        assert self._new is not None  # noqa: S101 - from open on
        return self._folder, self._staging, self._new

    def put(self) -> list[Path]:
        """Moves all files that have been written into the folder.

        Returns:
            The files, by name.

        Raises:
            ResultError: if they cannot be moved, or a file that is not ours has the name of one, and none is
                to be replaced. Then nothing is changed.
        """
        folder, made, new = self._opened
        names = files_below(new)
        check_mounts(self.place, folder, names)
        with deferred():
            self._refuse(self._in_the_way(folder, names, {}))
            try:
                before = {name: self._manifest.files[name] for name in names if name in self._manifest.files}
                made.make_ready(contents_below(new), before)
                self._move(folder, made)
                made.make_open()
                self._renew()
            except OSError as error:
                raise ResultError(f"{self.place}: cannot be written: {reason(error)}") from None
        return [self.place / name for name in names]

    def write(self, files: Mapping[str, bytes]) -> None:
        """Writes files into the folder, all of them or none; those that hold the same already stay.

        Raises:
            ResultError: as for :meth:`put`.
            OSError: if one cannot be written.
        """
        folder, _, new = self._opened
        for name, content in files.items():
            if not self._is_written(folder, name, content):
                *folders, last = name.split("/")
                with opened_below(new, folders, make=True) as place:
                    write_new(place, last, content)
        if files_below(new):
            self.put()

    def has(self, name: str, content: bytes) -> bool:
        """Whether a file of ours holds this already."""
        return self._is_written(self._opened[0], name, content)

    def grow(self) -> None:
        """Takes the names of files that grow, and of folders that get further files.

        Raises:
            ResultError: if something that is not ours has one of them, and nothing is to be replaced.
            OSError: if that cannot be written.
        """
        folder = self._opened[0]
        further = [name for name in self._growing if name not in self._manifest.growing]
        if further:
            obstacles = self._in_the_way(folder, further, {})
            self._refuse(obstacles)
            _make_way(folder, obstacles)
            self._manifest = replaced(self._manifest, growing=(*self._manifest.growing, *further))
            self._record()

    def open_growing(self, name: str) -> IO[bytes]:
        """Opens a file that grows, for reading and writing.

        Raises:
            OSError: if it is not this user's own, or cannot be opened.
        """
        return self._opened[0].append_to(name)

    def keep(self, name: str, content: bytes) -> None:
        """Writes a file into a folder that gets further files, whole; the disk may take its time.

        What has this name already and holds something else is kept under another name (``name.~1~``).

        Raises:
            OSError: if it cannot be written.
        """
        folder, made, _ = self._opened
        *folders, last = name.split("/")
        with opened_below(folder, folders, make=True) as place:
            if place.entry(last) is not None:
                if Content(len(content), hashlib.sha256(content).hexdigest()).is_in(place, last):
                    return
                _make_way(place, [last])
            write_new(made.inside, last, content, synced=False)
            made.inside.move(last, place, last)

    def remove(self, names: Iterable[str]) -> None:
        """Removes files of ours; what the user has changed stays.

        Raises:
            OSError: if one cannot be removed.
        """
        folder = self._opened[0]
        inventory = Inventory(folder)
        files = dict(self._manifest.files)
        for name in names:
            if inventory.is_ours(name, [files.get(name)]):
                *folders, last = name.split("/")
                with opened_below(folder, folders) as place:
                    place.remove(last)
            files.pop(name, None)
        if files.keys() != self._manifest.files.keys():
            self._manifest = replaced(self._manifest, files=files)
            self._record()

    def close(self) -> None:
        """Removes what has not been put, and lets others write there."""
        folder = self._folder
        if folder is None:
            remove_if_empty(self._missing)
            return
        if self._begun and not self._manifest.files and not self._manifest.growing:
            others = Inventory(folder).foreign(self._manifest)
            if not others or self._is_of_kind:
                with suppress(OSError):
                    folder.remove(MANIFEST)
        self._held.close()
        self._folder = None
        remove_if_empty(self._missing)

    def _locked(self) -> Directory:
        """The folder, made if it is not there, and locked while it has its name.

        Raises:
            ResultError: if it is another user's.
            BlockingIOError: if another process has locked it.
        """
        while True:
            folder = open_directory(self._path, make=True)
            folder.place = self.place
            with opened(self._path.parent) as around:
                if not is_trusted(folder.status(), around.status()):
                    folder.close()
                    raise ResultError(f"{self.place}: is another user's; choose another name")
            try:
                folder.lock()
                with suppress(FileNotFoundError):
                    if os.path.samestat(folder.status(), self._path.stat()):
                        self._held.callback(folder.close)
                        return folder
            except BaseException:
                folder.close()
                raise
            # Another one has replaced it meanwhile.
            folder.close()

    def _renew(self) -> None:
        """Makes the folder for what is written next."""
        assert self._staging is not None  # noqa: S101 - from open on
        inside = self._staging.inside
        if self._new is None or inside.entry(NEW) is None:
            inside.make(NEW)
            self._new = inside.below(NEW)
            self._held.callback(self._new.close)

    def _check(self, manifest: Manifest | None) -> None:
        assert self._folder is not None  # noqa: S101 - from open on
        check_mounts(self.place, self._folder, (MANIFEST, *self._claims))
        kind = manifest.kind if manifest is not None else (self._kind if self._is_of_kind else None)
        if kind is None:
            self._refuse(Inventory(self._folder).foreign(None))
        elif kind != self._kind:
            raise ResultError(f"{self.place}: has a result of another kind ({kind}); choose another name")
        else:
            self._manifest = manifest or self._manifest
            unknown = _there(self._folder, [MANIFEST] if manifest is None else [])
            self._refuse([*unknown, *self._in_the_way(self._folder, self._claims, {})])

    def _refuse(self, obstacles: list[str]) -> None:
        if obstacles and not self._replace:
            raise ResultError(
                f"{self.place}: has what Anabranch did not write there: {some(obstacles)}; {REMEDY}, which "
                "keeps it, under another name where a file of the result has its own"
            )

    def _is_written(self, folder: Directory, name: str, content: bytes) -> bool:
        """Whether a file of ours holds this already."""
        listed = self._manifest.files.get(name)
        if listed is None or listed.size != len(content) or not listed.is_in(folder, name):
            return False
        return folder.read(name, len(content)) == content

    def _recover(self, left: Staging) -> None:
        """Ends the move of a process that was killed in it."""
        if left.ticket.ready and self._folder is not None:
            self._manifest = manifest_in(self._folder) or self._manifest
            self._move(self._folder, left)

    def _move(self, folder: Directory, made: Staging) -> None:
        # In this order, each step can be done again: the ticket has what was ours before.
        if made.inside.entry(NEW) is None:
            return
        with opened_below(made.inside, [NEW]) as new:
            files = {name: content for name, content in made.ticket.files.items() if content.is_in(new, name)}
            _make_way(folder, self._in_the_way(folder, files, made.ticket.before))
            self._manifest = replaced(self._manifest, files={**self._manifest.files, **files})
            self._record(made)
            for name in files:
                *folders, last = name.split("/")
                with opened_below(new, folders) as source, opened_below(folder, folders, make=True) as place:
                    source.move(last, place, last)
                    place.sync()
        made.inside.remove(NEW)
        folder.sync()

    def _record(self, made: Staging | None = None) -> None:
        """Writes the manifest anew, whole."""
        folder, held = self._folder, made or self._staging
        assert folder is not None  # noqa: S101 - from open on
        assert held is not None  # noqa: S101 - from open on
        if held.inside.entry(MANIFEST) is not None:
            held.inside.remove(MANIFEST)
        write_new(held.inside, MANIFEST, self._manifest.text())
        held.inside.move(MANIFEST, folder, MANIFEST)

    def _in_the_way(
        self, folder: Directory, names: Iterable[str], before: Mapping[str, Content]
    ) -> list[str]:
        """What is not ours and has one of the names, or that of a folder on the way to one."""
        inventory, obstacles = Inventory(folder), set[str]()
        files = self._manifest.files
        growing = [name for name in self._growing if name in self._manifest.growing]
        for name in names:
            *parents, last = name.split("/")
            above = ("/".join(parents[:depth]) for depth in range(1, len(parents) + 1))
            obstacles |= {path for path in above if not _is_free_or_folder(folder, path)}
            if not last:
                # With something of ours in it, names will tell.
                has_ours = any(other.startswith(name) for other in (*files, *growing))
                if folder.entry(name[:-1]) is not None and not has_ours:
                    obstacles.add(name)
            elif (
                folder.entry(name) is not None
                and name not in growing
                and not inventory.is_ours(name, [before.get(name), files.get(name)])
            ):
                obstacles.add(name)
        return sorted(obstacles)


def _there(folder: Directory, names: Iterable[str]) -> list[str]:
    return [name for name in names if folder.entry(name) is not None]


def _is_free_or_folder(folder: Directory, name: str) -> bool:
    status = folder.entry(name)
    return status is None or stat.S_ISDIR(status.st_mode)


def _make_way(folder: Directory, obstacles: Iterable[str]) -> None:
    """Gives what is not ours and in the way another name."""
    for name in obstacles:
        *folders, last = name.removesuffix("/").split("/")
        with opened_below(folder, folders) as place:
            place.move(last, place, free_name(place, last))


@contextmanager
def adding(
    folder: Path, kind: str, claims: Iterable[str] = (), *, replace: bool = False, is_of_kind: bool = False
) -> Iterator[Addition]:
    """A folder that gets files by ``put``, all that have been written or none.

    Args:
        folder: the place; made if it is not there.
        kind: what kind of folder it is. Files go to no other kind.
        claims: names of files that will be written, and of folders (``name/``), for the check beforehand.
        replace: go on though other things are there; they stay. One with the name of a file of ours gets
            another name (``name.~1~``).
        is_of_kind: whether the folder is of this kind though it may have no manifest.

    Raises:
        ResultError: if something else is there, another process writes there, or it cannot be written.
    """
    addition = Addition(folder, kind, claims, replace=replace, is_of_kind=is_of_kind)
    try:
        try:
            addition.open()
        except OSError as error:
            raise ResultError(f"{folder}: cannot be written: {reason(error)}") from None
        with written_for(folder, addition.partial):
            yield addition
    finally:
        with deferred():
            addition.close()
