"""The first part: mutated inputs through every command, on processes that are replaced when they are lost."""

from __future__ import annotations

import multiprocessing
import shutil
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

import clocks
import mutants
import worker

DEFECTS = ("traceback", "crash", "hang", "memory", "output", "unasked")
"""Outcomes that no input may have."""
_RENEWED_AFTER = 500
"""Cases that a process does at most, so that none is blamed for what a thousand before it have left."""


class _Process:
    """A process with the case that it has."""

    def __init__(self, seed: str, scratch: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=worker.serve, args=(theirs, seed, str(scratch)), daemon=True)
        self._process.start()
        theirs.close()
        self._case: int | None = None
        self._activity = clocks.Activity(self._process.pid or 0)
        self._done = 0
        self.ready = False
        """Whether it can take a case."""
        self.over = False
        """Whether it takes none any more."""

    def give(self, number: int) -> None:
        """Gives it a case."""
        self._case, self.ready = number, False
        self._activity = clocks.Activity(self._process.pid or 0)
        self.connection.send(number)

    def heard(self) -> worker.Verdict | None:
        """What it has come to, if anything."""
        message: worker.Verdict | str | None = None
        try:
            if self.connection.poll():
                message = self.connection.recv()
            elif self._case is not None and self._hangs():
                message = worker.Verdict(self._case, "hang", tired=True)
        except EOFError:
            self._process.join()
            status = self._process.exitcode
            if self._case is None:
                raise RuntimeError(f"a process of the attack ended by itself, with {status}") from None
            message = worker.Verdict(self._case, "crash", f"the process ended with {status}", tired=True)
        if message is None:
            return None
        self._case = None
        if isinstance(message, str):
            self.ready = True
            return None
        self._done += 1
        self.over = message.tired or self._done >= _RENEWED_AFTER
        self.ready = not self.over
        return message

    def _hangs(self) -> bool:
        """Whether it has had Ctrl-C, and since then time enough of a processor, or has slept so long."""
        cpu_s, asleep_s = self._activity.look()
        return (
            cpu_s > worker.SOON_S + worker.ANSWER_S
            or asleep_s > worker.SOON_WALL * worker.SOON_S + worker.ANSWER_S
        )

    def end(self) -> None:
        """Ends it, whatever it does."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def attack(numbers: Iterable[int], seed: str, folder: Path, processes: int) -> Iterator[worker.Verdict]:
    """Does the cases of these numbers.

    Args:
        numbers: which.
        seed: of all that is drawn.
        folder: where the cases with a defect are kept.
        processes: how many at once.

    Yields:
        A verdict for each, in the order in which they are done.
    """
    scratch = folder / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    mutants.write_seeds(folder / mutants.SEEDS)
    left, again = deque(numbers), deque[int]()
    under_way = 0
    running = [_Process(seed, scratch) for _ in range(min(processes, len(left)))]
    alone = len(running) == 1
    try:
        while left or under_way or again:
            if not left and not under_way:
                # What has hung beside others is tried alone, one at a time.
                alone = True
                left.append(again.popleft())
            wait([process.connection for process in running], timeout=0.5)
            for place, process in enumerate(running):
                verdict = process.heard()
                if verdict is not None:
                    under_way -= 1
                if verdict is not None and verdict.outcome == "hang" and not alone:
                    again.append(verdict.number)
                    for rest in scratch.glob(f"case-{verdict.number}-*"):
                        shutil.rmtree(rest)
                elif verdict is not None:
                    yield _kept(verdict, scratch, folder)
                if process.over:
                    process.end()
                    running[place] = _Process(seed, scratch)
                elif process.ready and left:
                    process.give(left.popleft())
                    under_way += 1
    finally:
        for process in running:
            process.end()
        shutil.rmtree(scratch, ignore_errors=True)


def _kept(verdict: worker.Verdict, scratch: Path, folder: Path) -> worker.Verdict:
    """A verdict, with the files of its case kept where the process could not do so itself."""
    if verdict.outcome not in ("hang", "crash"):
        return verdict
    kept = folder / f"{verdict.outcome}-{verdict.number}"
    shutil.rmtree(kept, ignore_errors=True)
    for inputs in scratch.glob(f"case-{verdict.number}-*-inputs"):
        worker.copy_inputs(inputs, kept)
    return verdict
