"""Multipath TCP in a scenario: what goes with it, and what is refused."""

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import resolve

DUMBBELL = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[[traffic]]
name = "many"
from = "left1"
to = "right1"
transport = "mptcp"
[[traffic]]
name = "one"
from = "left2"
to = "right2"
"""
RUN = '[run]\nduration = "1 s"\n'


def refusal(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(text, origin="x.toml"))
    return caught.value.lines()


def test_all_sequences_are_those_of_single_path_flows() -> None:
    resolved_setup = resolve(Scenario.loads(DUMBBELL + RUN + 'sequences = "*"\n'))
    assert [flow.name for flow in resolved_setup.flows] == ["many.0", "one.0"]
    assert resolved_setup.probes.sequences == [1]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (DUMBBELL + RUN + 'sequences = ["one.0", "many.0"]\n', 'run.sequences[1]: "many.0" is multipath'),
        (
            DUMBBELL.replace('to = "right2"', 'to = "right2"\ntransport = "mptcp-olia"')
            + RUN
            + 'sequences = "*"\n',
            "run.sequences: every flow is multipath",
        ),
    ],
)
def test_a_multipath_flow_has_no_one_sequence(text: str, place: str) -> None:
    assert refusal(text) == [
        f"x.toml: {place}; its subflows have sequence numbers of their own, and there is no table of them; "
        "write a [[capture]] of its host, and read it with anabranch capture or Wireshark"
    ]


def test_a_controller_knows_no_subflows() -> None:
    controller = (
        '[controller]\napplication = "forwarding"\n[controller.links]\ncapacity = "10 Mbps"\ndelay = "1 ms"\n'
    )
    assert refusal(DUMBBELL + controller + RUN) == [
        'x.toml: traffic[0].transport: "mptcp" speaks mptcp, and the controller knows flows, not their '
        'subflows; choose a transport of TCP, such as "cubic", controller.application = '
        '"subflow-round-robin", or leave [controller] out'
    ]
    by_subflow = (DUMBBELL + controller + RUN).replace('"forwarding"', '"subflow-round-robin"')
    assert resolve(Scenario.loads(by_subflow)).routing.scheme.core() == {
        "algorithm": "semper",
        "k": None,
        "shares": "equal",
        "metric": "delay",
    }


def test_disjoint_paths_of_a_controller_go_by_a_metric_that_adds_up() -> None:
    table = '[controller]\napplication = "subflow-round-robin"\nmetric = "tcpbp"\n'
    assert refusal(DUMBBELL + table + RUN)[0].startswith(
        "x.toml: controller.metric: paths without a common link go by one of hops"
    )
    ours = DUMBBELL.replace("[[traffic]]", '[[traffic]]\nrouting = { metric = "hops" }', 1)
    table = '[controller]\napplication = "subflow-round-robin"\n'
    assert any(
        "gives all flows the paths of controller.metric" in text for text in refusal(ours + table + RUN)
    )


def test_subflows_count_among_the_rows_of_series() -> None:
    # 100 us for 1000 s are 10 million samples; of 2 flows, 2 subflows and 10 links that is 140 million rows,
    # and with 50 subflows 620 million.
    text = DUMBBELL + '[run]\nduration = "1000 s"\nsample_interval = "100 us"\n'
    assert len(resolve(Scenario.loads(text)).links) == 10
    more = text.replace(
        "[run]", '[transport.mptcp]\npath_manager = { algorithm = "ndiffports", subflows = 50 }\n[run]'
    )
    assert "makes 620,000,000 rows" in refusal(more)[0]
