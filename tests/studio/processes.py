"""Processes that a studio has started, and the network namespaces that they hold."""

import os
import time
from collections.abc import Callable
from pathlib import Path

OWN = "/proc/self/ns/net"


def children(process: int | None = None) -> set[int]:
    """The processes that one has started, and those that these have."""
    entries = set[int]()
    for task in Path(f"/proc/{process or os.getpid()}/task").glob("*/children"):
        try:
            entries |= {int(number) for number in task.read_text().split()}
        except OSError:
            continue
    return entries.union(*(children(number) for number in entries))


def namespaces(processes: set[int] | None = None) -> set[str]:
    """The network namespaces that these processes, or all, are in or hold as open files; but for our own."""
    places = [Path("/proc") / str(number) for number in processes or ()]
    entries = set[str]()
    for place in places if processes is not None else Path("/proc").glob("[0-9]*"):
        for link in [place / "ns" / "net", *place.glob("fd/*")]:
            try:
                target = link.readlink().name
            except OSError:
                continue
            if target.startswith("net:"):
                entries.add(target)
    return entries - {Path(OWN).readlink().name}


def until(holds: Callable[[], object], seconds: float = 30.0) -> None:
    """Waits until something holds.

    Raises:
        AssertionError: if it does not in time.
    """
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)
