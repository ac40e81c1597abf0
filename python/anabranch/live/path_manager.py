"""Multipath TCP's path manager in user space: it opens as many subflows as are wanted, between any ports."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from anabranch.live.hosts import Host

_FAMILY = "mptcp_pm"
_EVENTS = "mptcp_pm_events"
_SUBFLOW_CREATE = 10
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
        self._orders: queue.SimpleQueue[Callable[[Any], None] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=host.inside, args=(self._serve,), name="path manager", daemon=True
        )
        self._thread.start()
        self._wait()

    def _serve(self) -> None:
        try:
            from pyroute2.netlink.generic import GenericNetlinkSocket  # noqa: PLC0415 - only live runs have it

            # Nobody reads the events; among them no answer would be found.
            with GenericNetlinkSocket() as netlink, GenericNetlinkSocket() as events:
                for opened in (netlink, events):
                    opened.bind(_FAMILY, _message_class())
                events.add_membership(_EVENTS)
                self._answers.put(None)
                while (order := self._orders.get()) is not None:
                    try:
                        order(netlink)
                        self._answers.put(None)
                    except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
                        self._answers.put(error)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self._answers.put(error)

    def _wait(self) -> None:
        error = self._answers.get()
        if error is None:
            return
        if (number := getattr(error, "code", None)) is not None:
            raise OSError(number, str(error)) from error
        raise error

    def create_subflow(self, token: int, identifier: int, source: End, destination: End) -> None:
        """Opens a subflow of the connection with this token, from a port to a port.

        Args:
            token: the connection's.
            identifier: of the source's address, 1 to 255, another one for each port.
            source: address and port here.
            destination: address and port there.

        Raises:
            OSError: if the kernel refuses: ENOTCONN, if the connection has not had an acknowledgment yet.
        """

        def order(netlink: Any) -> None:
            message = _message_class()()
            message["cmd"], message["version"] = _SUBFLOW_CREATE, _VERSION
            message["attrs"] = [
                ("MPTCP_PM_ATTR_ADDR", _address(source, identifier), _NESTED),
                ("MPTCP_PM_ATTR_TOKEN", token),
                ("MPTCP_PM_ATTR_ADDR_REMOTE", _address(destination, None), _NESTED),
            ]
            request, acknowledge = 1, 4
            tuple(netlink.nlm_request(message, msg_type=netlink.prid, msg_flags=request | acknowledge))

        self._orders.put(order)
        self._wait()

    def close(self) -> None:
        """Closes it; the host accepts no further subflows."""
        self._orders.put(None)
        self._thread.join()


def _address(end: End, identifier: int | None) -> dict[str, Any]:
    subflow_flag = 2
    attributes: list[tuple[str, Any]] = [
        ("MPTCP_PM_ADDR_ATTR_FAMILY", _AF_INET),
        ("MPTCP_PM_ADDR_ATTR_ADDR4", end[0]),
        ("MPTCP_PM_ADDR_ATTR_PORT", end[1]),
    ]
    if identifier is not None:
        attributes += [("MPTCP_PM_ADDR_ATTR_ID", identifier), ("MPTCP_PM_ADDR_ATTR_FLAGS", subflow_flag)]
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
