"""Addresses of real hosts that come and go, and become backups, as events of the scenario say."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from anabranch.live.path_manager import End, PathManager
from anabranch.scenario.leaves import AddressChange, BackupChange
from anabranch.setup import Setup

_PS_PER_S = 1e12
_GONE = (errno.ESRCH, errno.EINVAL, errno.ENOTCONN, errno.ENOENT)
"""What the kernel says of a subflow that is not there, or no more."""


@dataclass(frozen=True, slots=True)
class AddressEvent:
    """A change of an address that a connection uses."""

    time_s: float
    address: str
    at_source: bool
    """Whether it is one of the host that sends."""
    is_backup: bool | None = None
    """Whether its subflows are backups from then on; None: as before."""
    is_up: bool | None = None
    """Whether the host has it from then on; None: as before."""


def address_events(
    setup: Setup, flow: int, address_at: Callable[[int, int], str | None]
) -> tuple[AddressEvent, ...]:
    """The changes of addresses of a connection of Multipath TCP, in their order.

    Args:
        setup: with the events.
        flow: the connection's number.
        address_at: the address of a flow at a link, which begins at its host; None if it has none there.
    """
    source = setup.flows.origin[flow]
    events = []
    for event in setup.events:
        change = event.change
        if not isinstance(change, AddressChange | BackupChange):
            continue
        if (address := address_at(flow, change.link)) is None:
            continue
        at_source = bool(setup.links[change.link].origin == source)
        is_backup = change.backup if isinstance(change, BackupChange) else None
        is_up = change.up if isinstance(change, AddressChange) else None
        events.append(AddressEvent(event.at / _PS_PER_S, address, at_source, is_backup, is_up))
    return tuple(events)


@dataclass
class Addresses:
    """The state of the addresses of a connection."""

    ends: Sequence[tuple[End, End]]
    """Of each subflow: source and destination."""
    ends_anew: Sequence[tuple[End, End]]
    """Of those that begin anew where one was closed, with another port, as in the simulation.

    The connection keeps the first one's for good, and the other host may not have heard that one is gone.
    """
    backups: set[str] = field(default_factory=set)
    """Addresses whose subflows are backups."""
    gone: set[str] = field(default_factory=set)
    """Addresses that their host does not have."""
    is_first_closed: bool = False
    """Whether the subflow that the connection began with was closed; one in its place joins as others do."""

    def note(self, event: AddressEvent) -> None:
        """Keeps what an event changes."""
        if event.is_backup is not None:
            (self.backups.add if event.is_backup else self.backups.discard)(event.address)
        if event.is_up is not None:
            (self.gone.discard if event.is_up else self.gone.add)(event.address)

    def is_backup(self, subflow: int) -> bool:
        """Whether a subflow is one, by the address at either end."""
        return any(end[0] in self.backups for end in self.ends[subflow])

    def began_with(self, subflow: int) -> bool:
        """Whether the connection began with a subflow, so that it does not join."""
        return subflow == 0 and not self.is_first_closed

    def close(self, subflow: int) -> None:
        """Notes that a subflow is closed: the next one in its place begins anew."""
        ends = list(self.ends)
        ends[subflow] = self.ends_anew[subflow]
        self.ends = ends
        self.is_first_closed |= subflow == 0

    def identifier(self, subflow: int) -> int:
        """Under which identifier the source of a subflow is known.

        0 is that of the address that the connection began with (RFC 8684 section 3.1). The kernel opens none
        under it.
        """
        return subflow if subflow or self.began_with(subflow) else len(self.ends)

    def may_open(self, subflow: int) -> bool:
        """Whether the hosts have the addresses of a subflow."""
        return not any(end[0] in self.gone for end in self.ends[subflow])

    def of(self, event: AddressEvent) -> list[int]:
        """The subflows that an event is about."""
        place = 0 if event.at_source else 1
        return [number for number, ends in enumerate(self.ends) if ends[place][0] == event.address]


def apply(event: AddressEvent, addresses: Addresses, manager: PathManager, token: int) -> list[int]:
    """Does what an event says to the open subflows of a connection, at the host of the address.

    Args:
        event: what changes.
        addresses: the state behind it.
        manager: of the host whose address it is.
        token: of the connection at that host.

    Returns:
        The subflows that are to be opened, at the host that sends.
    """
    for number in addresses.of(event):
        source, destination = addresses.ends[number]
        ends = (source, destination) if event.at_source else (destination, source)
        if event.is_backup is not None:
            _unless_gone(manager.set_backup, token, *ends, is_backup=event.is_backup)
        elif event.is_up is False:
            # The other end hears of it on another subflow: on this one nothing may arrive.
            if event.at_source:
                _unless_gone(manager.remove_address, token, addresses.identifier(number))
            _unless_gone(manager.destroy_subflow, token, *ends)
            addresses.close(number)
    if not event.is_up:
        return []
    return [
        number
        for number in addresses.of(event)
        if not addresses.began_with(number) and addresses.may_open(number)
    ]


def _unless_gone(work: Callable[..., None], *arguments: object, **options: object) -> None:
    """Asks the kernel for something that a subflow that is gone does not need."""
    try:
        work(*arguments, **options)
    except OSError as error:
        if error.errno not in _GONE:
            raise
