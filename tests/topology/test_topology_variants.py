"""Spellings that other programs and people have: the network that they state, and the way out of others."""

import json
import time
from pathlib import Path

import pytest

from anabranch.topology import Topology, TopologyError, load
from anabranch.topology.readers.registry import READERS


def read(folder: Path, name: str, text: str | bytes) -> Topology:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(f"file:{path}")


def links(topology: Topology) -> list[tuple[str, str, bool]]:
    return [(link.a, link.b, link.directed) for link in topology.links]


A_B_C = [("a", "b", False), ("b", "c", False)]
HEADERS = (
    "from,to", "Source,Target", "src,dst", "Source Node,Destination Node", "src_node,dst_node",
    "node_1,node_2", "nodeA,nodeB", "u,v", "A,B", "s,t", "A-End,Z-End", "router_a,router_b",
    "origin,destination", "fromId,toId",
)  # fmt: skip


@pytest.mark.parametrize("header", HEADERS)
def test_columns_of_ends_have_many_names(tmp_path: Path, header: str) -> None:
    topology = read(tmp_path, "x.csv", f"{header},bw_mbps,lat_ms\r\na,b,100,5\r\nb,c,10,6\r\n\r\n")
    assert links(topology) == A_B_C
    assert [(link.capacity_bps, link.delay_ps) for link in topology.links] == [
        (100_000_000, 5 * 10**9), (10_000_000, 6 * 10**9),
    ]  # fmt: skip


def test_blanks_around_cells_mean_nothing(tmp_path: Path) -> None:
    topology = read(tmp_path, "x.csv", "source, target, delay_ms\na, b, 5\nb , c , 6\n")
    assert [node.name for node in topology.nodes] == ["a", "b", "c"]
    assert links(topology) == A_B_C


def test_numbers_with_a_comma_where_semicolons_separate(tmp_path: Path) -> None:
    text = "Source;Target;Capacity (Gbps);Delay (ms)\na;b;2,5;1,5\n;;;\n"
    topology = read(tmp_path, "x.csv", text.encode("utf-8-sig"))
    assert [(link.capacity_bps, link.delay_ps) for link in topology.links] == [(2_500_000_000, 1_500_000_000)]


@pytest.mark.parametrize(
    "text", ["a,b,10\nb,c,20\n", "1,2,10\n2,3,20\n", "a,b\nb,c\n", "id,name,lat,lon\n1,a,2,3\n"]
)
def test_a_table_without_a_header_of_links_is_told_the_line_to_write(tmp_path: Path, text: str) -> None:
    with pytest.raises(TopologyError, match=r"line 1: .* is no header .* from,to,capacity_mbps"):
        read(tmp_path, "x.csv", text)


def test_a_list_with_numbers_is_of_links_both_ways_unless_it_has_both_directions(tmp_path: Path) -> None:
    assert links(read(tmp_path, "x.txt", "a b 10\nb c 20\n")) == A_B_C
    assert links(read(tmp_path, "y.txt", "a b 10\nb a 10\nb c 20\n")) == [("a", "b", False), ("b", "c", True)]


NODES = [{"id": "a"}, {"id": "b"}, {"id": "c"}]
DOCUMENTS: dict[str, object] = {
    "without nodes": {"links": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}]},
    "nodes by id": {
        "nodes": {"a": {}, "b": {}, "c": {}},
        "links": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}],
    },
    "edges as lists": {"nodes": ["a", "b", "c"], "edges": [["a", "b"], ["b", "c", {"weight": 3}]]},
    "node1": {"nodes": NODES, "links": [{"node1": "a", "node2": "b"}, {"node1": "b", "node2": "c"}]},
    "ends with ports": {
        "nodes": NODES,
        "links": [{"source": {"id": x, "port": 1}, "target": {"id": y, "port": 2}} for x, y in ("ab", "bc")],
    },
    "ends by name": {
        "nodes": [{"id": number, "name": name} for number, name in enumerate("abc", 1)],
        "links": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}],
    },
    "directed is 0": {"directed": 0, "nodes": NODES, "links": [{"u": "a", "v": "b"}, {"u": "b", "v": "c"}]},
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents_of_json_name_ends_in_several_ways(tmp_path: Path, document: object) -> None:
    assert links(read(tmp_path, "x.json", json.dumps(document))) == A_B_C


def test_a_name_that_two_nodes_have_is_no_end(tmp_path: Path) -> None:
    nodes = [{"id": 1, "name": "a"}, {"id": 2, "name": "a"}]
    with pytest.raises(TopologyError, match='ends at "a", which is no node'):
        read(tmp_path, "x.json", json.dumps({"nodes": nodes, "links": [{"source": "a", "target": 2}]}))


def test_attributes_within_a_table_of_a_link(tmp_path: Path) -> None:
    link = {"source": "a", "target": "b", "properties": {"bandwidth_mbps": 100, "netem": {"delay": "5ms"}}}
    nodes = [{"id": "a", "location": {"lat": 52.5, "lon": 13.4}}, {"id": "b"}]
    topology = read(tmp_path, "x.json", json.dumps({"nodes": nodes, "links": [link]}))
    assert (topology.links[0].capacity_bps, topology.links[0].delay_ps) == (100_000_000, 5 * 10**9)
    place = topology.nodes[0].place
    assert place is not None
    assert (place.latitude, place.longitude) == (52.5, 13.4)
    lab = "topology:\n  nodes: {a: {}, b: {}}\n  links:\n    - endpoints: ['a:e1', 'b:e1']\n"
    assert read(tmp_path, "x.clab.yml", f"{lab}      vars: {{delay: 5ms}}\n").links[0].delay_ps == 5 * 10**9


GML = "graph [ %s node [ id 1 ] node [ id 2 ] node [ id 3 ] %s ]"
ENTRIES = [(1, 2), (2, 3), (2, 1), (3, 2)]
BOTH = " ".join(f"edge [ source {a} target {b} capacity_bps 10 ]" for a, b in ENTRIES)
GRAPHML = (
    '<graphml><graph edgedefault="undirected"><node id="1"/><node id="2"/><node id="3"/>'
    + "".join(f'<edge source="{a}" target="{b}"/>' for a, b in ENTRIES)
    + "</graph></graphml>"
)
LISTED_TWICE = {
    "x.gml": GML % ("directed 0", BOTH),
    "x.graphml": GRAPHML,
    "x.json": json.dumps({"nodes": [1, 2, 3], "edges": ENTRIES}),
    "x.dot": "graph { 1 -- 2 -- 3; 3 -- 2 -- 1 }",
}


@pytest.mark.parametrize("name", LISTED_TWICE)
def test_a_link_that_both_of_its_ends_list_is_one(tmp_path: Path, name: str) -> None:
    topology = read(tmp_path, name, LISTED_TWICE[name])
    assert links(topology) == [("1", "2", False), ("2", "3", False)]
    assert any("from both ends" in note for note in topology.provenance)


def test_a_multigraph_has_parallel_links(tmp_path: Path) -> None:
    assert len(read(tmp_path, "x.gml", GML % ("multigraph 1", BOTH)).links) == 4
    document = json.loads(LISTED_TWICE["x.json"]) | {"multigraph": True}
    assert len(read(tmp_path, "x.json", json.dumps(document)).links) == 4


def test_numbers_that_are_none_in_gml(tmp_path: Path) -> None:
    topology = read(tmp_path, "x.gml", GML % ("", "edge [ source 1 target 2 delay +INF bw NAN ]"))
    provenance = " ".join(topology.provenance)
    assert "delay of 1 link" in provenance
    assert "bw of 1 link" in provenance


UNREAD = {
    "0,1,0\n1,0,1\n0,1,0\n": "matrix of adjacency",
    "0 5\n5 0\n": "matrix of adjacency",
    ",a,b\na,0,5\nb,5,0\n": "table of adjacency",
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.0\n": "Matrix Market",
    "c a comment\np sp 3 2\na 1 2 10\n": "DIMACS",
    "nodes:\n  - name: a\n": "write its links as CSV with the header",
    "<scenario><links/></scenario>": "write its links as CSV with the header",
}


@pytest.mark.parametrize("text", UNREAD)
def test_what_is_not_read_has_a_way_out(tmp_path: Path, text: str) -> None:
    with pytest.raises(TopologyError, match=UNREAD[text]):
        read(tmp_path, "x.any", text)


@pytest.mark.parametrize("head", ["3 3 3\n", "network a", "", "Nodes 3\n"])
@pytest.mark.parametrize("piece", ["\n", " \n", "\r\n", "a", "1 1\n", "a ", "#\n"])
def test_recognising_takes_no_time_by_the_square(head: str, piece: str) -> None:
    """Of 64 KB a second of processor time: it was minutes for blank lines behind a head of HPCC's."""
    text = (head + piece * (1 << 16))[: 1 << 16]
    begin = time.process_time()
    for reader in READERS.values():
        reader.recognises(text.lstrip())
    assert time.process_time() - begin < 1
