"""How the process of a worker is started, and how one talks to it, on systems of both kinds.

On POSIX systems a worker inherits its end of a pipe and the block of Ctrl-C. Windows has neither: there
the worker is told a port of this machine's own address and a key on its standard input, and calls back.
Either side shows the other that it has the key before anything is unpickled (as multiprocessing's listeners
do).
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Pipe, answer_challenge, deliver_challenge
from typing import cast

from anabranch.process.python_process import python_command

INHERITS = hasattr(signal, "pthread_sigmask")
"""Whether processes inherit descriptors and a mask of signals."""
_KEY_BYTES = 32
_LOOPBACK = "127.0.0.1"
_LOOKS_EACH_S = 0.2
"""How often one looks whether a worker that has not called back is still there."""
_ANSWER_S = 10.0
"""A caller that does not show the key by then is none of ours."""
_ENVIRONMENT: Mapping[str, str] = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Runs are what is parallel here."""


def started() -> tuple[subprocess.Popen[bytes], Connection]:
    """A new worker and the connection to it.

    Raises:
        OSError: if no process can be started, or it ends before it calls back.
    """
    return _started_with_descriptor() if INHERITS else _started_with_port()


def _started_with_descriptor() -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = Pipe()
    descriptor = theirs.fileno()
    command = python_command(f"from anabranch.study.worker import main; main({descriptor})")
    # Ctrl-C is for us to hear: the mask is inherited, and stays blocked there.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program
            command, pass_fds=[descriptor], stdin=subprocess.DEVNULL, env={**os.environ, **_ENVIRONMENT}
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        theirs.close()
    return process, ours


def _started_with_port() -> tuple[subprocess.Popen[bytes], Connection]:
    key = secrets.token_bytes(_KEY_BYTES)
    with socket.create_server((_LOOPBACK, 0), backlog=1) as server:
        port = server.getsockname()[1]
        process = subprocess.Popen(  # noqa: S603 - our own program
            python_command(f"from anabranch.study.worker import main_with_port; main_with_port({port})"),
            stdin=subprocess.PIPE,
            env={**os.environ, **_ENVIRONMENT},
            # Ctrl-C goes to our own group of processes alone.
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        try:
            if process.stdin is not None:
                with suppress(OSError), process.stdin:
                    process.stdin.write(key)
            return process, _accepted(server, process, key)
        except BaseException:
            process.kill()
            process.wait()
            raise


def _accepted(server: socket.socket, process: subprocess.Popen[bytes], key: bytes) -> Connection:
    """The connection that the process makes; callers without the key are sent away.

    Raises:
        OSError: if the process ends before.
    """
    server.settimeout(_LOOKS_EACH_S)
    while True:
        try:
            caller, _ = server.accept()
        except TimeoutError:
            if (code := process.poll()) is not None:
                raise OSError(f"a worker process has ended as it started, with exit status {code}") from None
            continue
        caller.setblocking(True)
        connection = Connection(caller.detach())
        try:
            hurried = cast(Connection, _Hurried(connection))
            deliver_challenge(hurried, key)
            answer_challenge(hurried, key)
        except (AuthenticationError, OSError, EOFError):
            connection.close()
        else:
            return connection


class _Hurried:
    """A connection whose other side has to say something in time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send_bytes(self, content: bytes) -> None:
        """Sends a message."""
        self._connection.send_bytes(content)

    def recv_bytes(self, maximum: int | None = None) -> bytes:
        """Receives a message.

        Raises:
            EOFError: if none comes in time.
        """
        if not self._connection.poll(_ANSWER_S):
            raise EOFError
        return self._connection.recv_bytes(maximum)


def connected(port: int) -> Connection:
    """The connection of a worker to who has started it, by a port and the key on standard input."""
    # Its group has none of the terminal's signals on Windows; elsewhere it would hear Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    key = sys.stdin.buffer.read(_KEY_BYTES)
    return Client((_LOOPBACK, port), authkey=key)
