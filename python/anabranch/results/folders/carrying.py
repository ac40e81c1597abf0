"""Foreign files in a folder that is replaced: each gets a second place, in the new one."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anabranch.errors import ResultError, reason
from anabranch.results.folders.directory import Directory, free_name, is_mine, opened_below

_PROBE = "probe"


def carry(source: Directory, name: str, target: Directory, place: Path) -> None:
    """A file or folder in a second place as well; where something has its name, it gets another one.

    Args:
        source: the earlier folder.
        name: of the file or folder in it.
        target: the new folder.
        place: the earlier folder's name, for messages.

    Raises:
        ResultError: if it cannot be.
    """
    *folders, last = name.split("/")
    with opened_below(source, folders) as origin, opened_below(target, folders, make=True) as new:
        status = origin.entry(last)
        if status is None:
            return
        if not stat.S_ISDIR(status.st_mode):
            with _told(place / name):
                origin.link(last, new, free_name(new, last))
            return
        with opened_below(origin, [last]) as inner, opened_below(new, [last], make=True) as made:
            for entry in inner.names():
                carry(inner, entry, made, place / name)
            made.set_rights(status)


def check_carried(source: Directory, name: str, scratch: Directory, place: Path) -> None:
    """Makes sure that a file or folder could be carried, before there is anything to carry it for.

    Args:
        source: the earlier folder.
        name: of the file or folder in it.
        scratch: an empty folder in the file system of the new one.
        place: the earlier folder's name, for messages.

    Raises:
        ResultError: if it could not.
    """
    *folders, last = name.split("/")
    with _told(place / name), opened_below(source, folders) as origin:
        status = origin.entry(last)
        if status is None or stat.S_ISLNK(status.st_mode):
            return
        if stat.S_ISDIR(status.st_mode):
            with opened_below(origin, [last]) as inner:
                entries = inner.names()
                if entries:
                    origin.check_writable(last)
                for entry in entries:
                    check_carried(inner, entry, scratch, place / name)
        elif not (stat.S_ISREG(status.st_mode) and is_mine(status)):
            _check_file(origin, last, scratch)


def _check_file(origin: Directory, name: str, scratch: Directory) -> None:
    """Makes sure that a file can have a second name, or can be copied.

    Raises:
        OSError: if it cannot. Linux lets nobody link what he neither owns nor may write to (proc(5),
            ``protected_hardlinks``), and only regular files can be copied.
    """
    try:
        origin.link(name, scratch, _PROBE, copied=False)
    except OSError as error:
        try:
            origin.open_file(name).close()
        except OSError:
            raise error from None
    else:
        scratch.remove(_PROBE)


@contextmanager
def _told(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResultError(
            f"{place}: cannot be kept beside the new result: {reason(error)}; move it away, or choose "
            "another name"
        ) from None
