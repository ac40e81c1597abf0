"""Runs commands in this process, one case after the other, under limits of time and memory."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, TYPE_CHECKING

import clocks
import own_code

if TYPE_CHECKING:
    from mutants import Mutants

MOST_BYTES = 2 * 2**30
"""Memory that a case may take, and bytes that it may write."""
SOON_S = 2.0
"""After so much processor time a case gets Ctrl-C, and after five times as much real time: who simulates
a month has to wait, but not for the answer to that."""
SOON_WALL = 5
ANSWER_S = 20.0
"""After so much more processor time, or so much more time asleep, it hangs."""
EXPECTED = {0: "done", 1: "in part", 2: "refused", 130: "interrupted"}
"""Exit statuses that a command may have; any other is a defect."""
_raise_signal = signal.raise_signal
"""As it is here: while own code runs, the program puts another function in its place."""
_PRODUCT = "/anabranch/"
"""In the names of files of the program."""
# Of what own code may print for ever, in one line: no repetition without an end.
_FOR_DEVELOPERS = re.compile(r"\wWarning: |Exception ignored")
_OWN_WARNING = re.compile(r"/mine\.py:\d{1,9}: \w{1,60}Warning: ")
"""A warning of a user's own code is the user's."""
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Verdict:
    """What a case came to."""

    number: int
    outcome: str
    """A value of ``EXPECTED``; or ``traceback``, ``crash``, ``hang``, ``memory``, ``output``, ``unasked``."""
    detail: str = ""
    tired: bool = False
    """Whether the process should not be used any further."""


MODULES = (
    "terminal.cli",
    "runs.capture",
    "media.terminal",
    "report.views.run",
    "plans.forwarding",
    "report.plots.every",
    "report.html",
    "study",
    "plans.worst_loads",
)
"""What commands import when they are used, beforehand: it is not in the time of the first case."""


def serve(connection: Connection, seed: str, scratch: str) -> None:
    """Does the cases whose numbers come in, until None does."""
    import mutants  # noqa: PLC0415 - the process of the parent needs none of it

    for module in MODULES:
        importlib.import_module(f"anabranch.{module}")

    made = mutants.Mutants(Path(scratch))
    _limit_memory()
    # Ctrl-C is for the cases. A late one, which the program sends itself again, is for none.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whoever gave the cases may be gone by now.
    with contextlib.suppress(EOFError, BrokenPipeError):
        connection.send("ready")
        while (number := connection.recv()) is not None:
            verdict = _attempt(made, seed, number, Path(scratch))
            connection.send(verdict)
            if verdict.tired:
                return


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _attempt(made: Mutants, seed: str, number: int, scratch: Path) -> Verdict:
    folder = Path(tempfile.mkdtemp(prefix=f"case-{number}-", dir=scratch))
    arguments = made.write(number, random.Random(f"{seed} {number}"), folder)  # noqa: S311 - not for secrets
    (folder / "arguments.json").write_text(json.dumps(arguments), encoding="utf-8")
    inputs = folder.with_name(folder.name + "-inputs")
    copy_inputs(folder, inputs)
    _forget_peak()
    # Answers of whoever runs the attack are not for the cases.
    os.environ["XDG_CONFIG_HOME"] = str(folder / "configuration")
    outcome, detail = call(arguments, folder)
    if (folder / own_code.CANARY).exists() and "--trust" not in arguments:
        outcome, detail = "unasked", f"code ran without consent; {outcome}: {detail}"
    if outcome in EXPECTED.values() and _peak_bytes() > MOST_BYTES:
        outcome, detail = "memory", f"{_peak_bytes() / 2**30:.1f} GiB"
    if outcome in EXPECTED.values() and _size(folder) > MOST_BYTES:
        outcome, detail = "output", f"{_size(folder) / 2**30:.1f} GiB"
    if outcome not in EXPECTED.values():
        kept = scratch.parent / f"{outcome}-{number}"
        shutil.rmtree(kept, ignore_errors=True)
        copy_inputs(inputs, kept)
        (kept / "found.txt").write_text(f"{outcome}\n{detail}\n", encoding="utf-8", errors="backslashreplace")
    shutil.rmtree(inputs)
    shutil.rmtree(folder, ignore_errors=True)
    return Verdict(number, outcome, detail, outcome not in ("done", "in part", "refused"))


def copy_inputs(folder: Path, to: Path) -> None:
    """Copies the files of a case: links as links, and no pipes or sockets, which may have no end."""
    shutil.copytree(folder, to, symlinks=True, ignore=_without_contents)


def _without_contents(folder: str, names: list[str]) -> list[str]:
    paths = [Path(folder, name) for name in names]
    return [path.name for path in paths if not (path.is_symlink() or path.is_dir() or path.is_file())]


def call(arguments: Sequence[str], folder: Path, soon_s: float = SOON_S) -> tuple[str, str]:
    """What the command line makes of its arguments, with whatever it says.

    Args:
        arguments: of the command line.
        folder: the working directory.
        soon_s: after so much processor time Ctrl-C comes, and after five times as much real time.
    """
    sys.argv = ["anabranch", *arguments]
    before = signal.getsignal(signal.SIGINT)
    try:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, contextlib.chdir(folder):
            with _redirected(out, err):
                ended, end = _ended(soon_s)
            if ended != "status":
                return ended, str(end)
            return _judged(end, _text(out), _text(err), arguments)
    finally:
        signal.signal(signal.SIGINT, before)


def _ended(soon_s: float) -> tuple[str, object]:
    """Runs the program; ``status`` and its exit status, or how else it ended."""
    from anabranch.terminal.cli import main  # noqa: PLC0415 - see above

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with clocks.alarm(soon_s, _ctrl_c, wall=SOON_WALL):
                main()
                return "status", 0
        except SystemExit as end:
            return "status", 0 if end.code is None else end.code
        except MemoryError:
            return "memory", traceback.format_exc()
        except BaseException as error:  # noqa: BLE001 - whatever gets here is the find
            return ("status", 130) if _is_outside(error) else ("traceback", traceback.format_exc())
        finally:
            # What the program has sent itself and comes now is not for what follows.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return "status", 130


def _ctrl_c(*_: object) -> None:
    """Ctrl-C, once the program listens: before and after, a real one ends it by the system's own means."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
    else:
        _raise_signal(signal.SIGINT)


def _is_outside(error: BaseException) -> bool:
    """Whether it is Ctrl-C where the program does not listen any more: in its main function, or in ours."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if _PRODUCT in frame.filename and frame.name != "main"]
    return isinstance(error, KeyboardInterrupt) and not inside


def _judged(status: object, out: str, err: str, arguments: Sequence[str]) -> tuple[str, str]:
    complaint = ""
    if status not in EXPECTED:
        complaint = f"exit status {status}"
    elif "Traceback (most recent call last)" in err or _FOR_DEVELOPERS.search(_OWN_WARNING.sub("", err)):
        complaint = "a message for developers"
    elif status == 2 and not err.strip():
        complaint = "refused without a word"
    elif _OBEYED.search(out + err):
        complaint = "controls on the terminal"
    elif status == 0 and "--json" in arguments:
        try:
            json.loads(out)
        except ValueError as error:
            complaint = f"no JSON: {error}"
    if complaint:
        return "traceback", f"{complaint}\n{out[-2000:]}\n{err[-4000:]}"
    return EXPECTED[status], ""  # type: ignore[index]


@contextlib.contextmanager
def _redirected(out: IO[bytes], err: IO[bytes]) -> Iterator[None]:
    """Both streams lead to files, also those that Python keeps apart, which own code may write to.

    The descriptors stay: a panic of the core is seen by whoever looks on.
    """
    kept = sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__
    streams = [open(file.fileno(), "w", encoding="utf-8", closefd=False) for file in (out, err)]  # noqa: SIM115
    sys.stdout, sys.stderr = streams
    sys.__stdout__, sys.__stderr__ = streams  # type: ignore[misc]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        for stream in streams:
            stream.flush()
        sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__ = kept  # type: ignore[misc]


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MOST_BYTES // 64).decode("utf-8", errors="replace")


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    match = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(match[1]) * 1024 if match else 0


def _size(folder: Path) -> int:
    return sum((Path(where) / name).lstat().st_size for where, _, names in os.walk(folder) for name in names)
