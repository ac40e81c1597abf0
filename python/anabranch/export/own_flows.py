"""Flows with routes of their own, for formats that tell flows apart: their plans, addresses and ports.

Ports are those that a run of the scenario has, drawn from its seed. Pings have none, so that all pings
between two nodes are as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from anabranch import _core
from anabranch.errors import ExportError
from anabranch.export.job import OwnPlan
from anabranch.export.layout import DeviceLayout
from anabranch.plan_paths import PlanPaths
from anabranch.scenario.algorithm import PYTHON
from anabranch.scenario.choice import resolved
from anabranch.setup import Setup
from anabranch.switch_rules import ICMP, TCP, UDP, OwnFlow, own_traffic


def own_plans(
    layout: DeviceLayout, setup: Setup, made: _core.Plan, data: Sequence[Mapping[str, Any]]
) -> tuple[OwnPlan, ...]:
    """The plans of flows with routes of their own (``data``), and what packets of these flows match.

    Raises:
        ExportError: if two flows have the same addresses and ports, and other routes.
    """
    flows = list(_own_flows(layout, setup, made))
    _check_apart(layout, setup, flows)
    return tuple(
        OwnPlan(PlanPaths.of(one), traffic, routes.traffic)
        for one, traffic, routes in zip(
            data, own_traffic(flows, len(data) + 1), setup.own_routes, strict=True
        )
    )


def _own_flows(layout: DeviceLayout, setup: Setup, made: _core.Plan) -> Iterator[OwnFlow]:
    simulation = _without_code(replace(setup, captures=[])).core().start(made)
    for number, flow in enumerate((*setup.flows, *setup.datagrams)):
        if not flow.routing:
            continue
        protocol = TCP
        if number >= len(setup.flows):
            protocol = ICMP if setup.datagrams[number - len(setup.flows)].source["kind"] == "ping" else UDP
        for source, destination in simulation.endpoints(number):
            yield OwnFlow(
                flow.routing,
                (flow.origin, flow.to),
                protocol,
                (layout.address(flow.origin), source[1]),
                (layout.address(flow.to), destination[1]),
            )


def _without_code(setup: Setup) -> Setup:
    """A setup with the same addresses and ports, in which algorithms of ours stand for the user's own."""
    spread = setup.routing.load_balancing
    if spread.get("algorithm") == PYTHON:
        setup = replace(
            setup, routing=replace(setup.routing, load_balancing=resolved("load_balancing", "flow"))
        )
    transports = [replace(transport, config=_ours(transport.config)) for transport in setup.transports]
    return replace(setup, transports=transports, own=())


def _ours(config: dict[str, Any]) -> dict[str, Any]:
    preset = "mptcp" if "tcp" in config else "newreno"
    ours: dict[str, Any] = json.loads(_core.resolve_transport(_core.transport_preset(preset)))
    return _replaced(config, ours)


def _replaced(config: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    return {
        name: ours[name]
        if isinstance(value, dict) and value.get("algorithm") == PYTHON
        else _replaced(value, ours[name])
        if name == "tcp"
        else value
        for name, value in config.items()
    }


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
