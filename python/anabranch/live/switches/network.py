"""The network of a live run whose routers are switches of Open vSwitch under a controller of OpenFlow."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from dataclasses import replace as changed
from typing import Any

from anabranch import _core
from anabranch.errors import LiveError
from anabranch.live.hosts import Host
from anabranch.live.network import LiveHosts
from anabranch.live.programs import Asked, carrier_flows
from anabranch.live.switches.layout import SwitchLayout
from anabranch.live.switches.process import ControllerProcess
from anabranch.live.switches.vswitch import VSwitch
from anabranch.routing import Planned
from anabranch.scenario.algorithms.load_balancing import Flow
from anabranch.scenario.choice import leaf
from anabranch.scenario.leaves import LinksChange, NodeChange
from anabranch.setup import Setup
from anabranch.setup.model import RoutingSetup, TransportSetup
from anabranch.switch_rules import TCP, OwnFlow

_PS_PER_S = 1e12

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
    pairs = sorted({(min(edge.ends), max(edge.ends)) for edge in layout.edges})
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
        own=(),
    )
    return alone, json.dumps({"routes": routes, "tables": []})


class SwitchedHosts(LiveHosts):
    """Hosts, switches between them, and the engine's links between those."""

    def __init__(
        self,
        setup: Setup,
        carrying: Setup,
        planned: Planned,
        asked: Asked,
        *,
        layout: SwitchLayout,
        configuration: dict[str, Any],
    ) -> None:
        """Over the routes of a plan, or under a controller that finds its own.

        The controller has this configuration, and besides the layout and the addresses of hosts.
        """
        super().__init__(setup, carrying, planned, asked, receives=False)
        self._layout = layout
        self._configuration = configuration
        # What knows the flows keeps their table; packets go through another one.
        nodes = len(layout.names)
        transport = carrying.transports[0]
        self._alone, plan = links_alone(carrying, layout, nodes, transport)
        self._core = _core.LiveNetwork(self._alone.core(), _core.Plan(plan))
        self._switch: VSwitch | None = None
        self._controller: ControllerProcess | None = None
        self._gone: str | None = None
        self._failed: str | None = None
        self._drops = 0
        self._own = [(number, flow) for number, flow in enumerate(setup.flows) if flow.routing]
        """Flows with routes of their own."""
        self._begin_ns = 0
        self._lights = _lights(setup, layout)
        self.ends = {ends[0]: flow for flow, ends in enumerate(self._ends()) if ends}
        """Flows by source and destination of their data."""

    def _processing(self) -> list[str]:
        """Whether the scenario has real hosts, switches or a controller take time."""
        controller = self._setup.controller
        if not self._setup.routers and (controller is None or controller.processing_delay is None):
            return super()._processing()
        devices = "real switches and their controller take the time that they need, not that of the scenario"
        return [*super()._processing(), f"processing_delay: {devices}"]

    @contextmanager
    def _joined(self, hosts: Mapping[int, Host]) -> Iterator[None]:
        with closing(VSwitch(self._layout, train_segments=max(self._trains.values(), default=1))) as switch:
            self._join(switch, hosts)
            self._switch = switch
            addresses = {node: list(host.plan.addresses) for node, host in hosts.items()}
            endpoints = self._ends_of_flows.endpoints
            measuring = self._configuration["application"].get("measuring", [])
            metrics = self._configuration.get("controller", {}).get("flow_metrics", [])
            configuration = {
                **self._configuration,
                "layout": self._layout.data(),
                "addresses": addresses,
                "flow_metrics": [(endpoints(flow)[0], metric) for flow, metric in metrics],
                "own": [
                    asdict(OwnFlow(flow.routing, (flow.origin, flow.to), TCP, *ends))
                    for number, flow in self._own
                    for ends in endpoints(number)
                ],
                "measuring": [endpoints(flow)[0] for flow in measuring],
            }
            with closing(ControllerProcess(switch.namespace, configuration)) as controller:
                self._controller = controller
                switch.start()
                controller.wait()
                yield
                self._drops = switch.dropped_packets()

    def _join(self, switch: VSwitch, hosts: Mapping[int, Host]) -> None:
        """Lays the links between ports, and hosts to theirs."""
        core = self._core
        flows = {(flow.origin, flow.to): number for number, flow in enumerate(self._alone.flows)}
        ports = {
            port: core.attach_port(switch.devices[port.device], True, "single") for port in self._layout.ports
        }
        own = {node: core.attach_port(host.device, False, self._framing) for node, host in hosts.items()}
        starts = {port.link_out: number for port, number in ports.items() if port.link_out is not None}
        ends = {port.link_in: number for port, number in ports.items() if port.link_in is not None}
        for node, edge in self._layout.gateways.items():
            for link in self._layout.edges[edge].links:
                if link is not None and node in own:
                    leads_out = self._alone.links[link].origin == node
                    (starts if leads_out else ends)[link] = own[node]
        for link in sorted(set(starts) & set(ends)):
            a, b = self._alone.links[link].origin, self._alone.links[link].to
            core.lay(starts[link], ends[link], flows[min(a, b), max(a, b)], a > b, link)
        for port, number in ports.items():
            if port.is_local and port.switch in own:
                core.join(number, own[port.switch])
        if (cable := self._layout.cable()) is not None:
            core.join(*(ports[port] for port in cable))

    @property
    def _joins(self) -> bool:
        """Switches get frames one by one."""
        return False

    def _begins(self, begin_ns: int) -> None:
        self._begin_ns = begin_ns
        if self._controller is not None:
            self._controller.begin(begin_ns)

    def _is_sound(self) -> bool:
        switch, controller = self._switch, self._controller
        if switch is None or controller is None:
            return False
        now_s = (time.monotonic_ns() - self._begin_ns) / 1e9
        while self._lights and self._lights[0][0] <= now_s:
            _, device, up = self._lights.pop(0)
            switch.set_carrier(device, up=up)
        if self._failed is None and (why := switch.ended()) is not None:
            self._failed = why
        if self._gone is None and (why := controller.ended()) is not None:
            self._gone = f"{why}; from {now_s:.3g} s on switches forward by the entries that they have"
        return self._failed is None

    def _dropped_between(self) -> int:
        return self._drops

    def _noted(self) -> list[str]:
        if self._failed is not None:
            raise LiveError(f"{self._failed}; the run ends with it")
        events = self._controller.events if self._controller is not None else []
        troubles = list(dict.fromkeys(event["text"] for event in events if event["kind"] == "trouble"))
        return [*([self._gone] if self._gone else []), *(f"controller: {text}" for text in troubles)]

    def _finished(self) -> _core.LiveOutcome:
        """The tables of links from where packets went, those of flows from where they are known."""
        outcome = self._core.finish()
        flows = self._ends_of_flows.finish()
        of_flows = {name: table for name, table in flows["tables"].items() if name in _OF_FLOWS}
        return {**outcome, "tables": {**outcome["tables"], **of_flows}}

    @property
    def told(self) -> list[dict[str, Any]]:
        """The messages of the controller, with seconds of the run in place of its clock."""
        events = self._controller.events if self._controller is not None else []
        return [
            {
                **event,
                "time_s": self._seconds(event["at_ns"]),
                "window_s": [self._seconds(at_ns) for at_ns in event.get("window_ns") or ()],
            }
            for event in events
        ]

    def _seconds(self, at_ns: int) -> float:
        return (at_ns - self._begin_ns) / 1e9


def _lights(setup: Setup, layout: SwitchLayout) -> list[tuple[float, str, bool]]:
    """When which port has light or none, in order of time: a failure is seen after the reaction time."""
    reaction = setup.routing.reaction
    if reaction is None:
        return []
    found = []
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
            own = [link for link in (port.link_out, port.link_in) if link is not None]
            if set(own) & set(links):
                found.append(((event.at + reaction) / _PS_PER_S, port.device, change.up))
    return sorted(found, key=lambda one: one[0])
