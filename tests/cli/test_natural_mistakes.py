"""Mistakes that everybody makes once, each answered with what would be right."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.terminal.cli import app

from .conftest import SMALL

STUDY = (
    'replications = 1\nscenario = "base.toml"\n[[factor]]\nfield = "network.links.delay"\nlevels = ["1 ms"]\n'
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "base.toml").write_text(SMALL)
    (tmp_path / "grid.toml").write_text(STUDY)
    (tmp_path / "other.pcap").write_bytes(b"")
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run base", 'base: cannot be read: No such file or directory; "base.toml" is there'),
        ("run baze.toml", 'baze.toml: cannot be read: No such file or directory; "base.toml" is there'),
        ("study grid", 'grid: cannot be read: No such file or directory; "grid.toml" is there'),
        ("routes ./bas.toml", 'bas.toml: cannot be read: No such file or directory; "base.toml" is there'),
        ("run far/away", "far/away: cannot be read: No such file or directory"),
        ("base.toml", "base.toml: is no command; write: anabranch run base.toml"),
        ("grid.toml", "grid.toml: is no command; write: anabranch study grid.toml"),
        ("results", "results: is no command; write: anabranch report results"),
        ("other.pcap", "other.pcap: is no command; write: anabranch capture other.pcap"),
        ("run grid.toml", "grid.toml: is a study; run it by: anabranch study grid.toml"),
        ("study base.toml", "base.toml: is a scenario; run it by: anabranch run base.toml"),
        ("report nowhere", "nowhere: is not there"),
        ("report base.toml", "base.toml: is no folder"),
        ("run base.toml --set duration=1", '--set: "duration": no such key; write run.duration'),
        ("run base.toml --set seed=1", '--set: "seed": no such key; write run.seed'),
        ("run base.toml --set loss=0.1", '--set: "loss": no such key; write network.links.loss'),
        ("run base.toml --set scheme=ecmp", '--set: "scheme": no such key; write routing.scheme'),
        (
            "run base.toml --set network.links.loss=1%",
            'base.toml: network.links.loss: "1%" is not a number; write 0.01',
        ),
        (
            "run base.toml --set network.links.loss=0,5%",
            'base.toml: network.links.loss: "0,5%" is not a number',
        ),
        (
            "run base.toml --set traffic[0].flows=3%",
            'base.toml: traffic[0].flows: "3%" is not a whole number',
        ),
        (
            "run base.toml --set routing.load_balancing=ecmp",
            'base.toml: routing.load_balancing: "ecmp" is a scheme, for routing.scheme; here there are ',
        ),
        (
            "run base.toml --set routing.scheme=hash",
            'base.toml: routing.scheme: "hash" is a load balancing, for routing.load_balancing; here ',
        ),
        (
            "run base.toml --set network.links.queue=cubic",
            'base.toml: network.links.queue: "cubic" is a congestion control, for congestion_control of ',
        ),
    ],
)
def test_a_mistake_is_answered_with_what_would_be_right(arguments: str, message: str) -> None:
    done = CliRunner().invoke(app, arguments.split(" "))
    assert done.exit_code == 2
    assert done.output.startswith(message)
    assert done.output.count("\n") == 1


def test_an_unknown_transport_is_told_with_what_else_is_wrong() -> None:
    wrong = SMALL.replace("[[traffic]]", '[[traffic]]\ntransport = "cubik"\nflows = "three"')
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(wrong)
    flows, transport = caught.value.lines()
    assert flows.startswith("traffic[0].flows: ")
    assert transport.startswith('traffic[0].transport: transport "cubik" is not known; nearest: "cubic"')
    own = wrong + '[transport.cubik]\npreset = "cubic"\n'
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(own)
    assert len(caught.value.lines()) == 1
