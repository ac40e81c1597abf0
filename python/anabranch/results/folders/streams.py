"""Pipes, devices and open files of this process: they are written to, and nothing takes their place.

Where a folder or a name may be another user's, what is opened is what has been looked at: by the folder's
descriptor, not through a link, and never made or emptied by being opened.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from anabranch.results.folders.directory import MOST_LINKS, Directory, may_be_strangers, open_linked
from anabranch.results.folders.staging import changed_meanwhile

_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
_OPEN_FILE = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")
_KINDS = ((stat.S_ISBLK, "a block device"), (stat.S_ISSOCK, "a socket"))
_FLAGS = os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def open_stream(around: Directory, place: Path) -> IO[bytes] | None:
    """Opens a pipe, a character device, or a name of an open file such as ``/dev/stdout``, for writing.

    A link to a pipe or a device is followed if this user or root has made it.

    Args:
        around: the folder that it is in.
        place: its absolute path.

    Returns:
        The stream; None if the name is free, or has something that a file may take the place of.

    Raises:
        OSError: if it cannot be opened, is of another kind, or a stranger's.
    """
    number = _number_of(str(place))
    if number is not None:
        # What has been written there stays, and so does the place where the next byte goes.
        return os.fdopen(os.dup(number), "wb", buffering=0)
    with ExitStack() as held:
        folder, name = around, place.name
        for _ in range(MOST_LINKS):
            status = folder.entry(name)
            if status is None or not stat.S_ISLNK(status.st_mode):
                return None if status is None else _opened(folder, name, status)
            if not _is_own(status):
                return None
            try:
                folder, name = open_linked(folder, name)
            except OSError:
                # It leads nowhere, or where strangers may have put what is on the way.
                return None
            held.callback(folder.close)
    return None


def _number_of(path: str) -> int | None:
    """The descriptor that a path is the name of."""
    matched = _OPEN_FILE.fullmatch(path)
    return int(matched[1]) if matched else _STANDARD.get(path)


def _opened(folder: Directory, name: str, status: os.stat_result) -> IO[bytes] | None:
    """Opens an entry that is a pipe or a device; None for a file or a folder."""
    for is_kind, kind in _KINDS:
        if is_kind(status.st_mode):
            raise OSError(errno.ENXIO, f"is {kind}", name)
    if not _is_stream(status):
        return None
    # Before it is opened, which waits for a reader, and after it: then it is what will be written to.
    _check(folder, name, status)
    stream = os.fdopen(folder.open_as_it_is(name, _FLAGS), "wb", buffering=0)
    try:
        _check(folder, name, os.fstat(stream.fileno()))
    except BaseException:
        stream.close()
        raise
    return stream


def _is_stream(status: os.stat_result) -> bool:
    return stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode)


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid in (0, os.geteuid())


def _check(folder: Directory, name: str, status: os.stat_result) -> None:
    """Makes sure that it is a pipe or a device, and none of a stranger's.

    Linux has the same rule for pipes (proc(5), ``protected_fifos``).
    """
    if not _is_stream(status):
        raise changed_meanwhile(folder.place / name)
    if may_be_strangers(status, folder.status()):
        raise PermissionError(errno.EACCES, "is a pipe of another user's", name)
