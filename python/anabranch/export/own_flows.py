"""Flows with routes of their own, for formats that tell flows apart: their plans, addresses and ports.

Ports are those that a run of the scenario has, drawn from its seed. Pings have none, so that all pings
between two nodes are as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from anabranch import _core
from anabranch.errors import ExportError
from anabranch.export.job import OwnPlan
from anabranch.export.layout import DeviceLayout
from anabranch.plans.paths import PlanPaths
from anabranch.plans.switch_rules import ICMP, TCP, UDP, OwnFlow, own_traffic
from anabranch.scenario.algorithms.congestion_control import Newreno
from anabranch.scenario.algorithms.load_balancing import Flow
from anabranch.scenario.algorithms.protocol import AnyProtocol, MptcpProtocol, TcpProtocol
from anabranch.scenario.algorithms.scheduler import LowestRtt
from anabranch.scenario.leaves import (
    PingDatagramSource,
    PythonCongestionControl,
    PythonLoadBalancing,
    PythonScheduler,
)
from anabranch.setup import Setup


def own_plans(
    layout: DeviceLayout, setup: Setup, made: _core.Plan, plans: Sequence[_core.Plan]
) -> tuple[OwnPlan, ...]:
    """The plans of flows with routes of their own (``plans``), and what packets of these flows match.

    Raises:
        ExportError: if two flows have the same addresses and ports, and other routes.
    """
    flows = list(_own_flows(layout, setup, made))
    _check_apart(layout, setup, flows)
    return tuple(
        OwnPlan(PlanPaths.of(one, setup.links), traffic, routes.traffic)
        for one, traffic, routes in zip(
            plans, own_traffic(flows, len(plans) + 1), setup.own_routes, strict=True
        )
    )


def _own_flows(layout: DeviceLayout, setup: Setup, made: _core.Plan) -> Iterator[OwnFlow]:
    simulation = _without_code(setup.replace(captures=[])).core().start(made)
    for number, flow in enumerate((*setup.flows, *setup.datagrams)):
        if not flow.routing:
            continue
        protocol = TCP
        if number >= len(setup.flows):
            source = setup.datagrams[number - len(setup.flows)].source
            protocol = ICMP if isinstance(source, PingDatagramSource) else UDP
        for origin, destination in simulation.endpoints(number):
            yield OwnFlow(
                flow.routing,
                (flow.origin, flow.to),
                protocol,
                (layout.address(flow.origin), origin[1]),
                (layout.address(flow.to), destination[1]),
            )


def _without_code(setup: Setup) -> Setup:
    """A setup with the same addresses and ports, in which algorithms of ours stand for the user's own."""
    if isinstance(setup.routing.load_balancing, PythonLoadBalancing):
        setup = setup.replace(routing=replace(setup.routing, load_balancing=Flow()))
    transports = [replace(transport, config=_ours(transport.config)) for transport in setup.transports]
    return setup.replace(transports=transports, own_code=())


def _ours(config: AnyProtocol) -> AnyProtocol:
    if isinstance(config, MptcpProtocol):
        changes: dict[str, Any] = {"tcp": _our_tcp(config.tcp)}
        if isinstance(config.scheduler, PythonScheduler):
            changes["scheduler"] = LowestRtt()
        return config.filled({**dict(config.items()), **changes})
    return _our_tcp(config) if isinstance(config, TcpProtocol) else config


def _our_tcp(tcp: TcpProtocol) -> TcpProtocol:
    if not isinstance(tcp.congestion_control, PythonCongestionControl):
        return tcp
    return tcp.filled({**dict(tcp.items()), "congestion_control": Newreno()})


def _check_apart(layout: DeviceLayout, setup: Setup, flows: Sequence[OwnFlow]) -> None:
    seen: dict[object, int] = {}
    for flow in flows:
        for ends in ((flow.source, flow.destination), (flow.destination, flow.source)):
            other = seen.setdefault((flow.protocol, ends), flow.routing)
            if other != flow.routing:
                names = " and ".join(
                    setup.own_routes[place - 1].traffic[0] for place in (other, flow.routing)
                )
                raise ExportError(
                    f"{names}: flows from {layout.pair(*flow.pair)} have the same addresses and ports, and "
                    "other routes; take another run.seed, which draws other ports, or one metric for both"
                )
