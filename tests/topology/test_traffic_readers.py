"""Readers of traffic: one network of three nodes as each format writes it, and ways a file can be wrong."""

from __future__ import annotations

import pickle
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from anabranch import topology
from anabranch.setup.files import traffic_of
from anabranch.topology import TopologyError
from anabranch.topology.traffic import TRAFFIC_READERS, TrafficError, TrafficFile, load_traffic
from anabranch.topology.traffic.readers.abilene import ROUTERS

DATA = Path(__file__).parent / "traffic_data"
# By hand: 1.5 Mbps from a to b, 0.25 Mbps from c to a.
PAIRS_MBPS = {("a", "b"): 1.5, ("c", "a"): 0.25}
MATRICES = {
    "triangle.xml": ("SNDlib XML", 1e6),
    "triangle.native": ("SNDlib native", 1e6),
    "triangle.n2p": ("Net2Plan", 1e6),
    "triangle-1.n2p": ("Net2Plan", None),
    "triangle.totem.xml": ("TOTEM", 1e3),
    "triangle.demands": ("REPETITA demands", 1e3),
    "triangle.yates.txt": ("YATES demands", 1.0),
}
FLOWS = {
    "flows.csv": ("CSV of flows", "names"),
    "flows.hpcc": ("HPCC flows", "nodes"),
    "flows.cm": ("htsim connections", "hosts"),
}


def read(name: str, folder: Path = DATA) -> TrafficFile:
    outcome = load_traffic(name, folder)
    assert outcome is not None
    return outcome


def entries(traffic: TrafficFile, number: int = 0) -> dict[tuple[str, str], float]:
    """The entries of a matrix by the names of nodes; numbers stand for a, b and c."""
    matrix = traffic.matrices[number]
    names = traffic.nodes if traffic.numbering == "names" else ["abc"[int(node)] for node in traffic.nodes]
    unit = 1e6 if traffic.unit is None else traffic.unit.bps
    return {
        (names[origin], names[to]): value * unit / 1e6
        for origin, to, value in zip(matrix.origin, matrix.to, matrix.value, strict=True)
    }


def test_every_format_has_a_file_here() -> None:
    """So that the attack mutates one of each."""
    formats = {read(file.name).format for file in DATA.iterdir() if file.suffix != ".hosts"}
    assert formats == set(TRAFFIC_READERS)
    assert len(formats) == 12


@pytest.mark.parametrize(("name", "format_name", "unit"), [(name, *of) for name, of in MATRICES.items()])
def test_a_matrix_is_read_with_its_unit(name: str, format_name: str, unit: float | None) -> None:
    traffic = read(name)
    assert (traffic.format, None if traffic.unit is None else traffic.unit.bps) == (format_name, unit)
    assert entries(traffic) == pytest.approx(PAIRS_MBPS)


@pytest.mark.parametrize("name", ["triangle.xml", "triangle.native"])
def test_demands_of_sndlib_need_no_network_beside_them(name: str, tmp_path: Path) -> None:
    text = (DATA / name).read_text(encoding="utf-8")
    network = r"<networkStructure>.*</networkStructure>|^(NODES|LINKS) \(.*?^\)"
    alone = re.sub(network, "", text, flags=re.S | re.M)
    assert len(alone) < len(text)
    (tmp_path / name).write_text(alone, encoding="utf-8")
    assert entries(read(name, tmp_path)) == PAIRS_MBPS
    with pytest.raises(TopologyError, match=f"{name}: the file has demands and no network"):
        topology.load(f"file:{tmp_path / name}")


@pytest.mark.parametrize(("name", "format_name", "numbering"), [(name, *of) for name, of in FLOWS.items()])
def test_flows_are_read_in_bytes_and_seconds(name: str, format_name: str, numbering: str) -> None:
    traffic = read(name)
    assert (traffic.format, traffic.numbering) == (format_name, numbering)
    names = "abc" if traffic.numbering == "names" else "012"
    entries = [
        (traffic.nodes[origin], traffic.nodes[to], size, start)
        for origin, to, size, start in zip(
            traffic.flows.origin, traffic.flows.to, traffic.flows.bytes, traffic.flows.start_ps, strict=True
        )
    ]
    assert entries == [(names[0], names[1], 1500, 0), (names[2], names[0], 20000, 2_500_000_000)]


def test_the_week_of_abilene_has_its_published_unit_and_order() -> None:
    """SNDlib has the same data in Mbps: divided by 3, times 8 / 10^6 (its abilene-readme)."""
    traffic = read("abilene.X")
    assert [matrix.start_s for matrix in traffic.matrices] == [0, 300]
    assert [matrix.label for matrix in traffic.matrices] == ["day 1 00:00", "day 1 00:05"]
    mbps = 187500 / 3 * 8 / 1e6
    assert entries(traffic, 0) == pytest.approx({("ATLAM5", "ATLAng"): mbps, ("WASHng", "ATLAM5"): mbps / 2})
    assert entries(traffic, 1)["ATLAM5", "ATLAng"] == pytest.approx(2 * mbps)
    assert len(ROUTERS) == 12
    assert any("2 entries are of a node to itself" in note for note in traffic.notes)


def test_a_series_of_yates() -> None:
    traffic = read("triangle.yates.txt")
    assert [len(matrix.value) for matrix in traffic.matrices] == [2, 1]
    assert entries(traffic, 1) == {("a", "b"): 3.0}


def test_sizes_are_probabilities_up_to_one(tmp_path: Path) -> None:
    points = ((0.0, 0.0), (10000.0, 0.15), (20000.0, 0.2), (3e7, 1.0))
    assert read("sizes.txt").sizes == points
    (tmp_path / "p.txt").write_text("0 0\n10000 0.15\n20000 0.2\n30000000 1\n", encoding="utf-8")
    assert read("p.txt", tmp_path).sizes == points


def test_a_csv_of_rates_is_left_to_the_core(tmp_path: Path) -> None:
    (tmp_path / "tm.csv").write_text("from,to,rate_mbps\na,b,1\n", encoding="utf-8")
    assert load_traffic("tm.csv", tmp_path) is None


def series(tmp_path: Path) -> None:
    for number in (10, 9):
        text = (DATA / "triangle.demands").read_text(encoding="utf-8")
        (tmp_path / f"t.{number}.demands").write_text(text.replace("1500", f"{number}00"), encoding="utf-8")


@pytest.mark.parametrize("name", ["tms", "tms/*.demands", "tms/t.?*"])
def test_a_folder_or_a_pattern_is_a_series_in_the_order_of_numbers(name: str, tmp_path: Path) -> None:
    (tmp_path / "tms").mkdir()
    series(tmp_path / "tms")
    traffic = traffic_of(name, tmp_path)
    assert traffic is not None
    assert [matrix.label for matrix in traffic.matrices] == ["t.9", "t.10"]
    assert [entries(traffic, number)["a", "b"] for number in (0, 1)] == pytest.approx([0.9, 1.0])


def test_files_of_several_kinds_are_no_series(tmp_path: Path) -> None:
    for name in ("triangle.xml", "triangle.demands"):
        shutil.copy(DATA / name, tmp_path / name)
    with pytest.raises(TrafficError, match=r"triangle\.xml is SNDlib XML in MBITPERSEC, and the file before"):
        traffic_of(".", tmp_path)


WRONG = [
    ("triangle.demands", "DEMANDS 2", "DEMANDS 3", "says 3 demands, and 2 follow"),
    ("triangle.demands", "0 1 1500", "0 1", "line 3: found 3 words"),
    ("triangle.demands", "1500", "-1500", "line 3: a bandwidth is -1500; give 0 or more"),
    ("triangle.demands", "1500", "nan", 'line 3: "nan" is not a bandwidth'),
    ("triangle.demands", "0 1 1500", "x 1 1500", '"x" is not the number of a node'),
    ("triangle.xml", "1.5", "-1.5", "the demand is -1.5"),
    ("triangle.xml", "</demands>", "", "not well-formed XML"),
    ("triangle.native", "a_b ( a b ) 1 1.5", "a_b ( a b ) 1", "is not a demand value"),
    ("triangle.n2p", 'ingressNodeId="12"', 'ingressNodeId="13"', 'ends at "13", which is no node'),
    ("triangle.n2p", 'offeredTraffic="1.5"', 'offeredTraffic="1e999"', "is not a demand"),
    ("triangle.totem.xml", "1500", "inf", '"inf" is not the traffic'),
    ("triangle.totem.xml", "<dst ", "<to ", "not well-formed XML"),
    ("triangle.totem.xml", "<info>", '<info><units><unit type="bandwidth" value="cars"/></units>', "no unit"),
    ("abilene.X", "375000.0 7.0", "375000.0", "line 2: 719 numbers where 720 were due"),
    ("abilene.X", "375000.0 7.0 7.0 7.0 7.0", "375000.0", "line 2: 716 numbers"),
    ("abilene.X", "7.0 7.0\n", "7.0\n", "this is lines of numbers"),
    ("abilene.X", "187500.0", "-187500.0", "a number is -187500.0"),
    ("triangle.yates.txt", "3000000", "", "line 2: 8 numbers and its .hosts names 3 nodes, which need 9"),
    ("triangle.yates.txt", "3000000", "0 0 0 0 0 0 0 0", "line 2: 16 numbers, those of 4 nodes, and its"),
    ("triangle.yates.txt", "3000000", "x", '"x" is not a number'),
    ("flows.csv", "size_kb", "size", "no column with a size; known: size_bytes"),
    ("flows.csv", "20,2.5,", "20", "line 3: has 3 cells in place of 5"),
    ("flows.csv", "1.5", "0", "the size is 0 bytes"),
    ("flows.csv", "1.5", "1e308", "the size is inf bytes; a flow has 1 byte to 1 EB"),
    ("flows.csv", "2.5", "-1", "a start is -1"),
    ("flows.csv", "2.5", "1e15", "a run is at most 30 days"),
    ("flows.hpcc", "2\n0", "9\n0", "line 5: found 7 words where 6 were due"),
    (
        "flows.hpcc",
        "2 0 3 100 20000 0.0025\n\nSecond line is the number of flows",
        "",
        "2 flows, and 1 follow",
    ),
    ("flows.hpcc", "20000 0.0025", "20000", "line 3: found 5 words where 6 were due"),
    ("flows.cm", "Connections 2", "Connections 5", "says 5 connections, and 2 follow"),
    ("flows.cm", "start 0", "trigger 7", "waits for a trigger"),
    ("flows.cm", "2->0", "3->0", "there is no host 3 of 3"),
    ("flows.cm", "size 1500", "size 99999999999999999999", "a flow has 1 byte to 1 EB"),
    ("sizes.txt", "20000 20", "20000 10", "both have to ascend"),
    ("sizes.txt", " 100", " 99", "the last share is 99"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), WRONG)
def test_a_wrong_file_is_refused_with_its_line(
    name: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    text = (DATA / name).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    hosts = DATA / name.replace(".txt", ".hosts")
    if hosts.suffix == ".hosts" and hosts.exists():
        shutil.copy(hosts, tmp_path / hosts.name)
    with pytest.raises(TrafficError) as caught:
        load_traffic(name, tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


SEEMS = [
    ("m.pkl", pickle.dumps([1.0]), "a pickle of Python, which could run any code and is never opened"),
    ("m.npy", b"\x93NUMPY\x01\x00", "an array of numpy"),
    ("m.xlsx", b"PK\x03\x04 xl/workbook.xml", "a spreadsheet"),
    ("m.gz", b"\x1f\x8b\x08", "gunzip -k m.gz"),
    ("m.pcap", b"\xd4\xc3\xb2\xa1\x02\x00", "anabranch capture m.pcap"),
    ("m.pcapng", b"\x0a\x0d\x0d\x0a", "anabranch capture m.pcapng"),
    ("m.json", b'{"start": {}, "intervals": []}', "a report of iperf3"),
    ("m.json", b'{"nodes": [], "links": []}', "nx.write_graphml"),
    ("m.json", b'[{"a": 1}]', "this is JSON"),
    ("m.yaml", b"general:\n  stop: 1\n", "this is YAML"),
    ("m.hosts", b"h1\nh2\n", "this is the file of hosts that belongs to matrices of YATES"),
    ("m.toml", b"title = 1\n[network.links]\n", "this is a scenario of Anabranch; run it by"),
    ("m.txt", b"# link(x,y) type\na,b 1\n", "for links from,to,capacity_mbps,delay_ms"),
    ("m.txt", b"<html><body>404", "the page of a download that failed"),
    ("m.txt", b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
    ("m.txt", b"a,b\n1,2\n", 'm.txt, line 1: "a,b" is not from,to and one of rate'),
    ("m.txt", b"", "the file is empty"),
    ("m.txt", b"\x00\x01", "binary data"),
    ("m.txt", b" \n", "the file is blank"),
    ("m.txt", b"hello", 'it starts with "hello"'),
]


@pytest.mark.parametrize(("name", "content", "message"), SEEMS)
def test_what_is_not_read_is_named_and_can_be_converted(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TrafficError) as caught:
        load_traffic(name, tmp_path)
    assert message in str(caught.value)


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (Path("opened"),)  # type: ignore[return-value]


def test_a_pickle_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.dat").write_bytes(pickle.dumps(_Bomb()))
    with pytest.raises(TrafficError, match="never opened; convert it where you trust it"):
        load_traffic("m.dat", tmp_path)
    assert not (tmp_path / "opened").exists()


def test_the_lines_that_convert_a_pickle_convert_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a user would paste them, after the names of the nodes."""
    monkeypatch.chdir(tmp_path)
    matrix = np.array([[0.0, 1.5], [0.25, 0.0]])
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(matrix))
    with pytest.raises(TrafficError) as caught:
        load_traffic("m.pkl", tmp_path)
    lines = str(caught.value).split("in Python: ")[1]
    exec(lines, {"names": ["a", "b"]})  # noqa: S102 - what the message tells a user to run
    assert (tmp_path / "tm.csv").read_text(encoding="utf-8").splitlines() == [
        "from,to,rate_mbps", "a,b,1.5", "b,a,0.25",
    ]  # fmt: skip


def test_yates_without_hosts_says_where_they_go(tmp_path: Path) -> None:
    shutil.copy(DATA / "triangle.yates.txt", tmp_path / "t.txt")
    with pytest.raises(TrafficError, match=r"put them into t\.hosts, one in each line"):
        load_traffic("t.txt", tmp_path)


def test_a_missing_file_has_a_neighbour() -> None:
    with pytest.raises(TrafficError, match=r'nearest: "triangle\.xml"'):
        load_traffic("triangel.xml", DATA)


def test_a_million_flows_are_read_in_seconds(tmp_path: Path) -> None:
    rows = "".join(f"n{i % 100},n{i % 99 + 100},1500,{i / 1e5}\n" for i in range(1_000_000))
    (tmp_path / "f.csv").write_text(f"from,to,size_bytes,start_s\n{rows}", encoding="utf-8")
    before = time.process_time()
    assert len(read("f.csv", tmp_path).flows.bytes) == 1_000_000
    assert time.process_time() - before < 30


def test_deep_json_is_no_traffic_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "deep").write_bytes(b'{"a":' * 5000)
    with pytest.raises(TrafficError, match="this is JSON"):
        load_traffic("deep", tmp_path)
