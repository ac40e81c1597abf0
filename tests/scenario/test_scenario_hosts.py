"""What a scenario says of its hosts: segmentation offload and processing delays."""

from __future__ import annotations

import pytest

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.setup import resolve

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
    # A few are still in the host at the end, and a few packets carry no segment.
    assert second == pytest.approx(1, abs=0.01)


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


def test_all_hosts_wait_and_one_of_them_for_longer() -> None:
    """Three links of 5 ms each way: 30 ms, and what the hosts take: 1 ms at either end, or 1 and 4 ms."""
    scenario = Scenario.loads(
        DUMBBELL % 'hosts = { processing_delay = "1 ms" }\n'
        'host = [{ name = "left2", processing_delay = "4 ms", offload = "4 segments" }]'
    )
    rtts_ms = scenario.run().flows["rtt_min_ms"].to_list()
    # The packets of the handshake take some microseconds.
    assert rtts_ms == pytest.approx([32.0, 35.0], abs=0.05)


def test_hosts_differ_in_one_setting_and_share_the_other() -> None:
    hosts = resolve(
        Scenario.loads(
            DUMBBELL % 'hosts = { offload = "8 segments", processing_delay = "1 ms" }\n'
            'host = [{ name = "left2", offload = "1 segment" }]'
        )
    ).hosts
    delays = {host.processing_delay.value for host in hosts if host.processing_delay}
    assert delays == {1_000_000_000}
    assert sorted(host.offload for host in hosts) == [1, 8, 8, 8, 8, 8]


@pytest.mark.parametrize(
    ("delay", "message"),
    [
        ('"-1 ms"', r'network.hosts.processing_delay: "-1 ms" is below zero'),
        ('"5 MB"', '"MB" is not a unit of a time'),
        ('{ distribution = "exponential" }', "processing_delay.mean: is missing"),
    ],
)
def test_a_processing_delay_is_a_time_or_a_distribution(delay: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Scenario.loads(DUMBBELL % f"hosts = {{ processing_delay = {delay} }}")


def test_routers_take_time_to_pass_packets_on_and_one_of_them_more() -> None:
    """Three links of 5 ms each way: 30 ms. One router passes packets on in 1 ms, the other in 2.5 ms."""
    scenario = Scenario.loads(
        DUMBBELL % 'routers = { processing_delay = "1 ms" }\n'
        'router = [{ name = "router-left", processing_delay = "2500 us" }]'
    )
    assert len(resolve(scenario).routers) == len(resolve(scenario).nodes)
    assert scenario.run().flows["rtt_min_ms"].to_list() == pytest.approx([37.0, 37.0], abs=0.05)


def test_a_router_that_is_not_there_has_its_nearest_name() -> None:
    with pytest.raises(ScenarioError, match=r'network\.router\[0\]\.name: no node "router-lef".*nearest'):
        Scenario.loads(DUMBBELL % 'router = [{ name = "router-lef", processing_delay = "1 ms" }]').run()


def test_a_negative_time_is_none_of_a_router() -> None:
    with pytest.raises(ScenarioError, match=r'network\.routers\.processing_delay: "-1 ms" is below zero'):
        Scenario.loads(DUMBBELL % 'routers = { processing_delay = "-1 ms" }')
