"""`network.file`: which attributes of a topology's file are which quantities."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anabranch import Scenario, ScenarioError
from anabranch.setup import resolve
from anabranch.terminal.cli import app

GRAPH = """<graphml><key id="c" for="edge" attr.name="bw"/><key id="d" for="edge" attr.name="LinkDelay"/>
<graph edgedefault="undirected"><node id="a"/><node id="b"/>
<edge source="a" target="b"><data key="c">10</data><data key="d">3</data></edge></graph></graphml>"""
TRAFFIC = '[[traffic]]\nfrom = "a"\nto = "b"\n[run]\nduration = "10 ms"\n'


def scenario(folder: Path, attributes: str, topology: str = "file:net.graphml") -> Scenario:
    (folder / "net.graphml").write_text(GRAPH)
    (folder / "s.toml").write_text(
        f'[network]\ntopology = "{topology}"\n[network.links]\nqueue = "64 kB"\n{attributes}{TRAFFIC}'
    )
    return Scenario.load(folder / "s.toml")


def test_a_scenario_says_what_an_attribute_is(tmp_path: Path) -> None:
    attributes = (
        '[network.file.attributes]\ncapacity = { name = "bw", unit = "Mbps" }\n'
        'delay = { name = "LinkDelay", unit = "ms" }\n'
    )
    given = scenario(tmp_path, attributes)
    links = resolve(given).links
    assert [(link.capacity, link.delay) for link in links] == [(10**7, 3 * 10**9)] * 2
    assert given.run().summary["warnings"] == []
    # What a file says is below network.links, as everything that a topology says.
    assert resolve(given.replace({"network.links.delay": "7 ms"})).links[0].delay == 7 * 10**9


def test_a_gap_that_the_file_could_have_filled_is_told(tmp_path: Path) -> None:
    """The delay is that of 100 km, by default, though the file has one: in the summary of the run."""
    given = scenario(tmp_path, '[network.file.attributes]\ncapacity = { name = "bw", unit = "Mbps" }\n')
    assert resolve(given).links[0].delay == 5 * 10**8
    (warning,) = given.run().summary["warnings"]
    assert warning == (
        'network.topology: Not read: LinkDelay (1 link, such as "3"), a delay without a unit; '
        "to have it read, write [network.file.attributes] delay = "
        '{ name = "LinkDelay", unit = "ms" } (or another unit)'
    )


@pytest.mark.parametrize(
    ("attributes", "topology", "message"),
    [
        (
            '[network.file.attributes]\ncapacity = { name = "bww", unit = "Mbps" }\n',
            "file:net.graphml",
            'network.file.attributes.capacity: no link of the file has an attribute "bww"; nearest: "bw"',
        ),
        (
            '[network.file.attributes]\ncapacity = { name = "bw" }\n',
            "file:net.graphml",
            'network.file.attributes.capacity.unit: is missing; write "bps", "kbps", "Mbps",',
        ),
        (
            '[network.file.attributes]\ndelay = { name = "LinkDelay", unit = "km" }\n',
            "file:net.graphml",
            'network.file.attributes.delay.unit: "km" is no unit of a delay',
        ),
        (
            '[network.file.attributes]\nspeed = { name = "bw", unit = "Mbps" }\n',
            "file:net.graphml",
            "network.file.attributes.speed",
        ),
        (
            '[network.file.attributes]\ncapacity = { name = "bw", unit = "Mbps" }\n',
            "zoo/Abilene",
            "network.file",
        ),
    ],
)
def test_mistakes_have_their_place(tmp_path: Path, attributes: str, topology: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        resolve(scenario(tmp_path, attributes, topology))
    assert message in str(caught.value)


def test_topology_show_takes_the_line_of_a_warning(tmp_path: Path) -> None:
    (tmp_path / "net.graphml").write_text(GRAPH)
    spec = f"file:{tmp_path / 'net.graphml'}"
    shown = CliRunner().invoke(app, ["topology", "show", spec, "--json"])
    document = [line for line in json.loads(shown.stdout)["provenance"] if line.startswith("Not read:")]
    lines = [line.partition("write ")[2].removesuffix(" (or another unit)") for line in document]
    assert len(lines) == 2
    options = [option for line in lines for option in ("--attribute", line)]
    answer = CliRunner().invoke(app, ["topology", "show", spec, "--json", *options])
    (link,) = json.loads(answer.stdout)["links"]
    assert (link["capacity_bps"], link["delay_ps"]) == (10**7, 3 * 10**9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["capacity = {"], "is no TOML"),
        (['capacity = { name = "bw", unit = "Mbps" }'] * 2, "capacity is there twice"),
        (['capacity = { name = "x", unit = "Mbps" }'], 'no link of the file has an attribute "x"'),
    ],
)
def test_mistakes_of_the_option(tmp_path: Path, options: list[str], message: str) -> None:
    (tmp_path / "net.graphml").write_text(GRAPH)
    words = [word for option in options for word in ("--attribute", option)]
    answer = CliRunner().invoke(app, ["topology", "show", f"file:{tmp_path / 'net.graphml'}", *words])
    assert answer.exit_code == 2
    assert message in " ".join(answer.output.split())
