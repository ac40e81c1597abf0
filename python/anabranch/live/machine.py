"""The needs of live runs of a machine, looked at before anything is made."""

from __future__ import annotations

import errno
import importlib.util
import os
import socket
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from anabranch.errors import LiveError, installation, reason
from anabranch.live import devices

_TUN = devices.TUN
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_MPTCP = Path("/proc/sys/net/mptcp")
_MODULES = {"bbr": "tcp_bbr", "cubic": "tcp_cubic", "reno": "tcp_reno"}


def check_machine(controls: Iterable[str] = (), *, mptcp: bool = False) -> None:
    """Makes sure that the machine can do a live run.

    Args:
        controls: the kernel's names of the congestion controls that are needed.
        mptcp: whether Multipath TCP is needed.

    Raises:
        LiveError: if something is missing, with what to do about it.
    """
    if not sys.platform.startswith("linux"):
        raise LiveError(f"live runs need Linux, and this is {sys.platform}; anabranch run simulates anywhere")
    if importlib.util.find_spec("pyroute2") is None:
        raise LiveError(f"live runs need the package pyroute2; install it with: {installation('live')}")
    if not _TUN.exists():
        raise LiveError(
            f"live runs need {_TUN}, which is not there; load the module (sudo modprobe tun), or give the "
            "container the device (--device /dev/net/tun)"
        )
    available = _AVAILABLE.read_text().split()
    for control in sorted(set(controls)):
        if control not in available:
            module = _MODULES.get(control, f"tcp_{control}")
            raise LiveError(
                f"the kernel lacks the congestion control {control}; it has {', '.join(available)}. "
                f"Load it (sudo modprobe {module}), or take another transport"
            )
    from anabranch.live.namespace import in_new  # noqa: PLC0415 - needs Linux

    try:
        in_new(lambda namespace: _try(namespace, sorted(set(controls)), mptcp=mptcp))
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES):
            raise LiveError(
                "live runs need root, or a user namespace of your own: run it with sudo, or with "
                "unshare --user --map-root-user --net anabranch live ..."
            ) from None
        raise LiveError(f"the system lets nobody make a network namespace: {reason(error)}") from None


def _try(namespace: int, controls: Iterable[str], *, mptcp: bool) -> None:
    """Tries what a run needs, in a namespace that is gone afterwards."""
    os.close(namespace)
    _try_device()
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as tried:
        for control in controls:
            try:
                tried.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
            except PermissionError:
                raise LiveError(
                    f"the congestion control {control} is not allowed here: it is not in "
                    "net.ipv4.tcp_allowed_congestion_control, and only root may take others; run it as root, "
                    "or take another transport"
                ) from None
    if mptcp:
        _try_mptcp()


def _try_device() -> None:
    try:
        device = devices.opened("", ethernet=False)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES):
            raise LiveError(f"{_TUN} may not be opened; run it with sudo, or let your user open it") from None
        raise LiveError(
            f"{_TUN} cannot be opened: {reason(error)}; load the module (sudo modprobe tun)"
        ) from None
    os.close(device)


def _try_mptcp() -> None:
    from anabranch.live.kernel import IPPROTO_MPTCP  # noqa: PLC0415 - needs Linux

    remedy = "live runs of Multipath TCP need Linux 5.19 or newer with CONFIG_MPTCP"
    if not _MPTCP.is_dir():
        raise LiveError(f"the kernel has no Multipath TCP; {remedy}")
    if not any((_MPTCP / name).exists() for name in ("path_manager", "pm_type")):
        raise LiveError(f"the kernel's Multipath TCP has no path manager in user space; {remedy}")
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP).close()
    except OSError as error:
        raise LiveError(
            f"the kernel opens no connection of Multipath TCP: {reason(error)}; {remedy}"
        ) from None
