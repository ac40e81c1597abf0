"""From the controller's table to its node, its control links and its part of the setup."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from anabranch.errors import Problem, ScenarioError
from anabranch.scenario.algorithm import Own
from anabranch.scenario.algorithms.application import AnyApplication, Forwarding
from anabranch.scenario.algorithms.scheme import Metric
from anabranch.scenario.choice import leaf
from anabranch.scenario.controller import BY_SUBFLOW, CONTROLLER_NAME, Controller, FlowTable
from anabranch.scenario.leaves import ControllerSetup, FlowTableSetup
from anabranch.scenario.quantity import quoted
from anabranch.scenario.record import core_value
from anabranch.scenario.scenario import Scenario
from anabranch.setup.draws import variate
from anabranch.setup.model import TransportSetup
from anabranch.setup.network import ResolvedNetwork, Wire, set_fields
from anabranch.setup.own import OwnCode
from anabranch.setup.problems import Problems
from anabranch.setup.reach import Reach
from anabranch.topology import TopologyLink

_UNLIMITED = {"queue": "unlimited"}
"""A control link loses nothing unless somebody says so."""


class ResolvedController:
    """The controller of a run, if it has one.

    Its node and its links come after those of the network, whose ids thus stay what they are without it.
    """

    def __init__(
        self, scenario: Scenario, network: ResolvedNetwork, own: OwnCode, problems: Problems
    ) -> None:
        """Adds the controller to the network; problems are noted."""
        self._network = network
        self._problems = problems
        self._table = scenario.controller
        self._measuring: list[int] = []
        self._metrics: list[tuple[int, Metric]] = []
        self.setup: ControllerSetup | None = None
        """None without one."""
        if self._table is None:
            return
        # How long routing takes to notice a change is how long the controller does.
        for field in sorted(scenario.routing.model_fields_set - {"reaction"}):
            remedy = "; its own metric is controller.metric" if field in ("scheme", "metric") else ""
            problems.add(f"routing.{field}", f"the controller chooses the paths, so leave this out{remedy}")
        node = self._node(self._table)
        switches = self._switches(self._table, node)
        if node is None or not switches:
            return
        network.controller, network.switches = node, switches
        if self._table.channel == "apart":
            self._lay_apart(self._table, switches)
        else:
            self._lay_in_band(self._table, node, switches)
        application = self._application(self._table, own)
        # Flows with metrics of their own are filled in as they are made.
        self.setup = _setup(self._table, application, (node, switches), self._metrics)

    def _application(self, table: Controller, own: OwnCode) -> AnyApplication:
        """The application with its parameters; what is wrong with a class is noted."""
        if isinstance(table.application, Own):
            return own.application(table.application) or Forwarding()
        # Filled as the flows are made.
        measuring = {"measuring": self._measuring} if table.application_name == "tcpbp" else {}
        application: AnyApplication = leaf("application", table.application, **measuring)
        return application

    def check_transport(self, transport: TransportSetup, place: str) -> None:
        """Notes a transport of a flow that the controller, or its absence, does not serve."""
        protocol = transport.config.algorithm
        application = None if self._table is None else self._table.application_name
        if protocol == "sdn-paced" and application != "sdn-paced":
            remedy = (
                'write [controller] with application = "sdn-paced"'
                if application is None
                else f'set controller.application = "sdn-paced" in place of {quoted(application)}'
            )
            self._problems.add(
                place, f"{quoted(transport.name)} sends only when a controller says so; {remedy}"
            )
        elif protocol == "mptcp" and application not in (None, BY_SUBFLOW):
            self._problems.add(
                place,
                f"{quoted(transport.name)} speaks mptcp, and the controller knows flows, not their subflows; "
                f'choose a transport of TCP, such as "cubic", controller.application = {quoted(BY_SUBFLOW)}, '
                "or leave [controller] out",
            )
        elif protocol != "tcp" and application == "window-clamp":
            self._problems.add(
                place,
                f"the controller clamps windows of TCP, and {quoted(transport.name)} speaks {protocol}; "
                'choose a transport of TCP, such as "cubic", or another controller.application',
            )

    def keep_to_link(self, flows: Iterable[int]) -> None:
        """These flows measure the link between their ends, where the controller looks at that."""
        self._measuring.extend(flows)

    def go_by(self, flows: Iterable[int], metric: Metric) -> None:
        """These flows go by a metric of their own, where the application has paths by metrics."""
        if self._table is not None and self._table.application_name == BY_SUBFLOW:
            self._problems.add(
                "controller.application",
                f"{quoted(BY_SUBFLOW)} gives all flows the paths of controller.metric; leave routing out of "
                "[[traffic]], or choose another application",
            )
        self._metrics.extend((flow, metric) for flow in flows)

    def _node(self, table: Controller) -> int | None:
        """The node that is the controller, added where it is none of the network."""
        if table.node is not None:
            return self._network.node(table.node, "controller.node")
        if self._network.knows(CONTROLLER_NAME):
            self._problems.add(
                "controller",
                f"{self._network.label} has a node {quoted(CONTROLLER_NAME)} already; if it is to be the "
                f'controller, write channel = "in-band" and node = {quoted(CONTROLLER_NAME)}',
            )
            return None
        return self._network.add_node(CONTROLLER_NAME)

    def _switches(self, table: Controller, controller: int | None) -> list[int]:
        nodes = range(len(self._network.nodes))
        default = [node for node in nodes if node != controller and not self._network.is_host(node)]
        if isinstance(table.switches, str):
            if not default:
                self._problems.add(
                    "controller.switches",
                    f"every node of {self._network.label} is a host; list those that are switches",
                )
            return default
        before = len(self._problems)
        found: list[int] = []
        for index, name in enumerate(table.switches):
            place = f"controller.switches[{index}]"
            node = self._network.node(name, place)
            if node is None:
                continue
            if node == controller:
                self._problems.add(place, "is the controller, which is no switch")
            elif node in found:
                self._problems.add(place, f"names {quoted(self._network.nodes[node].name)} twice")
            else:
                found.append(node)
        # With what is left of a wrong list, flows would lack ways that the right one gives them.
        return default if len(self._problems) > before else sorted(found)

    def _lay_apart(self, table: Controller, switches: list[int]) -> None:
        """A control link to each switch."""
        settings = {switch: _UNLIMITED | set_fields(table.links) for switch in switches}
        for index, entry in enumerate(table.link):
            switch = self._switch(entry.switch, f"controller.link[{index}].switch", switches)
            if switch is not None:
                settings[switch] |= set_fields(entry)
        names = {switch: self._network.nodes[switch].name for switch in switches}
        self._network.lay([_wire(names[switch], settings[switch]) for switch in switches], "the controller")

    def _lay_in_band(self, table: Controller, controller: int, switches: list[int]) -> None:
        """The one link of a controller that is added; then whether it reaches its switches."""
        if table.at is not None:
            at = self._switch(table.at, "controller.at", switches)
            if at is None:
                return
            settings = _UNLIMITED | set_fields(table.links)
            self._network.lay([_wire(self._network.nodes[at].name, settings)], "the controller")
        reach = Reach(self._network.links, switches)
        attached = [link.to for link in self._network.links if link.origin == controller]
        firsts = [first for first in attached if first in switches]
        out = {switch for switch in switches if any(reach.connected(first, switch) for first in firsts)}
        lost = [s for s in switches if s not in out or not reach.connected(s, controller)]
        if lost:
            name = quoted(self._network.nodes[lost[0]].name)
            others = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
            self._problems.add(
                "controller.channel",
                f"no path over the switches between the controller and {name}{others}; leave it out of "
                'switches, or choose channel = "apart"',
            )

    def _switch(self, name: str, place: str, switches: list[int]) -> int | None:
        """Id of a switch by name; an unknown one, or a node that is none, is noted."""
        node = self._network.node(name, place)
        if node is not None and node not in switches:
            self._problems.add(
                place, f"{quoted(self._network.nodes[node].name)} is no switch of the controller"
            )
            return None
        return node


def require_known_paths(scenario: Scenario) -> None:
    """Refuses to say which paths a class of the user's own will choose, with a controller.

    Raises:
        ScenarioError: with such a class.
    """
    if scenario.controller is not None and scenario.controller.is_own:
        message = "the class chooses the paths while a run is under way, and nobody knows them before"
        raise ScenarioError([Problem("controller.application", message)], scenario.origin)


def _wire(switch: str, settings: dict[str, Any]) -> Wire:
    return Wire(TopologyLink(CONTROLLER_NAME, switch), settings, dict(settings), "controller.links")


def _setup(
    table: Controller,
    application: AnyApplication,
    places: tuple[int, list[int]],
    metrics: list[tuple[int, Metric]],
) -> ControllerSetup:
    node, switches = places
    delay, polling = table.processing_delay, table.polling()
    entries = {name: core_value(getattr(table.table, name)) for name in FlowTable.model_fields}
    return ControllerSetup(
        node=node,
        switches=switches,
        channel=table.channel,
        application=application,
        metric=table.path_metric(),
        table=FlowTableSetup(**entries),
        linger=int(table.linger),
        processing_delay=None if delay is None else variate(delay),
        statistics_interval=None if polling is None else int(polling),
        flow_metrics=metrics,
    )
