"""Files that a user names: only those that end, and up to a size."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_given(file: Path, most_bytes: int | None = None) -> BinaryIO:
    """Opens a regular file for reading; a device or a pipe may never end.

    Args:
        file: as the user names it.
        most_bytes: its size at most; None for any.

    Raises:
        OSError: if it cannot be opened; EINVAL if it is a folder, a device or a pipe, EFBIG if it is larger.
    """
    # Before it is opened: that of a pipe waits for a writer.
    if not stat.S_ISREG(file.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a file", str(file))
    stream = file.open("rb")
    if most_bytes is not None:
        try:
            check_size(stream, most_bytes)
        except OSError:
            stream.close()
            raise
    return stream


def check_size(stream: BinaryIO, most_bytes: int) -> None:
    """Raises OSError (EFBIG) if an open file is larger."""
    size = os.fstat(stream.fileno()).st_size
    if size > most_bytes:
        why = f"the file has {size / 2**20:.0f} MiB, and at most {most_bytes >> 20} MiB are read"
        raise OSError(errno.EFBIG, why)
