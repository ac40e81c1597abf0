"""``anabranch import``: what it says of each file, and a scenario that run and load take."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from pathlib import Path

import pytest

from anabranch import Scenario
from anabranch.setup import resolve

from .conftest import Anabranch

DATA = Path(__file__).parents[1] / "topology" / "traffic_data"
NETWORK = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
 <graph edgedefault="undirected">
  <node id="a"/><node id="b"/><node id="c"/>
  <edge source="a" target="b"/><edge source="b" target="c"/>
 </graph>
</graphml>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.graphml").write_text(NETWORK, encoding="utf-8")
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_network_and_a_matrix_become_a_scenario_that_runs(folder: Path, anabranch: Anabranch) -> None:
    done = anabranch("import", "net.graphml", "triangle.demands")
    assert done.returncode == 0, done.stderr
    assert "net.graphml: a network of 3 nodes and 2 links, 0 with a capacity" in done.stdout
    assert "triangle.demands: a traffic matrix of 2 entries, 1.75 Mbps (REPETITA demands)" in done.stdout
    assert "  The unit is kbps; 1 is 1 kbps." in done.stdout
    assert "  The format numbers nodes: 0 is the first node of the network, and so on." in done.stdout
    assert "scenario in net.toml" in done.stdout
    assert "note: No file says the capacity of every link: 1 Gbps is a guess" in done.stderr
    assert "next: anabranch load net.toml, or anabranch run net.toml" in done.stderr
    assert (folder / "net.toml").read_text(encoding="utf-8").startswith("# No file says the capacity")
    # By hand: 1.5 of 1000 Mbps.
    loads = json.loads(anabranch("load", "net.toml", "--json").stdout)
    assert loads["worst_case_load"] == pytest.approx(0.0015)
    assert loads["matrix"] == "file:triangle.demands"
    assert anabranch("run", "net.toml", "--no-page").returncode == 0
    pairs = json.loads(anabranch("routes", "net.toml", "--json").stdout)["pairs"]
    assert {(pair["source"], pair["destination"]) for pair in pairs} >= {("a", "b"), ("c", "a")}


@pytest.mark.parametrize("file", ["flows.csv", "flows.hpcc", "flows.cm", "sizes.txt"])
def test_flows_and_sizes_run(file: str, folder: Path, anabranch: Anabranch) -> None:
    assert anabranch("import", "net.graphml", file, "--out", "x.toml").returncode == 0
    done = anabranch("run", "x.toml", "--no-page", "--json")
    assert done.returncode == 0, done.stderr
    flows = json.loads(done.stdout)["flows"]
    assert len(flows) == (3 if file == "sizes.txt" else 2)
    assert all(flow["completion_s"] for flow in flows)
    del folder


def test_a_scenario_elsewhere_finds_its_files(folder: Path, anabranch: Anabranch) -> None:
    (folder / "deep" / "er").mkdir(parents=True)
    out = Path("deep") / "er" / "x.toml"
    assert anabranch("import", "net.graphml", "triangle.xml", "--out", out).returncode == 0
    setup = resolve(Scenario.load(folder / out))
    assert setup.demand is not None
    assert anabranch("load", out).returncode == 0


def test_a_folder_of_matrices_is_a_series(folder: Path, anabranch: Anabranch) -> None:
    (folder / "tms").mkdir()
    for number in (1, 2):
        shutil.copy(DATA / "triangle.demands", folder / "tms" / f"{number}.demands")
    done = anabranch("import", "net.graphml", "tms", "--out", "x.toml")
    assert "tms: 2 traffic matrices (REPETITA demands)" in done.stdout
    assert "number = 1" in (folder / "x.toml").read_text(encoding="utf-8")
    assert anabranch("load", "x.toml").returncode == 0


def test_nothing_is_written_over_unasked(folder: Path, anabranch: Anabranch) -> None:
    (folder / "net.toml").write_text("mine", encoding="utf-8")
    done = anabranch("import", "net.graphml", "triangle.xml")
    assert done.returncode == 2
    assert "net.toml: exists; choose another name with --out, or give --replace" in done.stderr
    assert (folder / "net.toml").read_text(encoding="utf-8") == "mine"
    assert anabranch("import", "net.graphml", "triangle.xml", "--replace").returncode == 0


def test_data_for_programs(folder: Path, anabranch: Anabranch) -> None:
    data = json.loads(anabranch("import", "triangle-1.n2p", "--topology", "line", "--json").stdout or "{}")
    assert data == {}
    data = json.loads(anabranch("import", "net.graphml", "triangle-1.n2p", "--json").stdout)
    assert [entry["file"] for entry in data["files"]] == ["net.graphml", "triangle-1.n2p"]
    assert any('unit = "1 Mbps" is a guess' in line for line in data["assumed"])
    del folder


REFUSED = [
    (("triangle.xml",), "no file has a network, which the traffic crosses; give one, too, or --topology"),
    (("abilene.X",), "--topology, such as sndlib/abilene"),
    (("net.graphml", "net.graphml"), "net.graphml: a second network, beside file:net.graphml"),
    (("net.graphml", "triangle.xml", "triangle.n2p"), "triangle.n2p: a second traffic matrix, beside"),
    (("net.graphml", "abilene.X"), 'abilene.X: no node "ATLAM5" in file:net.graphml'),
    (("m.pkl",), "m.pkl: this is a pickle of Python, which could run any code and is never opened"),
    (("c.pcap",), "c.pcap: is a packet capture, no network and no traffic; read it by: anabranch capture"),
    (("none.csv",), "none.csv: cannot be read: No such file"),
    (("o.yaml",), "o.yaml: this is YAML; convert it in Python: import yaml"),
]


@pytest.mark.parametrize(("files", "message"), REFUSED)
def test_what_cannot_be_imported_says_what_it_is(
    files: tuple[str, ...], message: str, folder: Path, anabranch: Anabranch
) -> None:
    (folder / "m.pkl").write_bytes(b"\x80\x04\x95")
    (folder / "c.pcap").write_bytes(b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00")
    (folder / "o.yaml").write_text("a: 1\n", encoding="utf-8")
    done = anabranch("import", *files, "--out", "x.toml")
    assert done.returncode == 2
    assert message.replace('"', "") in done.stderr.replace('"', "")
    assert not (folder / "x.toml").exists()


def test_names_with_any_character(folder: Path, anabranch: Anabranch) -> None:
    strange = "a \"b\" 'c' é [1].demands"
    shutil.copy(DATA / "triangle.demands", folder / strange)
    assert anabranch("import", "net.graphml", strange, "--out", "x.toml").returncode == 0
    assert anabranch("load", "x.toml").returncode == 0
    assert os.fspath(strange) in Scenario.load(folder / "x.toml").title


def test_weights_of_each_link_are_what_routes_go_by(folder: Path, anabranch: Anabranch) -> None:
    """Two ways of two links, of which that over c is longer by weight, and the same by hops."""
    rows = "from,to,capacity_mbps,delay_ms,weight\na,b,10,1,1\nb,d,10,1,1\na,c,10,1,1\nc,d,10,1,2\n"
    (folder / "net.csv").write_text(rows, encoding="utf-8")
    (folder / "tm.csv").write_text("from,to,rate_mbps\na,d,4\n", encoding="utf-8")
    done = anabranch("import", "net.csv", "tm.csv", "--out", "x.toml")
    assert "note: Each link has a weight: the routes are all the shortest by weight (ECMP)." in done.stderr
    loads = json.loads(anabranch("load", "x.toml", "--json").stdout)
    assert {link["link"]: link["load"] for link in loads["links"]}["b->d"] == pytest.approx(0.4)
    (folder / "net.csv").write_text(rows.replace("c,d,10,1,2", "c,d,10,1,2.5"), encoding="utf-8")
    done = anabranch("import", "net.csv", "tm.csv", "--out", "y.toml")
    assert (done.returncode, "ECMP" in done.stderr) == (0, False)


def test_a_network_in_parts_has_traffic_in_the_largest(folder: Path, anabranch: Anabranch) -> None:
    (folder / "net.csv").write_text("from,to\na,b\nc,d\nd,e\n", encoding="utf-8")
    done = anabranch("import", "net.csv", "--out", "x.toml")
    assert "note: The network is in 2 parts: traffic is between 3 nodes of the largest." in done.stderr
    written = tomllib.loads((folder / "x.toml").read_text(encoding="utf-8"))
    assert written["traffic"][0]["from"] == ["c", "d", "e"]
    assert anabranch("run", "x.toml", "--no-page").returncode == 0


def test_what_is_no_scenario_is_told_who_reads_it(folder: Path, anabranch: Anabranch) -> None:
    (folder / "one.csv").write_text("from,to\na,a\n", encoding="utf-8")
    measured = next(DATA.parents[1].glob("capture/measurements/*iperf3*"))
    shutil.copy(measured, folder / "m.json")
    for file, words in (
        ("m.json", "m.json: is a measurement (iperf3 JSON), no network and no traffic; read it by: "),
        ("one.csv", "file:one.csv: has one node, and traffic needs two"),
    ):
        done = anabranch("import", file, "--out", "x.toml")
        assert (done.returncode, words in done.stderr, done.stdout) == (2, True, ""), done.stderr
        assert not (folder / "x.toml").exists()


def test_a_trace_is_told_where_it_belongs(folder: Path, anabranch: Anabranch) -> None:
    (folder / "trace").write_text("0\n1\n1\n5\n", encoding="utf-8")
    done = anabranch("import", "trace", "--out", "x.toml")
    assert (done.returncode, "name it in a [[profile]], with format = " in done.stderr) == (2, True)


def test_a_pipe_is_refused_and_not_waited_for(folder: Path, anabranch: Anabranch) -> None:
    os.mkfifo(folder / "pipe")
    done = anabranch("import", "pipe")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pipe: cannot be read: it is not a file; save what comes through a pipe as a file" in done.stderr
