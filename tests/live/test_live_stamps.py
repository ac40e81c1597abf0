"""When messages of a controller leave and come, by the system's clock."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from anabranch.live.switches.controller.stamps import StampedSocket

WAIT_S = 0.2
LATE_NS = 50_000_000


@pytest.fixture
def ends() -> Iterator[tuple[StampedSocket, StampedSocket]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
        with near, far:
            for end in (near, far):
                end.settimeout(5.0)
            yield StampedSocket(near), StampedSocket(far)


def test_bytes_came_when_they_were_sent_and_not_when_they_are_read(
    ends: tuple[StampedSocket, StampedSocket],
) -> None:
    near, far = ends
    # Linux may leave the switch to stamps to deferred work (net_enable_timestamp); what comes before that is
    # stamped as it is read.
    time.sleep(WAIT_S)
    left = near.send_stamped(b"abcdefgh" * 2)
    time.sleep(WAIT_S)
    for _ in range(2):
        assert far.recv(8) == b"abcdefgh"
        assert abs(far.came_ns - left) < LATE_NS
    near.sendall(b"later")
    sent = time.monotonic_ns()
    assert far.recv(100) == b"later"
    assert abs(far.came_ns - sent) < LATE_NS


def test_what_does_not_fit_at_once_is_sent_all_the_same(ends: tuple[StampedSocket, StampedSocket]) -> None:
    near, far = ends
    data = bytes(range(256)) * 40_000
    writer = threading.Thread(target=near.send_stamped, args=(data,))
    writer.start()
    got = bytearray()
    while len(got) < len(data):
        got += far.recv(1_000_000)
    writer.join()
    assert got == data


def test_it_has_all_that_a_socket_has(ends: tuple[StampedSocket, StampedSocket]) -> None:
    near, far = ends
    assert near.gettimeout() == 5.0
    near.close()
    assert far.recv(8) == b""
    with pytest.raises(OSError, match="Bad file descriptor"):
        near.send_stamped(b"x")
