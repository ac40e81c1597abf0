"""Multipath TCP's path manager in user space: it opens as many subflows as are wanted, between any ports."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any

from anabranch.live.hosts import Host
from anabranch.live.namespace import enter

_FAMILY = "mptcp_pm"
_EVENTS = "mptcp_pm_events"
_SET_FLAGS, _REMOVE, _SUBFLOW_CREATE, _SUBFLOW_DESTROY = 7, 9, 10, 11
_SUBFLOW_FLAG, _BACKUP_FLAG = 2, 4
_VERSION = 1
_NESTED = 0x8000
_AF_INET = 2

End = tuple[str, int]


class PathManager:
    """The path manager of a host.

    It has a thread of its own in the host's namespace: netlink's sockets belong to a thread. While it is
    open, the host accepts subflows, too: the kernel refuses them where nobody listens to the events of its
    connections.
    """

    def __init__(self, host: Host) -> None:
        """Opens it.

        Raises:
            OSError: if the kernel has no path manager in user space.
        """
        self._thread = ThreadPoolExecutor(1, "path manager")
        self._sockets = ExitStack()
        try:
            self._do(partial(self._open, host.namespace))
        except BaseException:
            self.close()
            raise

    def _open(self, namespace: int) -> None:
        from pyroute2.netlink.generic import GenericNetlinkSocket  # noqa: PLC0415 - only live runs have it

        enter(namespace)
        # Nobody reads the events; among them no answer would be found.
        self._netlink, events = (self._sockets.enter_context(GenericNetlinkSocket()) for _ in range(2))
        for opened in (self._netlink, events):
            opened.bind(_FAMILY, _message_class())
        events.add_membership(_EVENTS)

    def _do(self, work: Callable[[], None]) -> None:
        """Works in the thread."""
        try:
            self._thread.submit(work).result()
        except Exception as error:
            if (number := getattr(error, "code", None)) is not None:
                raise OSError(number, str(error)) from error
            raise

    def create_subflow(
        self, token: int, identifier: int, source: End, destination: End, *, is_backup: bool = False
    ) -> None:
        """Opens a subflow of the connection with this token, from a port to a port.

        Args:
            token: the connection's.
            identifier: of the source's address, 1 to 255, another one for each port.
            source: address and port here.
            destination: address and port there.
            is_backup: whether it carries data only while no other one works (RFC 8684 section 3.3.8).

        Raises:
            OSError: if the kernel refuses: ENOTCONN, if the connection has not had an acknowledgment yet.
        """
        flags = _SUBFLOW_FLAG | (_BACKUP_FLAG if is_backup else 0)
        self._send(_SUBFLOW_CREATE, token, _address(source, identifier, flags), destination)

    def set_backup(self, token: int, source: End, destination: End, *, is_backup: bool) -> None:
        """Makes a subflow that is open a backup or a regular one, and tells the other end (MP_PRIO).

        Raises:
            OSError: if the kernel refuses: ESRCH or EINVAL, if there is no such subflow.
        """
        local = _address(source, None, _BACKUP_FLAG if is_backup else 0)
        self._send(_SET_FLAGS, token, local, destination)

    def destroy_subflow(self, token: int, source: End, destination: End) -> None:
        """Closes a subflow, which is reset.

        Raises:
            OSError: if the kernel refuses: ESRCH, if there is no such subflow.
        """
        self._send(_SUBFLOW_DESTROY, token, _address(source, None, None), destination)

    def remove_address(self, token: int, identifier: int) -> None:
        """Tells the other end that an address is gone (REMOVE_ADDR, RFC 8684 section 3.4.2).

        Raises:
            OSError: if the kernel refuses: EINVAL, if there is no address of that identifier.
        """
        message = _message_class()()
        message["cmd"], message["version"] = _REMOVE, _VERSION
        message["attrs"] = [("MPTCP_PM_ATTR_TOKEN", token), ("MPTCP_PM_ATTR_LOC_ID", identifier)]
        self._do(partial(self._request, message))

    def _send(self, command: int, token: int, local: dict[str, Any], destination: End) -> None:
        message = _message_class()()
        message["cmd"], message["version"] = command, _VERSION
        message["attrs"] = [
            ("MPTCP_PM_ATTR_ADDR", local, _NESTED),
            ("MPTCP_PM_ATTR_TOKEN", token),
            ("MPTCP_PM_ATTR_ADDR_REMOTE", _address(destination, None, None), _NESTED),
        ]
        self._do(partial(self._request, message))

    def _request(self, message: Any) -> None:
        request, acknowledge = 1, 4
        netlink = self._netlink
        tuple(netlink.nlm_request(message, msg_type=netlink.prid, msg_flags=request | acknowledge))

    def close(self) -> None:
        """Closes the path manager; the host accepts no further subflows."""
        self._do(self._sockets.close)
        self._thread.shutdown()


def _address(end: End, identifier: int | None, flags: int | None) -> dict[str, Any]:
    attributes: list[tuple[str, Any]] = [
        ("MPTCP_PM_ADDR_ATTR_FAMILY", _AF_INET),
        ("MPTCP_PM_ADDR_ATTR_ADDR4", end[0]),
        ("MPTCP_PM_ADDR_ATTR_PORT", end[1]),
    ]
    if identifier is not None:
        attributes.append(("MPTCP_PM_ADDR_ATTR_ID", identifier))
    if flags is not None:
        attributes.append(("MPTCP_PM_ADDR_ATTR_FLAGS", flags))
    return {"attrs": attributes}


def _message_class() -> Any:
    """The messages of the path manager: pyroute2 has those up to the limits of the one in the kernel."""
    from pyroute2.netlink.generic.mptcp import mptcp_msg  # noqa: PLC0415 - only live runs have it

    class PathManagerMessage(mptcp_msg):  # type: ignore[misc]
        nla_map = (
            *mptcp_msg.nla_map,
            ("MPTCP_PM_ATTR_TOKEN", "uint32"),
            ("MPTCP_PM_ATTR_LOC_ID", "uint8"),
            ("MPTCP_PM_ATTR_ADDR_REMOTE", "pm_addr"),
        )

    return PathManagerMessage
