"""The work behind the page: a run that ends where the next one of its tab comes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from anabranch.results.result import json_ready

Data = dict[str, Any]
Teller = Callable[[Data], None]
"""Told what there is before the answer: the changed text, how far a run is."""


def line_of(data: Data) -> bytes:
    """Plain data as a line of JSON."""
    return json.dumps(json_ready(data), allow_nan=False, separators=(",", ":")).encode() + b"\n"


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
    """Runs the works of all tabs, of each tab the latest alone, in threads that nobody waits for at the end.

    What looks up now and then ends soon. What cannot goes on in its thread, and its answer is dropped: so
    solvers and live runs have processes of their own (``apart.py``), which end.
    """

    def __init__(self) -> None:
        self._latest: dict[str, Work] = {}
        self._lock = threading.Lock()
        self._is_closed = False
        self.own_code = threading.Lock()
        """Held where code of the user's own runs: what guards it is the process's."""

    def start(self, tab: str, do: Callable[[Work], None]) -> Work:
        """Begins a work of a tab; an earlier one of it ends."""
        work = Work()
        with self._lock:
            before = self._latest.get(tab)
            self._latest[tab] = work
            if self._is_closed:
                work.stopped.set()
        if before is not None:
            before.replaced = True
            before.stopped.set()
        threading.Thread(target=self._done, args=(tab, work, do), name="studio", daemon=True).start()
        return work

    def _done(self, tab: str, work: Work, do: Callable[[Work], None]) -> None:
        try:
            do(work)
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
            self._is_closed = True
            works = list(self._latest.values())
        for work in works:
            work.replaced = True
            work.stopped.set()
