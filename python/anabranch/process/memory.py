"""Memory that this process has and needs no more."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Gives the system back what the allocator keeps of freed memory.

    The GNU C library has an arena for each thread, and what one has freed serves no other: after a run on
    several cores the tables would come on top of what its parts have left (malloc_trim(3)).
    """
    # Another C library has no such function.
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
