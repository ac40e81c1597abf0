"""Flows by number, as applications know them, and by addresses and ports, as packets have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anabranch import _core
from anabranch.live.switches.controller.frames import FiveTuple, TcpFields
from anabranch.plans.switch_rules import TCP

Direction = Literal["forward", "backward"]


@dataclass(frozen=True, slots=True)
class FlowPacket:
    """A packet of a flow."""

    flow: int
    direction: Direction
    ends: FiveTuple
    pair: tuple[int, int]
    """Nodes that send and receive it."""
    tcp: TcpFields | None

    def header(self) -> _core.PacketHeader:
        """The fields that an application reads in the packet."""
        tcp = self.tcp or TcpFields(syn=False, fin=False, ack=False)
        return (self.flow, self.direction, *self.pair, tcp.syn, tcp.fin, tcp.mss)


class FlowNumbers:
    """Flows of the scenario have their numbers; subflows but the first, and what programs send, come behind.

    The first packet of these goes forward.
    """

    def __init__(self, endpoints: Sequence[Sequence[Any]], owners: Mapping[str, int]) -> None:
        """Of a run.

        Args:
            endpoints: of each flow of the scenario: source and destination of each of its subflows.
            owners: nodes of hosts, by their addresses.
        """
        self._owners = owners
        self._next = len(endpoints)
        self._known: dict[FiveTuple, tuple[int, Direction]] = {}
        self._forward: dict[int, FiveTuple] = {}
        self._ended: set[int] = set()
        for flow, subflows in enumerate(endpoints):
            for place, (source, destination) in enumerate(subflows):
                ends = FiveTuple(TCP, tuple(source), tuple(destination))
                self._add(ends, self._new() if place else flow)

    def _new(self) -> int:
        self._next += 1
        return self._next - 1

    def _add(self, ends: FiveTuple, number: int) -> None:
        self._known[ends] = (number, "forward")
        self._known[ends.reversed()] = (number, "backward")
        self._forward[number] = ends

    def seen(self, frame: bytes) -> FlowPacket | None:
        """The packet in a frame; None for one that is of no two hosts of the run."""
        ends = FiveTuple.of(frame)
        if ends is None:
            return None
        source, to = (self._owners.get(address) for address, _ in (ends.source, ends.destination))
        if source is None or to is None or source == to:
            return None
        tcp = TcpFields.of(frame)
        opens = tcp is not None and tcp.syn and not tcp.ack
        if ends not in self._known or (opens and self._known[ends][0] in self._ended):
            # Ports that are used again are another flow.
            self._add(ends, self._new())
        flow, direction = self._known[ends]
        if tcp is not None and tcp.fin:
            self._ended.add(flow)
        return FlowPacket(flow, direction, ends, (source, to), tcp)

    def ends(self, flow: int, direction: Direction) -> FiveTuple | None:
        """Addresses and ports of a flow; None where neither the scenario nor a packet has told them."""
        forward = self._forward.get(flow)
        return forward.reversed() if forward and direction == "backward" else forward
