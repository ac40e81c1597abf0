"""File systems that are mounted below a folder: what is in them is not the folder's, and stays."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from anabranch.errors import ResultError
from anabranch.results.folders.directory import Directory, opened_below

_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(rb"\\([0-7]{3})")


def mounts_below(directory: Directory) -> list[str]:
    """The places below a folder at which other file systems are mounted, relative to it.

    Linux lists them, those of files and of folders of the same file system included (proc(5),
    ``/proc/PID/mountinfo``). Elsewhere they are known by the number of their device.

    Raises:
        OSError: if a folder cannot be read.
    """
    device, number = directory.mount()
    if number is not None:
        with suppress(OSError):
            return sorted(_listed(directory, number))
    return sorted(_on_other_devices(directory, "", device))


def check_mounts(folder: Path, directory: Directory, names: Iterable[str] | None = None) -> None:
    """Makes sure that no file system is mounted where something is to be written or removed.

    Args:
        folder: as the user gave it.
        directory: the same, opened.
        names: of files in it, and of folders (``name/``), that are concerned; all if None.

    Raises:
        ResultError: if one is.
    """
    mounts = mounts_below(directory)
    if names is not None:
        concerned = list(names)
        mounts = [mount for mount in mounts if any(_meet(mount, name) for name in concerned)]
    if mounts:
        raise ResultError(
            f"{folder}/{mounts[0]}: is a mount point, and what is mounted there would be written to or "
            "removed; unmount it, or choose another name"
        )


def _meet(mount: str, name: str) -> bool:
    """Whether a name is where something is mounted, below it, or a folder that has it."""
    return f"{name}/".startswith(f"{mount}/") or (name.endswith("/") and mount.startswith(name))


def _listed(directory: Directory, number: int) -> Iterator[str]:
    """The mount points in a folder that is itself on the mount of a number."""
    place = os.fsencode(Path(f"/proc/self/fd/{directory.descriptor}").readlink()).rstrip(b"/") + b"/"
    for line in _MOUNTS.read_bytes().splitlines():
        # Number, that of the mount around, device, root in its file system, mount point, ...
        _, around, _, _, point, *_ = line.split(b" ")
        path = _OCTAL.sub(lambda octal: bytes([int(octal[1], 8)]), point)
        if int(around) == number and path.startswith(place):
            yield os.fsdecode(path.removeprefix(place))


def _on_other_devices(directory: Directory, prefix: str, device: int) -> Iterator[str]:
    for entry in directory.names():
        status = directory.entry(entry)
        if status is None:
            continue
        if status.st_dev != device:
            yield f"{prefix}{entry}"
        elif stat.S_ISDIR(status.st_mode):
            with opened_below(directory, [entry]) as below:
                yield from _on_other_devices(below, f"{prefix}{entry}/", device)
