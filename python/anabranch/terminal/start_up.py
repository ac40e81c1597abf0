"""Limits of a shell or a batch system, of which libraries abort: told before.

Allocators and thread pools of compiled libraries end the process where address space or threads end, without
an exception. So where a limit is set, the libraries are made to need little, and whether the limit has room
for what they need is asked before they start.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from anabranch.errors import CommandError

_THREADS = "POLARS_MAX_THREADS"
_ARENAS, _ARENA_MAX = "MALLOC_ARENA_MAX", -8
"""The arenas of the GNU C library: the variable, and ``M_ARENA_MAX`` of mallopt(3)."""
_BASE_BYTES = 550_000_000
"""Address space to start with one arena, and for small runs. Measured: a run of examples/first.toml with its
page ends well from 460 MB; memory.py asks about what a run needs beyond 64 MB."""
_BYTES_EACH = 20_000_000
"""For each thread of Polars; measured: 12 MB, up to 8 threads."""
_BASE_THREADS, _THREADS_EACH = 6, 3
"""Polars has three threads for each that it may have (work, files, asynchronous calls), and a few beside.
Measured: 9, 12 and 30 threads in all where it may have 1, 2 and 8."""
_MOST_OF_POLARS = 1024
"""Threads of it that help nobody: more than cores of any machine that runs this."""
_FEW_THREADS = 1000
"""Under a limit of more threads, none are tried."""
_STACK_BYTES = 64 * 1024
_CGROUP_THREADS = Path("/sys/fs/cgroup/pids.max")


def spare_resources() -> None:
    """Makes libraries need little, and less where this process is limited. It is called before their import.

    Each thread would reserve 64 MB of address space for its allocations (an arena of the GNU C library), and
    Polars starts three threads for each core.
    """
    # Threads of linear algebra take longer to start than any command has for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    limited = _address_space_bytes() is not None
    if limited:
        import ctypes  # noqa: PLC0415 - only where there is a limit

        # Not the GNU C library, in all other cases.
        with suppress(OSError, AttributeError, TypeError):
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
        # For processes that this one starts.
        os.environ.setdefault(_ARENAS, "1")
    if limited or _most_threads() is not None:
        os.environ.setdefault(_THREADS, "1")


def check_resources() -> None:
    """Refuses to start where libraries would abort.

    Raises:
        CommandError: with the limit that is too small, and what is needed.
    """
    named = os.environ.get(_THREADS, "").strip()
    # Of 0, Polars makes a panic in the middle of the work; all that it is told to, it starts at once.
    digits = named.lstrip("0") if named.isascii() and named.isdigit() else ""
    if named and not (0 < len(digits) <= len(str(_MOST_OF_POLARS)) and int(digits) <= _MOST_OF_POLARS):
        message = f"{_THREADS} is {named[:20]!r} in the environment; set it to 1 to {_MOST_OF_POLARS:,}"
        raise CommandError(f"{message}, or unset it")
    threads = int(digits) if named else os.cpu_count() or 1
    fewer = f", or set {_THREADS} to less than {threads} in the environment" if threads > 1 else ""
    space, needed_bytes = _address_space_bytes(), _BASE_BYTES + threads * _BYTES_EACH
    if space is not None and space < needed_bytes:
        raise CommandError(
            f"this shell limits address space to {space / 1e6:.0f} MB (ulimit -v), and Anabranch needs "
            f"{needed_bytes / 1e6:.0f} MB to start; raise the limit (ulimit -v {-(-needed_bytes // 1024)})"
            f"{fewer}"
        )
    limit, needed = _most_threads(), _BASE_THREADS + threads * _THREADS_EACH
    if limit is not None and not _can_start(needed):
        raise CommandError(
            f"a limit leaves this user no {needed} more threads and processes, which Anabranch needs to "
            f"start: {limit} in all (ulimit -u, or its control group); raise the limit, end other "
            f"programs{fewer}"
        )


def _address_space_bytes() -> int | None:
    """The limit of address space; None where there is none, as on Windows."""
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - Windows has none

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        return None if soft == resource.RLIM_INFINITY else soft
    return None


def _most_threads() -> int | None:
    """The limit of threads of this user or control group; None where it is far away."""
    limits = []
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - Windows has none

        soft = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        limits += [soft] if soft != resource.RLIM_INFINITY else []
    with suppress(OSError, ValueError):
        limits.append(int(_CGROUP_THREADS.read_text(encoding="ascii")))
    least = min(limits, default=_FEW_THREADS)
    return least if least < _FEW_THREADS else None


def _can_start(count: int) -> bool:
    """Whether so many threads can be started at once: only the system knows how many there are."""
    over = threading.Event()
    started = []
    before = threading.stack_size(_STACK_BYTES)
    try:
        for _ in range(count):
            thread = threading.Thread(target=over.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        return False
    finally:
        threading.stack_size(before)
        over.set()
        for thread in started:
            thread.join()
    return True
