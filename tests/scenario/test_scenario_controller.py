"""The controller: its node, its links and its part of the setup, and every way to get it wrong."""

import json
import tomllib
from typing import Any

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.scenario.declarations import declarations, parameters_of
from anabranch.setup import Setup, resolve

from .conftest import BASE, CONTROLLED, IN_BAND

US = 10**6
SECOND = 10**12


def resolved(text: str) -> Setup:
    return resolve(Scenario.loads(text, origin="x.toml"))


def named(setup: Setup, nodes: object) -> list[str]:
    assert isinstance(nodes, list)
    return [setup.nodes[node].name for node in nodes]


def controller(setup: Setup) -> dict[str, Any]:
    assert setup.controller is not None
    return setup.controller.core()


def test_every_setting_of_a_controller_reaches_the_core() -> None:
    setup = resolved(CONTROLLED)
    # ControllerSetup of crates/engine/src/setup.rs, in picoseconds. The nodes: left1, left2, the three
    # routers, right1, and last the controller.
    assert setup.controller.core() == {
        "node": 6,
        "switches": [2, 3, 4],
        "channel": "apart",
        "application": {
            "algorithm": "sdn-paced",
            "alpha": 0.9,
            "beta": 1.5,
            "gamma": 2.0,
            "schedule": "published",
        },
        "metric": "hops",
        "table": {
            "size": 1000,
            "when_full": "evict",
            "idle_timeout": 5 * SECOND,
            "hard_timeout": 30 * SECOND,
        },
        "linger": 0,
        "processing_delay": {"distribution": "constant", "value": 20 * 10**6},
        "statistics_interval": 10 * 10**9,
        "flow_metrics": [],
    }
    assert named(setup, [6, 2, 3, 4]) == ["controller", "router-left", "router-middle1", "router-right"]
    assert setup.core().plan().data()["routes"]


def test_control_links_follow_those_of_the_network() -> None:
    setup = resolved(CONTROLLED)
    control = [link for link in setup.links if 6 in (link.origin, link.to)]
    assert setup.links[-len(control) :] == control
    assert [link.name for link in control] == [
        "controller->router-left", "router-left->controller",
        "controller->router-middle1", "router-middle1->controller",
        "controller->router-right", "router-right->controller",
    ]  # fmt: skip
    assert {link.capacity for link in control} == {8 * 10**9}
    assert [link.delay // US for link in control] == [1, 1, 3, 3, 1, 1]
    # Unlimited by default; the one in the middle has settings of its own.
    assert [link.queue.limit.packets for link in control] == [None, None, 10, 10, None, None]
    assert [link.loss.algorithm for link in control] == ["none"] * 2 + ["bernoulli"] * 2 + ["none"] * 2
    (down,) = setup.events
    left = [setup.links.index(control[0]), setup.links.index(control[1])]
    assert down.change.core() == {"kind": "links", "links": left, "up": False}


def test_a_controller_moves_no_id_and_no_draw_of_the_network() -> None:
    without = CONTROLLED[: CONTROLLED.index("[controller]")] + CONTROLLED[CONTROLLED.index("[[traffic]]") :]
    without = without.replace('transport = "mine"', "").replace(
        '"controller", "router-left"', '"left1", "router-left"'
    )
    plain, controlled = resolved(without), resolved(CONTROLLED)
    assert plain.controller is None
    assert controlled.links[: len(plain.links)] == plain.links
    assert controlled.nodes[: len(plain.nodes)] == plain.nodes
    assert [(flow.origin, flow.to) for flow in controlled.flows] == [
        (flow.origin, flow.to) for flow in plain.flows
    ]


@pytest.mark.parametrize("text", [CONTROLLED, IN_BAND])
@pytest.mark.parametrize("application", declarations()["application"])
def test_the_core_reads_every_application_over_every_channel(text: str, application: str) -> None:
    data = tomllib.loads(text)
    data["controller"]["application"] = application
    data["traffic"][0]["transport"] = "cubic"
    setup = resolve(Scenario.from_data(data))
    settings = controller(setup)["application"]
    assert isinstance(settings, dict)
    assert settings["algorithm"] == application
    assert set(settings) - {"algorithm", "measuring"} == set(parameters_of("application", application))
    assert setup.core().plan().data()["routes"]


def test_everybody_is_every_host_and_neither_switch_nor_controller() -> None:
    setup = resolved(CONTROLLED)
    ends = [(setup.nodes[flow.origin].name, setup.nodes[flow.to].name) for flow in setup.flows]
    assert ends == [("left1", "right1"), ("left2", "right1")]


def test_in_band_the_controller_hangs_at_a_switch_by_one_link() -> None:
    setup = resolved(IN_BAND)
    assert [link.name for link in setup.links[6:]] == ["controller->s2", "s2->controller"]
    assert [(link.capacity, link.delay) for link in setup.links[6:]] == [(10**8, 2 * US)] * 2
    settings = controller(setup)
    assert (settings["channel"], settings["application"]) == (
        "in-band",
        {"algorithm": "window-clamp", "share": 0.5},
    )
    assert named(setup, settings["switches"]) == ["s1", "s2"]
    assert (settings["metric"], settings["linger"], settings["statistics_interval"]) == (
        "delay",
        SECOND,
        None,
    )
    assert settings["table"] == {
        "size": None,
        "when_full": "refuse",
        "idle_timeout": None,
        "hard_timeout": None,
    }
    (down,) = setup.events
    assert down.change.core() == {"kind": "node", "node": 4, "up": False}
    assert len(setup.flows) == 2


def test_a_node_of_the_network_may_be_the_controller() -> None:
    text = IN_BAND.replace('at = "s2"', 'node = "c0"').replace(
        '[controller.links]\ncapacity = "100 Mbps"\ndelay = "2 us"\n', ""
    )
    added = (
        '[[network.node]]\nname = "c0"\n[[network.link]]\nbetween = ["s1", "c0"]\nnew = true\n[controller]\n'
    )
    setup = resolved(text.replace("[controller]\n", added).replace('node = "controller"', 'node = "c0"'))
    assert named(setup, [controller(setup)["node"]]) == ["c0"]
    assert named(setup, controller(setup)["switches"]) == ["s1", "s2"]
    assert [node.name for node in setup.nodes] == ["h1", "h2", "s1", "s2", "c0"]
    assert len(setup.flows) == 2


ABILENE = BASE + '[controller]\n[controller.links]\ncapacity = "1 Gbps"\ndelay = "1 ms"\n'


def test_without_hosts_every_node_is_a_switch_and_an_end() -> None:
    setup = resolved(ABILENE.replace('"Seattle"', '"*"'))
    # Abilene has 11 nodes; all send to Atlanta but Atlanta itself.
    assert named(setup, controller(setup)["switches"]) == [node.name for node in setup.nodes[:11]]
    assert len(setup.flows) == 10


def test_nodes_that_are_no_switches_are_hosts() -> None:
    others = [name for name in (n.name for n in resolved(BASE).nodes) if name not in ("Seattle", "Atlanta")]
    listed = f"[controller]\nswitches = {json.dumps(others)}\n"
    setup = resolved(ABILENE.replace("[controller]\n", listed).replace('"Seattle"', '"*"'))
    assert named(setup, controller(setup)["switches"]) == others
    assert [named(setup, [flow.origin, flow.to]) for flow in setup.flows] == [["Seattle", "Atlanta"]]


def between(*links: str) -> str:
    return "".join(
        f'[[network.link]]\nbetween = ["{a}", "{b}"]\nnew = true\n'
        for a, b in (link.split("-") for link in links)
    )


def test_a_host_sends_over_its_first_link_to_a_switch_and_does_not_forward() -> None:
    """h1 hangs at s1 first, and the only way from s1 to s2 leads through h1 itself."""
    text = IN_BAND.replace(between("h1-s1", "s1-s2", "s2-h2"), between("h1-s1", "h1-s2", "s2-h2"))
    text = text.replace('channel = "in-band"\nat = "s2"\n', "")
    with pytest.raises(ScenarioError) as caught:
        resolved(text)
    # The other direction is there: h2, s2, h1.
    over = "in this scenario over the controller's switches for its"
    assert caught.value.lines() == [
        f'x.toml: traffic[0]: no path from "h1" to "h2" {over} {what}' for what in ("data", "acknowledgments")
    ]
    assert len(resolved(text.replace('["h1", "s1"]', '["s2", "s1"]')).flows) == 2


def test_parameters_that_are_left_out_have_their_defaults() -> None:
    settings = controller(
        resolved(ABILENE.replace("[controller]\n", '[controller]\napplication = "sdn-paced"\n'))
    )
    assert settings["application"] == {
        "algorithm": "sdn-paced", "alpha": 1.0, "beta": 1.0, "gamma": 1.5, "schedule": "stretched",
    }  # fmt: skip


@pytest.mark.parametrize("text", [CONTROLLED, IN_BAND, ABILENE])
def test_a_scenario_with_a_controller_reads_back_from_its_own_text(text: str) -> None:
    scenario = Scenario.loads(text)
    again = Scenario.loads(scenario.toml())
    assert again == scenario
    assert resolve(again) == resolve(scenario)


def test_routes_are_those_of_the_data_by_the_metric_of_the_controller() -> None:
    """Over the control links of 0.1 us each the way would be shorter, but they carry no data."""
    short = CONTROLLED.replace('metric = "hops"', 'metric = "delay"').replace(
        'delay = "1 us"', 'delay = "100 ns"'
    )
    routes = Scenario.loads(short).routes()
    assert (routes.scheme, routes.metric) == ("sdn-paced", "delay")
    ways = {pair.source: pair.paths[0].nodes for pair in routes.pairs if pair.carries == "data"}
    row = ("router-left", "router-middle1", "router-right", "right1")
    assert ways == {"left1": ("left1", *row), "left2": ("left2", *row)}
    for pair in routes.pairs:
        for a, b, name in zip(
            pair.paths[0].nodes, pair.paths[0].nodes[1:], pair.paths[0].links, strict=False
        ):
            assert name == f"{a}->{b}"


# What is put in place of what, in which scenario, and the only messages.
MISTAKES: list[tuple[str, str, str, str]] = [
    (CONTROLLED, "alpha = 0.9", "alpha = 1.1", "controller.application.alpha: 1.1 must be at most 1.0"),
    (CONTROLLED, "alpha = 0.9", "alpha = 0", "controller.application.alpha: 0 must be above 0.0"),
    (CONTROLLED, "beta = 1.5", "beta = 0.9", "controller.application.beta: 0.9 must be at least 1.0"),
    (CONTROLLED, "gamma = 2", "gamma = 0.5", "controller.application.gamma: 0.5 must be at least 1.0"),
    (
        CONTROLLED,
        "gamma = 2",
        "gamma = 1e9",
        "controller.application.gamma: 1000000000.0 must be at most 1000.0",
    ),
    (
        CONTROLLED,
        "gamma = 2",
        "share = 0.5",
        "controller.application.share: is a parameter of window-clamp (application); the application here is "
        '"sdn-paced", which has alpha, beta, gamma, schedule',
    ),
    (IN_BAND, "share = 0.5", "share = -1", "controller.application.share: -1 must be above 0.0"),
    (
        CONTROLLED,
        '"sdn-paced", alpha',
        '"sdn-pacd", alpha',
        'controller.application: algorithm "sdn-pacd" is not known; nearest: "sdn-paced"; there are '
        '"forwarding", '
        '"sdn-paced", "window-clamp", "tcpbp", "subflow-round-robin"',
    ),
    (
        CONTROLLED,
        '"published"',
        '"publish"',
        'controller.application.schedule: "publish" is not known; nearest: "published"; there are '
        '"stretched", '
        '"published"',
    ),
    (
        CONTROLLED,
        'metric = "hops"',
        'metric = "length"',
        'controller.metric: "length" is not known; there are "hops", "hops-then-delay", "delay", '
        '"inverse-capacity", "loss", "weight", "capacity", "tcpbp", "smm", "argaq", "b-over-dl"',
    ),
    (
        CONTROLLED,
        "[controller]\n",
        "[controller]\nlingr = 1\n",
        'controller.lingr: no such key; nearest: "linger"',
    ),
    (CONTROLLED, "size = 1000", "size = 0", "controller.table.size: 0 must be at least 1"),
    (
        CONTROLLED,
        'idle_timeout = "5 s"',
        'idle_timeout = "0 s"',
        'controller.table.idle_timeout: "0 s" must be above zero, for example "2.5 ms"',
    ),
    (
        CONTROLLED,
        'statistics_interval = "10 ms"',
        'statistics_interval = "0 s"',
        'controller.statistics_interval: "0 s" must be above zero, for example "2.5 ms"',
    ),
    (
        CONTROLLED,
        "[[controller.link]]",
        "[controller.link]",
        "controller.link: a table is not a list; write [[controller.link]], in double brackets",
    ),
    (
        CONTROLLED,
        'switch = "router-middle1"\n',
        "",
        "controller.link[0].switch: is missing (the switch at its other end)",
    ),
    (
        CONTROLLED,
        'switch = "router-middle1"',
        'switch = "left1"',
        'controller.link[0].switch: "left1" is no switch of the controller',
    ),
    (
        CONTROLLED,
        'switch = "router-middle1"',
        'switch = "router-mid1"',
        'controller.link[0].switch: no node "router-mid1" in dumbbell(left_hosts=2, right_hosts=1, '
        'middle=1); nearest: "router-middle1"',
    ),
    (
        CONTROLLED,
        '[controller.links]\ncapacity = "8 Gbps"\ndelay = "1 us"\n',
        "",
        "controller.links.capacity: is missing: link controller - router-left (and 2 more) of the controller "
        'has no capacity of its own; write one, for example "10 Mbps"\n'
        "controller.links.delay: is missing: link controller - router-left (and 1 more) of the controller "
        'has neither delay nor length; write a delay, for example "5 ms"',
    ),
    (
        CONTROLLED,
        'capacity = "8 Gbps"',
        'capacity = "8 bps"',
        "controller.links.capacity: 8 bps on the link controller - router-left is not between 100 bps and "
        "1000 Tbps\n"
        "controller.links.capacity: 8 bps on the link controller - router-middle1 is not between 100 bps and "
        "1000 Tbps\n"
        "controller.links.capacity: 8 bps on the link controller - router-right is not between 100 bps and "
        "1000 Tbps",
    ),
    (
        ABILENE,
        "[controller]\n",
        '[[network.node]]\nname = "controller"\n[controller]\n',
        'controller: zoo/Abilene has a node "controller" already; if it is to be the controller, write '
        'channel = "in-band" and node = "controller"',
    ),
    (
        CONTROLLED,
        "[controller]\n",
        '[controller]\nat = "router-left"\n',
        'controller.at: a control link leads to every switch; only channel = "in-band" has one',
    ),
    (
        CONTROLLED,
        "[controller]\n",
        '[controller]\nnode = "left1"\n',
        'controller.node: a control link leads to every switch; only channel = "in-band" has one',
    ),
    (
        CONTROLLED,
        "[controller]\n",
        '[controller]\nswitches = "router-left"\n',
        'controller.switches: "router-left" is not a list; write it in square brackets',
    ),
    (
        CONTROLLED,
        "[controller]\n",
        "[controller]\nswitches = []\n",
        "controller.switches: is empty; at least one entry is needed",
    ),
    (
        CONTROLLED,
        "[controller]\n",
        '[controller]\nswitches = ["router-left", "router-middle1", "router-right", "router-left"]\n',
        'controller.switches[3]: names "router-left" twice',
    ),
    (
        CONTROLLED,
        "[controller]\n",
        '[controller]\nswitches = ["router-left", "router-mid1", "router-right"]\n',
        'controller.switches[1]: no node "router-mid1" in dumbbell(left_hosts=2, right_hosts=1, middle=1); '
        'nearest: "router-middle1"',
    ),
    (
        CONTROLLED,
        "[controller]\n",
        '[controller]\nswitches = ["router-left", "router-middle1"]\n',
        'traffic[0]: no path from "left1" to "right1" in dumbbell(left_hosts=2, right_hosts=1, middle=1) '
        "over the controller's switches for its data\n"
        'traffic[0]: no path from "right1" to "left1" in dumbbell(left_hosts=2, right_hosts=1, middle=1) '
        "over the controller's switches for its acknowledgments\n"
        'traffic[0]: no path from "left2" to "right1" in dumbbell(left_hosts=2, right_hosts=1, middle=1) '
        "over the controller's switches for its data\n"
        'traffic[0]: no path from "right1" to "left2" in dumbbell(left_hosts=2, right_hosts=1, middle=1) '
        "over the controller's switches for its acknowledgments",
    ),
    (
        CONTROLLED,
        "[controller]\n",
        '[routing]\nscheme = "ecmp"\nload_balancing = "packet"\n[controller]\n',
        "routing.load_balancing: the controller chooses the paths, so leave this out\n"
        "routing.scheme: the controller chooses the paths, so leave this out; its own metric is "
        "controller.metric",
    ),
    (
        CONTROLLED,
        'to = "right1"',
        'to = "controller"',
        "traffic[0].to: is the controller, which is no end of a flow",
    ),
    (
        CONTROLLED,
        'from = "*"',
        'from = "controller"',
        "traffic[0].from: is the controller, which is no end of a flow",
    ),
    (
        CONTROLLED,
        'application = { algorithm = "sdn-paced", alpha = 0.9, beta = 1.5, gamma = 2, '
        'schedule = "published" }\n',
        "",
        'traffic[0].transport: "mine" sends only when a controller says so; set controller.application = '
        '"sdn-paced" in place of "forwarding"',
    ),
    (
        BASE,
        'to = "Atlanta"',
        'to = "Atlanta"\ntransport = "sdn-paced"',
        'traffic[0].transport: "sdn-paced" sends only when a controller says so; write [controller] with '
        'application = "sdn-paced"',
    ),
    (
        IN_BAND,
        'transport = "newreno"',
        'transport = "sliding-window"',
        'traffic[0].transport: the controller clamps windows of TCP, and "sliding-window" speaks '
        'sliding-window; choose a transport of TCP, such as "cubic", or another controller.application',
    ),
    (
        IN_BAND,
        'at = "s2"\n',
        "",
        "controller.at: is missing; in-band, give the switch that the controller hangs at, or node",
    ),
    (IN_BAND, 'at = "s2"', 'at = "s2"\nnode = "s1"', "controller.at: give either at or node, not both"),
    (IN_BAND, 'at = "s2"', 'at = "h2"', 'controller.at: "h2" is no switch of the controller'),
    (
        IN_BAND,
        'at = "s2"',
        'node = "s2"',
        'controller.links: the links of "s2" are those of the network; leave them out',
    ),
    (
        IN_BAND,
        "[controller.links]",
        '[[controller.link]]\nswitch = "s1"\n[controller.links]',
        'controller.link: only channel = "apart" has a link for each switch; in-band there is one, links',
    ),
    (
        IN_BAND,
        "[controller]\n",
        '[[network.node]]\nname = "island"\n[controller]\n',
        'controller.channel: no path over the switches between the controller and "island"; leave it out of '
        'switches, or choose channel = "apart"',
    ),
    (
        IN_BAND,
        'kind = "switch"\n[[network.node]]\nname = "s2"\nkind = "switch"',
        'kind = "host"\n[[network.node]]\nname = "s2"\nkind = "host"',
        "controller.switches: every node of this scenario is a host; list those that are switches",
    ),
    (
        IN_BAND,
        'name = "s1"\nkind = "switch"',
        'name = "s1"\nkind = "hub"',
        'network.node[2].kind: "hub" is not known; there are "router", "switch", "host"',
    ),
]


@pytest.mark.parametrize(
    ("text", "part", "replacement", "expected"), MISTAKES, ids=[m[3][:60] for m in MISTAKES]
)
def test_a_mistake_is_answered_with_its_place_and_a_remedy(
    text: str, part: str, replacement: str, expected: str
) -> None:
    assert text.count(part) == 1, "the table must change exactly one place"
    with pytest.raises(ScenarioError) as caught:
        resolved(text.replace(part, replacement))
    assert caught.value.lines() == [f"x.toml: {message}" for message in expected.split("\n")]


@pytest.mark.parametrize("text", [CONTROLLED, IN_BAND, BASE])
def test_the_unchanged_scenarios_have_no_mistake(text: str) -> None:
    assert resolved(text).flows
