"""Limits of processor time, which others on the machine do not use up, and work that is tried again alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WALL = 10
"""A limit of processor time is one of so many times as much real time, too: who sleeps uses no processor."""
_RUNNING = ("R", "D")
"""States of threads that have work (proc_pid_stat(5)), whether a processor is free for them or not."""


@contextmanager
def alarm(cpu_s: float, ring: Callable[..., object], *, wall: float = WALL) -> Iterator[None]:
    """Calls a function in the main thread once this process has used so much processor time in this block.

    Args:
        cpu_s: of all threads.
        ring: may raise.
        wall: it is called as well after ``wall`` times ``cpu_s`` of real time.
    """
    timers = ((signal.ITIMER_PROF, signal.SIGPROF, cpu_s), (signal.ITIMER_REAL, signal.SIGALRM, wall * cpu_s))
    try:
        for timer, number, after_s in timers:
            signal.signal(number, ring)
            signal.setitimer(timer, after_s)
        yield
    finally:
        for timer, *_ in timers:
            signal.setitimer(timer, 0)


class TooLongError(Exception):
    """A limit is over: of processor time, or of real time."""

    def __init__(self, cpu_s: float, *, by_wall: bool) -> None:
        time_of = f"{WALL * cpu_s:g} s of real time" if by_wall else f"{cpu_s:g} s of processor time"
        super().__init__(f"more than {time_of}")
        self.by_wall = by_wall
        """Whether it may be the machine that was slow."""


@contextmanager
def at_most(cpu_s: float) -> Iterator[None]:
    """Ends what takes more processor time, or ten times as much real time.

    Raises:
        TooLongError: which of both.
    """

    def ring(number: int, _frame: object) -> None:
        raise TooLongError(cpu_s, by_wall=number == signal.SIGALRM)

    with alarm(cpu_s, ring):
        yield


def alone_again(
    work: Callable[[Any], Any], pieces: Iterable[Any], processes: int, is_slow: Callable[[Any], bool]
) -> Iterator[Any]:
    """Does work in processes, and once more alone what was slow while others used the machine.

    Args:
        work: of the top level of a module, so that a process finds it.
        pieces: what it is given.
        processes: how many at once.
        is_slow: whether an outcome says that real time was over.

    Yields:
        The outcome of each piece, in the order in which they are done.
    """
    given = list(pieces)
    slow = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(max(1, min(processes, len(given)))) as pool:
        placed = [(work, place, piece) for place, piece in enumerate(given)]
        for place, outcome in pool.imap_unordered(_placed, placed):
            if is_slow(outcome):
                slow.append(place)
            else:
                yield outcome
    if slow:
        with context.Pool(1) as pool:
            yield from pool.imap(work, [given[place] for place in slow])


def _placed(given: tuple[Callable[[Any], Any], int, Any]) -> tuple[int, Any]:
    work, place, piece = given
    return place, work(piece)


class Activity:
    """Watches a process: how much processor time it uses, and since when it has had no work."""

    def __init__(self, process: int) -> None:
        """``process`` is its id; the times begin now."""
        self._folder = Path(f"/proc/{process}")
        self._begin_s = self._last_s = self._cpu_s()
        self._idle_since = time.monotonic()

    def look(self) -> tuple[float, float]:
        """Processor time since the beginning, and for how long it has slept without using any, in seconds."""
        now_s = self._cpu_s()
        if now_s > self._last_s or self._has_work():
            self._last_s, self._idle_since = now_s, time.monotonic()
        return now_s - self._begin_s, time.monotonic() - self._idle_since

    def _cpu_s(self) -> float:
        fields = _fields(self._folder / "stat")
        # utime, stime and those of children that have ended.
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def _has_work(self) -> bool:
        states = (_fields(task / "stat")[:1] for task in _tasks(self._folder))
        return any(state in _RUNNING for process in states for state in process)


def _tasks(folder: Path) -> list[Path]:
    try:
        return list((folder / "task").iterdir())
    except OSError:
        return []


def _fields(file: Path) -> list[str]:
    """The fields from the third on: the second is a name. None where the process has gone."""
    try:
        return file.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def cpu_of_all_s() -> float:
    """Processor time of this process and of those of its children that have ended."""
    return sum(os.times()[:4])
