"""Pictures made in processes of their own, because nothing else ends a solver, or leaves a live run alone."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from anabranch.errors import StudioError
from anabranch.process.python_process import python_command
from anabranch.studio.work import Data, Work, line_of
from anabranch.studio.worker import STOP

_START = "from anabranch.studio.worker import main; main()"
_BETWEEN_LOOKS_S = 0.05
_GRACE_S = 1.5
"""How long a run that is stopped has to show what it has measured; a solver does not hear."""


class Apart:
    """Asks processes; one that somebody did not want to wait for has ended."""

    def __init__(self) -> None:
        self._idle: list[_Process] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def ask(
        self, question: Data, work: Work, hear: Callable[[Data], None], *, grace_s: float = _GRACE_S
    ) -> Data:
        """The answer of a process.

        Args:
            question: what it is to do (``worker.py``).
            work: whose end ends it.
            hear: told what there is before the answer.
            grace_s: how long it has to answer once it is stopped.

        Raises:
            KeyboardInterrupt: if the work has ended before there was an answer.
            StudioError: if the process fails.
        """
        process = self._taken()
        is_usable = False
        try:
            answer = process.answer(question, work, hear, grace_s)
            is_usable = not work.stopped.is_set()
        finally:
            if is_usable:
                self._put_back(process)
            else:
                process.close()
        if answer is None:
            raise KeyboardInterrupt
        return answer

    def warm(self) -> None:
        """Starts a process, unless one waits: the first question need not wait for its start."""
        with self._lock:
            if not self._is_closed and not self._idle:
                self._idle = [_Process()]

    def close(self) -> None:
        """Ends all processes that wait for a question; those that work end with their works."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for process in idle:
            process.close()

    def _taken(self) -> _Process:
        with self._lock:
            if self._is_closed:
                raise KeyboardInterrupt
            alive = [process for process in self._idle if process.is_alive]
            process = alive.pop() if alive else _Process()
            # It takes a second to start one: the next picture may come before this one ends.
            self._idle = alive or [_Process()]
        return process

    def _put_back(self, process: _Process) -> None:
        with self._lock:
            if not self._is_closed and len(self._idle) < 2:
                self._idle.append(process)
                return
        process.close()


class _Process:
    """A process that answers (``worker.py``)."""

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                python_command(_START), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            raise StudioError(f"no further process can be started: {error}") from None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="studio apart", daemon=True).start()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        with self._process.stdout as output:
            for line in output:
                self._lines.put(line)
        self._lines.put(b"")

    def _write(self, line: bytes) -> None:
        # Where it has ended, its output says so.
        with suppress(OSError, ValueError):
            assert self._process.stdin is not None  # noqa: S101 - it is a pipe
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def answer(self, question: Data, work: Work, hear: Callable[[Data], None], grace_s: float) -> Data | None:
        """The answer; None where the work has ended before there was one."""
        self._write(line_of(question))
        until: float | None = None
        has_told = False
        while not work.replaced and (until is None or time.monotonic() < until):
            if work.stopped.is_set() and until is None:
                if not has_told:
                    return None
                until = time.monotonic() + grace_s
                self._write(STOP)
            try:
                line = self._lines.get(timeout=_BETWEEN_LOOKS_S)
            except queue.Empty:
                continue
            if not line and work.stopped.is_set():
                return None
            if not line:
                raise StudioError(
                    f"the process of this picture has ended, with status {self._process.wait()}"
                )
            message: dict[str, Any] = json.loads(line)
            if "failed" in message:
                raise StudioError(message["failed"])
            if "answer" in message:
                answer: Data | None = message["answer"]
                return answer
            has_told = True
            hear(message)
        return None

    def close(self) -> None:
        """Ends it, whatever it does: a live network goes with it."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            assert self._process.stdin is not None  # noqa: S101 - it is a pipe
            self._process.stdin.close()
