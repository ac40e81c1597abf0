"""Changes of the network at given times."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from anabranch.scenario.network import LinkSelector, Loss, NodeName, NodePair
from anabranch.scenario.quantity import PositiveRate, Span
from anabranch.scenario.queue import Queue
from anabranch.scenario.table import refuse


class Event(LinkSelector):
    """A change of links or of a node at a given time.

    A failing link loses what is queued and in flight on it; a failing node takes all its links with it.
    """

    at: Span
    """When."""
    link: NodePair | None = None
    """The links between these two nodes."""
    node: NodeName | None = None
    """A node, with every link at it."""
    state: Literal["up", "down"] | None = None
    """Fails, or works again."""
    capacity: PositiveRate | None = None
    """New capacity of the link."""
    delay: Span | None = None
    """New propagation delay of the link, for packets sent from then on."""
    loss: Loss | None = None
    """New loss of the link."""
    queue: Queue | None = None
    """New queue of the link; what waits moves into it. Room in time is that at the capacity of this event, or
    of the start; in bandwidth-delay products it needs an ``rtt``."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.link is None) == (self.node is None):
            refuse("link", "give either link or node" + (", not both" if self.link is not None else ""))
        changes = {"capacity": self.capacity, "delay": self.delay, "loss": self.loss, "queue": self.queue}
        if self.state is None and not any(value is not None for value in changes.values()):
            refuse("state", "nothing changes; give state, capacity, delay, loss or queue")
        if self.node is not None:
            for field, value in changes.items():
                if value is not None:
                    refuse(field, 'only a link has one; a node has state = "up" or "down"')
            if self.index is not None or self.direction != "both":
                refuse("index" if self.index is not None else "direction", "only a link has one")
        return self
