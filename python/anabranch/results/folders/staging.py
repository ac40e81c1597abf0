"""Folders in which something is made before it is put into its place; only this user can reach into them.

A staging folder is ``.anabranch-TOKEN`` in the folder that gets what is made: mode 700, with a name that
nobody can foretell, and held by descriptor. Its ticket (``ticket.json``) says for which place it is. Of a
process that was killed it stays, and the next one that writes to the same place tidies it: only if the ticket
has the folder's own token and inode number, so that it was made here and is no copy, if both belong to this
user, and if no process has it locked. Any other folder, file or link with such a name is left alone, also the
empty one of a process that was killed before it had written its ticket.
"""

from __future__ import annotations

import errno
import json
import os
import random
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from anabranch.process.signals import deferred
from anabranch.results.folders.content import Content
from anabranch.results.folders.directory import RELATIVE, Directory, new_token, write_new

NEW = "new"
"""Name of what is made, in a staging folder."""
OLD = "old"
"""Name of what it replaces, for a moment, where the system cannot exchange two names."""
PREFIX = ".anabranch-"
_TICKET = "ticket.json"
_NEXT = "next.json"
"""A ticket that takes the place of the first."""
_FORMAT = "anabranch-staging"
_TOKEN_DIGITS = 16
_MOST_BYTES = 64 << 20
_RIGHTS = stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO
_TRIES = 6
_PAUSE_S = 0.02
"""Mean pause between two tries where two processes begin at the same time."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """The purpose of a staging folder."""

    place: str
    """Name of what is made, in the folder around."""
    ready: bool = False
    """Whether all of it is written, and a process that was killed has only left to move it."""
    files: Mapping[str, Content] = field(default_factory=dict)
    """What the files that are ready hold."""
    before: Mapping[str, Content] = field(default_factory=dict)
    """What those of these names held that they replace."""

    @classmethod
    def from_data(cls, data: object, token: str, inode: int) -> Self | None:
        """The ticket in a JSON document; None if there is none, or another folder's."""
        match data:
            case {"format": "anabranch-staging", "token": str(its_token), "inode": int(its_inode),
                  "place": str(place), "ready": bool(ready), "files": dict(files),
                  "before": dict(before)} if (its_token, its_inode) == (token, inode):  # fmt: skip
                return cls(place, ready, _contents(files), _contents(before))
        return None

    def text(self, token: str, inode: int) -> bytes:
        """As the content of the file in a folder."""
        data = {
            "format": _FORMAT,
            "token": token,
            "inode": inode,
            "place": self.place,
            "ready": self.ready,
            "files": {name: content.data() for name, content in self.files.items()},
            "before": {name: content.data() for name, content in self.before.items()},
        }
        return json.dumps(data).encode()


def _contents(entries: Mapping[str, object]) -> dict[str, Content]:
    contents = {name: Content.from_data(entry) for name, entry in entries.items()}
    return {name: content for name, content in contents.items() if content is not None}


class Staging:
    """A staging folder of this process, locked by it."""

    def __init__(self, around: Directory, name: str, inside: Directory, ticket: Ticket) -> None:
        """Takes one that has been made; see :func:`staging`."""
        self.around = around
        """The folder that it is in, and that gets what is made."""
        self.inside = inside
        self.ticket = ticket
        self._name = name

    def make_ready(self, files: Mapping[str, Content], before: Mapping[str, Content]) -> None:
        """Notes that all files are written: from here on they get to their places, whatever happens.

        Raises:
            OSError: if that cannot be written.
        """
        self._note(Ticket(self.ticket.place, True, files, before))

    def make_open(self) -> None:
        """Notes that all files have been moved, and others may be written.

        Raises:
            OSError: if that cannot be written.
        """
        self._note(Ticket(self.ticket.place))

    def _note(self, ticket: Ticket) -> None:
        token, inode = self._name.removeprefix(PREFIX), self.inside.status().st_ino
        write_new(self.inside, _NEXT, ticket.text(token, inode), synced=ticket.ready)
        self.inside.move(_NEXT, self.inside, _TICKET)
        if ticket.ready:
            self.inside.sync()
        self.ticket = ticket

    def remove(self) -> None:
        """Removes the folder with what is in it, as far as the system lets it."""
        with suppress(OSError):
            status = self.around.entry(self._name)
            if status is not None and os.path.samestat(status, self.inside.status()):
                self.around.remove(self._name)
        self.inside.close()


def _made(around: Directory, place: str) -> Staging:
    """A new staging folder."""
    token = new_token()
    name = f"{PREFIX}{token}"
    around.make(name, private=True)
    inside = around.below(name)
    made = Staging(around, name, inside, Ticket(place))
    try:
        inside.lock()
        write_new(inside, _TICKET, made.ticket.text(token, inside.status().st_ino), synced=False)
    except BaseException:
        made.remove()
        raise
    return made


class BusyError(Exception):
    """Another process is making something for the same place."""


@contextmanager
def staging(around: Directory, place: str, recover: Callable[[Staging], None]) -> Iterator[Staging]:
    """A staging folder, which is removed with what is still in it at the end.

    Args:
        around: the folder that gets what is made.
        place: the name of it there, which no other process can make meanwhile.
        recover: ends what a killed process has begun for the place, before its folder is removed.

    Raises:
        BusyError: if another process makes something for the place.
        OSError: if it cannot be made.
    """
    held = None
    try:
        # A signal comes before there is a folder, or once it is known here.
        with deferred():
            held = _alone(around, place, recover)
        yield held
    finally:
        with deferred():
            if held is not None:
                held.remove()


def _alone(around: Directory, place: str, recover: Callable[[Staging], None]) -> Staging:
    """A staging folder, once no other is there for the same place."""
    for left in reversed(range(_TRIES)):
        held = _made(around, place)
        try:
            if not _tidied(held, recover):
                return held
        except BaseException:
            held.remove()
            raise
        held.remove()
        if left:
            # Of two that begin at once, both give way, and one comes back first.
            time.sleep(random.uniform(0, 2 * _PAUSE_S))  # noqa: S311 - no secret
    raise BusyError


def _tidied(staging: Staging, recover: Callable[[Staging], None]) -> bool:
    """Removes what killed processes have left for the same place; whether another one is at work there."""
    busy = False
    for name in staging.around.names():
        if not name.startswith(PREFIX) or name == staging._name:
            continue
        other = recognised(staging.around, name)
        if other is None:
            continue
        alive = other.ticket.place != staging.ticket.place
        if not alive:
            try:
                # Without locks nobody knows whether its process is at work: it stays, and is in nobody's way.
                alive = not other.inside.lock()
            except BlockingIOError:
                alive = busy = True
        if alive:
            other.inside.close()
            continue
        with deferred():
            recover(other)
            other.remove()
    return busy


def is_staging(around: Directory, name: str) -> bool:
    """Whether an entry is a staging folder that a process of this user made here, which may be at work."""
    if not name.startswith(PREFIX):
        return False
    made = recognised(around, name)
    if made is not None:
        made.inside.close()
    return made is not None


def is_lock(name: str) -> bool:
    """Whether a file is the lock of a staging folder, which is beside it where folders cannot be locked."""
    return not RELATIVE and name.startswith(f".{PREFIX}") and name.endswith(".lock")


def recognised(around: Directory, name: str) -> Staging | None:
    """The staging folder of this name, if a process of this user made it here; None for anything else."""
    token = name.removeprefix(PREFIX)
    status = around.entry(name)
    if len(token) != _TOKEN_DIGITS or status is None or not _is_private(status):
        return None
    inside = around.below(name)
    with suppress(OSError, ValueError, RecursionError):
        if os.path.samestat(inside.status(), status):
            ticket = inside.entry(_TICKET)
            data = json.loads(inside.read(_TICKET, _MOST_BYTES))
            owner = Ticket.from_data(data, token, status.st_ino)
            if ticket is not None and ticket.st_nlink == 1 and _is_private(status) and owner is not None:
                return Staging(around, name, inside, owner)
    inside.close()
    return None


def _is_private(status: os.stat_result) -> bool:
    """Whether it is a folder that no other user can have touched."""
    if not stat.S_ISDIR(status.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == os.geteuid() and status.st_mode & _RIGHTS == stat.S_IRWXU


def changed_meanwhile(place: Path) -> OSError:
    """The error of a place that is not what it was when it was looked at."""
    return OSError(errno.EBUSY, "another process has changed it meanwhile", str(place))
