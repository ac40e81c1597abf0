"""What a scenario says of its hosts: segmentation offload."""

from __future__ import annotations

import pytest

from anabranch import Scenario
from anabranch.errors import ScenarioError

DUMBBELL = """
[network]
topology = "dumbbell"
parameters = { hosts = 2 }
links = { capacity = "100 Mbps", delay = "5 ms" }
%s
[[traffic]]
from = ["left1", "left2"]
to = ["right1", "right2"]
pairs = "in-order"
transport = "linux-cubic"
[run]
duration = "2 s"
"""


def segments_by_packet(settings: str) -> list[float]:
    """Of each flow: segments by packets of the link at its source."""
    result = Scenario.loads(DUMBBELL % settings).run()
    links = dict(zip(result.links["name"], result.links["packets"], strict=True))
    sent = result.flows["segments_sent"].to_list()
    return [sent[0] / links["left1->router-left"], sent[1] / links["left2->router-left"]]


def test_a_host_may_differ_from_all_others() -> None:
    first, second = segments_by_packet(
        'hosts = { offload = "8 segments" }\nhost = [{ name = "left2", offload = "1 segment" }]'
    )
    assert first > 2
    assert second <= 1


@pytest.mark.parametrize(
    ("offload", "message"),
    [
        ("0 segments", '"0 segments" must be at least 1'),
        ("70000 segments", "must be at most 65535"),
        ("8 packets", '"packets" is not a unit of a number of segments'),
    ],
)
def test_a_train_has_a_number_of_segments(offload: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Scenario.loads(DUMBBELL % f'hosts = {{ offload = "{offload}" }}')


def test_an_unknown_host_has_its_nearest_name() -> None:
    with pytest.raises(ScenarioError, match=r'network\.host\[0\]\.name: no node "left3".*nearest: "left'):
        Scenario.loads(DUMBBELL % 'host = [{ name = "left3", offload = "8 segments" }]').run()
