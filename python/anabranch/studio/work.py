"""The work behind the page: threads that stay warm, and a run that ends where the next one comes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

_AT_A_TIME = 2
"""Works at a time: of two tabs, a long run in one does not hold up the other."""


@dataclass(slots=True, eq=False)
class Work:
    """A piece of work of one tab, which somebody may want to end."""

    stopped: threading.Event = field(default_factory=threading.Event)
    replaced: bool = False
    """Whether a later one of the same tab has taken its place, so that nobody waits for it any more."""

    def look(self) -> None:
        """Ends the work where somebody wants that; to be called now and then.

        Raises:
            KeyboardInterrupt: if it is to end; a run then keeps what it has measured.
        """
        if self.stopped.is_set():
            raise KeyboardInterrupt


class Workshop:
    """Runs the works of all tabs, of each tab the latest alone."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="studio")
        self._latest: dict[str, Work] = {}
        self._lock = threading.Lock()
        self.own_code = threading.Lock()
        """Held where code of the user's own runs: what guards it is the process's."""

    def start(self, tab: str, do: Callable[[Work], T]) -> tuple[Work, Future[T]]:
        """Begins a work of a tab; an earlier one of it ends."""
        work = Work()
        with self._lock:
            before = self._latest.get(tab)
            self._latest[tab] = work
        if before is not None:
            before.replaced = True
            before.stopped.set()
        return work, self._threads.submit(self._done, tab, work, do)

    def _done(self, tab: str, work: Work, do: Callable[[Work], T]) -> T:
        try:
            return do(work)
        finally:
            with self._lock:
                if self._latest.get(tab) is work:
                    del self._latest[tab]

    def stop(self, tab: str) -> bool:
        """Ends the work of a tab, which keeps what it has; whether there was one."""
        with self._lock:
            work = self._latest.get(tab)
        if work is not None:
            work.stopped.set()
        return work is not None

    def close(self) -> None:
        """Ends every work; nothing further begins."""
        with self._lock:
            works = list(self._latest.values())
        for work in works:
            work.replaced = True
            work.stopped.set()
        self._threads.shutdown(wait=False, cancel_futures=True)


Teller = Callable[[dict[str, Any]], None]
"""Told what there is before the answer: the changed text, how far a run is."""
