"""The hosts of a live run: a network namespace with a TUN device each.

Nothing has a name outside: namespaces and devices are open files of this process, and the kernel removes them
with it, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from anabranch.live.namespace import in_new, inside

DEVICE = "net0"
"""Name of the device in each host."""
MTU = 1500

_TUN = "/dev/net/tun"
_TUNSETIFF = 0x4004_54CA
_IFF_TUN = 0x0001
_IFF_NO_PI = 0x1000
# What a burst of a window of 100 MB needs.
_DEVICE_QUEUE = 10_000
_SYSCTLS = Path("/proc/sys/net")
_DEFAULT_BUFFER = 131_072
_SMALLEST_BUFFER = 4096

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HostPlan:
    """What a host is to be."""

    node: int
    name: str
    addresses: tuple[str, ...]
    receive_buffer_bytes: int
    """Largest one that TCP may tune itself to."""
    send_buffer_bytes: int
    asks_for_ecn: bool
    path_manager: bool
    """Whether subflows of Multipath TCP are opened from here."""


class Host:
    """A namespace and its device."""

    def __init__(self, plan: HostPlan) -> None:
        """Makes both.

        Raises:
            OSError: if the system does not let us.
        """
        self.plan = plan
        self._files = ExitStack()
        try:
            in_new(self._build)
        except BaseException:
            self.close()
            raise

    def _build(self, namespace: int) -> None:
        self.namespace = namespace
        self._files.callback(os.close, namespace)
        self.device = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._files.callback(os.close, self.device)
        request = struct.pack("16sH22x", DEVICE.encode(), _IFF_TUN | _IFF_NO_PI)
        fcntl.ioctl(self.device, _TUNSETIFF, request)
        for name, value in _sysctls(self.plan):
            (_SYSCTLS / name).write_text(value)
        _configure(self.plan.addresses)

    def inside(self, work: Callable[[], T]) -> T:
        """Works in the namespace; sockets that are made there stay there."""
        return inside(self.namespace, work)

    def dropped_packets(self) -> int:
        """Packets that the device has lost because its queue was full."""

        def look() -> int:
            from pyroute2 import IPRoute  # noqa: PLC0415 - only live runs have it

            with IPRoute() as netlink:
                (link,) = netlink.get_links(ifname=DEVICE)
                return int(link.get_attr("IFLA_STATS64")["tx_dropped"])

        return self.inside(look)

    def close(self) -> None:
        """Removes namespace and device, unless a program still runs there."""
        self._files.close()


def _configure(addresses: Sequence[str]) -> None:
    from pyroute2 import IPRoute  # noqa: PLC0415 - only live runs have it

    with IPRoute() as netlink:
        (loopback,) = netlink.link_lookup(ifname="lo")
        (device,) = netlink.link_lookup(ifname=DEVICE)
        netlink.link("set", index=loopback, state="up")
        netlink.link("set", index=device, mtu=MTU, txqlen=_DEVICE_QUEUE, state="up")
        for address in addresses:
            netlink.addr("add", index=device, address=address, prefixlen=32)
        # Everything goes to the relay, which knows who is there, and drops the rest.
        netlink.route("add", dst="0.0.0.0/0", oif=device, prefsrc=addresses[0])


def _sysctls(plan: HostPlan) -> Iterator[tuple[str, str]]:
    """Settings of a host, all of its own namespace."""
    # Else the slow start threshold of a run comes from the one before.
    yield "ipv4/tcp_no_metrics_save", "1"
    yield "ipv6/conf/all/disable_ipv6", "1"
    yield "ipv6/conf/default/disable_ipv6", "1"
    yield "ipv4/conf/all/rp_filter", "0"
    yield f"ipv4/conf/{DEVICE}/rp_filter", "0"
    # What the scenario's own ports must not meet.
    yield "ipv4/ip_local_port_range", "32768 49151"
    yield "ipv4/tcp_ecn", "1" if plan.asks_for_ecn else "2"
    for name, largest in (("rmem", plan.receive_buffer_bytes), ("wmem", plan.send_buffer_bytes)):
        start = 16_384 if name == "wmem" else _DEFAULT_BUFFER
        yield f"ipv4/tcp_{name}", f"{_SMALLEST_BUFFER} {min(start, largest)} {largest}"
    if plan.path_manager:
        # The newer name came with Linux 6.15.
        newer = _SYSCTLS / "mptcp/path_manager"
        yield ("mptcp/path_manager", "userspace") if newer.exists() else ("mptcp/pm_type", "1")


@contextmanager
def hosts_of(plans: Iterable[HostPlan]) -> Iterator[dict[int, Host]]:
    """All hosts of a run, by node; they go at the end of the block."""
    with ExitStack() as stack:
        made: dict[int, Host] = {}
        for plan in plans:
            host = Host(plan)
            stack.callback(host.close)
            made[plan.node] = host
        yield made
