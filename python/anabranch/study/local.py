"""Runs on processes of this machine: all cores kept busy, and lost workers replaced."""

from __future__ import annotations

import pickle
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from anabranch.errors import Problem, StudyError, reason
from anabranch.study.design import Design
from anabranch.study.files import unpacked
from anabranch.study.processes import started
from anabranch.study.work import Outcome, failed
from anabranch.study.worker import HELLO, READY

MOST_ATTEMPTS = 3
"""Times that a run is begun, if its worker is lost each time, before it counts as failed."""

# A second run waits with the worker while the first is under way, unless runs are so long that one waiting
# would keep another worker idle at the end.
_SHORT_RUN_S = 0.25
# Shorter ones are not divided between cores: to search how takes part of a second.
_LONG_RUN_S = 2
_MOST_FAILED_STARTS = 3


def run_locally(design: Design, runs: Iterable[int], jobs: int) -> Iterator[Outcome]:
    """Does runs on ``jobs`` processes; outcomes come as they are ready, in no particular order.

    A run whose process dies is repeated, and counts as failed at the third time. All processes end with the
    iterator, whichever way it ends.

    Raises:
        StudyError: if no process can be started.
    """
    # The files are ours and not the workers', who are killed at the end.
    with unpacked(design.files) as folder:
        pool = _Pool(design, folder, runs)
        try:
            yield from pool.outcomes(jobs)
        finally:
            pool.close()


class _Worker:
    """A process and the runs that it has been given."""

    def __init__(self, payload: bytes) -> None:
        self.given: deque[int] = deque()
        self.ready = False
        self.process, self.connection = started()
        self._payload = payload

    def give(self, run: int, cores: int) -> None:
        """Gives it a run, and so many cores for it."""
        self.given.append(run)
        self._tell(self.connection.send, (run, cores))

    def instruct(self) -> None:
        """Gives it the design. Not before it listens: a large one would hold us up until then."""
        self._tell(self.connection.send_bytes, self._payload)

    def _tell(self, send: Callable[[Any], None], what: Any) -> None:
        # If it is gone, what it said before can still be read, and then its end.
        with suppress(OSError):
            send(what)

    def end(self) -> str:
        """Ends the process, and says how it ended."""
        self.connection.close()
        self.process.kill()
        code = self.process.wait()
        return f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit status {code}"


class _Pool:
    """The workers, and which runs are still to be given to one."""

    def __init__(self, design: Design, folder: Path, runs: Iterable[int]) -> None:
        self._design = design
        self._payload = pickle.dumps((design, folder))
        self._waiting = deque(runs)
        self._attempts: Counter[int] = Counter()
        self._workers: list[_Worker] = []
        self._failed_starts = 0
        self._depth = 1
        self._jobs = 1
        # Shorter runs gain nothing from more cores; nobody knows yet.
        self._are_long = True

    def outcomes(self, jobs: int) -> Iterator[Outcome]:
        """All outcomes, as they come."""
        self._jobs = jobs
        for _ in range(min(jobs, len(self._waiting))):
            self._start()
        while self._waiting or any(worker.given for worker in self._workers):
            ready = wait([worker.connection for worker in self._workers])
            for worker in [each for each in self._workers if each.connection in ready]:
                try:
                    said = worker.connection.recv()
                except (EOFError, OSError):
                    yield from self._lost(worker)
                    continue
                if said == HELLO:
                    worker.instruct()
                elif said == READY:
                    worker.ready = True
                    self._failed_starts = 0
                    self._feed(worker)
                else:
                    worker.given.remove(said.run)
                    self._depth = 2 if said.wall_s < _SHORT_RUN_S else 1
                    self._are_long = said.wall_s > _LONG_RUN_S
                    self._feed(worker)
                    yield said

    def close(self) -> None:
        """Ends all processes at once; what they were doing is lost."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _start(self) -> None:
        try:
            worker = _Worker(self._payload)
        except OSError as error:
            raise StudyError([Problem("", f"no process can be started: {reason(error)}")]) from None
        self._workers.append(worker)

    def _feed(self, worker: _Worker) -> None:
        while self._waiting and len(worker.given) < self._depth:
            cores = self._cores()
            worker.give(self._waiting.popleft(), cores)

    def _cores(self) -> int:
        """Cores of the next run: where fewer runs are left than cores, they share them."""
        left = len(self._waiting) + sum(len(worker.given) for worker in self._workers)
        return max(1, self._jobs // left) if self._are_long else 1

    def _lost(self, worker: _Worker) -> Iterator[Outcome]:
        """A worker is gone: another takes its place, and what it had begun is begun again."""
        self._workers.remove(worker)
        how = worker.end()
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= _MOST_FAILED_STARTS:
                raise StudyError([Problem("", f"worker processes end as they start, with {how}")])
        if worker.given:
            # It works in order: the first is the one it was at, the others it had not begun.
            begun = worker.given.popleft()
            self._waiting.extendleft(reversed(worker.given))
            self._attempts[begun] += 1
            if self._attempts[begun] < MOST_ATTEMPTS:
                self._waiting.appendleft(begun)
            else:
                why = f"its process was lost {MOST_ATTEMPTS} times, the last time by {how}"
                yield failed(self._design, begun, why)
        if self._waiting:
            self._start()
