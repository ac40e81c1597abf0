"""Mistakes that everybody makes once, each answered with what would be right."""

from pathlib import Path

import pytest
import typer
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
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "summary.json").write_text("{}")
    (tmp_path / "net.graphml").write_text("<graphml></graphml>")
    (tmp_path / "matrix.csv").write_text("from,to,rate\na,b,1\n")
    (tmp_path / "mine.py").write_text("import this\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run base", 'base: cannot be read: No such file or directory; "base.toml" is there'),
        ("run baze.toml", 'baze.toml: cannot be read: No such file or directory; "base.toml" is there'),
        ("study grid", 'grid: cannot be read: No such file or directory; "grid.toml" is there'),
        ("routes ./bas.toml", 'bas.toml: cannot be read: No such file or directory; "base.toml" is there'),
        ("run .", ".: is a folder; give a file in it: base.toml, grid.toml"),
        ("study other.pcap", "other.pcap: is a packet capture; read it by: anabranch capture other.pcap"),
        (
            "run net.graphml",
            "net.graphml: is a network (GraphML); make a scenario of it by: anabranch import ",
        ),
        ("live matrix.csv", "matrix.csv: is traffic (CSV of demands); make a scenario of it by: anabranch "),
        ("routes old", "old: is the folder of a result; write its page by: anabranch report old"),
        (
            "run mine.py",
            "mine.py: is code in Python, which a scenario names; how is told by: anabranch help own",
        ),
        ("run zoo/Abilene", "zoo/Abilene: is the name of a network, not a file; a scenario names it as "),
        ("run https://host/a.toml", "https:/host/a.toml: is an address, and nothing is fetched; download "),
        ("capture base.toml", "base.toml: is a scenario; run it by: anabranch run base.toml"),
        (
            "capture net.graphml",
            "net.graphml: is a network (GraphML); make a scenario of it by: anabranch import ",
        ),
        (
            "import grid.toml",
            "grid.toml: is a study, no network and no traffic; run it by: anabranch study grid",
        ),
        ("import other.pcap", "other.pcap: is a packet capture, no network and no traffic; read it by: "),
        ("topology show base.toml", "base.toml: is a scenario; run it by: anabranch run base.toml"),
        ("report other.pcap", "other.pcap: is a packet capture; read it by: anabranch capture other.pcap"),
        ("report .", ".: is a folder of results; give one of them: old"),
        ("export grid.toml --to frr --out z", "grid.toml: is a study; run it by: anabranch study grid.toml"),
        ("load old", "old: is the folder of a result; write its page by: anabranch report old"),
        ("old", "old: is no command; write: anabranch report old"),
        ("net.graphml", "net.graphml: is no command; write: anabranch import net.graphml"),
        ("bse.toml", 'bse.toml: is no command, and no file is there; "base.toml" is there'),
        ("zoo/Abilene", "zoo/Abilene: is a network, not a command; see it by: anabranch topology show zoo/"),
        ("simulate base.toml", '"simulate": no such command; write: anabranch run'),
        ("plot old", '"plot": no such command; write: anabranch report'),
        (
            "run first.toml",
            "first.toml: is not here; it is an example, which is written here by: anabranch examples",
        ),
        (
            "study examples/studies/queues.toml",
            "examples/studies/queues.toml: is not here; it is an example, ",
        ),
        ("run far/away", "far/away: cannot be read: No such file or directory"),
        ("base.toml", "base.toml: is no command; write: anabranch run base.toml"),
        ("grid.toml", "grid.toml: is no command; write: anabranch study grid.toml"),
        ("results", "results: is no command; write: anabranch report results"),
        ("other.pcap", "other.pcap: is no command; write: anabranch capture other.pcap"),
        ("run grid.toml", "grid.toml: is a study; run it by: anabranch study grid.toml"),
        ("study base.toml", "base.toml: is a scenario; run it by: anabranch run base.toml"),
        ("report nowhere", "nowhere: is not there"),
        ("report base.toml", "base.toml: is a scenario; run it by: anabranch run base.toml"),
        ("run base.toml --set duration=1", '--set: "duration": no such key; write run.duration'),
        ("run base.toml --set seed=1", '--set: "seed": no such key; write run.seed'),
        ("run base.toml --set loss=0.1", '--set: "loss": no such key; write network.links.loss'),
        ("run base.toml --set scheme=ecmp", '--set: "scheme": no such key; write routing.scheme'),
        ("run base.toml --set size=5", '--set: "size": no such key; write traffic[0].size'),
        (
            "run base.toml --set transport=bbr",
            '--set: "transport": holds a table, not a value; write traffic[0].',
        ),
        (
            "run base.toml --set routing=ecmp",
            '--set: "routing": holds a table, not a value; write routing.scheme',
        ),
        ("run base.toml --set links.delay=5", '--set: "links.delay": no such key; write network.links.delay'),
        (
            "run base.toml --set network.loss=0",
            '--set: "network.loss": no such key; write network.links.loss',
        ),
        ("run base.toml --set bandwidth=5", '--set: "bandwidth": no such key; write network.links.capacity'),
        ("run base.toml --set latency=5", '--set: "latency": no such key; write network.links.delay'),
        ("run base.toml --set capcity=5", '--set: "capcity": no such key; write network.links.capacity'),
        ("run base.toml --set run.time=5", '--set: "run.time": no such key; write run.duration'),
        ("run base.toml --set cc=bbr", '--set: "cc": no such key; write traffic[0].transport'),
        ("run base.toml --set state=down", '--set: "state": no such key; write event[0].state'),
        ("run base.toml --set xyzzy=1", '--set: "xyzzy": no such key; there are title, network, '),
        (
            "run base.toml --set network.links.loss=1percent",
            'base.toml: network.links.loss: "1percent" is not a number; write 0.01',
        ),
        (
            "run base.toml --set network.links.loss=1/200",
            'base.toml: network.links.loss: "1/200" is not a number; write 0.005',
        ),
        (
            "run base.toml --set network.links.loss=2",
            "base.toml: network.links.loss: 2 must be below 1.0; 2 % is 0.02",
        ),
        (
            "run base.toml --set network.links.delay=5msec",
            'base.toml: network.links.delay: "5msec": "msec" is not a unit of a time; write "5 ms" (units: ',
        ),
        (
            "run base.toml --set network.links.capacity=5mbps",
            'base.toml: network.links.capacity: "5mbps": "mbps" is not a unit of a rate; write "5 Mbps" (',
        ),
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
    with_table = wrong + '[transport.cubik]\npreset = "cubic"\n'
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(with_table)
    assert len(caught.value.lines()) == 1


def _floats() -> list[tuple[str, str]]:
    """Commands, and their options that are numbers."""
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return [
        (name, parameter.opts[0])
        for name, command in group.commands.items()
        for parameter in command.params
        if parameter.type.name.startswith("float")
    ]


def test_numbers_are_found() -> None:
    assert {("weights", "--time-limit"), ("load", "--growth"), ("capacity", "--most")} <= set(_floats())


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize(("command", "option"), _floats())
def test_an_option_is_a_finite_number(command: str, option: str, value: str) -> None:
    """No bound keeps NaN out: each option that is a number has a callback that does."""
    outcome = CliRunner().invoke(app, [command, "base.toml", f"{option}={value}"])
    assert outcome.exit_code == 2
    assert f"Invalid value for '{option}'" in outcome.output
