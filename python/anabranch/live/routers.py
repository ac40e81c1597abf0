"""The network between the hosts of a live run: routers of the engine, or others with the same methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import polars as pl

from anabranch import _core
from anabranch.live.hosts import Host
from anabranch.routing import Planned
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup


class Routers(Protocol):
    """The routers of one run, and the links between them."""

    packets: _core.LiveNetwork
    """What carries packets."""
    flows: _core.LiveNetwork
    """What knows the flows of the scenario, with their addresses and ports."""
    one_by_one: bool
    """Whether hosts hand over packets one by one, however fast they are."""

    def joined(self, hosts: Mapping[int, Host], framing: _core.Framing) -> AbstractContextManager[None]:
        """The hosts are at the network while this lasts."""

    def begin(self, begin_ns: int) -> None:
        """The run begins at this time of the monotonic clock."""

    def are_sound(self) -> bool:
        """Whether nothing has failed that the run needs; looked at now and then."""

    def dropped_packets(self) -> int:
        """Packets that devices between hosts have lost because their queues were full."""

    def warnings(self) -> list[str]:
        """Sentences about the run for the user, once it is over.

        Raises:
            LiveError: if something has failed that the run needs.
        """

    def finish(self) -> _core.LiveOutcome:
        """The measurements of the network; the run is over."""

    def tables(self, tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
        """The tables with what only these routers know, and without what they do not."""


class Between(Protocol):
    """A kind of routers."""

    def check(self, scenario: Scenario, setup: Setup) -> None:
        """Makes sure that they can do what a scenario wants, and are there, before anything is made.

        Raises:
            ScenarioError: if they cannot.
            LiveError: if they are not there.
        """

    def routers(self, scenario: Scenario, setup: Setup, carrying: Setup, planned: Planned) -> Routers:
        """The routers of a run.

        Args:
            scenario: what is run.
            setup: its setup.
            carrying: the same, with flows behind its own that carry what programs say.
            planned: routes of all flows.
        """


class OwnRouters:
    """Our own routers, which do whatever a simulation does."""

    def check(self, scenario: Scenario, setup: Setup) -> None:
        """Our own routers refuse no scenario."""

    def routers(self, _scenario: Scenario, _own: Setup, carrying: Setup, planned: Planned) -> Routers:
        """The engine's."""
        return EngineRouters(carrying, planned)


class EngineRouters:
    """The engine as the whole network: it has no devices that could fail, fill up or tell anything."""

    one_by_one = False

    def __init__(self, carrying: Setup, planned: Planned) -> None:
        """Over the routes of a plan."""
        self.packets = self.flows = _core.LiveNetwork(carrying.core(), planned.plan)

    @contextmanager
    def joined(self, hosts: Mapping[int, Host], framing: _core.Framing) -> Iterator[None]:
        """Each host is at its node."""
        for node, host in hosts.items():
            self.packets.attach(node, host.device, host.plan.addresses, framing)
        yield

    def begin(self, begin_ns: int) -> None:
        """The engine's thread has the time already."""

    def are_sound(self) -> bool:
        """A failure of the engine ends its thread."""
        return True

    def dropped_packets(self) -> int:
        """There are no devices."""
        return 0

    def warnings(self) -> list[str]:
        """There is nothing that its tables do not say."""
        return []

    def finish(self) -> _core.LiveOutcome:
        """All tables."""
        return self.packets.finish()

    def tables(self, tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
        """The tables as they are."""
        return tables
