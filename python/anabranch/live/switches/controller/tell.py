"""The controller's messages to the run: an object of JSON in each line of its output."""

from __future__ import annotations

import json
import os
import threading
import time

_LOCK = threading.Lock()
_OUTPUT = os.dup(1)
"""Code of the user's own may write to standard output, too, and does not write here."""


def tell(kind: str, **what: object) -> None:
    """Says something, with the time of the monotonic clock."""
    line = json.dumps({"kind": kind, "at_ns": time.monotonic_ns(), **what}).encode() + b"\n"
    with _LOCK:
        while line:
            line = line[os.write(_OUTPUT, line) :]
