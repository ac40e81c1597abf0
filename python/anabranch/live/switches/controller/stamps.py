"""When messages leave and come, by the system's clock: a program of Python looks at its own one too late.

Between the call that sends and the moment in which bytes leave, and between their coming and the line that
deals with them, other threads have their turn: half a millisecond is usual, and several are not rare.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from typing import Any

_SO_TIMESTAMPNS = 35
"""Of Linux (asm-generic/socket.h), which Python has no name for; also the kind of the note with the bytes."""
_STAMP = struct.Struct("@qq")
_ROOM = socket.CMSG_SPACE(_STAMP.size)


class StampedSocket:
    """A connection that knows when what was read last had come, and when what was written has left.

    It stands in for the socket of an os-ken datapath, with all that this one has.
    """

    def __init__(self, plain: socket.socket) -> None:
        """Over a connection of TCP."""
        plain.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._plain = plain
        self._writing = threading.Lock()
        self.came_ns = time.monotonic_ns()
        """When the bytes that were read last had come to this machine, on the monotonic clock."""

    def recv(self, size: int) -> bytes:
        """Reads up to so many bytes."""
        data, notes, _, _ = self._plain.recvmsg(size, _ROOM)
        ago_ns = 0
        for level, kind, note in notes:
            if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
                seconds, ns = _STAMP.unpack(note)
                ago_ns = time.time_ns() - (seconds * 10**9 + ns)
        self.came_ns = time.monotonic_ns() - ago_ns
        return data

    def sendall(self, data: bytes) -> None:
        """Writes all bytes, and no other thread's between."""
        with self._writing:
            self._plain.sendall(data)

    def send_stamped(self, data: bytes) -> int:
        """Writes all bytes; answers when they left, in nanoseconds of the monotonic clock."""
        with self._writing:
            left_ns = time.monotonic_ns()
            try:
                # One call of the system: a socket's own method waits for its turn once more before it sends.
                sent = os.write(self._plain.fileno(), data)
            except BlockingIOError:
                sent = 0
            if sent < len(data):
                self._plain.sendall(data[sent:])
            return left_ns

    def __getattr__(self, name: str) -> Any:
        """Everything else is the plain socket's."""
        return getattr(self._plain, name)
