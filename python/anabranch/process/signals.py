"""Signals that end a program: Ctrl-C, SIGTERM of a batch system, SIGHUP of a terminal that closes."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Windows has no SIGHUP.
_ENDING = tuple(number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP"))
# Their names in the module are taken away from code of the user's own while it runs (own/running.py).
_raise_signal = signal.raise_signal
if sys.platform != "win32":
    _pthread_kill = signal.pthread_kill
_last: int | None = None
_raise_at: float | None = None
"""When a signal is heard all the same; None while none waits."""
_FRAGILE = ("importlib", "_frozen_importlib", "numpy", "polars", "pydantic")
"""Packages with compiled parts that call Python, and panic or make another error of it where that raises."""
_FRAGILE_S = 10.0
"""How long they have after a signal: an import of users may never end."""
_PATIENCE_S = 1.0
"""How long code that may never end has after a signal."""


def exit_status() -> int:
    """The exit status after a signal, as a shell reports it."""
    return 128 + (_last or signal.SIGINT)


@contextmanager
def ending() -> Iterator[None]:
    """Each of the signals raises KeyboardInterrupt in this block, unless it is ignored or handled already."""
    before = {number: signal.getsignal(number) for number in _ENDING}
    ours = (signal.SIG_DFL, signal.default_int_handler)
    taken = {number: done for number, done in before.items() if done in ours}
    for number in taken:
        signal.signal(number, _interrupt)
    hook, sys.unraisablehook = sys.unraisablehook, _again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, done in taken.items():
            # The program ends because of the one that has come: another Ctrl-C changes its status no more.
            ends = _last is not None and number == signal.SIGINT and done is signal.SIG_DFL
            signal.signal(number, signal.SIG_IGN if ends else done)


def _again(lost: Any) -> None:
    """An interrupt that came while Python could raise nothing, as in a collection of garbage, comes again."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _raise_soon(_last or signal.SIGINT)
    else:
        sys.__unraisablehook__(lost)


def _raise_soon(number: int, after_s: float = 0.05) -> threading.Timer | None:
    """Has a signal come again; None where no thread can be started for that, as under a limit of memory."""
    timer = threading.Timer(after_s, _send, [number])
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:
        return None
    return timer


def _send(number: int) -> None:
    """To the main thread, which may wait in a call of the system; Windows has no signals for threads."""
    if sys.platform == "win32":
        _raise_signal(number)
    else:
        _pthread_kill(threading.main_thread().ident or 0, number)


def interrupt() -> None:
    """Has the main thread hear what Ctrl-C would be, whatever thread says so."""
    _send(signal.SIGINT)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raises, but where compiled code may be behind that makes a panic of it: there it comes again."""
    global _last, _raise_at  # noqa: PLW0603 - signals are the process's
    _last = number
    if _is_fragile(frame):
        _raise_at = _raise_at or time.monotonic() + _FRAGILE_S
        if time.monotonic() < _raise_at and _raise_soon(number) is not None:
            return
    _raise_at = None
    raise KeyboardInterrupt


def _is_fragile(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _FRAGILE:
            return True
        frame = frame.f_back
    return False


class Deferred:
    """A signal that has come and waits."""

    number: int | None = None
    """Which; None if none has come."""
    answered = False
    """Whether the work has ended because of it: nothing more is to be raised."""
    kept = ""
    """What to say where the work was complete before."""

    def __init__(self, inside: Callable[[], bool] = lambda: False) -> None:
        """``inside`` says whether code runs that may never end, and that nobody can look behind."""
        self._inside = inside
        self._again: threading.Timer | None = None

    def note(self, number: int, _frame: object) -> None:
        """Hears a signal. Code that may never end is left by the second one, which comes by itself."""
        global _last  # noqa: PLW0603 - signals are the process's
        if self.number is None:
            self.number = _last = number
            if self._inside():
                self._again = _raise_soon(number, _PATIENCE_S)
        elif self._inside():
            raise KeyboardInterrupt

    def ends(self) -> None:
        """No second signal comes by itself any more."""
        if self._again is not None:
            self._again.cancel()

    def watched(self, progress: Callable[..., None] | None) -> Callable[..., None]:
        """A function for a long call to report to, which ends the call once a signal has come."""

        def look(*arguments: Any) -> None:
            if self.number is not None:
                raise KeyboardInterrupt
            if progress is not None:
                progress(*arguments)

        return look


@contextmanager
def deferred(inside: Callable[[], bool] = lambda: False) -> Iterator[Deferred]:
    """Signals wait until the end of this block, so that what it has measured can be saved.

    Args:
        inside: whether code runs that may never end: it is left a second after a signal, or at the next one.

    Raises:
        KeyboardInterrupt: at the end, if one has come and is not answered; before, where ``inside``.
    """
    signals = Deferred(inside)
    # Only the main thread can handle signals. None is a handler that Python does not know.
    is_main = threading.current_thread() is threading.main_thread()
    before: dict[int, Any] = {number: signal.getsignal(number) for number in _ENDING if is_main}
    taken = {number: done for number, done in before.items() if done not in (None, signal.SIG_IGN)}
    for number in taken:
        signal.signal(number, signals.note)
    try:
        yield signals
    finally:
        signals.ends()
        ends = signals.number is not None and signals.answered
        for number, done in taken.items():
            # A program that has kept its result and ends says so: a further signal takes its words no more.
            signal.signal(number, signal.SIG_IGN if ends and done is _interrupt else done)
    if signals.number is not None and (not signals.answered or taken[signals.number] is signal.SIG_DFL):
        try:
            _raise_signal(signals.number)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(signals.kept) from None
