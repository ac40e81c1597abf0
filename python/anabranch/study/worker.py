"""A process that does runs for the one that started it."""

from __future__ import annotations

import gc
import pickle
import sys
from multiprocessing.connection import Connection

HELLO = "hello"
"""What a worker says first."""
READY = "ready"
"""What a worker says once it has the design."""


def main(descriptor: int) -> None:
    """Receives a design and where its files are, and then runs; sends back an outcome for each.

    Each comes as its number and how many cores it may have.

    Args:
        descriptor: file descriptor of this end of the connection.
    """
    work_for(Connection(descriptor))


def main_with_port(port: int) -> None:
    """Does the work of :func:`main` over a port of this machine, where processes inherit no descriptors.

    Args:
        port: on which the other side waits; the key is on standard input.
    """
    from anabranch.study.processes import connected  # noqa: PLC0415 - others need it not

    work_for(connected(port))


def work_for(connection: Connection) -> None:
    """Works until the other side of a connection has no more, or is gone."""
    with connection:
        try:
            connection.send(HELLO)
            # The modules come with the design: a worker that cannot have them says nothing, and ends.
            design, folder = pickle.loads(connection.recv_bytes())  # noqa: S301 - from who started us
            from anabranch.study.work import RunWorker  # noqa: PLC0415 - as slow as the above

            worker = RunWorker(design, folder)
            # What is here now stays to the end: no collection of garbage needs to look at it again.
            gc.collect()
            gc.freeze()
            connection.send(READY)
            while (given := connection.recv()) is not None:
                connection.send(worker.run(*given))
        except (EOFError, ConnectionError):
            # The other side is gone: nobody is left to work for.
            sys.exit(0)
