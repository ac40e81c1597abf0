"""Queues: every form of their room, every discipline, and what was written otherwise before."""

from typing import Any

import pytest

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.scenario.declarations import declarations
from anabranch.setup import resolve

DUMBBELL = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
bottleneck_capacity = "10 Mbps"
bottleneck_delay = "20 ms"
access_delay = "5 ms"
access_capacity = "100 Mbps"
[network.links]
%s
[[traffic]]
from = ["left1", "left2"]
to = ["right1", "right2"]
pairs = "in-order"
size = "unlimited"
transport = "newreno"
[run]
duration = "2 s"
"""
FIFO = {"algorithm": "fifo"}


def queue_of(settings: str, text: str = DUMBBELL) -> tuple[Any, Any]:
    """Room and discipline of the bottleneck."""
    links = resolve(Scenario.loads(text % settings)).links
    (bottleneck,) = [link for link in links if link.capacity == 10_000_000 and link.origin < link.to]
    return bottleneck.queue.limit.core(), bottleneck.queue.discipline.core()


def refused(settings: str, text: str = DUMBBELL) -> str:
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(text % settings))
    return str(caught.value)


@pytest.mark.parametrize(
    ("queue", "packets", "in_bytes"),
    [
        ('"30 packets"', 30, None),
        ('"64 kB"', None, 64_000),
        ('"unlimited"', None, None),
        # 10 Mbps are 1250 bytes a millisecond; the propagation of both ways is 2 * (5 + 20 + 5) ms.
        ('"20 ms"', None, 25_000),
        ('"1 BDP"', None, 75_000),
        ('"0.5 BDP"', None, 37_500),
        ('{ bdp = 1.5, rtt = "40 ms" }', None, 75_000),
        ('["30 packets", "20 ms"]', 30, 25_000),
        ('["64 kB", "20 ms", "1 BDP"]', None, 25_000),
        ('["30 packets", "unlimited"]', 30, None),
    ],
)
def test_every_form_of_room(queue: str, packets: int | None, in_bytes: int | None) -> None:
    room = {"packets": packets, "bytes": in_bytes}
    assert queue_of(f"queue = {queue}") == (room, FIFO)
    assert queue_of(f'queue = {{ algorithm = "fifo", limit = {queue} }}') == (room, FIFO)


def test_a_bandwidth_delay_product_without_a_round_trip_time_is_not_guessed() -> None:
    near = '[[network.link]]\nbetween = ["left1", "router-left"]\ndelay = "1 ms"\n[[traffic]]'
    unlike = DUMBBELL.replace("[[traffic]]", near)
    wanted = 'Flows of 52 ms to 60 ms cross router-left->router-right; write { bdp = 2, rtt = "50 ms" }'
    assert wanted in refused('queue = "2 BDP"', unlike)
    chord = '[[network.link]]\nbetween = ["left1", "right1"]\nnew = true\ncapacity = "1 Mbps"\n'
    cycle = DUMBBELL.replace("[[traffic]]", chord + 'delay = "1 ms"\n[[traffic]]')
    assert "there are several ways between nodes of this network" in refused('queue = "1 BDP"', cycle)
    governed = DUMBBELL + '[controller]\napplication = "forwarding"\n'
    assert "needs a round-trip time where there is a controller" in refused('queue = "1 BDP"', governed)
    assert queue_of('queue = { bdp = 1, rtt = "60 ms" }', cycle)[0]["bytes"] == 75_000


@pytest.mark.parametrize("name", declarations()["queue"])
def test_every_discipline_runs_by_name_and_with_its_parameters(name: str) -> None:
    by_name = Scenario.loads(DUMBBELL % f'queue = "{name}"').run()
    spelt = Scenario.loads(DUMBBELL % f'queue = {{ algorithm = "{name}" }}').run()
    assert by_name.links.equals(spelt.links)
    assert int(by_name.links["packets"].sum()) > 1000
    if name != "fifo":
        assert queue_of(f'queue = {{ algorithm = "{name}" }}')[1]["algorithm"] == name


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('queue = "codle"', 'queue: "codle" is not known; nearest: "codel"; there are "fifo", '),
        ('queue = { algorithm = "codle" }', 'queue: algorithm "codle" is not known; nearest: "codel"; '),
        ('queue = { limit = "1 kB" }', 'queue: a table here needs the key "algorithm": one of "fifo", '),
        (
            'queue = "5 Mbps"',
            'queue: "5 Mbps" has no unit of a queue\'s room; write packets ("100 packets"), a size '
            '("64 kB"), a time at the capacity of the link ("20 ms"), bandwidth-delay products ("1 BDP") or '
            '"unlimited"',
        ),
        ('queue = "100"', 'queue: "100" has no unit of a queue\'s room; write packets '),
        ("queue = 100", "queue: 100 has no unit of a queue's room; write packets "),
        ('queue = "1.5 packets"', '"1.5 packets" is finer than the smallest unit'),
        ('queue = "0 BDP"', '"0 BDP" is not a number of bandwidth-delay products; write "1 BDP"'),
        ("queue = []", "queue: is empty; at least one entry is needed"),
        (
            'queue = { algorithm = "codel", traget = "5 ms" }',
            'queue.traget: no such key; nearest: "target"',
        ),
        (
            'queue = { algorithm = "fifo", mark_at = "5 packets" }',
            'queue.mark_at: is a parameter of threshold (queue); the queue here is "fifo", which has limit',
        ),
        (
            'queue = { algorithm = "red", min_threshold = "9 packets", max_threshold = "9 packets" }',
            "network.links.queue.max_threshold: is 9; it must be above min_threshold",
        ),
    ],
)
def test_mistakes_are_told_with_their_remedy(settings: str, message: str) -> None:
    assert message in refused(settings)
