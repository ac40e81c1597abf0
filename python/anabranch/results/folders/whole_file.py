"""Files that appear complete or not at all, and new folders of them."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from anabranch.errors import ResultError
from anabranch.results.folders.directory import Directory, opened, opened_below, sync, write_all, write_new
from anabranch.results.folders.messages import another_writer, unwritable
from anabranch.results.folders.staging import NEW, BusyError, Staging, staging
from anabranch.results.folders.streams import open_stream


def write_whole(file: Path, content: bytes) -> Path:
    """Writes a file beside its place and renames it, so that no reader sees half of it.

    Folders on the way are made. An earlier file of this name is replaced; a character device, a pipe or an
    open file (``/dev/stdout``) is written to.

    Returns:
        The file.

    Raises:
        ResultError: if it cannot be written, with a remedy; an earlier file is then still there.
    """
    return _put(file, lambda made: write_all(made, content))


def copy_whole(source: Path, file: Path) -> Path:
    """Copies a file into its place in the same way; see :func:`write_whole`."""

    def copy(made: IO[bytes]) -> None:
        with source.open("rb") as opened_source:
            shutil.copyfileobj(opened_source, made)

    return _put(file, copy)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Makes a new folder with files, all of them or none.

    Args:
        folder: that is not there yet; folders on the way are made.
        files: contents by name, relative to the folder.

    Returns:
        The files.

    Raises:
        ResultError: if there is something of that name, or it cannot be written.
    """
    place = Path(os.path.abspath(folder))  # noqa: PTH100 - Path.absolute keeps ".."
    try:
        with opened(place.parent, make=True) as around, staging(around, place.name, _nothing) as made:
            if around.entry(place.name) is not None:
                raise ResultError(f"{folder}/ is there already; choose another name, or a folder with --out")
            made.inside.make(NEW)
            with opened_below(made.inside, [NEW]) as new:
                _fill(new, files)
            made.inside.move(NEW, around, place.name)
            around.sync()
    except BusyError:
        raise another_writer(folder) from None
    except OSError as error:
        raise unwritable(folder, error) from None
    return [folder / name for name in files]


def _fill(new: Directory, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        *folders, last = name.split("/")
        with opened_below(new, folders, make=True) as place:
            write_new(place, last, content)
    new.sync()


def _put(file: Path, write: Callable[[IO[bytes]], None]) -> Path:
    place = Path(os.path.abspath(file))  # noqa: PTH100 - Path.absolute keeps ".."
    try:
        with opened(place.parent, make=True) as around:
            stream = open_stream(around, place)
            if stream is not None:
                with stream:
                    write(stream)
                return file
            status = around.entry(place.name)
            if status is not None and stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, "is a folder")
            with staging(around, place.name, _nothing) as made:
                with made.inside.create(NEW) as new:
                    write(new)
                    sync(new.fileno())
                made.inside.move(NEW, around, place.name)
                around.sync()
    except BusyError:
        raise another_writer(file) from None
    except OSError as error:
        raise unwritable(file, error) from None
    return file


def _nothing(_: Staging) -> None:
    """What a killed process has left of one file is not needed."""
