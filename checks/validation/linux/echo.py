"""Asks a host for echoes, as ping does, and says the round trips to the microsecond: ping rounds long ones.

    python checks/validation/linux/echo.py HOST COUNT

Linux, root. The kernel's own time stamps say when answers came.
"""

from __future__ import annotations

import socket
import struct
import sys
import time

GAP_S = 0.2
PATIENCE_S = 1.0
_SO_TIMESTAMPNS = 35
_REQUEST, _ANSWER = 8, 0
_DATA = bytes(56)


def checksum(data: bytes) -> int:
    """That of RFC 1071, of an even number of bytes."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def round_trip_ms(asking: socket.socket, host: str, number: int) -> float | None:
    """One echo; None if no answer comes in time."""
    identifier = 1
    summed = checksum(struct.pack("!BBHHH", _REQUEST, 0, 0, identifier, number) + _DATA)
    request = struct.pack("!BBHHH", _REQUEST, 0, summed, identifier, number) + _DATA
    sent_ns = time.time_ns()
    asking.sendto(request, (host, 0))
    while True:
        try:
            packet, ancillary, _, _ = asking.recvmsg(256, 64)
        except TimeoutError:
            return None
        kind, _, _, _, answer = struct.unpack_from("!BBHHH", packet, 4 * (packet[0] & 15))
        if (kind, answer) == (_ANSWER, number):
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            return (seconds * 10**9 + nanoseconds - sent_ns) / 1e6


def main() -> None:
    """Asks and says."""
    host, count = socket.gethostbyname(sys.argv[1]), int(sys.argv[2])
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as asking:
        asking.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        asking.settimeout(PATIENCE_S)
        for number in range(count):
            took_ms = round_trip_ms(asking, host, number)
            print("no answer" if took_ms is None else f"time={took_ms:.3f} ms", flush=True)  # noqa: T201
            time.sleep(GAP_S)


if __name__ == "__main__":
    main()
