"""The network of a live run whose routers are switches of Open vSwitch under a controller of OpenFlow."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from dataclasses import replace as changed
from typing import Any

import polars as pl

from anabranch import _core
from anabranch.errors import LiveError, OwnCodeError
from anabranch.live.hosts import Host
from anabranch.live.programs import carrier_flows
from anabranch.live.switches.layout import SwitchLayout
from anabranch.live.switches.process import ControllerProcess
from anabranch.live.switches.tables import controller_tables
from anabranch.live.switches.vswitch import VSwitch
from anabranch.plans.switch_rules import TCP, OwnFlow
from anabranch.process.console import say
from anabranch.routing import Planned
from anabranch.scenario.algorithms.load_balancing import Flow
from anabranch.scenario.choice import leaf
from anabranch.scenario.leaves import LinksChange, NodeChange
from anabranch.setup import Setup
from anabranch.setup.model import RoutingSetup, TransportSetup

_PS_PER_S = 1e12

_SEEN = (
    *("packets_received", "reordered_packets", "reordering_ratio", "reordering_extent_mean"),
    *("reordering_extent_max", "packets_in_flight", "segments_sent"),
    *("duplicates_received", "duplicated_packets"),
)
"""What only a network knows that follows each packet of a flow."""
_OF_FLOWS = ("flows", "flow_series", "connections", "subflows", "subflow_series")
"""Tables that do not say what links have seen."""


def links_alone(
    setup: Setup, layout: SwitchLayout, nodes: int, transport: TransportSetup
) -> tuple[Setup, str]:
    """The links of a setup without anything that travels; a flow between two nodes stands for their links.

    Args:
        setup: of the run.
        layout: its switches and ports.
        nodes: how many of its nodes are there; the others, with their links, are the simulated controller's.
        transport: of the flows, which send nothing.

    Returns:
        The setup, and its plan as the core reads it.
    """
    used = layout.used_links()
    # Nothing is laid over other links, and a flow over one would be simulated.
    pairs = sorted(
        {(min(edge.ends), max(edge.ends)) for edge in layout.edges if used.intersection(edge.links)}
    )
    links = [link for link in setup.links if max(link.origin, link.to) < nodes]
    direct: dict[tuple[int, int], int] = {}
    for number, link in enumerate(links):
        direct.setdefault((link.origin, link.to), number)
    routes = [
        {"from": a, "to": b, "paths": [{"links": [link], "weight": 1.0}]}
        for (a, b), link in sorted(direct.items())
    ]
    scheme = leaf("scheme", "shortest", metric="hops")
    alone = setup.replace(
        nodes=setup.nodes[:nodes],
        links=links,
        hosts=[],
        routers=[],
        transports=[transport],
        flows=carrier_flows("link", 0, pairs),
        datagrams=[],
        routing=RoutingSetup(scheme, Flow(), None),
        own_routes=(),
        probes=changed(setup.probes, flows=False, sequences=[], log=[]),
        captures=[],
        controller=None,
        planner=None,
        own_code=(),
    )
    return alone, json.dumps({"routes": routes, "tables": []})


class SwitchedRouters:
    """Switches between hosts under a controller, and the engine's links between those."""

    one_by_one = True
    """Switches get frames one by one."""

    def __init__(
        self,
        setup: Setup,
        carrying: Setup,
        planned: Planned,
        layout: SwitchLayout,
        configuration: Mapping[str, Any],
    ) -> None:
        """Over the routes of a plan, or under a controller that finds its own.

        Args:
            setup: that of the scenario.
            carrying: the same, with flows behind its own that carry what programs say.
            planned: routes of all flows.
            layout: switches and ports.
            configuration: of the controller, besides the layout, and the addresses of hosts and flows.
        """
        self._setup, self._layout, self._configuration = setup, layout, configuration
        self.flows = _core.LiveNetwork(carrying.core(), planned.plan)
        # What knows the flows keeps their table; packets go through another one.
        nodes = len(layout.names)
        self._alone, plan = links_alone(carrying, layout, nodes, carrying.transports[0])
        self.packets = _core.LiveNetwork(self._alone.core(), _core.Plan(plan))
        self._switch: VSwitch | None = None
        self._controller: ControllerProcess | None = None
        self._gone: str | None = None
        self._failed: str | None = None
        self._told: dict[str, Any] | None = None
        self._begin_ns = 0
        self._lights = _lights(setup, layout)
        self._darkened: set[str] = set()
        """Ports that have had no light for a while: what switches sent there then is no loss of a queue."""

    @contextmanager
    def joined(self, hosts: Mapping[int, Host], framing: _core.Framing) -> Iterator[None]:
        """Hosts are at their switches, and the controller has reached all of these."""
        trains = max((host.offload for host in self._setup.hosts), default=1)
        with closing(VSwitch(self._layout, train_segments=trains)) as switch:
            self._join(switch, hosts, framing)
            self._switch = switch
            configuration = self._controlled(hosts)
            with closing(ControllerProcess(switch.namespace, configuration)) as controller:
                self._controller = controller
                switch.start()
                controller.wait()
                yield
                self._told = controller.tables()
                if self._setup.own_code and (written := controller.said().rstrip("\n")):
                    # What own code writes goes where that of a simulation goes.
                    say(written)

    def _controlled(self, hosts: Mapping[int, Host]) -> dict[str, Any]:
        """The configuration of the controller, with addresses and ports."""
        endpoints = self.flows.endpoints
        real = [endpoints(number) for number in range(len(self._setup.flows))]
        return {
            **self._configuration,
            "layout": self._layout.data(),
            "addresses": {node: list(host.plan.addresses) for node, host in hosts.items()},
            "endpoints": real,
            "own": [
                asdict(OwnFlow(flow.routing, (flow.origin, flow.to), TCP, *ends))
                for number, flow in enumerate(self._setup.flows)
                if flow.routing
                for ends in real[number]
            ],
        }

    def _join(self, switch: VSwitch, hosts: Mapping[int, Host], framing: _core.Framing) -> None:
        """Lays the links between ports, and hosts to theirs."""
        core = self.packets
        flows = {(flow.origin, flow.to): number for number, flow in enumerate(self._alone.flows)}
        ports = {
            port: core.attach_port(switch.devices[port.device], True, "single") for port in self._layout.ports
        }
        host_ports = {node: core.attach_port(host.device, False, framing) for node, host in hosts.items()}
        starts = {port.link_out: number for port, number in ports.items() if port.link_out is not None}
        ends = {port.link_in: number for port, number in ports.items() if port.link_in is not None}
        for node, edge in self._layout.gateways.items():
            for link in self._layout.edges[edge].links:
                if link is not None and node in host_ports:
                    leads_out = self._alone.links[link].origin == node
                    (starts if leads_out else ends)[link] = host_ports[node]
        for link in sorted(set(starts) & set(ends)):
            a, b = self._alone.links[link].origin, self._alone.links[link].to
            core.lay(starts[link], ends[link], flows[min(a, b), max(a, b)], a > b, link)
        for port, number in ports.items():
            if port.is_local and port.switch in host_ports:
                core.join(number, host_ports[port.switch])
        if (cable := self._layout.cable()) is not None:
            core.join(*(ports[port] for port in cable))

    def begin(self, begin_ns: int) -> None:
        """The run begins at this time of the monotonic clock."""
        self._begin_ns = begin_ns
        if self._controller is not None:
            self._controller.begin(begin_ns)

    def are_sound(self) -> bool:
        """Whether the switches are there; the controller's end is noted. Gives ports their light."""
        switch, controller = self._switch, self._controller
        if switch is None or controller is None:
            return False
        now_s = (time.monotonic_ns() - self._begin_ns) / 1e9
        while self._lights and self._lights[0][0] <= now_s:
            _, device, up = self._lights.pop(0)
            switch.set_carrier(device, up=up)
            self._darkened.add(device)
        if self._failed is None and (why := switch.ended()) is not None:
            self._failed = why
        if self._gone is None and (why := controller.ended()) is not None:
            self._gone = f"{why}; from {now_s:.3g} s on switches forward by the entries that they have"
        return self._failed is None and not any(event["kind"] == "failed" for event in controller.events)

    def dropped_packets(self) -> int:
        """Packets that devices of switches have lost because their queues were full."""
        return 0 if self._switch is None else self._switch.dropped_packets(but=self._darkened)

    def warnings(self) -> list[str]:
        """Sentences of the controller, and on what the scenario wants that devices do not do.

        Raises:
            OwnCodeError: if an application of the user's own has failed.
            LiveError: if the switches have ended, or an order cannot be carried.
        """
        events = self._controller.events if self._controller is not None else []
        for event in events:
            if event["kind"] == "failed":
                raise (OwnCodeError if event["own"] else LiveError)(event["text"])
        if self._failed is not None:
            raise LiveError(f"{self._failed}; the run ends with it")
        troubles = list(dict.fromkeys(event["text"] for event in events if event["kind"] == "trouble"))
        gone = self._gone
        if gone is None and self._told is None:
            gone = "the controller does not answer"
        if gone is not None and self._setup.controller is not None:
            gone += "; its tables are lost"
        controller = self._setup.controller
        routers = [router for router in self._setup.routers if router.processing_delay is not None]
        takes = routers or (controller is not None and controller.processing_delay is not None)
        hashes = any(router.hash_seed is not None for router in self._setup.routers)
        own_hash = "hash_seed: real switches hash in their own way, not by the seed of the scenario"
        devices = "real switches and their controller take the time that they need, not that of the scenario"
        return [
            *([f"processing_delay: {devices}"] if takes else []),
            *([own_hash] if hashes else []),
            *([gone] if gone is not None else []),
            *(f"controller: {text}" for text in troubles),
        ]

    def finish(self) -> _core.LiveOutcome:
        """The tables of links from where packets went, those of flows from where they are known."""
        outcome = self.packets.finish()
        flows = self.flows.finish()
        of_flows = {name: table for name, table in flows["tables"].items() if name in _OF_FLOWS}
        return {**outcome, "tables": {**outcome["tables"], **of_flows}}

    def tables(self, tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
        """Switches do not say what became of each packet of a flow: links do. The controller has its own."""
        flows = tables["flows"]
        unknown = [name for name in flows.columns if name in _SEEN or name.startswith("drops_")]
        nothing = [pl.lit(None, dtype=flows.schema[name]).alias(name) for name in unknown]
        tables = {**tables, "flows": flows.with_columns(nothing)}
        return tables | controller_tables(self._told or {}, len(self._setup.flows))


def _lights(setup: Setup, layout: SwitchLayout) -> list[tuple[float, str, bool]]:
    """When which port has light or none, in order of time: a failure is seen after the reaction time."""
    reaction = setup.routing.reaction
    if reaction is None:
        return []
    changes = []
    for event in setup.events:
        change = event.change
        if isinstance(change, LinksChange):
            links = change.links
        elif isinstance(change, NodeChange):
            ends = [(link.origin, link.to) for link in setup.links]
            links = [number for number, pair in enumerate(ends) if change.node in pair]
        else:
            continue
        for port in layout.ports:
            port_links = [link for link in (port.link_out, port.link_in) if link is not None]
            if set(port_links) & set(links):
                changes.append(((event.at + reaction) / _PS_PER_S, port.device, change.up))
    return sorted(changes, key=lambda one: one[0])
