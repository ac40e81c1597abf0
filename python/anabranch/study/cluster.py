"""Work on a Dask cluster that is there already; results come back through its scheduler."""

from __future__ import annotations

import logging
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from anabranch.errors import Problem, StudyError, installation
from anabranch.study.design import Design
from anabranch.study.work import Outcome, failed, worker_for

if TYPE_CHECKING:
    from distributed import Client, Future

Shared = TypeVar("Shared")
"""What all work on a cluster needs."""
Made = TypeVar("Made")
"""What comes back of a piece of work."""
_CONNECT_TIMEOUT_S = 10
_LOGGERS = ("distributed", "distributed.client", "distributed.core", "tornado.application", "asyncio")
_MOST_ROUNDS = 2
"""Times that work is handed to Dask, which itself tries again when it loses a worker (its setting
``distributed.scheduler.allowed-failures``): it may have been lost for what its neighbours did."""
_AHEAD = 4
_LEAST_AHEAD = 64


def run_on_cluster(design: Design, runs: Iterable[int], address: str) -> Iterator[Outcome]:
    """Does runs on the workers of a Dask scheduler; outcomes come as they are ready, in no particular order.

    Raises:
        StudyError: as of :func:`on_cluster`.
    """

    def lost(run: int) -> Outcome:
        return failed(design, run, "its worker was lost each time that it was tried")

    return on_cluster(design, _run, runs, address, lost)


def on_cluster(
    shared: Shared,
    work: Callable[[Shared, int], Made],
    numbers: Iterable[int],
    address: str,
    lost: Callable[[int], Made],
) -> Iterator[Made]:
    """Does work by numbers on the workers of a Dask scheduler; what is made comes as it is ready.

    Args:
        shared: what all of it needs; workers get it once.
        work: what a worker does with it and a number.
        numbers: of the work.
        address: of the scheduler.
        lost: what is made of a number whose worker was lost each time.

    Raises:
        StudyError: if the package ``distributed`` is missing, or the scheduler does not answer or is lost.
    """
    try:
        import distributed  # noqa: PLC0415 - optional
    except ImportError:
        message = f"--dask needs the package distributed; install it with: {installation('cluster')}"
        raise StudyError([Problem("", message)]) from None
    with _silent():
        yield from _with_client(distributed, address, _Work(shared, work, iter(numbers), lost))


@contextmanager
def _silent() -> Iterator[None]:
    """What Dask logs of a cluster that goes is said by our message; its own has a traceback."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@dataclass(frozen=True, slots=True)
class _Work(Generic[Shared, Made]):
    """Work by numbers."""

    shared: Shared
    work: Callable[[Shared, int], Made]
    numbers: Iterator[int]
    lost: Callable[[int], Made]


def _with_client(distributed: Any, address: str, work: _Work[Shared, Made]) -> Iterator[Made]:
    try:
        # First: a client of an address that is none leaves a traceback, and takes its time.
        distributed.comm.get_address_host(distributed.comm.normalize_address(address))
        client = distributed.Client(address, timeout=_CONNECT_TIMEOUT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        message = f"no Dask scheduler answers at {address}: {error}; an address is like tcp://10.0.0.1:8786"
        raise StudyError([Problem("dask", message)]) from None
    with client:
        try:
            yield from _made(client, work)
        except (distributed.CancelledError, OSError) as error:
            message = (
                f"the scheduler at {address} is gone ({type(error).__name__}); what came back is kept, and "
                "the same command goes on from there"
            )
            raise StudyError([Problem("dask", message)]) from None


def _made(client: Client, work: _Work[Shared, Made]) -> Iterator[Made]:
    from distributed import KilledWorker, as_completed  # noqa: PLC0415 - optional

    # A task, so that Dask makes it again where a worker that had it is lost.
    shared = client.submit(pickle.loads, pickle.dumps(work.shared), pure=False)
    rounds: Counter[int] = Counter()
    number_of: dict[str, int] = {}

    def submit(number: int) -> Future:
        future = client.submit(work.work, shared, number, pure=False)
        number_of[future.key] = number
        return future

    threads = sum(client.nthreads().values())
    under_way = as_completed(loop=client.loop)
    for _, number in zip(range(max(_LEAST_AHEAD, _AHEAD * threads)), work.numbers, strict=False):
        under_way.add(submit(number))
    for future in under_way:
        number = number_of.pop(future.key)
        error = future.exception()
        if isinstance(error, KilledWorker):
            rounds[number] += 1
            if rounds[number] < _MOST_ROUNDS:
                under_way.add(submit(number))
                continue
            made = work.lost(number)
        elif error is not None:
            raise _refusal(error)
        else:
            made = future.result()
        following = next(work.numbers, None)
        if following is not None:
            under_way.add(submit(following))
        yield made


def _run(design: Design, number: int) -> Outcome:
    """One run, on a worker."""
    return worker_for(design).run(number)


def _refusal(error: Any) -> BaseException:
    """What a worker says that cannot even begin."""
    if isinstance(error, ImportError):
        return StudyError([Problem("dask", f"a worker has no anabranch of this version: {error}")])
    return error if isinstance(error, BaseException) else RuntimeError(str(error))
