"""A live run over real switches: what is looked at before, and what the result has of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.errors import LiveError, Problem, ScenarioError, installation
from anabranch.live.flows import kernel_of
from anabranch.live.switches.controller.planned import routes_of
from anabranch.live.switches.layout import SwitchLayout
from anabranch.live.switches.network import SwitchedRouters
from anabranch.live.switches.vswitch import missing_tools, schema
from anabranch.routing import Planned
from anabranch.scenario.algorithms.load_balancing import SubflowRoundRobinLoadBalancing
from anabranch.scenario.record import core_value
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.tables import Controller
from anabranch.setup import Setup

_BY_FLOW = ("flow", "hash", "weighted-hash", "resilient-hash")
"""Load balancing that a select group does: it hashes addresses and ports."""
_STATEFUL = "subflow-round-robin"
"""Load balancing that the controller does: the first packet of each subflow comes up."""
_PER_PACKET = ("packet", "packet-round-robin", "flowlet")
_LINGER_PS = 10**12
"""From the FIN of a subflow that has its path in turn until its entries are removed."""
_LONGEST_S = 65535
"""The longest time-out of an entry (OpenFlow 1.3 section A.3.4.1)."""


def between_of(kind: str) -> OpenVSwitch:
    """Real switches of a kind.

    Raises:
        LiveError: if there is no such kind.
    """
    if kind != "ovs":
        raise LiveError(f'--switches: "{kind}" is not known; there is "ovs", Open vSwitch')
    return OpenVSwitch()


class OpenVSwitch:
    """Routers that are bridges of Open vSwitch, under a controller of OpenFlow."""

    def check(self, scenario: Scenario, setup: Setup) -> None:
        """Looks whether scenario and machine can do it, before anything is made.

        Raises:
            ScenarioError: if real switches cannot do what the scenario wants.
            LiveError: if the machine cannot do it.
        """
        _check_scenario(scenario, setup)
        check_switches()

    def routers(self, scenario: Scenario, setup: Setup, carrying: Setup, planned: Planned) -> SwitchedRouters:
        """The switches between the hosts."""
        controller = setup.controller
        nodes = len(carrying.nodes) if controller is None else controller.node
        links = [link for link in carrying.links if max(link.origin, link.to) < nodes]
        names = [node.name for node in carrying.nodes[:nodes]]
        ends = {*carrying.flows.origin.tolist(), *carrying.flows.to.tolist()}
        switches = _switches(setup, nodes)
        data = setup.replace(hosts=[], datagrams=[], events=[], captures=[]).data()
        balancing = setup.routing.load_balancing
        configuration: dict[str, Any]
        if controller is not None:
            configuration = {"setup": data, "scenario": _own_code(scenario, setup)}
        elif isinstance(balancing, SubflowRoundRobinLoadBalancing):
            paths = routes_of(planned.plan.data(), links, names)
            configuration = {
                "setup": {**data, **_turns(data, balancing, sorted(switches))},
                "paths": [
                    (pair, [path.links for path in paths_of_pair]) for pair, paths_of_pair in paths.items()
                ],
            }
        else:
            schemes = [carrying.routing.scheme, *carrying.routing.others]
            configuration = {
                "setup": carrying.replace(hosts=[], events=[], captures=[]).data(),
                "plan": planned.plan.data(),
                "others": [other.data() for other in planned.plan.others()],
                "recomputes": [scheme is not None for scheme in schemes],
            }
        application = (configuration["setup"]["controller"] or {}).get("application", {})
        cable = application.get("algorithm") == "tcpbp" or bool(application.get("probes_links"))
        layout = SwitchLayout.of(names, links, switches, ends, cable=cable)
        return SwitchedRouters(setup, carrying, planned, layout, configuration)


def _own_code(scenario: Scenario, setup: Setup) -> dict[str, Any] | None:
    """What the controller's process needs to load code of the user's own that may run; None without any."""
    if setup.agreement is None:
        return None
    return {
        "data": scenario.data(),
        "origin": scenario.origin,
        "base": None if scenario.base is None else str(scenario.base.absolute()),
        "everything": setup.agreement.everything,
        "digests": sorted(setup.agreement.digests),
    }


def _turns(
    setup: Mapping[str, Any], balancing: SubflowRoundRobinLoadBalancing, switches: Sequence[int]
) -> dict[str, Any]:
    """Nodes and controller of a setup whose subflows get their paths in turn. Nothing is simulated of it."""
    taken = {node["name"] for node in setup["nodes"]}
    name = "controller"
    while name in taken:
        name += "-"
    controller = {
        "node": len(setup["nodes"]),
        "switches": switches,
        "channel": "in-band",
        "application": {"algorithm": _STATEFUL, "k": None},
        "metric": "hops",
        "table": {
            "size": None,
            "when_full": "refuse",
            "idle_timeout": core_value(balancing.idle_timeout),
            "hard_timeout": None,
        },
        "linger": _LINGER_PS,
        "processing_delay": None,
        "statistics_interval": None,
        "flow_metrics": [],
    }
    return {"nodes": [*setup["nodes"], {"name": name, "place": None}], "controller": controller}


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
            f"--switches ovs needs the package os-ken; install it with: {installation('openflow')}"
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
    problems = [
        *_spread(setup),
        *_control(scenario.controller),
        *_simulated(setup),
    ]
    for flow in setup.datagrams[:1]:
        why = "pings and UDP of a scenario are simulated, and real switches forward real packets"
        problems.append(Problem(flow.name, f"{why}; leave them out, or let --exec run ping in a host"))
    for routes in setup.own_routes[:1] if stateful else ():
        why = f"{_STATEFUL} on switches gives subflows the paths of [routing] in turn"
        problems.append(Problem(routes.place, f"{why}; leave this out, or take another load balancing"))
    if setup.captures:
        why = "switches send frames that are none of IP; let --exec run tcpdump in a host"
        problems.append(Problem("capture[0]", why))
    if problems:
        raise ScenarioError(problems, scenario.origin)


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
    timeouts = [(name, getattr(table.table, name)) for name in ("idle_timeout", "hard_timeout")]
    unwanted = (
        (
            table.application_name == "sdn-paced",
            "application",
            "sdn-paced tells senders when to send how much, and the kernel's TCP takes no such message; take "
            "another application, such as window-clamp, or simulate it with anabranch run",
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
        *(
            (
                timeout is not None and timeout.seconds > _LONGEST_S,
                f"table.{name}",
                f"entries of OpenFlow have {_LONGEST_S} s at most; take no more, or leave it out for never",
            )
            for name, timeout in timeouts
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
