"""Runs the command line with a Ctrl-C at one of its lines: ``at_line.py LIST PLACE ARGUMENT ...``.

``PLACE`` is ``FILE:LINE:TIME``: the signal comes before that line of a file of the package runs for so many
times. Where it is empty, none comes, and ``LIST`` becomes a file of all lines that ran, with how often.
"""

from __future__ import annotations

import inspect
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import anabranch
from anabranch.__main__ import main

PACKAGE = f"{Path(anabranch.__file__).parent}/"
ANSWERS = "process/signals.py"
"""What answers a signal; another one in it is left to the faults."""


class Lines:
    """Counts lines of the package as they run."""

    def __init__(self, place: str) -> None:
        """``place`` is where the signal comes, or empty."""
        self.counts: Counter[str] = Counter()
        self._line, _, self._time = place.rpartition(":")
        self._file = self._line.rpartition(":")[0]

    def of_call(self, frame: FrameType, _event: str, _: object) -> Any:
        """What hears of the lines of a call; None where nothing needs to."""
        code = frame.f_code
        file = code.co_filename.removeprefix(PACKAGE)
        # In modules and classes, a signal waits for the end of their import (process/signals.py).
        is_ours = file not in (code.co_filename, ANSWERS) and code.co_flags & inspect.CO_OPTIMIZED
        return self.of_line if is_ours and self._file in ("", file) else None

    def of_line(self, frame: FrameType, event: str, _: object) -> Any:
        """Counts a line, and sends the signal where it is due."""
        if event == "line":
            line = f"{frame.f_code.co_filename.removeprefix(PACKAGE)}:{frame.f_lineno}"
            self.counts[line] += 1
            if line == self._line and self.counts[line] == int(self._time):
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
        return self.of_line


def run(listing: str, place: str, arguments: list[str]) -> None:
    """Runs a command under the tracer."""
    lines = Lines(place)
    sys.argv = ["anabranch", *arguments]
    sys.settrace(lines.of_call)
    try:
        main()
    finally:
        sys.settrace(None)
        if not place:
            counted = "".join(f"{line} {count}\n" for line, count in lines.counts.items())
            Path(listing).write_text(counted, encoding="utf-8")


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], sys.argv[3:])
