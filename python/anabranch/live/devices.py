"""TUN and TAP devices: open files of this process, which the kernel removes with it, however it ends."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any

TUN = Path("/dev/net/tun")
MTU = 1500
LARGEST_MTU = 65_521
"""Of a TAP device: 65535 less the header of Ethernet."""

_TUNSETIFF = 0x4004_54CA
_TUNSETOFFLOAD = 0x4004_54D0
_TUNSETCARRIER = 0x4004_54E2
_IFF_TUN = 0x0001
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_IFF_VNET_HDR = 0x4000
# Checksums and trains of TCP over IPv4 are left to the device.
_CHECKSUM_AND_TRAINS = 0x01 | 0x02
# What a burst of a window of 100 MB needs.
_QUEUE = 10_000
# A train is an IP packet, and has to fit into a frame of the largest MTU.
_LARGEST_TRAIN = 65_000


def opened(name: str, *, ethernet: bool, trains: bool = False) -> int:
    """Makes a device in the namespace of the calling thread; the open file that it lives by.

    Args:
        name: of the device; the kernel chooses one if it is empty.
        ethernet: whether it speaks frames (TAP), or packets of IP (TUN).
        trains: whether it has a header before each packet, and carries trains of segments.

    Raises:
        OSError: if the system does not let us.
    """
    device = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        kind = _IFF_TAP if ethernet else _IFF_TUN
        flags = kind | _IFF_NO_PI | (_IFF_VNET_HDR if trains else 0)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
        if trains:
            fcntl.ioctl(device, _TUNSETOFFLOAD, _CHECKSUM_AND_TRAINS)
    except BaseException:
        os.close(device)
        raise
    return device


def set_up(netlink: Any, name: str, *, mtu: int = MTU, train_segments: int | None = None) -> int:
    """Lets a device carry packets; its index.

    Args:
        netlink: of pyroute2, in the namespace of the device.
        name: of the device.
        mtu: longest packet in bytes.
        train_segments: most segments that the kernel hands to it at once; None for a device without trains.
    """
    (index,) = netlink.link_lookup(ifname=name)
    trains = {}
    if train_segments is not None:
        trains = {"gso_max_segs": train_segments, "gso_max_size": _LARGEST_TRAIN}
    netlink.link("set", index=index, mtu=mtu, txqlen=_QUEUE, state="up", **trains)
    return int(index)


def set_carrier(device: int, *, up: bool) -> None:
    """Whether a device has light, as the end of a link that fails has none."""
    fcntl.ioctl(device, _TUNSETCARRIER, struct.pack("i", int(up)))


def dropped_packets(names: Collection[str]) -> int:
    """Packets that devices of the calling thread's namespace have lost because their queues were full."""
    from pyroute2 import IPRoute  # noqa: PLC0415 - only live runs have it

    with IPRoute() as netlink:
        devices = {link.get_attr("IFLA_IFNAME"): link for link in netlink.get_links()}
        counters = [devices[name].get_attr("IFLA_STATS64") for name in names if name in devices]
    return sum(int(counts["tx_dropped"]) for counts in counters)
