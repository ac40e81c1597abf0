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
