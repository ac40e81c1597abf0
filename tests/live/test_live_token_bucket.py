"""Token buckets beside the kernel's tbf, and links of testbeds between real hosts."""

import os
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from live_scenarios import LiveRun, paths

import anabranch
from anabranch import Scenario
from anabranch.live import namespace

RATE_MBPS, BURST_BYTES, LATENCY_MS = 5, 20_480, 500
ETHERNET = 14
"""Bytes of a frame's header, which the kernel's buckets count and ours do not."""

_SO_TIMESTAMPNS, _SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 35, 32, 33
"""Options of Linux that Python has no name for: each packet comes with the time at which the kernel had it;
buffers are as large as root wants them."""

pytestmark = pytest.mark.usefixtures("can_run")


@pytest.fixture
def behind_tbf() -> Iterator[tuple[int, int]]:
    """Two namespaces, 10.9.0.1 and 10.9.0.2, and tbf in front of the link from the first to the second."""
    ends = (namespace.in_new(lambda ours: ours), namespace.in_new(lambda ours: ours))

    def command(end: int, line: str) -> None:
        subprocess.run(  # noqa: S603 - our own
            ["nsenter", f"--net=/proc/{os.getpid()}/fd/{end}", "--", *line.split()],  # noqa: S607
            check=True,
            capture_output=True,
            text=True,
        )

    try:
        command(ends[0], f"ip link add va type veth peer name vb netns /proc/{os.getpid()}/fd/{ends[1]}")
        for number, (end, device) in enumerate(zip(ends, ("va", "vb"), strict=True), start=1):
            command(end, f"ip address add 10.9.0.{number}/24 dev {device}")
            command(end, f"ip link set {device} up")
        bucket = f"rate {RATE_MBPS}mbit burst {BURST_BYTES} latency {LATENCY_MS}ms"
        try:
            command(ends[0], f"tc qdisc add dev va root tbf {bucket}")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"not here: tbf: {error.stderr.strip()}")
        yield ends
    finally:
        for end in ends:
            os.close(end)


def bound(end: int, kind: socket.SocketKind, address: str, port: int) -> socket.socket:
    """A socket of an address in a namespace."""

    def made() -> socket.socket:
        outcome = socket.socket(socket.AF_INET, kind)
        outcome.bind((address, port))
        return outcome

    return namespace.inside(end, made)


def arrived_s(receiver: socket.socket) -> float:
    """When the kernel had the next packet, since 1970."""
    _, ((_, _, stamp), *_), _, _ = receiver.recvmsg(2048, socket.CMSG_SPACE(16))
    seconds, nanoseconds = struct.unpack("@ll", stamp)
    return float(seconds + nanoseconds / 1e9)


def shaped(application: dict[str, Any], packet_bytes: int, **more: Any) -> Scenario:
    """The same in a simulation: rate, burst and room are of IP packets, 14 bytes of each less than tbf's."""
    part = packet_bytes / (packet_bytes + ETHERNET)
    room = part * (RATE_MBPS * 1e6 / 8 * LATENCY_MS / 1e3 + BURST_BYTES)
    shaper = {"rate": f"{RATE_MBPS * 1e6 * part:.0f} bps", "burst": f"{BURST_BYTES * part:.0f} B"}
    return Scenario.from_data(
        {
            "network": {
                "topology": "line",
                "parameters": {"capacity": "10 Gbps", "delay": "10 us"},
                "links": {"shaper": shaper, "queue": f"{room:.0f} B"},
            },
            "traffic": [{"from": "source", "to": "sink", **application}],
            "run": {"duration": "4 s", **more},
        }
    )


def test_a_burst_leaves_tbf_as_it_leaves_our_shaper(behind_tbf: tuple[int, int]) -> None:
    """200 packets of 1,000 B at once: those that the burst holds arrive at once, the others at the rate."""
    packets, payload = 200, 972
    sender = bound(behind_tbf[0], socket.SOCK_DGRAM, "10.9.0.1", 0)
    receiver = bound(behind_tbf[1], socket.SOCK_DGRAM, "10.9.0.2", 5001)
    # What waits in tbf still counts as the sender's.
    sender.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, 1 << 22)
    receiver.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 22)
    receiver.settimeout(1)
    receiver.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    with sender, receiver:
        sender.sendto(b"the way is known", ("10.9.0.2", 5001))
        receiver.recv(2048)
        time.sleep(0.3)
        begun = time.time()
        for _ in range(packets):
            sender.sendto(bytes(payload), ("10.9.0.2", 5001))
        sent_s = time.time() - begun
        arrivals = [arrived_s(receiver) for _ in range(packets)]
    # By arithmetic: packet n leaves when 20,480 B and 5 Mbps t have n frames of 1,014 B.
    expected_ms = [(number * 1014 - BURST_BYTES) * 8 / (RATE_MBPS * 1e3) for number in range(1, packets + 1)]
    if 1e3 * sent_s > expected_ms[-1] / 2:
        pytest.skip(f"by chance: the machine took {sent_s:.3f} s to send {packets} packets")
    late = [1e3 * (at - begun) for at in arrivals]
    assert all(ms >= least - 0.5 for ms, least in zip(late, expected_ms, strict=True)), "more than the bucket"
    # What it has saved is 20 packets, which do not wait.
    assert late[19] < 1e3 * sent_s + 10
    application = {
        "application": {"kind": "udp", "rate": "10 Gbps", "packet": "1000 B"},
        "stop": f"{packets * 800} ns",
    }
    flow = anabranch.run(shaped(application, 1000)).datagram_flows.row(0, named=True)
    assert flow["received"] == packets
    assert flow["latency_max_ms"] == pytest.approx(expected_ms[-1], abs=0.3)
    assert late[-1] == pytest.approx(flow["latency_max_ms"], rel=0.02)


def test_a_transfer_has_the_rate_of_tbf_and_of_our_shaper(behind_tbf: tuple[int, int]) -> None:
    listener = bound(behind_tbf[1], socket.SOCK_STREAM, "10.9.0.2", 5002)
    listener.listen()
    counted: list[int] = []

    def receive() -> None:
        connection, _ = listener.accept()
        with connection:
            begin, total = time.monotonic(), 0
            while (now := time.monotonic() - begin) < 4:
                size = len(connection.recv(65_536))
                total += size if now >= 1 else 0
            counted.append(total)

    def send() -> None:
        with socket.create_connection(("10.9.0.2", 5002)) as connection:
            try:
                while True:
                    connection.sendall(bytes(65_536))
            except OSError:
                return

    with listener:
        threads = [
            threading.Thread(target=receive),
            threading.Thread(target=lambda: namespace.inside(behind_tbf[0], send)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    kernel_mbps = counted[0] * 8 / 3 / 1e6
    application = {"size": "unlimited", "transport": "linux-cubic"}
    series = anabranch.run(shaped(application, 1500, flow_series=True)).flow_series
    simulated_mbps = series.filter(series["time_s"] > 1)["goodput_mbps"].mean()
    # 1,448 B of payload in 1,514 B on Ethernet.
    assert simulated_mbps == pytest.approx(RATE_MBPS * 1448 / 1514, rel=0.01)
    assert kernel_mbps == pytest.approx(simulated_mbps, rel=0.03)


def test_links_of_testbeds_carry_the_packets_of_real_hosts(live_run: LiveRun) -> None:
    """A shaped link that reorders, duplicates and damages: kernels see all of it, and the books close."""
    scenario = paths("20 Mbps", [10], [{"transport": "linux-cubic"}], run={"duration": "4 s"})
    settings = {
        "shaper": {"rate": "8 Mbps", "burst": "30 kB"},
        "reorder": {"probability": 0.02},
        "duplicate": 0.05,
        "corrupt": 0.001,
    }
    scenario = scenario.replace({f"network.links.{name}": value for name, value in settings.items()})
    result = live_run(scenario)
    flow = result.flows.row(0, named=True)
    links = result.links
    assert flow["hosts"] == "kernel"
    assert links["duplicated_packets"].sum() > 50
    assert links["reordered_packets"].sum() > 10
    assert flow["duplicates_received"] > 20
    assert flow["drops_corrupted"] <= links["corrupted_packets"].sum()
    sent = flow["packets_received"] + flow["duplicates_received"] + flow["drops_data"]
    assert flow["segments_sent"] + flow["duplicated_packets"] == sent + flow["packets_in_flight"]
    # The shaper bounds what passes, in 4 s and a burst.
    assert links["bytes"].max() <= 8e6 / 8 * 4 + 30_000
    assert flow["goodput_mbps"] > 2
