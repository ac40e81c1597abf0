"""Network namespaces without names: they are open files, and go with the process that has opened them."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from anabranch.errors import system_error

_CLONE_NEWNET = 0x4000_0000
_OWN = "/proc/thread-self/ns/net"
# With this, a program goes when we go, also by SIGKILL: a parent that is gone by then is seen by its number.
_TIED = '[ "$PPID" = "$1" ] || exit 1; shift; exec "$@"'

T = TypeVar("T")


def _call(function: str, *arguments: int) -> None:
    """A function of the C library that Python has from version 3.12 on.

    Raises:
        OSError: if it fails.
    """
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, function)(*arguments) != 0:
        raise system_error(ctypes.get_errno(), function)


def _in_thread(work: Callable[[], T]) -> T:
    """What the work answers in a thread of its own, whose namespace is no other's."""
    with ThreadPoolExecutor(1, "namespace") as thread:
        return thread.submit(work).result()


def in_new(work: Callable[[int], T]) -> T:
    """Works in a new namespace, which the work gets as an open file: the namespace goes when it is closed.

    Raises:
        OSError: if there may be none.
    """

    def inside() -> T:
        _call("unshare", _CLONE_NEWNET)
        return work(os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC))

    return _in_thread(inside)


def inside(namespace: int, work: Callable[[], T]) -> T:
    """Works in a namespace that is an open file.

    Raises:
        OSError: if it cannot be entered.
    """

    def entered() -> T:
        enter(namespace)
        return work()

    return _in_thread(entered)


def enter(namespace: int) -> None:
    """Takes the calling thread into a namespace that is an open file.

    Raises:
        OSError: if it cannot be entered.
    """
    _call("setns", namespace, _CLONE_NEWNET)


def tied(namespace: int, command: Sequence[str], *, alone: bool) -> list[str]:
    """A command that runs in a namespace and ends with the thread that starts it: it has to be the main one.

    Args:
        namespace: an open file of this process.
        command: what to run.
        alone: whether it sees only its own processes and mounts.
    """
    pid = os.getpid()
    ties = ["setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", _TIED, "sh", str(pid)]
    network = ["nsenter", f"--net=/proc/{pid}/fd/{namespace}", "--"]
    own_processes = ["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"]
    return [*ties, *network, *(own_processes if alone else []), *command]


def first_in_line(priority: int) -> list[str]:
    """The words before a command that must not wait for the processor, as far as that is permitted.

    Args:
        priority: among threads with a real-time policy.
    """
    for prefix in (["chrt", "-f", str(priority)], ["nice", "-n", "-20"]):
        tried = subprocess.run([*prefix, "true"], capture_output=True, check=False)  # noqa: S603 - our own
        # Where it may not, nice runs the command all the same.
        if tried.returncode == 0 and not tried.stderr:
            return prefix
    return []
