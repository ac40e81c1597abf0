"""Further processes of this program, which import what this one does."""

from __future__ import annotations

import sys


def python_command(statement: str) -> list[str]:
    """The command of a process that executes a statement of ours.

    It looks for modules where this process does. ``python -m`` would look in the current folder first, where
    somebody else may have put a file named like one of our modules.

    Args:
        statement: what it executes, such as ``from anabranch.study.worker import main; main(3)``.
    """
    return [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {statement}"]
