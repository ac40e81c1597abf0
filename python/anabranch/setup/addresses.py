"""Addresses of hosts that come and go during a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from anabranch.scenario.algorithms.protocol import MptcpProtocol
from anabranch.scenario.event import Event
from anabranch.scenario.leaves import AddressChange, BackupChange
from anabranch.scenario.network import LinkSelector
from anabranch.scenario.quantity import quoted
from anabranch.setup.flow_columns import FlowSetup
from anabranch.setup.model import TransportSetup
from anabranch.setup.network import ResolvedNetwork
from anabranch.setup.problems import Problems


def address_changes(event: Event, place: str, network: ResolvedNetwork) -> list[AddressChange | BackupChange]:
    """What changes with an event about an address, as the engine reads it; an unknown one is noted."""
    changes: list[AddressChange | BackupChange] = []
    for link in _links(event, place, network):
        if event.backup is not None:
            changes.append(BackupChange(link=link, backup=event.backup))
        if event.state is not None:
            # Last: an address that comes up comes up with its new priority.
            changes.append(AddressChange(link=link, up=event.state == "up"))
    return changes


def _links(event: Event, place: str, network: ResolvedNetwork) -> list[int]:
    """The links by which packets leave the host from the address."""
    selector = LinkSelector(index=event.index, direction="forward")
    return network.links_between(event.address or [], selector, f"{place}.address")


class Addresses:
    """Who looks at the addresses of a host."""

    def __init__(
        self,
        network: ResolvedNetwork,
        flows: Sequence[FlowSetup],
        transports: Sequence[TransportSetup],
        problems: Problems,
    ) -> None:
        self._network = network
        self._problems = problems
        self._transports = transports
        self._flows = flows

    @cached_property
    def _used(self) -> dict[int, set[int]]:
        """The transports of each node's connections."""
        used: dict[int, set[int]] = defaultdict(set)
        for flow in self._flows:
            for node in (flow.origin, flow.to):
                used[node].add(flow.transport)
        return used

    def check(self, event: Event, place: str) -> None:
        """Notes an event about an address at which no connection looks."""
        links = [] if event.address is None else _links(event, place, self._network)
        if not links:
            return
        link = self._network.links[links[0]]
        if self._looks(link.origin):
            return
        host, neighbour = (self._network.nodes[node].name for node in (link.origin, link.to))
        nobody = f"no connection of {quoted(host)} looks at its addresses"
        if self._looks(link.to):
            remedy = f"name the host first, and then its neighbour: [{quoted(neighbour)}, {quoted(host)}]"
        else:
            remedy = self._remedy(link.origin)
        self._problems.add(f"{place}.address", f"{nobody}; {remedy}")

    def check_last(self, events: Sequence[Event]) -> None:
        """Notes an event that leaves a host without an address for the rest of the run."""
        up: dict[int, set[int]] = {}
        for number, event in sorted(enumerate(events), key=lambda entry: entry[1].at):
            if event.address is None or event.state is None:
                continue
            place = f"event[{number}]"
            for link in _links(event, place, self._network):
                host = self._network.links[link].origin
                if host not in up:
                    up[host] = {n for n, each in enumerate(self._network.links) if each.origin == host}
                here = up[host]
                (here.add if event.state == "up" else here.discard)(link)
                if not here and not self._comes_up(host, int(event.at), events):
                    name = quoted(self._network.nodes[host].name)
                    self._problems.add(
                        f"{place}.state",
                        f"takes the last address of {name}, and none comes up later, so that its connections "
                        'wait for ever; let one come up, by an event with state = "up", or end the traffic '
                        "with stop",
                    )

    def _comes_up(self, host: int, after: int, events: Sequence[Event]) -> bool:
        return any(
            self._network.links[link].origin == host
            for number, event in enumerate(events)
            if event.address is not None and event.state == "up" and int(event.at) >= after
            for link in _links(event, f"event[{number}]", self._network)
        )

    def _looks(self, node: int) -> bool:
        return any(_manager(self._transports[used]) == "fullmesh" for used in self._used[node])

    def _remedy(self, node: int) -> str:
        used = [self._transports[number] for number in sorted(self._used[node])]
        for transport in used:
            if (manager := _manager(transport)) is not None:
                return (
                    f"the path manager of {quoted(transport.name)} is {manager}; "
                    'write path_manager = "fullmesh", or take the transport "linux-mptcp"'
                )
        if used:
            return f'{quoted(used[0].name)} is not multipath; take a transport such as "linux-mptcp"'
        return "it is no end of any traffic with a connection"


def _manager(transport: TransportSetup) -> str | None:
    """The path manager of a transport; None for one that is not multipath."""
    config = transport.config
    return config.path_manager.algorithm if isinstance(config, MptcpProtocol) else None
