"""Changes of the network at given times."""

from __future__ import annotations

from typing import Literal

from anabranch.scenario.network import LinkSelector, Loss, NodeName, NodePair
from anabranch.scenario.quantity import PositiveRate, Span
from anabranch.scenario.queue import Queue
from anabranch.scenario.table import refuse

_OF_LINKS = ("state", "capacity", "delay", "loss", "queue")
_GIVE = {"link": "state, capacity, delay, loss or queue", "node": "state", "address": "state or backup"}
_HAVE = {
    "link": "a link has state, capacity, delay, loss and queue",
    "node": 'a node has state = "up" or "down"',
    "address": 'an address has state = "up" or "down", and backup',
}


class Event(LinkSelector):
    """A change of links, of a node or of an address at a given time; at ``"0 s"`` it is how the run begins.

    A failing link loses what is queued and in flight on it; a failing node takes all its links with it. An
    address comes and goes without its link: the ends of Multipath TCP tell each other of it (RFC 8684).
    """

    at: Span
    """When."""
    link: NodePair | None = None
    """The links between these two nodes."""
    node: NodeName | None = None
    """A node, with every link at it."""
    address: NodePair | None = None
    """The address of the first node on its link to the second. Connections of Multipath TCP heed it whose
    path manager is ``fullmesh``."""
    state: Literal["up", "down"] | None = None
    """Fails, or works again; for an address: its host has it no more, or again."""
    backup: bool | None = None
    """Subflows of the address are backups, which carry data only while no other subflow works; ``false``
    makes them regular ones again (RFC 8684 section 3.3.8)."""
    capacity: PositiveRate | None = None
    """New capacity of the link."""
    delay: Span | None = None
    """New propagation delay of the link, for packets sent from then on."""
    loss: Loss | None = None
    """New loss of the link."""
    queue: Queue | None = None
    """New queue of the link; what waits moves into it. Room in time is that at the capacity of this event, or
    of the start; in bandwidth-delay products it needs an ``rtt``."""

    def _check_together(self) -> None:
        named = [name for name in ("link", "node", "address") if getattr(self, name) is not None]
        if len(named) != 1:
            refuse("link", "give link, node or address" + (", and one of them only" if named else ""))
        subject = named[0]
        has = {"link": _OF_LINKS, "node": ("state",), "address": ("state", "backup")}[subject]
        given = [field for field in (*_OF_LINKS, "backup") if getattr(self, field) is not None]
        if not given:
            refuse("state", f"nothing changes; give {_GIVE[subject]}")
        for field in given:
            if field not in has:
                owner = "an address" if field == "backup" else "a link"
                refuse(field, f"only {owner} has one; {_HAVE[subject]}")
        if self.direction != "both" and subject != "link":
            refuse("direction", "only a link has one")
        if self.index is not None and subject == "node":
            refuse("index", "only a link has one")
