"""Files that appear complete or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from anabranch.errors import ResultError, reason

_REMEDIES = {
    errno.ENOSPC: "free some space, or choose a folder on another disk",
    errno.EDQUOT: "free some space, or choose a folder on another disk",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that can be written to",
    errno.ENOTDIR: "a part of this path is a file; choose another folder",
    errno.EEXIST: "a part of this path is a file; choose another folder",
    errno.EISDIR: "a folder has this name; remove it, or choose another folder",
}


def write_whole(file: Path, content: bytes) -> Path:
    """Writes a file beside its place and renames it, so that no reader sees half of it.

    Folders on the way are made. An earlier file of this name is replaced.

    Returns:
        The file.

    Raises:
        ResultError: if it cannot be written, with a remedy; an earlier file is then still there.
    """
    partial: Path | None = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".partial-", suffix=file.suffix, dir=file.parent)
        partial = Path(name)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        # As any other new file, and not for the owner's eyes only.
        partial.chmod(0o644)
        partial.replace(file)
    except OSError as error:
        if partial is not None:
            partial.unlink(missing_ok=True)
        remedy = _REMEDIES.get(error.errno or 0, "choose another folder")
        raise ResultError(f"{file}: cannot be written: {reason(error)}; {remedy}") from None
    return file
