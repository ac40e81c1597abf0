"""Network namespaces without names: they are open files, and go with the process that has opened them."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from typing import TypeVar

from anabranch.errors import system_error

_CLONE_NEWNET = 0x4000_0000
_OWN = "/proc/thread-self/ns/net"

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
    answers: list[T] = []
    errors: list[BaseException] = []

    def thread() -> None:
        try:
            answers.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    worker = threading.Thread(target=thread, name="namespace")
    worker.start()
    worker.join()
    if errors:
        raise errors[0]
    return answers[0]


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
        _call("setns", namespace, _CLONE_NEWNET)
        return work()

    return _in_thread(entered)
