"""Checks and building blocks that the generators share."""

import math
from dataclasses import dataclass, replace
from typing import Final

from anabranch.topology.error import TopologyError
from anabranch.topology.model import (
    MAX_CAPACITY_BPS,
    MAX_LINKS,
    MAX_NODES,
    NodeKind,
    Topology,
    TopologyLink,
    TopologyNode,
)

QUANTITIES: Final = ("capacity_bps", "delay_ps", "loss")
"""The fields of :class:`LinkQuantities` that are parameters."""

MAX_DELAY_PS: Final = 10**15
"""1000 s, far beyond any network."""


@dataclass(frozen=True, slots=True)
class LinkQuantities:
    """Capacity (bits per second), one-way delay (picoseconds) and loss (probability) of a link.

    None leaves a quantity to the scenario. `prefix` is put before the names in messages.
    Raises TopologyError for values out of range.
    """

    capacity_bps: int | None = None
    delay_ps: int | None = None
    loss: float | None = None
    prefix: str = ""

    def __post_init__(self) -> None:
        check_integer(f"{self.prefix}capacity_bps", self.capacity_bps, 1, MAX_CAPACITY_BPS)
        check_integer(f"{self.prefix}delay_ps", self.delay_ps, 0, MAX_DELAY_PS)
        loss = self.loss
        if loss is None:
            return
        if (
            isinstance(loss, bool)
            or not isinstance(loss, (int, float))
            or not 0.0 <= loss <= 1.0
            or math.isnan(loss)
        ):
            raise TopologyError(
                f"{self.prefix}loss", f"{loss!r} is no probability", "give a number from 0 to 1"
            )

    def link(self, a: str, b: str, label: str | None = None) -> TopologyLink:
        """A duplex link with these quantities."""
        return TopologyLink(
            a, b, capacity_bps=self.capacity_bps, delay_ps=self.delay_ps, loss=self.loss, label=label
        )

    def split(self, parts: int) -> list["LinkQuantities"]:
        """The quantities of each of `parts` links in a row that together behave like one of these.

        Every one has the capacity; the delay is divided, what does not divide going to the first ones; the
        first one has the loss and the others none.
        """
        pieces = []
        for i in range(parts):
            delay_ps = self.delay_ps
            if delay_ps is not None:
                delay_ps = delay_ps // parts + (1 if i < delay_ps % parts else 0)
            loss = self.loss if i == 0 or self.loss is None else 0.0
            pieces.append(replace(self, delay_ps=delay_ps, loss=loss))
        return pieces


def check_integer(name: str, value: int | None, low: int, high: int) -> None:
    """Raise TopologyError unless `value` is an integer within low..high, or None."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise TopologyError(name, f"{value!r} is no integer", f"give an integer from {low} to {high}")
    if not low <= value <= high:
        raise TopologyError(name, f"{value} is out of range", f"give an integer from {low} to {high}")


def check_count(name: str, value: int, low: int = 1) -> None:
    """Raise TopologyError unless `value` is an integer of at least `low` and at most `MAX_NODES`."""
    if value is None:
        raise TopologyError(name, "the value is missing", f"give an integer from {low} to {MAX_NODES}")
    check_integer(name, value, low, MAX_NODES)


def check_size(nodes: int, links: int) -> None:
    """Raise TopologyError, before anything is built, for a network beyond `MAX_NODES` or `MAX_LINKS`."""
    if nodes > MAX_NODES or links > MAX_LINKS:
        raise TopologyError(
            "",
            f"the network would have {nodes} nodes and {links} links",
            f"at most {MAX_NODES} and {MAX_LINKS} are made",
        )


def node_run(prefix: str, count: int, kind: NodeKind) -> list[TopologyNode]:
    """`count` nodes named prefix1, prefix2, ..."""
    return [TopologyNode(f"{prefix}{i}", kind=kind) for i in range(1, count + 1)]


def generated(name: str, nodes: list[TopologyNode], links: list[TopologyLink], sentence: str) -> Topology:
    """The finished topology; `sentence` says what was generated."""
    return Topology(name, tuple(nodes), tuple(links), (sentence,))
