"""The controller application tcpbp and traffic that measures: settings, and every way to get them wrong."""

from typing import Any

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.scenario.declarations import declarations, parameters_of
from anabranch.setup import Setup, resolve

from .conftest import BASE, CONTROLLED

US = 10**6
SECOND = 10**12

ABILENE = BASE + '[controller]\n[controller.links]\ncapacity = "1 Gbps"\ndelay = "1 ms"\n'


def resolved(text: str) -> Setup:
    return resolve(Scenario.loads(text, origin="x.toml"))


def controller(setup: Setup) -> dict[str, Any]:
    assert setup.controller is not None
    return setup.controller.core()


TCPBP = ABILENE.replace("[controller]\n", '[controller]\napplication = "tcpbp"\n')
TCPBP_SET = TCPBP.replace(
    'application = "tcpbp"\n',
    'application = { algorithm = "tcpbp", '
    'estimator = { algorithm = "hte", window = 5, significance = 0.01 }, '
    'sample_packets = 200, loss_granularity = 0.001, delay_granularity = "1 ms", threshold = 0.1, '
    'delay = "configured", search = "exact", hold_time = "30 s" }\nmetric = "delay"\n'
    'statistics_interval = "2 s"\n',
)


def test_tcpbp_has_the_defaults_of_the_thesis() -> None:
    """A mean over 30 s of samples of 10 s, in steps of 0.01 % and 0.1 ms; hops before the first estimates."""
    settings = controller(resolved(TCPBP))
    assert settings["application"] == {
        "algorithm": "tcpbp", "estimator": {"algorithm": "sma", "window": 3}, "delay": "measured",
        "sample_packets": 1000, "loss_granularity": 1e-4, "delay_granularity": 100 * US,
        "search": "published", "threshold": 0.0, "hold_time": 0, "measuring": [],
    }  # fmt: skip
    assert (settings["metric"], settings["statistics_interval"]) == ("hops", 10 * SECOND)
    assert Scenario.loads(TCPBP).routes().metric == "hops"


def test_every_setting_of_tcpbp_reaches_the_core() -> None:
    settings = controller(resolved(TCPBP_SET))
    assert settings["application"] == {
        "algorithm": "tcpbp", "estimator": {"algorithm": "hte", "window": 5, "significance": 0.01},
        "delay": "configured", "sample_packets": 200, "loss_granularity": 0.001, "delay_granularity": 10**9,
        "search": "exact", "threshold": 0.1, "hold_time": 30 * SECOND, "measuring": [],
    }  # fmt: skip
    assert (settings["metric"], settings["statistics_interval"]) == ("delay", 2 * SECOND)


def test_the_core_reads_every_estimator() -> None:
    for name in declarations()["estimator"]:
        setup = resolved(TCPBP.replace('"tcpbp"\n', f'{{ algorithm = "tcpbp", estimator = "{name}" }}\n'))
        application = controller(setup)["application"]
        assert isinstance(application, dict)
        assert application["estimator"]["algorithm"] == name
        assert set(application["estimator"]) == {"algorithm", *parameters_of("estimator", name)}
        assert setup.core().plan().data()["routes"]


NEIGHBOURS = """
[network]
topology = "grid"
[network.parameters]
rows = 2
columns = 2
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[[traffic]]
from = "*"
pairs = "neighbours"
stop = "9 s"
[[traffic]]
from = "*"
pairs = "permutation"
[run]
duration = "10 s"
"""


def test_neighbours_send_to_each_other_both_ways() -> None:
    """A square has four sides, eight directions and two diagonals without a link."""
    setup = resolved(NEIGHBOURS)
    links = {(link.origin, link.to) for link in setup.links}
    pairs = [(flow.origin, flow.to) for flow in setup.flows if flow.stop is not None]
    assert len(pairs) == 8
    assert set(pairs) == links


def test_tcpbp_keeps_flows_of_neighbours_to_their_links() -> None:
    links = '[controller.links]\ncapacity = "1 Gbps"\ndelay = "1 us"\n'
    setup = resolved(NEIGHBOURS + '[controller]\napplication = "tcpbp"\n' + links)
    application = controller(setup)["application"]
    assert isinstance(application, dict)
    assert application["measuring"] == list(range(8))
    assert len(setup.flows) == 12
    # The control links make nobody a neighbour.
    assert all(setup.nodes[end].name != "controller" for f in setup.flows for end in (f.origin, f.to))
    other = controller(resolved(NEIGHBOURS + "[controller]\n" + links))["application"]
    assert other == {"algorithm": "forwarding"}


def test_neighbours_are_those_of_a_list() -> None:
    names = [node.name for node in resolved(NEIGHBOURS).nodes]
    listed = f'from = ["{names[0]}", "{names[1]}", "{names[3]}"]\npairs = "neighbours"'
    setup = resolved(NEIGHBOURS.replace('from = "*"\npairs = "neighbours"', listed))
    assert [(f.origin, f.to) for f in setup.flows[:4]] == [(0, 1), (1, 0), (1, 3), (3, 1)]


# What is put in place of what, in which scenario, and the only messages.
MISTAKES: list[tuple[str, str, str, str]] = [
    (
        TCPBP_SET,
        "window = 5",
        "window = 0",
        "controller.application.estimator.window: 0 must be at least 2",
    ),
    (
        TCPBP_SET,
        "sample_packets = 200",
        "sample_packets = 0",
        "controller.application.sample_packets: 0 must be at least 1",
    ),
    (TCPBP_SET, "= 0.001", "= 1.5", "controller.application.loss_granularity: 1.5 must be at most 1.0"),
    (TCPBP_SET, "threshold = 0.1", "threshold = 1", "controller.application.threshold: 1 must be below 1.0"),
    (
        TCPBP_SET,
        '"1 ms", threshold',
        "1, threshold",
        'controller.application.delay_granularity: "1" has no unit; a time is written like "2.5 ms" (units: '
        "ps, ns, us, µs, ms, s, min, h)",
    ),
    (
        TCPBP_SET,
        "significance = 0.01",
        "significance = 0",
        "controller.application.estimator.significance: 0 must be above 0.0",
    ),
    (
        TCPBP_SET,
        "significance = 0.01",
        "significance = 1",
        "controller.application.estimator.significance: 1 must be below 1.0",
    ),
    (
        TCPBP_SET,
        "significance = 0.01",
        "weight = 0.5",
        "controller.application.estimator.weight: is a parameter of ewma (estimator); the estimator here is "
        '"hte", which has window, significance',
    ),
    (
        TCPBP_SET,
        '"hte"',
        '"kalman"',
        'controller.application.estimator: algorithm "kalman" is not known; there are "sma", "ewma", "hte"',
    ),
    (
        TCPBP_SET,
        '"30 s"',
        '"-30 s"',
        'controller.application.hold_time: "-30 s" is below zero; a time is written like "2.5 ms"',
    ),
    (
        TCPBP_SET,
        '"configured"',
        '"guessed"',
        'controller.application.delay: "guessed" is not known; there are "measured", "configured"',
    ),
    (
        ABILENE,
        "[controller]\n",
        '[controller]\napplication = "sdn-paced"\ngamma = 2.0\n',
        "controller.gamma: is a parameter of sdn-paced (application), and stands with it: write "
        'application = { algorithm = "sdn-paced", gamma = ... }',
    ),
    (
        NEIGHBOURS,
        'pairs = "neighbours"',
        'to = "*"\npairs = "neighbours"',
        'traffic[0].to: pairs = "neighbours" takes the receivers from the senders; leave it out',
    ),
    (
        NEIGHBOURS,
        'from = "*"\npairs = "neighbours"',
        'from = "router1.1"\npairs = "neighbours"',
        'traffic[0].from: neighbours are several nodes or "*", not "router1.1" alone',
    ),
    (
        CONTROLLED,
        'to = "right1"',
        'pairs = "neighbours"',
        "traffic[0].from: no two of these nodes have a link between them; list the switches",
    ),
]


@pytest.mark.parametrize(
    ("text", "part", "replacement", "expected"), MISTAKES, ids=[mistake[3] for mistake in MISTAKES]
)
def test_a_mistake_is_answered_with_its_place_and_a_remedy(
    text: str, part: str, replacement: str, expected: str
) -> None:
    assert text.count(part) == 1, "the table must change exactly one place"
    with pytest.raises(ScenarioError) as caught:
        resolved(text.replace(part, replacement))
    assert caught.value.lines() == [f"x.toml: {expected}"]


@pytest.mark.parametrize("text", [TCPBP, TCPBP_SET, NEIGHBOURS])
def test_the_unchanged_scenarios_read_back_from_their_own_text(text: str) -> None:
    scenario = Scenario.loads(text)
    again = Scenario.loads(scenario.toml())
    assert again == scenario
    assert resolve(again) == resolve(scenario)
