"""Rules while code of the user's own runs: for its output, its imports, and that it ends no process."""

from __future__ import annotations

import codecs
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import Any, TextIO

from anabranch.own.code_files import installed_path
from anabranch.own.imports import AgreedModules
from anabranch.process.foreign import plain
from anabranch.scenario.provenance import Agreement


@contextmanager
def own_code_runs(agreement: Agreement, folders: Sequence[Path] = ()) -> Iterator[None]:
    """Code of the user's own may run in this block.

    What it prints goes to standard error, without the characters that a terminal would obey: standard output
    is the command's. What would end the process at once raises SystemExit in its place.

    Args:
        agreement: what may run; other modules beside the scenario cannot be imported.
        folders: where modules are looked for first.
    """
    with ExitStack() as stack:
        filtered = _filtered(sys.stderr)
        for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
            stack.callback(setattr, sys, name, getattr(sys, name))
            setattr(sys, name, filtered)
        stack.callback(_flush, filtered)
        stack.enter_context(_process_kept())
        stack.enter_context(_timers_kept())
        stack.enter_context(_searched(agreement, folders))
        stack.callback(_end_forked, os.getpid())
        yield


def guarded(agreement: Agreement | None) -> AbstractContextManager[None]:
    """The engine may call code of the user's own in this block, unless there is None."""
    return own_code_runs(agreement) if agreement is not None else nullcontext()


@contextmanager
def _searched(agreement: Agreement, folders: Sequence[Path]) -> Iterator[None]:
    """Looks for modules in these folders first; there, only for those that have been agreed to."""
    importlib.invalidate_caches()
    before = list(sys.path)
    finders = [] if agreement.everything else [AgreedModules(agreement, [*folders, Path.cwd()])]
    if agreement.everything:
        sys.path[:0] = [str(folder) for folder in folders]
    else:
        # Nor does another finder look there, by the name of the folder or as a part of a package.
        sys.path[:] = installed_path([*folders, Path.cwd()])
    sys.meta_path[:0] = finders
    try:
        yield
    finally:
        sys.path[:] = before
        for finder in finders:
            sys.meta_path.remove(finder)


_exit = os._exit


def _end_forked(process: int) -> None:
    """Ends a process that the code has forked: the run goes on in the one that it was."""
    if os.getpid() != process:
        _exit(0)


class _Filtered(io.RawIOBase):
    """A stream of bytes into a text stream, through :func:`plain`."""

    def __init__(self, target: TextIO) -> None:
        super().__init__()
        self._target = target
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """It is there to be written to."""
        return True

    def close(self) -> None:
        """Stays open: the code that closes it is not the only one that writes."""

    def fileno(self) -> int:
        """That of the text stream, for programs that the code starts."""
        return self._target.fileno()

    def write(self, content: Any, /) -> int:
        """Writes text as it comes; the rest of a character waits."""
        view = bytes(content)
        self._target.write(plain(self._decoder.decode(view)))
        self._target.flush()
        return len(view)


def _flush(stream: io.TextIOWrapper) -> None:
    # Code that has detached it has lost what it wrote, and no more.
    with suppress(ValueError):
        stream.flush()


def _filtered(target: TextIO | None) -> io.TextIOWrapper:
    # A program without a terminal may have no standard error.
    raw = _Filtered(io.StringIO() if target is None else target)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[arg-type]


_ENDS = (
    (("os", "posix"), ("_exit", "abort", "execv", "execve", "kill", "killpg")),
    (("signal",), ("raise_signal", "pthread_kill")),
)
"""Functions that can end the process without a word, and the modules that have them."""
_OF_A_PROCESS = ("kill", "killpg", "pthread_kill")
"""Those that may have others in mind."""


@contextmanager
def _process_kept() -> Iterator[None]:
    """What would end this process at once raises SystemExit, which becomes a message with its place."""
    there = [
        (sys.modules[module], name)
        for modules, names in _ENDS
        for module in modules
        for name in names
        if hasattr(sys.modules.get(module), name)
    ]
    before = [getattr(module, name) for module, name in there]
    for (module, name), real in zip(there, before, strict=True):
        setattr(module, name, _refusing(f"{module.__name__}.{name}", name, real))
    try:
        yield
    finally:
        for (module, name), real in zip(there, before, strict=True):
            setattr(module, name, real)


_TIMERS = ("SIGALRM", "SIGVTALRM", "SIGPROF")
"""Signals of timers, which end a process that has no handler for them."""


@contextmanager
def _timers_kept() -> Iterator[None]:
    """A timer for which nobody has a handler raises SystemExit in place of ending the process."""
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread can set handlers.
        yield
        return
    numbers = [getattr(signal, name) for name in _TIMERS if hasattr(signal, name)]
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _on_timer)
    try:
        yield
    finally:
        for number in ours:
            if signal.getsignal(number) is _on_timer:
                signal.signal(number, signal.SIG_DFL)


def _on_timer(number: int, _frame: object) -> None:
    raise SystemExit(f"its timer ({signal.Signals(number).name}) would end the program that runs it")


def _refusing(called: str, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    process = os.getpid()

    def refuse(*arguments: Any, **named: Any) -> Any:
        # A process that the code has forked ends as it likes.
        if os.getpid() != process or (name in _OF_A_PROCESS and not _is_meant(name, arguments)):
            return real(*arguments, **named)
        given = ", ".join(map(repr, arguments))
        raise SystemExit(f"{called}({given}) would end the program that runs it")

    return refuse


def _is_meant(name: str, arguments: Sequence[Any]) -> bool:
    """Whether a signal that is more than a question reaches this process."""
    target, number = (*arguments, 0, 0)[:2]
    if not number:
        return False
    groups = (0, -1, -os.getpgrp()) if name == "kill" else (0, os.getpgrp())
    return name == "pthread_kill" or target == os.getpid() or target in groups
