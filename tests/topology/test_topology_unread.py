"""Formats that are not read are told by their name, and the lines that convert them are tried."""

import csv
import json
import pickle
import subprocess
import sys
from pathlib import Path

import networkx
import pytest

from anabranch import Scenario, ScenarioError
from anabranch.errors import AnabranchError
from anabranch.setup import resolve
from anabranch.setup.imported import import_files
from anabranch.topology import TopologyError, load
from anabranch.topology.readers.unread import UNREAD

TRAFFIC = """
[run]
duration = "1 s"
[[traffic]]
from = "a"
to = "b"
"""
MININET = {
    "application": {"ipBase": "10.0.0.0/8"},
    "controllers": [],
    "hosts": [{"number": "1", "opts": {"hostname": "h1"}, "x": "1", "y": "2"}],
    "switches": [{"number": "1", "opts": {"hostname": "s1"}, "x": "1", "y": "2"}],
    "links": [{"src": "h1", "dest": "s1", "opts": {"bw": 10}}],
}
RSPEC = """<?xml version="1.0"?>
<rspec xmlns="http://www.geni.net/resources/rspec/3" type="request">
  <node client_id="a"><interface client_id="a:if0"/></node>
  <node client_id="b"><interface client_id="b:if0"/></node>
  <link client_id="l0"><interface_ref client_id="a:if0"/><interface_ref client_id="b:if0"/></link>
</rspec>
"""
NS2 = """# A script.
set ns [new Simulator]
set a [$ns node]
$ns duplex-link $a $b 10Mb 5ms DropTail
"""
FILES = {
    "a network of Mininet's MiniEdit (.mn)": (json.dumps(MININET), {("h1", "s1")}),
    "an RSpec of GENI": (RSPEC, {("a", "b")}),
    "a network of Pajek (.net)": ('*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2 1\n', {("a", "b")}),
    "a graph of LEDA": (
        "#header\nLEDA.GRAPH\nstring\nint\n-1\n2\n|{a}|\n|{b}|\n1\n1 2 0 |{4}|\n", {("a", "b")}
    ),
    "an edge list of networkx with data": ("a b {'weight': 1}\nb c {}\n", {("a", "b"), ("b", "c")}),
    "a list of relations between ASes, as CAIDA's": ("# x\n1|2|-1\n2|3|0\n", {("1", "2"), ("2", "3")}),
    "a script of ns-2": (NS2, {("$a", "$b")}),
    "a matrix of adjacency": ("0,1,0\n1,0,2\n0,2,0\n", {("0", "1"), ("1", "2")}),
    "a table of adjacency": (",a,b,c\na,0,1,0\nb,1,0,2\nc,0,2,0\n", {("a", "b"), ("b", "c")}),
    "a matrix of the Matrix Market": (
        "%%MatrixMarket matrix coordinate pattern symmetric\n%\n3 3 2\n2 1\n3 2\n", {("1", "2"), ("2", "3")}
    ),
    "a graph of DIMACS (.gr)": ("c x\np sp 3 2\na 1 2 10\na 2 3 5\n", {("1", "2"), ("2", "3")}),
}  # fmt: skip
"""An example of each format with lines that convert it, and its links."""
IN_WORDS = {
    "a program in Python": "#!/usr/bin/env python3\nfrom mininet.topo import Topo\n",
    "a network of OMNeT++ (.ned)": "package x;\nnetwork Net { submodules: a: Node; }\n",
    "a platform of SimGrid": '<?xml version="1.0"?>\n<!DOCTYPE platform>\n<platform version="4.1"/>\n',
}
"""An example of each of the others."""


def test_no_format_that_is_read_is_taken_for_one_of_them() -> None:
    files = [path for path in sorted((Path(__file__).parent / "data").iterdir()) if path.is_file()]
    assert len(files) >= 20
    for path in files:
        text = path.read_text(encoding="utf-8").lstrip()
        assert [each.name for each in UNREAD if each.recognises(text)] == []
    assert not any(each.recognises("digraph x {}") for each in UNREAD)


def test_every_format_that_is_not_read_has_an_example() -> None:
    assert [each.name for each in UNREAD if each.name not in FILES | IN_WORDS] == []
    assert len(UNREAD) == len(FILES) + len(IN_WORDS) == 14


@pytest.mark.parametrize("name", FILES)
def test_its_conversion_makes_a_file_that_is_read(name: str, tmp_path: Path) -> None:
    text, links = FILES[name]
    (tmp_path / "old").write_text(text)
    with pytest.raises(TopologyError) as caught:
        load("file:old", base=tmp_path)
    assert caught.value.what == f"this is {name}, which is not read"
    conversion = next(each.conversion for each in UNREAD if each.name == name)
    assert caught.value.remedy == " ".join(conversion.split())
    if (start := conversion.find("awk")) >= 0:
        command = conversion[start:].replace("FILE", "old").replace("NEW", "new")
        subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, check=True)
    else:
        code = conversion.replace("FILE", "'old'").replace("NEW", "'new'")
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    made = load("file:new", base=tmp_path)
    assert {tuple(sorted((link.a, link.b))) for link in made.links} == links


@pytest.mark.parametrize("name", IN_WORDS)
def test_what_has_no_conversion_is_told_all_the_same(name: str, tmp_path: Path) -> None:
    (tmp_path / "old").write_text(IN_WORDS[name])
    with pytest.raises(TopologyError, match=r"which is not read; \w.*CSV") as caught:
        load("file:old", base=tmp_path)
    assert caught.value.what == f"this is {name}, which is not read"


@pytest.mark.parametrize("name", FILES | IN_WORDS)
def test_an_import_and_a_scenario_answer_with_the_same_lines(name: str, tmp_path: Path) -> None:
    """Units in a header are part of the lines: of the parameters of generators they are left out."""
    (tmp_path / "old").write_text(FILES[name][0] if name in FILES else IN_WORDS[name])
    conversion = " ".join(next(each.conversion for each in UNREAD if each.name == name).split())
    with pytest.raises(AnabranchError) as imported:
        import_files([tmp_path / "old"], tmp_path)
    assert conversion in " ".join(str(imported.value).split())
    text = f'{TRAFFIC}\n[network]\ntopology = "file:old"\n'
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(text, base=tmp_path))
    assert conversion in " ".join(str(caught.value).split())


def test_programs_and_networks_of_omnet_are_told_apart() -> None:
    def name(text: str) -> str:
        return next(each.name for each in UNREAD if each.recognises(text))

    assert name("import ned.DatarateChannel;\nnetwork X {}") == "a network of OMNeT++ (.ned)"
    assert name("network Net\n{\n    submodules:\n}") == "a network of OMNeT++ (.ned)"
    assert name("import networkx\nx = {}; y = 1\n") == "a program in Python"
    assert name("set sim [new Simulator]\n") == "a script of ns-2"


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "gone off",))

    (tmp_path / "graph.pkl").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(TopologyError, match="this is an object that Python has pickled; opening it runs"):
        load("file:graph.pkl", base=tmp_path)
    assert not (tmp_path / "gone off").exists()


def test_a_pair_of_rocketfuel_becomes_one_table(tmp_path: Path) -> None:
    """The command that the provenance gives is tried as it stands there."""
    data = Path(__file__).parent / "data"
    for quantity in ("weights", "latencies"):
        (tmp_path / f"{quantity}.intra").write_bytes((data / f"square.{quantity}.intra").read_bytes())
    latencies = load("file:latencies.intra", base=tmp_path)
    sentence = next(each for each in latencies.provenance if "one table: " in each)
    command = sentence.partition("one table: ")[2].removesuffix(".")
    subprocess.run(["/bin/bash", "-c", command], cwd=tmp_path, check=True)
    with (tmp_path / "net.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["weight"], row["delay_ms"]) for row in rows] == [("2", "7"), ("3", "7"), ("2.5", "0.5")]
    both = load("file:net.csv", base=tmp_path)
    assert {link.delay_ps for link in both.links} == {7_000_000_000, 500_000_000}
    assert {link.weight for link in both.links} >= {2.0, 3.0, 2.5}


def test_other_json_of_networkx_is_told_how_to_become_node_link(tmp_path: Path) -> None:
    graph = networkx.path_graph(3)
    for name, document in (
        ("adjacency", networkx.adjacency_data(graph)),
        ("elements", networkx.cytoscape_data(graph)),
    ):
        (tmp_path / "old").write_text(json.dumps(document))
        with pytest.raises(TopologyError, match=f'JSON with "{name}"') as caught:
            load("file:old", base=tmp_path)
        code = (
            caught.value.remedy.removeprefix("convert it: ").replace("FILE", "'old'").replace("NEW", "'new'")
        )
        command = f"import json, networkx; {code}"
        subprocess.run([sys.executable, "-c", command], cwd=tmp_path, check=True)
        assert len(load("file:new", base=tmp_path).links) == 2
