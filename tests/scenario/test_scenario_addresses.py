"""Events about addresses of hosts: what the engine gets, and what is refused."""

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import resolve

TEXT = """
[network]
[[network.node]]
name = "phone"
kind = "host"
[[network.node]]
name = "server"
kind = "host"
[[network.node]]
name = "wifi"
kind = "switch"
[[network.node]]
name = "lte"
kind = "switch"
[[network.link]]
between = ["phone", "wifi"]
new = true
[[network.link]]
between = ["phone", "lte"]
new = true
[[network.link]]
between = ["wifi", "server"]
new = true
[[network.link]]
between = ["lte", "server"]
new = true
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[routing]
scheme = "disjoint"
[[traffic]]
name = "upload"
from = "phone"
to = "server"
transport = "linux-mptcp"
[run]
duration = "4 s"
"""


def event(lines: str, text: str = TEXT) -> str:
    return text + "".join(f"[[event]]\n{entry.strip()}\n" for entry in lines.split("---"))


def refusal(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(text, origin="x.toml"))
    return caught.value.lines()


def test_an_address_is_the_link_by_which_packets_leave_the_host() -> None:
    setup = resolve(
        Scenario.loads(
            event('at = "0 s"\naddress = ["phone", "lte"]\nbackup = true\nstate = "down"')
            + event('at = "2 s"\naddress = ["server", "wifi"]\nstate = "up"', "")
        )
    )
    named = [
        (entry.at, {**entry.change.core(), "link": setup.links[entry.change.link].name})
        for entry in setup.events
    ]
    assert named == [
        (0, {"kind": "backup", "link": "phone->lte", "backup": True}),
        (0, {"kind": "address", "link": "phone->lte", "up": False}),
        (2 * 10**12, {"kind": "address", "link": "server->wifi", "up": True}),
    ]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            'address = ["phone", "lte"]',
            "state: nothing changes; give state or backup",
        ),
        (
            'address = ["phone", "lte"]\nlink = ["phone", "lte"]\nstate = "down"',
            "link: give link, node or address, and one of them only",
        ),
        ('state = "down"', "link: give link, node or address"),
        (
            'address = ["phone", "lte"]\ncapacity = "1 Mbps"',
            'capacity: only a link has one; an address has state = "up" or "down", and backup',
        ),
        (
            'link = ["phone", "lte"]\nbackup = true',
            "backup: only an address has one; a link has state, capacity, delay, loss and queue",
        ),
        (
            'node = "lte"\nbackup = true',
            'backup: only an address has one; a node has state = "up" or "down"',
        ),
        (
            'address = ["phone", "lte"]\ndirection = "forward"\nbackup = true',
            "direction: only a link has one",
        ),
        # An address that no host has, and a host that there is not.
        (
            'address = ["phone", "server"]\nbackup = true',
            'address: no link between "phone" and "server" in this scenario; links of "phone" lead '
            'to: "lte", "wifi"',
        ),
        (
            'address = ["fone", "lte"]\nbackup = true',
            'address[0]: no node "fone" in this scenario; nearest: "phone"',
        ),
        (
            'address = ["phone", "lte"]\nindex = 2\nbackup = true',
            'address: no link 2 between "phone" and "lte"; this scenario has 1',
        ),
        (
            'address = ["lte", "phone"]\nbackup = true',
            'address: no connection of "lte" looks at its addresses; name the host first, and then its '
            'neighbour: ["phone", "lte"]',
        ),
        (
            'address = ["wifi", "lte"]\nbackup = true',
            'address: no link between "wifi" and "lte" in this scenario; links of "wifi" lead to: '
            '"phone", "server"',
        ),
    ],
)
def test_an_event_that_cannot_be_meant_is_refused(lines: str, expected: str) -> None:
    assert refusal(event(f'at = "1 s"\n{lines}')) == [f"x.toml: event[0].{expected}"]


@pytest.mark.parametrize(
    ("transport", "remedy"),
    [
        ("cubic", '"cubic" is not multipath; take a transport such as "linux-mptcp"'),
        (
            "mptcp",
            'the path manager of "mptcp" is ndiffports; write path_manager = "fullmesh", or take the '
            'transport "linux-mptcp"',
        ),
    ],
)
def test_a_transport_that_looks_at_no_address_is_named(transport: str, remedy: str) -> None:
    text = TEXT.replace('transport = "linux-mptcp"', f'transport = "{transport}"')
    messages = refusal(event('at = "1 s"\naddress = ["phone", "lte"]\nbackup = true', text))
    assert messages == [
        f'x.toml: event[0].address: no connection of "phone" looks at its addresses; {remedy}'
    ]


def test_the_last_address_must_come_back() -> None:
    down = 'at = "1 s"\naddress = ["phone", "wifi"]\nstate = "down"'
    last = 'at = "2 s"\naddress = ["phone", "lte"]\nstate = "down"'
    up = 'at = "3 s"\naddress = ["phone", "wifi"]\nstate = "up"'
    assert refusal(event(f"{last}---{down}")) == [
        'x.toml: event[0].state: takes the last address of "phone", and none comes up later, so that its '
        'connections wait for ever; let one come up, by an event with state = "up", or end the traffic '
        "with stop"
    ]
    # With time in between, and with none.
    assert len(resolve(Scenario.loads(event(f"{down}---{last}---{up}"))).events) == 3
    assert len(resolve(Scenario.loads(event(f"{down}---{up}"))).events) == 2
    assert refusal(event(f"{down}---{last}---{up.replace('3 s', '1.5 s')}---{down.replace('1 s', '3 s')}"))


def test_a_step_changes_addresses_and_tells_mistakes() -> None:
    run = Scenario.loads(TEXT).start()
    run.advance("1 s")
    run.set(address=["phone", "wifi"], state="down")
    run.advance("1 s")
    with pytest.raises(ScenarioError) as caught:
        run.set(address=["phone", "server"], backup=True)
    assert str(caught.value).startswith('set.address: no link between "phone" and "server"')
    with pytest.raises(ScenarioError) as caught:
        run.set(address=["lte", "phone"], backup=True)
    assert str(caught.value).startswith('set.address: no connection of "lte" looks at its addresses')
    result = run.finish()
    subflows = result.subflows.filter(result.subflows["handshake_s"].is_not_null())
    assert subflows["state"].to_list() == ["removed", "established"]
    scripted = Scenario.loads(
        event('at = "1 s"\naddress = ["phone", "wifi"]\nstate = "down"').replace("4 s", "2 s")
    ).run()
    assert scripted.subflows.equals(result.subflows)
