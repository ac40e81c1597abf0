"""Token buckets, and what links do to single packets: what the core gets, what is refused, what comes out."""

from typing import Any

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.scenario.leaves import DrawnHashSeed, GivenHashSeed
from anabranch.setup import resolve

TEXT = """
[network]
topology = "line"
[network.parameters]
capacity = "10 Mbps"
delay = "3 ms"
[network.links]
{setting}
[[traffic]]
name = "web"
from = "source"
to = "sink"
transport = "linux-cubic"
[run]
duration = "2 s"
"""


SMALL = (
    'network.links.{field}: "{size}" of the link source->sink (and 1 more) is below one packet: web sends by '
    'linux-cubic in full packets of 1500 B, which would never pass; give it "1500 B" at least'
)


def scenario(setting: str) -> Scenario:
    """A transfer over a line of 10 Mbps and 3 ms with this setting of its links."""
    return Scenario.loads(TEXT.replace("{setting}", setting))


def problems(setting: str) -> list[str]:
    """All that is wrong with it."""
    with pytest.raises(ScenarioError) as refusal:
        resolve(scenario(setting))
    return [str(problem) for problem in refusal.value.problems]


@pytest.mark.parametrize("field", ["shaper", "policer"])
@pytest.mark.parametrize("place", ["network.link[0]", "network.access", "network.links"])
def test_a_small_burst_is_told_where_it_is_set(field: str, place: str) -> None:
    bucket = {field: {"rate": "1 Mbps", "burst": "100 B"}}
    network: dict[str, Any] = {
        "node": [{"name": "a", "kind": "host"}, {"name": "b"}],
        "links": {"capacity": "10 Mbps", "delay": "1 ms"},
        "link": [{"between": ["a", "b"], "new": True}],
    }
    given = network["link"][0] if place == "network.link[0]" else network.setdefault(place.split(".")[1], {})
    given.update(bucket)
    data = {
        "network": network,
        "traffic": [{"from": "a", "to": "b", "transport": "linux-cubic"}],
        "run": {"duration": "1 s"},
    }
    with pytest.raises(ScenarioError) as refusal:
        resolve(Scenario.from_data(data))
    assert [str(problem).split(":")[0] for problem in refusal.value.problems] == [f"{place}.{field}.burst"]


def test_every_value_reaches_the_core_in_base_units() -> None:
    settings = [
        'shaper = { rate = "5 Mbps", burst = "20 kB", peak_rate = "8 Mbps" }',
        'policer = { rate = "6 Mbps", burst = "30 KiB" }',
        'reorder = { probability = 0.25, correlation = 0.5, gap = 5, delay = "2 ms" }',
        "duplicate = 0.01",
        "corrupt = { probability = 0.001, correlation = 0.25 }",
    ]
    (link, *_) = resolve(scenario("\n".join(settings))).data()["links"]
    assert link["shaper"] == {"rate": 5_000_000, "burst": 20_000, "peak": {"rate": 8_000_000, "mtu": 1_500}}
    assert link["policer"] == {"rate": 6_000_000, "burst": 30_720}
    assert link["reorder"] == {"probability": 0.25, "correlation": 0.5, "gap": 5, "spared": 2 * 10**9}
    assert link["duplicate"] == {"probability": 0.01, "correlation": 0.0}
    assert link["corrupt"] == {"probability": 0.001, "correlation": 0.25}


def test_a_link_that_has_none_of_it_says_nothing_of_it() -> None:
    (link, *_) = resolve(scenario('queue = "20 ms"')).data()["links"]
    assert not {"shaper", "policer", "reorder", "duplicate", "corrupt"} & set(link)


def test_room_in_time_is_at_the_rate_of_the_shaper() -> None:
    """20 ms at 5 Mbps are 12,500 B, at the capacity of 10 Mbps 25,000; above that the line is slower."""
    for rate, room in (("5 Mbps", 12_500), ("50 Mbps", 25_000)):
        shaper = f'shaper = {{ rate = "{rate}", burst = "20 kB" }}\nqueue = "20 ms"'
        (link, *_) = resolve(scenario(shaper)).links
        assert link.queue.limit.bytes == room


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        (
            'shaper = { rate = "5 Mbps", burst = "1 kB" }',
            SMALL.format(field="shaper.burst", size="1 kB"),
        ),
        (
            'shaper = { rate = "5 Mbps", burst = "20 kB", peak_rate = "8 Mbps", mtu = "1499 B" }',
            SMALL.format(field="shaper.mtu", size="1499 B"),
        ),
        (
            'policer = { rate = "5 Mbps", burst = "1 kB" }',
            SMALL.format(field="policer.burst", size="1 kB"),
        ),
        (
            'shaper = { rate = "5 Mbps" }',
            "network.links.shaper.burst: is missing (what the bucket holds)",
        ),
        (
            'shaper = { rate = "0 Mbps", burst = "20 kB" }',
            'network.links.shaper.rate: "0 bps" is out of range; it must be at least 100 bps',
        ),
        (
            'shaper = { rate = "5 Mbps", burst = "20 kB", peak_rate = "4 Mbps" }',
            'network.links.shaper.peak_rate: "4 Mbps" is not above rate, "5 Mbps"; a backlog never leaves '
            "faster",
        ),
        (
            'shaper = { rate = "5 Mbps", burst = "20 kB", mtu = "2 kB" }',
            "network.links.shaper.mtu: belongs to peak_rate; without it what the bucket has saved leaves at "
            "the rate of the link",
        ),
        ("reorder = { probability = 1.5 }", "network.links.reorder.probability: 1.5 must be at most 1.0"),
        ("reorder = { probability = 0.5, gap = 0 }", "network.links.reorder.gap: 0 must be at least 1"),
        ("duplicate = 1.01", "network.links.duplicate: 1.01 must be at most 1.0"),
        ("corrupt = -0.1", "network.links.corrupt: -0.1 must be at least 0.0"),
        (
            "duplicate = { probability = 0.1, correlation = 2 }",
            "network.links.duplicate.correlation: 2 must be at most 1.0; 2 % is 0.02",
        ),
        (
            'reorder = { probability = 0.1, delay = "4 ms" }',
            'network.links.reorder.delay: "4 ms" is more than the delay of the link source - sink, "3 ms", '
            "which is all that a packet can be spared",
        ),
    ],
)
def test_what_cannot_be_is_refused(setting: str, problem: str) -> None:
    messages = problems(setting)
    assert len(set(messages)) == 1, messages
    assert messages[0] == problem


def test_reordering_needs_a_delay() -> None:
    text = TEXT.replace("{setting}", "reorder = { probability = 0.1 }").replace('"3 ms"', '"0 ms"')
    with pytest.raises(ScenarioError, match="has no delay that a packet could be spared") as refusal:
        resolve(Scenario.loads(text))
    assert refusal.value.problems[0].place == "network.links.reorder"


def test_trains_have_to_fit_into_a_bucket() -> None:
    text = TEXT.replace("{setting}", 'shaper = { rate = "5 Mbps", burst = "20 kB" }')
    text = text.replace("[[traffic]]", '[network.hosts]\noffload = "44 segments"\n[[traffic]]')
    with pytest.raises(ScenarioError, match="sends by linux-cubic in trains of 44 segments of 66 kB"):
        resolve(Scenario.loads(text))


def test_what_links_do_is_in_their_table_and_the_books_close() -> None:
    settings = [
        'shaper = { rate = "8 Mbps", burst = "30 kB" }',
        'policer = { rate = "9 Mbps", burst = "3 kB" }',
        "reorder = { probability = 0.05, gap = 2 }",
        "duplicate = 0.05",
        "corrupt = 0.02",
    ]
    result = scenario("\n".join(settings)).run()
    links, flow = result.links, result.flows.row(0, named=True)
    for column in ("duplicated_packets", "corrupted_packets", "reordered_packets", "drops_policed"):
        assert links[column].sum() > 0, column
    assert flow["drops_policed"] + flow["drops_corrupted"] > 0
    received = flow["packets_received"] + flow["duplicates_received"] + flow["packets_in_flight"]
    assert flow["segments_sent"] + flow["duplicated_packets"] == received + flow["drops_data"]
    causes = sum(value for name, value in flow.items() if name.startswith("drops_") and name not in _SUMS)
    assert causes == flow["drops_data"] + flow["drops_without_data"] + flow["drops_acks"]


_SUMS = ("drops_data", "drops_without_data", "drops_acks", "drops_control")


def test_small_writes_are_segments_of_their_own() -> None:
    """100 B each 10 ms from 10 ms on, each a segment: 200 in 2 s, the last one as the run ends."""
    text = TEXT.replace("{setting}", "").replace(
        'transport = "linux-cubic"',
        'transport = "linux-cubic"\n'
        'application = { kind = "constant-rate", message = "100 B", gap = "10 ms" }',
    )
    flow = Scenario.loads(text).run().flows.row(0, named=True)
    assert flow["segments_sent"] == 200
    assert flow["delivered_bytes"] == 199 * 100


def test_hash_seeds_reach_the_core() -> None:
    dumbbell = Scenario.from_data(
        {
            "network": {
                "topology": "dumbbell",
                "parameters": {"bottleneck_capacity": "10 Mbps"},
                "links": {"capacity": "10 Mbps", "delay": "1 ms"},
                "routers": {"hash_seed": 7},
                "router": [{"name": "router-left", "hash_seed": "random"}],
            },
            "traffic": [{"from": "left1", "to": "right1"}],
            "run": {"duration": "1 s"},
        }
    )
    setup = resolve(dumbbell)
    seeds = {setup.nodes[router.node].name: router.hash_seed for router in setup.routers}
    assert seeds.pop("router-left") == DrawnHashSeed()
    assert seeds
    assert all(seed == GivenHashSeed(seed=7) for seed in seeds.values())
    assert all(router.processing_delay is None for router in setup.routers)


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ('"all"', 'network.routers.hash_seed: "all" is neither a number nor "random"'),
        ("-1", "network.routers.hash_seed: -1 must be at least 0"),
        ("1.5", "network.routers.hash_seed: 1.5 is not a whole number"),
    ],
)
def test_a_seed_is_a_number_or_random(seed: str, message: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        Scenario.loads(TEXT.replace("{setting}", "") + f"[network.routers]\nhash_seed = {seed}\n")
    assert message in str(refusal.value.problems[0])
