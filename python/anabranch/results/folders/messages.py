"""Messages on folders and files that cannot be written: always by the place that the user gave."""

from __future__ import annotations

import errno
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
    errno.ENXIO: "choose another name",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def unwritable(place: Path, error: OSError) -> ResultError:
    """The error of a place that cannot be written, with a remedy."""
    remedy = _REMEDIES.get(error.errno or 0, "choose another folder")
    return ResultError(f"{place}: cannot be written: {reason(error)}; {remedy}")


def another_writer(place: Path) -> ResultError:
    """The error of a place where another process writes."""
    return ResultError(f"{place}: another process is writing to it; wait for it, or choose another name")
