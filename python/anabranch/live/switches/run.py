"""A live run over real switches: what is looked at before, and what the result has of it."""

from __future__ import annotations

import importlib.util
from typing import Any

import polars as pl

from anabranch.errors import LiveError, Problem, ScenarioError
from anabranch.live.flows import kernel_of
from anabranch.live.network import LiveHosts
from anabranch.live.run import Live
from anabranch.live.switches.layout import SwitchLayout
from anabranch.live.switches.network import SwitchedHosts
from anabranch.live.switches.tables import controller_tables
from anabranch.live.switches.vswitch import missing_tools, schema
from anabranch.routing import Planned
from anabranch.scenario.algorithms.load_balancing import SubflowRoundRobinLoadBalancing
from anabranch.scenario.record import core_value
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.tables import Controller
from anabranch.setup import Setup

APPLICATIONS = ("forwarding", "tcpbp", "subflow-round-robin")
"""Those of ``[controller]`` that run on real switches."""
_BY_FLOW = ("flow", "hash", "weighted-hash", "resilient-hash")
"""Load balancing that a select group does: it hashes addresses and ports."""
_STATEFUL = "subflow-round-robin"
"""Load balancing that the controller does: the first packet of each subflow comes up."""
_PER_PACKET = ("packet", "packet-round-robin", "flowlet")
_SEEN = (
    *("packets_received", "reordered_packets", "reordering_ratio", "reordering_extent_mean"),
    *("reordering_extent_max", "packets_in_flight", "segments_sent"),
)
"""What only a network knows that follows each packet of a flow."""


def switched(kind: str) -> type[Live]:
    """The way to run over real switches of a kind.

    Raises:
        LiveError: if there is no such kind.
    """
    if kind != "ovs":
        raise LiveError(f'--switches: "{kind}" is not known; there is "ovs", Open vSwitch')
    return Switched


class Switched(Live):
    """A run on the wall clock whose routers are bridges of Open vSwitch."""

    _layout: SwitchLayout
    _configuration: dict[str, Any]

    def prepared(self, scenario: Scenario, setup: Setup) -> Setup:
        """Looks whether scenario and machine can do it, before anything is made.

        Raises:
            ScenarioError: if real switches cannot do what the scenario wants.
            LiveError: if the machine cannot do it.
        """
        _check_scenario(scenario, setup)
        carrying = super().prepared(scenario, setup)
        check_switches()
        nodes = len(setup.nodes) if setup.controller is None else setup.controller.node
        links = [link for link in setup.links if max(link.origin, link.to) < nodes]
        ends = {*carrying.flows.origin.tolist(), *carrying.flows.to.tolist()}
        names = [node.name for node in setup.nodes[:nodes]]
        measures = scenario.controller is not None and scenario.controller.application_name == "tcpbp"
        switches = _switches(setup, nodes)
        self._layout = SwitchLayout.of(names, links, switches, ends, cable=measures)
        self._configuration = {"application": {"algorithm": "plan"}}
        balancing = setup.routing.load_balancing
        if isinstance(balancing, SubflowRoundRobinLoadBalancing):
            table = {"idle_timeout": core_value(balancing.idle_timeout), "hard_timeout": None}
            self._configuration = {
                "application": {"algorithm": _STATEFUL},
                "controller": {"metric": "hops", "table": table},
            }
        if setup.controller is not None:
            self._configuration = {
                "application": setup.controller.application.core(),
                "controller": setup.controller.core(),
            }
        return carrying

    def network(self, own: Setup, carrying: Setup, planned: Planned) -> LiveHosts:
        """The switches between the hosts."""
        nodes = len(self._layout.names)
        links = [link for link in carrying.links if max(link.origin, link.to) < nodes]
        data = carrying.replace(nodes=carrying.nodes[:nodes], links=links, controller=None).data()
        planners = [routes.planner for routes in carrying.own_routes]
        configuration = {
            **self._configuration,
            "setup": data,
            "plan": planned.plan.data(),
            "others": [other.data() for other in planned.plan.others()],
            "recomputes": [own is None for own in (carrying.planner, *planners)],
        }
        return SwitchedHosts(
            own, carrying, planned, self._asked, layout=self._layout, configuration=configuration
        )

    def known(self, tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
        """Switches do not say what became of each packet of a flow: links do."""
        flows = tables["flows"]
        unknown = [name for name in flows.columns if name in _SEEN or name.startswith("drops_")]
        nothing = [pl.lit(None, dtype=flows.schema[name]).alias(name) for name in unknown]
        tables = {**tables, "flows": flows.with_columns(nothing)}
        if isinstance(self._network, SwitchedHosts):
            tables |= controller_tables(self._network.told, self._network.ends)
        return tables


def check_switches() -> None:
    """Makes sure that Open vSwitch and os-ken are there.

    Raises:
        LiveError: if one is not, with what to install.
    """
    missing = missing_tools()
    if missing or schema() is None:
        lacking = ", ".join(missing) or "the schema of its database"
        raise LiveError(
            f"--switches ovs needs Open vSwitch, and {lacking} is not there; install it (Debian, Ubuntu: "
            "apt install openvswitch-switch; Fedora: dnf install openvswitch); its service need not run"
        )
    if importlib.util.find_spec("os_ken") is None:
        raise LiveError(
            "--switches ovs needs the package os-ken; install it with pip install 'anabranch[openflow]'"
        )


def _switches(setup: Setup, nodes: int) -> set[int]:
    """Those of the controller; without one, all nodes but hosts of one link."""
    if setup.controller is not None:
        return set(setup.controller.switches)
    degrees = [sum(link.origin == node for link in setup.links) for node in range(nodes)]
    return {node for node in range(nodes) if not setup.is_host(node) or degrees[node] > 1}


def _check_scenario(scenario: Scenario, setup: Setup) -> None:
    """Makes sure that real switches can do what a scenario wants.

    Raises:
        ScenarioError: if they cannot, with every reason.
    """
    stateful = isinstance(setup.routing.load_balancing, SubflowRoundRobinLoadBalancing)
    found = [
        *_spread(setup),
        *_control(scenario.controller),
        *_simulated(setup),
    ]
    for flow in setup.datagrams[:1]:
        why = "pings and UDP of a scenario are simulated, and real switches forward real packets"
        found.append(Problem(flow.name, f"{why}; leave them out, or let --exec run ping in a host"))
    for routes in setup.own_routes[:1] if stateful else ():
        why = f"{_STATEFUL} on switches gives subflows the paths of [routing] in turn"
        found.append(Problem(routes.place, f"{why}; leave this out, or take another load balancing"))
    if setup.captures:
        why = "switches send frames that are none of IP; let --exec run tcpdump in a host"
        found.append(Problem("capture[0]", why))
    if found:
        raise ScenarioError(found, scenario.origin)


def _spread(setup: Setup) -> list[Problem]:
    algorithm = setup.routing.load_balancing.algorithm
    if algorithm in (*_BY_FLOW, _STATEFUL):
        return []
    remedy = f"take one of {', '.join((*_BY_FLOW, _STATEFUL))}"
    why = "select groups of OpenFlow hash addresses and ports"
    if algorithm in _PER_PACKET:
        why = "OpenFlow has no action that sends packets of a flow over several paths in turn"
        remedy += ", or leave --switches out: our own routers spread packets"
    return [Problem("routing.load_balancing", f"{algorithm}: {why}; {remedy}")]


def _control(table: Controller | None) -> list[Problem]:
    if table is None:
        return []
    unwanted = (
        (
            table.application_name not in APPLICATIONS,
            "application",
            f"{table.application_name} needs senders or headers that are not the kernel's; real switches "
            f"have {', '.join(APPLICATIONS)}",
        ),
        (
            table.channel == "in-band",
            "channel",
            "the controller of real switches is beside them; leave in-band out",
        ),
        (
            table.table.size is not None,
            "table.size",
            "a flow without room for its entries would send each of its packets up to the controller; leave "
            "size out, or simulate it with anabranch run",
        ),
        (
            "linger" in table.model_fields_set,
            "linger",
            "matches of OpenFlow 1.3 do not tell a FIN from other packets; leave linger out, and let "
            "controller.table.idle_timeout remove the entries of flows that have ended",
        ),
    )
    return [Problem(f"controller.{field}", why) for is_there, field, why in unwanted if is_there]


def _simulated(setup: Setup) -> list[Problem]:
    used = [setup.transports[number] for number in sorted(set(setup.flows.transport.tolist()))]
    spoken = [(transport.name, kernel_of(transport)) for transport in used]
    return [
        Problem(
            f"transport.{name}",
            "the kernel does not speak it, and real switches forward real packets only; take linux-cubic, "
            "linux-reno, linux-bbr or mptcp-cubic, or leave --switches out",
        )
        for name, kernel in spoken
        if kernel is None or kernel.control is None
    ]
