"""The path behind links."""

from __future__ import annotations

import os
from pathlib import Path


def real_path(path: Path) -> Path:
    """The path without links. A loop of links stays in it, for whoever opens it to say.

    Before Python 3.13, ``Path.resolve`` raises RuntimeError there, which nobody expects of a path.
    """
    return Path(os.path.realpath(path))
