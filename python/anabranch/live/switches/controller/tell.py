"""The controller's messages to the run: an object of JSON in each line of its output."""

from __future__ import annotations

import json
import sys
import threading
import time

_LOCK = threading.Lock()


def tell(kind: str, **what: object) -> None:
    """Says something, with the time of the monotonic clock."""
    line = json.dumps({"kind": kind, "at_ns": time.monotonic_ns(), **what})
    with _LOCK:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
