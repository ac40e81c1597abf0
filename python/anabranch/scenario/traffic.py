"""Questions to an entry of traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from anabranch.scenario.table import Table

if TYPE_CHECKING:
    from anabranch.scenario.quantity import Rate
    from anabranch.scenario.tables.traffic import (
        MessageApplication,
        PingApplication,
        RateApplication,
        UdpApplication,
    )

MAX_FLOWS = 1_000_000


class KindOfTraffic(Table):
    """Whether flows have connections."""

    unwritten: ClassVar = {"transport": lambda entry: entry.has_datagrams}

    if TYPE_CHECKING:
        application: RateApplication | MessageApplication | PingApplication | UdpApplication | None

    @property
    def has_datagrams(self) -> bool:
        """Whether its packets have no connection."""
        return self.application is not None and self.application.kind in ("ping", "udp")


class BlocksOfReader(Table):
    """The blocks of a reader, which only one with a rate has."""

    unwritten: ClassVar = {"block": lambda reading: reading.rate is None}

    if TYPE_CHECKING:
        rate: Rate | None
