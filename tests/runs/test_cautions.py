"""Warnings about settings that do nothing, and about phase effects."""

from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError

BASE = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
bottleneck_capacity = "10 Mbps"
[network.links]
capacity = "100 Mbps"
delay = "5 ms"
[[traffic]]
from = ["left1", "left2"]
to = ["right1", "right2"]
pairs = "in-order"
[run]
duration = "100 ms"
"""
ECN = '[transport.cubic]\npreset = "cubic"\necn = true\n'
CONTROL_LINKS = '[controller.links]\ncapacity = "1 Gbps"\ndelay = "1 ms"\n'
MARKING = ('delay = "5 ms"', 'delay = "5 ms"\nqueue = { algorithm = "codel", ecn = true }')
SLOWER = '[[network.link]]\nbetween = ["left2", "router-left"]\ndelay = "5.1 ms"\n'


def warnings(text: str) -> list[str]:
    """What a run of a scenario warns of."""
    sentences: list[str] = Scenario.loads(text).run().summary["warnings"]
    return sentences


def test_a_transport_that_no_traffic_uses_is_told() -> None:
    table = '[transport.mine]\npreset = "cubic"\n'
    expected = ["transport.mine: no traffic uses it, so that it changes nothing"]
    assert warnings(BASE + table) == expected
    assert (
        warnings(BASE.replace('pairs = "in-order"', 'pairs = "in-order"\ntransport = "mine"') + table) == []
    )


def test_an_error_of_another_simulator_is_told_as_such() -> None:
    table = '[transport.cubic]\npreset = "bbr"\n'
    assert warnings(BASE + table) == []
    message = table + 'congestion_control = { algorithm = "bbr", delivery_rate = "ns-3.37" }\n'
    (line,) = warnings(BASE + message)
    assert line.startswith('transport.cubic: delivery_rate = "ns-3.37" ')
    assert (
        "is an error of ns-3 up to 3.40 (its issue 1026), which is kept for the reproduction of a publication"
        in line
    )


def test_ecn_takes_queues_that_mark_and_transports_that_react() -> None:
    expected = ["transport.cubic.ecn: no queue marks packets, so that it changes nothing"]
    assert warnings(BASE + ECN) == expected
    assert warnings(BASE.replace(*MARKING) + ECN) == []
    (line,) = warnings(BASE.replace(*MARKING))
    assert line.startswith(
        "queue of left1->router-left: codel marks packets of transports with ecn = true, and no "
        "traffic uses one, so that it marks nothing"
    )


def test_an_event_that_brings_a_marking_queue_counts() -> None:
    event = '[[event]]\nat = "50 ms"\nlink = ["router-left", "router-right"]\n'
    event += 'queue = { algorithm = "red", ecn = true }\n'
    assert warnings(BASE + ECN + event) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("", ""), True),
        (("5.1 ms", "5 ms"), False),
        (("5.1 ms", "50 ms"), False),
        (
            ('delay = "5 ms"', 'delay = "5 ms"\njitter = { distribution = "exponential", mean = "1 ms" }'),
            False,
        ),
        (('delay = "5 ms"', 'delay = "5 ms"\nqueue = "codel"'), False),
        (('pairs = "in-order"', 'pairs = "in-order"\nsize = "1 MB"'), False),
    ],
)
def test_phase_effects_are_told_by_name(change: tuple[str, str], told: bool) -> None:
    text = BASE.replace("[[traffic]]", SLOWER + "[[traffic]]")
    assert change[0] in text
    entries = [line for line in warnings(text.replace(*change)) if not line.startswith("completion times")]
    assert [line.partition(":")[0] for line in entries] == ["phase effects"] * told
    assert all("the phase of their packets decides who loses" in line for line in entries)


def test_an_attribute_of_links_that_is_not_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "net.graphml").write_text(
        '<graphml><key id="c" for="edge" attr.name="bw"/><graph edgedefault="undirected">'
        '<node id="a"/><node id="b"/><edge source="a" target="b"><data key="c">10</data></edge>'
        "</graph></graphml>"
    )
    (tmp_path / "s.toml").write_text(
        '[network]\ntopology = "file:net.graphml"\n[network.links]\ncapacity = "1 Gbps"\ndelay = "1 ms"\n'
        '[[traffic]]\nfrom = "a"\nto = "b"\n[run]\nduration = "10 ms"\n'
    )
    assert Scenario.load(tmp_path / "s.toml").run().summary["warnings"] == [
        'network.topology: Not read: bw (1 link, such as "10"), a capacity without a unit; to have it read, '
        'write [network.file.attributes] capacity = { name = "bw", unit = "Mbps" } (or another unit)'
    ]


def test_an_override_names_a_transport_that_there_is() -> None:
    with pytest.raises(
        ScenarioError, match=r'traffic\[0\].transport: transport "cubik" is not known; nearest'
    ):
        Scenario.loads(BASE, {"traffic[0].transport": "cubik"})
    assert Scenario.loads(BASE, {"traffic[0].transport": "bbr"}).traffic[0].transport == "bbr"


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_bytes(b"\xef\xbb\xbf" + BASE.encode())
    assert Scenario.load(tmp_path / "s.toml") == Scenario.loads(BASE)


def test_udp_above_the_rate_of_its_own_link_is_told() -> None:
    udp = 'pairs = "in-order"\napplication = { kind = "udp", rate = "150 Mbps", packet = "1500 B" }'
    (line,) = warnings(BASE.replace('pairs = "in-order"', udp))
    assert line == (
        'traffic[0].0: 150 Mbps is above what the links of "left1" carry, 100 Mbps: the rest is dropped '
        "where it is sent"
    )
    assert warnings(BASE.replace('pairs = "in-order"', udp.replace("150 Mbps", "100 Mbps"))) == []


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (
            'shaper = { rate = "100 Mbps", burst = "20 kB" }',
            "shaper of left1->router-left (and 9 more): its rate, 100 Mbps, is not below "
            "the capacity of the link, 100 Mbps, so that nothing waits for it",
        ),
        (
            'policer = { rate = "100 Mbps", burst = "20 kB" }',
            "policer of left1->router-left (and 9 more): its rate, 100 Mbps, is not below "
            "the capacity of the link, 100 Mbps, so that it drops nothing",
        ),
    ],
)
def test_a_bucket_that_does_nothing_is_told(setting: str, expected: str) -> None:
    assert warnings(BASE.replace('delay = "5 ms"', f'delay = "5 ms"\n{setting}')) == [expected]
    slower = setting.replace("100 Mbps", "9 Mbps")
    assert warnings(BASE.replace('delay = "5 ms"', f'delay = "5 ms"\n{slower}')) == []


def test_a_bucket_counts_where_an_event_makes_the_line_faster() -> None:
    link = '[[network.link]]\nbetween = ["router-left", "router-right"]\n'
    shaper = link + 'shaper = { rate = "20 Mbps", burst = "20 kB" }\n'
    (line,) = warnings(BASE + shaper)
    assert "is not below the capacity of the link" in line
    event = '[[event]]\nat = "50 ms"\nlink = ["router-left", "router-right"]\ncapacity = "30 Mbps"\n'
    assert warnings(BASE + shaper + event) == []


def test_seeds_of_hashes_that_nobody_asks_are_told() -> None:
    seeds = "[network.routers]\nhash_seed = 1\n"
    assert warnings(BASE + seeds) == []
    (line,) = warnings(BASE + seeds + '[routing]\nload_balancing = "packet"\n')
    assert line.startswith("network.routers.hash_seed: ")
    assert "hashes nothing, so that it changes nothing" in line
    (line,) = warnings(BASE + seeds + "[controller]\n" + CONTROL_LINKS)
    assert "the controller chooses paths, so that no router hashes" in line
