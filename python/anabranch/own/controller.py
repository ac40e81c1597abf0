"""The class that controller applications in Python derive from."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from anabranch._core import (
    ControlledLinks,
    FlowEntry,
    LinkProbe,
    Orders,
    PacketIn,
    RemovedEntry,
    SwitchStatistics,
)
from anabranch.own.network import ControlledNetwork

Ends = Sequence[tuple[int, int]]
"""Where each link begins, and where it ends."""


def _columns(links: ControlledLinks) -> dict[str, Any]:
    """The arrays of a network that may change during a run."""
    return {name: np.array(getattr(links, name)) for name in ("capacity_bps", "delay_s", "loss", "usable")}


class ControllerApplication:
    """An SDN controller, which hears of events, and gives orders. One object for each run.

    Parameters are the fields of a dataclass; a scenario sets them. Orders travel to the switches as
    messages; those of one call are carried out in their order. Switches, links, nodes and flows are numbers.
    """

    network: ControlledNetwork
    """The network as the controller knows it; after a change it is another object."""
    random: random.Random
    """Random numbers: the same in every run of the same seed."""
    timer_s: float | None = None
    """When ``on_timer`` is to be called, once; None: not at all. It may be set in every hook."""
    _orders: Orders

    # What it hears of.

    def start(self) -> None:
        """The network is known: make here what the application keeps. It is too early for orders."""

    def on_packet(self, packet: PacketIn) -> None:
        """A packet has come: nothing in the table of its switch matched it, or an entry said so.

        It is lost unless :meth:`send` is called.
        """
        raise NotImplementedError

    def on_notice(self, packet: PacketIn) -> None:
        """A packet has gone on by an entry with ``tell``."""

    def on_removed(self, entry: RemovedEntry) -> None:
        """An entry has expired, or was evicted."""

    def on_refused(self, now_s: float, switch: int, flow: int) -> None:
        """A full table has refused the entries of a flow."""

    def on_statistics(self, statistics: SwitchStatistics) -> None:
        """A switch has sent its counters; ``controller.statistics_interval`` asks for them."""

    def on_probe(self, probe: LinkProbe) -> None:
        """A probe of :meth:`probe` has come back."""

    def on_network_change(self, now_s: float) -> None:
        """Links or nodes have gone down or come up, or links have other properties; ``network`` is new."""

    def on_timer(self, now_s: float) -> None:
        """The time ``timer_s`` has come; it is None again."""

    # What it orders.

    def add_entries(self, switch: int, entries: Iterable[FlowEntry]) -> None:
        """New entries for the table of a switch; one with the same match takes the place of the old one.

        Raises:
            ValueError: if it is no switch of the controller, or the link of an entry does not leave it.
        """
        self._orders.add_entries(switch, list(entries))

    def add_path(self, flow: int, direction: Literal["forward", "backward"], links: Iterable[int]) -> None:
        """An entry for each switch along the links of a path, for one direction of a flow.

        Raises:
            ValueError: if there is no such link.
        """
        for link in links:
            switch = int(self.network.link_from[link])
            if switch in self.network.switches:
                self.add_entries(switch, [FlowEntry(flow, direction, link)])

    def remove_entries(self, switch: int, flow: int) -> None:
        """All entries of a flow go from a switch.

        Raises:
            ValueError: if it is no switch of the controller.
        """
        self._orders.remove_entries(switch, flow)

    def send(self, link: int, window_bytes: int | None = None) -> None:
        """The packet of :meth:`on_packet` goes back to the switch that this link leaves, and over the link.

        Args:
            link: the link.
            window_bytes: the packet advertises a window of at most so much.

        Raises:
            ValueError: if the link leaves no switch, or there is no packet, or it has been sent.
        """
        self._orders.send(link, window_bytes)

    def probe(self, link: int, number: int = 0) -> None:
        """A probe goes over a link between two switches, and comes back with what it has seen.

        Raises:
            ValueError: if the link is none between two switches.
        """
        self._orders.probe(link, number)

    def _begin(
        self, nodes: Sequence[str], ends: Ends, links: ControlledLinks, switches: list[int], orders: Orders
    ) -> None:
        both = np.array(ends, dtype=np.int64).reshape(-1, 2)
        self.network = ControlledNetwork(
            nodes=tuple(nodes),
            link_from=both[:, 0],
            link_to=both[:, 1],
            switches=frozenset(switches),
            **_columns(links),
        )
        self._orders = orders
        self.start()

    def _follow(self, links: ControlledLinks) -> None:
        self.network = replace(self.network, **_columns(links))
