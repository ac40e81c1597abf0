"""Pings and UDP, and traffic in both directions, as the core reads them; and every way to get them wrong."""

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import resolve

from .conftest import BASE, CONTROLLED

PING = 'to = "Atlanta"\napplication = { kind = "ping", interval = "200 ms" }'
UDP = 'to = "Atlanta"\napplication = { kind = "udp", rate = "80 kbps", packet = "200 B" }'
KINDS = '"constant-rate", "poisson", "messages", "ping", "udp"'


def scenario(to: str) -> Scenario:
    """The scenario with these lines in place of its receiver."""
    return Scenario.loads(BASE.replace('to = "Atlanta"', to))


def pairs(text: str, entries: str = "flows") -> list[tuple[str, str]]:
    """The ends of all flows, or of those of datagrams, by name."""
    setup = resolve(Scenario.loads(text))
    return [(setup.nodes[flow.origin].name, setup.nodes[flow.to].name) for flow in getattr(setup, entries)]


def test_datagrams_as_the_core_reads_them() -> None:
    setup = resolve(scenario(PING + '\nname = "p"\nstart = "2 s"\nstop = "3 s"'))
    (ping,) = setup.datagrams
    assert setup.flows == setup.transports == []
    assert ping.source.core() == {"kind": "ping", "interval": 200_000_000_000}
    assert (ping.name, ping.packet_bytes) == ("p.0", 84)
    assert (ping.start, ping.stop) == (2 * 10**12, 3 * 10**12)
    (udp,) = resolve(scenario(UDP)).datagrams
    assert (udp.source.core(), udp.packet_bytes, udp.stop) == ({"kind": "udp", "rate": 80_000}, 200, None)
    # UDP is not answered, and needs no way back.
    ends = (udp.origin, udp.to)
    assert resolve(scenario(UDP)).core().plan(None).data()["routes"][0]["from"] == ends[0]
    assert len(resolve(scenario(UDP)).core().plan(None).data()["routes"]) == 1
    assert len(setup.core().plan(None).data()["routes"]) == 2


@pytest.mark.parametrize("to", [PING, UDP, 'to = "Atlanta"\nboth_directions = true'])
def test_it_reads_back_from_its_own_text(to: str) -> None:
    built = scenario(to)
    assert Scenario.loads(built.toml()) == built
    assert ("transport" in built.data()["traffic"][0]) == ("application" not in to)


def test_both_directions_come_behind_the_others() -> None:
    several = BASE.replace('to = "Atlanta"', 'to = ["Atlanta", "Denver"]\nboth_directions = true')
    there = [("Seattle", "Atlanta"), ("Seattle", "Denver")]
    assert pairs(several) == [*there, *(pair[::-1] for pair in there)]
    assert pairs(BASE.replace('to = "Atlanta"', PING + "\nboth_directions = true"), "datagrams") == [
        ("Seattle", "Atlanta"),
        ("Atlanta", "Seattle"),
    ]


def test_the_flows_there_are_those_of_one_direction() -> None:
    drawn = 'to = "Atlanta"\nflows = 3\nstart = { distribution = "exponential", mean = "1 s" }'
    one, both = resolve(scenario(drawn)), resolve(scenario(drawn + "\nboth_directions = true"))
    assert both.flows[:3] == one.flows
    assert [flow.name for flow in both.flows] == [f"traffic[0].{n}" for n in range(6)]


def test_a_queue_in_products_has_room_where_only_pings_are() -> None:
    text = BASE.replace('"zoo/Abilene"', '"line"').replace("Seattle", "source").replace("Atlanta", "sink")
    text = text.replace("[network.links]", '[network.links]\ndelay = "5 ms"\nqueue = "1 BDP"')
    setup = resolve(Scenario.loads(text.replace('to = "sink"', PING.replace("Atlanta", "sink"))))
    # 10 Mbps times twice the delay of the line.
    rtt_s = 2e-12 * sum(link.delay for link in setup.links) / 2
    assert setup.links[0].queue.limit.bytes == int(10e6 * rtt_s / 8)


MISTAKES = [
    (PING.replace("200 ms", "0 ms"), 'interval: "0 ps" is zero; requests need some time between them'),
    (PING.replace(" }", ', packet = "0 B" }'), 'packet: "0 B" is below 28 B, which the headers take'),
    (
        PING.replace(" }", ', packet = "70 kB" }'),
        'packet: "70 kB" is above 65535 B, the longest packet of IPv4',
    ),
    (UDP.replace("80 kbps", "0 bps"), 'rate: "0 bps" must be above zero, for example "10 Mbps"'),
    (UDP.replace("200 B", "27 B"), 'packet: "27 B" is below 28 B, which the headers take'),
    (UDP.replace('rate = "80 kbps", ', ""), "rate: give a rate, or the entry a matrix"),
    (
        UDP.replace(', packet = "200 B"', ""),
        "packet: is missing (size of the IP packet with its 28 bytes of headers, 28 B to 65,535 B)",
    ),
]


@pytest.mark.parametrize(("to", "message"), MISTAKES)
def test_a_mistake_of_an_application_has_one_message(to: str, message: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(to)
    assert str(refused.value) == f"traffic[0].application.{message}"


@pytest.mark.parametrize(
    ("to", "message"),
    [
        (
            'to = "Atlanta"\napplication = { kind = "pong" }',
            f'traffic[0].application: kind "pong" is not known; nearest: "ping"; there are {KINDS}',
        ),
        (
            PING + '\ntransport = "cubic"',
            'traffic[0].transport: "ping" has no connection, and so no transport; leave it out',
        ),
        (
            PING + '\nsize = "1 kB"',
            "traffic[0].application: an application says itself how much it sends; leave out size",
        ),
        (PING.replace("Atlanta", "Atlantis"), 'traffic[0].to: no node "Atlantis" in zoo/Abilene'),
        (
            PING.replace("200 ms", "1 ps") + "\n",
            "source of the flow traffic[0].0: sends more than 2^32 packets",
        ),
    ],
)
def test_a_mistake_beside_it_has_one_message(to: str, message: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(to).run()
    assert len(refused.value.problems) == 1
    assert str(refused.value).startswith(message)


def test_both_directions_are_refused_where_they_are_there_already() -> None:
    text = BASE.replace('from = "Seattle"', 'from = ["Seattle", "Denver"]')
    text = text.replace('to = "Atlanta"', 'to = ["Denver", "Seattle"]\nboth_directions = true')
    with pytest.raises(ScenarioError) as refused:
        resolve(Scenario.loads(text))
    (problem,) = refused.value.problems
    assert problem.place == "traffic[0].both_directions"
    assert problem.message == '"Denver" and "Seattle" send to each other without it; leave it out'


def test_a_controller_knows_no_datagrams() -> None:
    text = CONTROLLED.replace('size = "1 MB"\ntransport = "mine"', 'application = { kind = "ping" }')
    text = text.replace('sequences = ["web.1"]', "")
    with pytest.raises(ScenarioError, match="knows connections only; ping and udp need"):
        resolve(Scenario.loads(text))


def test_what_has_no_connection_has_no_log() -> None:
    with pytest.raises(ScenarioError, match=r'run.log\[0\]: "p.0" has no connection, of which'):
        resolve(Scenario.loads(scenario(PING + '\nname = "p"').toml().replace("log = []", 'log = ["p.0"]')))
