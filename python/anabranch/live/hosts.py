"""The hosts of a live run: a network namespace with a TUN device each.

Nothing has a name outside: namespaces and devices are open files of this process, and the kernel removes them
with it, however it ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from anabranch.live import devices
from anabranch.live.namespace import in_new, inside

DEVICE = "net0"
"""Name of the device in each host."""

_SYSCTLS = Path("/proc/sys/net")
_DEFAULT_BUFFER = 131_072
_SMALLEST_BUFFER = 4096
_MOST_AT_LEAST = 255
"""What the kernel takes for the least number of segments of a train."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HostPlan:
    """The properties that a host is to have."""

    node: int
    name: str
    addresses: tuple[str, ...]
    receive_buffer_bytes: int
    """Largest one that TCP may tune itself to."""
    send_buffer_bytes: int
    asks_for_ecn: bool
    path_manager: bool
    """Whether subflows of Multipath TCP are opened from here."""
    train_segments: int | None = None
    """Most segments that it hands to the network at once; None in a run without trains."""
    hands_over_segments: bool = False
    """Whether it leaves it to the network to cut what it sends into segments."""


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
        trains = self.plan.train_segments is not None or self.plan.hands_over_segments
        self.device = devices.opened(DEVICE, ethernet=False, trains=trains)
        self._files.callback(os.close, self.device)
        for name, value in _sysctls(self.plan):
            (_SYSCTLS / name).write_text(value)
        _configure(self.plan)

    def inside(self, work: Callable[[], T]) -> T:
        """Works in the namespace; sockets that are made there stay there."""
        return inside(self.namespace, work)

    def dropped_packets(self) -> int:
        """Packets that the device has lost because its queue was full."""
        return self.inside(lambda: devices.dropped_packets([DEVICE]))

    def close(self) -> None:
        """Removes namespace and device, unless a program still runs there."""
        self._files.close()


def _configure(plan: HostPlan) -> None:
    from pyroute2 import IPRoute  # noqa: PLC0415 - only live runs have it

    with IPRoute() as netlink:
        (loopback,) = netlink.link_lookup(ifname="lo")
        netlink.link("set", index=loopback, state="up")
        device = devices.set_up(netlink, DEVICE, train_segments=plan.train_segments)
        for address in plan.addresses:
            netlink.addr("add", index=device, address=address, prefixlen=32)
        # Everything goes to the relay, which knows who is there, and drops the rest.
        netlink.route("add", dst="0.0.0.0/0", oif=device, prefsrc=plan.addresses[0])


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
    if plan.train_segments is not None:
        # The kernel's own trains last a millisecond of the flow's rate, two segments at least.
        yield "ipv4/tcp_min_tso_segs", str(min(plan.train_segments, _MOST_AT_LEAST))
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
        yield {plan.node: stack.enter_context(closing(Host(plan))) for plan in plans}
