"""What a run warns of: it can be run, and yet hardly be meant."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from anabranch import Scenario
from anabranch.cli import app

# One way 20 ms and 30 ms by two paths: a round trip of 60 ms by the slower one.
TEXT = """
[network]
topology = "parallel"
[network.parameters]
paths = [{ delay = "20 ms" }, { delay = "30 ms" }]
[network.links]
capacity = "10 Mbps"
[[traffic]]
name = "transfer"
from = "source"
to = "sink"
transport = "mprc"
[transport.mprc]
fastrto_max = "50 ms"
[routing]
scheme = "disjoint"
spread = "packet"
[run]
duration = "1 s"
"""
WARNING = (
    'transport.mprc.fastrto_max: 50 ms is below the round trip of "transfer.0", 60 ms without queues: '
    "segments are sent again before they can be acknowledged"
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("", ""), [WARNING]),
        (('"50 ms"', '"60 ms"'), []),
        (('transport = "mprc"', 'transport = "cubic"'), []),
        # Hop by hop, with every link of one cost.
        (('scheme = "disjoint"', 'scheme = "ecmp"\nmetric = "hops"'), [WARNING]),
        # The faster path alone: 40 ms.
        (('scheme = "disjoint"\nspread = "packet"', 'scheme = "shortest"\nmetric = "delay"'), []),
    ],
)
def test_a_fastrto_below_the_round_trip_is_told(change: tuple[str, str], expected: list[str]) -> None:
    assert TEXT.count(change[0]) >= 1
    result = Scenario.loads(TEXT.replace(*change)).run()
    assert result.summary["warnings"] == expected


def test_the_command_line_says_it_on_standard_error(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(TEXT)
    ran = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "out"), "--json"])
    assert ran.exit_code == 0
    assert f"warning: {WARNING}\n" in ran.stderr
    assert "warning: " not in ran.stdout


WAITING = """
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[[traffic]]
name = "transfer"
from = "left1"
to = "right1"
transport = "mptcp"
size = "4 MB"
[[event]]
at = "1 s"
link = ["router-left", "router-right"]
state = "down"
[run]
duration = "20 s"
"""


def test_a_connection_that_waits_for_a_path_is_told() -> None:
    result = Scenario.loads(WAITING).run()
    (warning,) = result.summary["warnings"]
    since_s = result.connections["stalled_since_s"][0]
    # Some retransmission timeouts after the failure (RFC 6298: at least 200 ms here), well before the end.
    assert 1.2 < since_s < 5
    assert warning == (
        f"transfer.0: no subflow has had an answer since {since_s:.6g} s; the connection waits for a path "
        "to come back"
    )
    repaired = WAITING.replace("[run]", '[[event]]\nat = "5 s"\n' + 'link = ["router-left", "router-right"]\n'
                               'state = "up"\n[run]')  # fmt: skip
    result = Scenario.loads(repaired).run()
    assert result.summary["warnings"] == []
    assert result.flows["delivered_bytes"][0] == 4_000_000
    assert result.connections["stalled_s"][0] > 0
