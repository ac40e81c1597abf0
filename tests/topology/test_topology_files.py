"""File readers: small files with known content, one clear message for every kind of bad file, and fuzzing."""

import gzip
import json
import time
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.topology import Topology, TopologyError, great_circle_km, load
from anabranch.topology.attributes.choices import choices_from
from anabranch.topology.readers.registry import READERS
from anabranch.topology.sources import hub, hub_zoo
from anabranch.topology.sources.files import MAX_FILE_BYTES, parse_topology, sniff

DATA = Path(__file__).parent / "data"

EXAMPLES = {
    "ring.graphml": "GraphML",
    "ring.gml": "GML",
    "triangle.txt": "SNDlib native",
    "triangle.xml": "SNDlib XML",
    "square.json": "JSON node-link",
    "square.clab.yml": "containerlab",
    "square.graph": "REPETITA",
    "square.dot": "DOT",
    "square.csv": "CSV of edges",
    "square.n2p": "Net2Plan",
    "old.n2p": "Net2Plan",
    "square.latencies.intra": "Rocketfuel intra",
    "square.weights.intra": "Rocketfuel intra",
    "square.cch": "Rocketfuel cch",
    "fabric.hpcc.txt": "HPCC",
    "servers.simai.txt": "HPCC",
    "square.brite": "BRITE",
    "square.inet": "Inet",
    "square.orbis": "Orbis",
    "square.shadow.yaml": "Shadow",
    "square.gexf": "GEXF",
    "square.fnss.xml": "FNSS",
    "square.ndnsim.txt": "ndnSIM",
    "square.zhang.txt": "ndnSIM",
    "fabric.htsim.topo": "htsim",
    "tree.htsim.topo": "htsim",
}


def example(name: str) -> Topology:
    return load(f"file:{name}", base=DATA)


def error_of(data: bytes, tmp_path: Path) -> TopologyError:
    (tmp_path / "net").write_bytes(data)
    with pytest.raises(TopologyError) as caught:
        load("file:net", base=tmp_path)
    message = str(caught.value)
    assert message.startswith("file:net")
    assert "\n" not in message
    assert len(message) < 1000
    return caught.value


def test_the_examples_cover_all_readers() -> None:
    assert set(EXAMPLES.values()) == set(READERS)
    for name, format_name in EXAMPLES.items():
        assert sniff((DATA / name).read_bytes(), name) == format_name


def test_graphml() -> None:
    ring = example("ring.graphml")
    assert [node.name for node in ring.nodes] == [
        "Anfield", "Burgh", "Burgh (2)", "Cold Harbour", "Dunmore", "Lighthouse",
    ]  # fmt: skip
    assert ring.node("2").name == "Burgh (2)"
    assert [link.capacity_bps for link in ring.links] == [
        2_500_000_000, 155_000_000, None, None, None, 1000, None,
    ]  # fmt: skip
    assert ring.links[1].label == "155 Mbps"
    assert ring.links[2].delay_ps == 1_250_000_000
    assert ring.links[2].loss == 0.01
    assert (ring.links[4].length_km, ring.links[4].length_source) == (12.5, "file")
    assert [link.length_source for link in ring.links[:4]] == ["great-circle"] * 3 + ["filled-place"]
    # The Lighthouse was put where Dunmore is, which says nothing about their distance.
    assert ring.links[6].length_source == "default"
    lengths = sorted(link.length_km or 0 for link in ring.links[:3])
    assert ring.links[6].length_km == lengths[1]
    assert any("1 link from a node to itself was left out" in sentence for sentence in ring.provenance)
    assert any("is no capacity and counts as not given" in sentence for sentence in ring.provenance)
    assert any("Internal = 0), kept as routers: 1." in sentence for sentence in ring.provenance)


def test_graphml_fills_places_evenly() -> None:
    ring = example("ring.graphml")
    # Anfield (0 N, 0 E) - Cold Harbour - Dunmore - Burgh (0 N, 3 E): thirds of the way; the Lighthouse hangs
    # on Dunmore.
    places = {node.name: node.place for node in ring.nodes}
    for name, longitude in [("Cold Harbour", 1.0), ("Dunmore", 2.0), ("Lighthouse", 2.0)]:
        place = places[name]
        assert place is not None
        assert place.source == "filled"
        assert place.latitude == 0.0
        # Chords against arcs: off by about (3 degrees in radians) cubed, which is 1e-4.
        assert place.longitude == pytest.approx(longitude, abs=1e-3)


def test_gml() -> None:
    ring = example("ring.gml")
    assert [node.name for node in ring.nodes] == ["Anfield", "Burgh", "Burgh (2)", 'Café "Sole"']
    assert [(link.a, link.b) for link in ring.links[:2]] == [("Anfield", "Burgh")] * 2
    assert ring.links[0].capacity_bps == 2_500_000_000
    assert ring.links[0].length_km == pytest.approx(great_circle_km(0, 0, 0, 3))
    assert ring.links[2].length_km == pytest.approx(great_circle_km(0, 3, 1, 3))
    cafe = ring.node("3").place
    assert cafe is not None
    assert (cafe.latitude, cafe.longitude, cafe.source) == (1.0, 3.0, "filled")


@pytest.mark.parametrize("name", ["triangle.txt", "triangle.xml"])
def test_sndlib(name: str) -> None:
    triangle = example(name)
    assert [node.name for node in triangle.nodes] == ["Anfield", "Burgh", "Cold-Harbour"]
    assert [(link.label, link.a, link.b) for link in triangle.links] == [
        ("L1", "Anfield", "Burgh"),
        ("L2", "Burgh", "Cold-Harbour"),
        ("L3", "Cold-Harbour", "Anfield"),
    ]
    assert [link.capacity_bps for link in triangle.links] == [40_000_000, None, None]
    assert triangle.links[1].length_km == pytest.approx(great_circle_km(0, 3, 1, 3))
    assert triangle.demands == {("Anfield", "Burgh"): 13.0, ("Burgh", "Anfield"): 7.0}


def test_the_two_sndlib_formats_agree() -> None:
    native, xml = example("triangle.txt"), example("triangle.xml")
    assert (native.nodes, native.links, native.demands) == (xml.nodes, xml.links, xml.demands)


def test_directed_links() -> None:
    text = (
        b'<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>'
        b'<edge source="a" target="b"/><edge source="b" target="a" directed="false"/></graph></graphml>'
    )
    assert [link.directed for link in parse_topology(text, "GraphML", "x").links] == [True, False]
    gml = b"graph [ directed 1 node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
    assert [link.directed for link in parse_topology(gml, "GML", "x").links] == [True]


def test_no_place_at_all_gives_the_default_length() -> None:
    gml = b"graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
    topology = parse_topology(gml, "GML", "x")
    assert (topology.links[0].length_km, topology.links[0].length_source) == (100.0, "default")
    assert all(node.place is None for node in topology.nodes)
    assert any("100.0 km, the default" in sentence for sentence in topology.provenance)


GRAPHML_CASES = {
    "cut": (b'<graphml>\n<graph>\n<node id="a">', "line 3", "not well-formed XML"),
    "doctype": (
        b'<!DOCTYPE x [<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;">]>\n<graphml/>',
        "line 1",
        "document type declaration",
    ),
    "late doctype": (
        b"<?xml version='1.0'?>\n<!DOCTYPE graphml>\n<graphml/>",
        "line 2",
        "document type declaration",
    ),
    "deep": (b"<graphml>" + b"<a>" * 100_000, "line 1", "nested deeper"),
    "no graph": (b"<graphml/>", "file:net", "0 graphs"),
    "two graphs": (b"<graphml><graph/><graph/></graphml>", "file:net", "2 graphs"),
    "no nodes": (b"<graphml><graph/></graphml>", "file:net", "no nodes"),
    "no id": (b"<graphml><graph>\n<node/></graph></graphml>", "line 2", 'no attribute "id"'),
    "twice": (
        b'<graphml><graph><node id="a"/>\n<node id="a"/></graph></graphml>',
        "line 2",
        "already used on line 1",
    ),
    "dangling": (
        b'<graphml><graph><node id="a"/>\n<edge source="a" target="b"/></graph></graphml>',
        "line 2",
        '"b", which is no',
    ),
    "key": (
        b'<graphml><graph><node id="a">\n<data key="d0">1</data></node></graph></graphml>',
        "line 2",
        "not declared",
    ),
    "hyperedge": (b"<graphml><graph>\n<hyperedge/></graph></graphml>", "line 2", "hyperedges"),
    "nested": (b'<graphml><graph>\n<node id="a"><graph/></node></graph></graphml>', "line 2", "nested graph"),
    "direction": (b'<graphml><graph edgedefault="up"/></graphml>', "line 1", 'edgedefault is "up"'),
    "encoding": (b'<?xml version="1.0" encoding="no-such"?><graphml/>', "line 1", "encoding"),
    "latitude": (
        b'<graphml><key id="d" attr.name="Latitude"/><key id="e" attr.name="Longitude"/><graph>\n'
        b'<node id="a"><data key="d">95</data><data key="e">0</data></node></graph></graphml>',
        "line 2",
        'latitude is "95"; give a number from -90 to 90',
    ),
    "loss": (
        b'<graphml><key id="d" attr.name="loss"/><graph><node id="a"/><node id="b"/>\n'
        b'<edge source="a" target="b"><data key="d">NaN</data></edge></graph></graphml>',
        "line 2",
        'loss is "NaN"',
    ),
    "capacity": (
        b'<graphml><key id="d" attr.name="capacity_bps"/><graph><node id="a"/><node id="b"/>\n'
        b'<edge source="a" target="b"><data key="d">-1e6</data></edge></graph></graphml>',
        "line 2",
        'capacity_bps is "-1e6"',
    ),
}

OTHER_CASES = {
    "empty": (b"", "file:net", "empty"),
    "blank": (b"  \n\t ", "file:net", "empty"),
    "binary": (b"\x00\x01\x02" * 100, "file:net", "binary"),
    "words": (b"once upon a time", "file:net", 'no known format: it starts with "once upon a time"'),
    "html": (b"<html><body>404</body></html>", "file:net", "XML or HTML of no known format"),
    "gzip": (gzip.compress(b"<graphml/>"), "file:net", "gzip archive; unpack it"),
    "gml cut": (b'graph [\n node [ id 1\n label "x"', "line 3", "ends inside a list"),
    "gml open string": (b'graph [\n label "x\n', "line 2", "cannot read"),
    "gml no value": (b"graph [\n node [ id ]\n]", "line 2", '"id" has no value'),
    "gml no key": (b"graph [\n 1 ]", "line 2", "where a key was due"),
    "gml dangling": (
        b"graph [ node [ id 1 ]\n edge [ source 1 target 2 ] ]",
        "line 2",
        '"2", which is no node',
    ),
    "gml twice": (b"graph [ node [ id 1 ]\n node [ id 1 ] ]", "line 2", "already used on line 1"),
    "gml deep": (b"graph [ a " + b"[ a " * 100_000, "line 1", "nested deeper"),
    "gml no id": (b"graph [\n node [ ] ]", "line 2", 'no "id"'),
    "native cut": (b"NODES (\n A ( 1 2 )\n B ( 3", "line 1", "never closed"),
    "native number": (b"NODES (\n A ( 1 x ) )", "line 2", '"x" is not a latitude'),
    "native twice": (b"NODES (\n A ( 1 2 )\n A ( 1 2 ) )", "line 3", "declared twice"),
    "native dangling": (
        b"NODES ( A ( 1 2 ) )\nLINKS ( L ( A B ) 0 0 0 0 ( ) )",
        "file:net",
        '"B", which is no node',
    ),
    "native short link": (
        b"NODES ( A ( 1 2 ) B ( 1 2 ) )\nLINKS (\nL ( A B ) 0 0 )",
        "line 3",
        "a routing cost",
    ),
    "native no nodes": (b"META ( )", "file:net", "no NODES section"),
    "native demand": (
        b"NODES ( A ( 1 2 ) B ( 1 2 ) )\nDEMANDS ( D ( A B ) 1\n-5 X )",
        "line 2",
        "the demand is -5",
    ),
    "xml structure": (b"<network>\n<x/></network>", "line 1", "no <networkStructure>"),
    "xml place": (
        b"<network><networkStructure>\n<nodes coordinatesType='geographical'><node id='a'>"
        b"<coordinates><x>1</x><y>91</y>"
        b"</coordinates></node></nodes></networkStructure></network>",
        "line 2",
        "not on the Earth",
    ),
}

BAD_FILES = {f"graphml {name}": case for name, case in GRAPHML_CASES.items()} | OTHER_CASES


@pytest.mark.parametrize("case", sorted(BAD_FILES))
def test_bad_files(case: str, tmp_path: Path) -> None:
    data, where, what = BAD_FILES[case]
    error = error_of(data, tmp_path)
    assert where in error.where
    assert what in str(error)
    assert error.remedy


def test_an_entity_bomb_is_refused_at_once(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 30))
    doctype = f'<!DOCTYPE graphml [<!ENTITY e0 "x">{entities}]>'
    bomb = f'<?xml version="1.0"?>{doctype}<graphml>&e29;</graphml>'
    started = time.monotonic()
    error = error_of(bomb.encode(), tmp_path)
    assert "entity bomb" in error.what
    assert time.monotonic() - started < 2.0


def sparse_file(path: Path, head: bytes, size: int) -> None:
    with path.open("wb") as stream:
        stream.write(head)
        stream.truncate(size)


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"\x8f\x02garbage", "binary data"),
        (b"garbage" * 10_000, "no known format"),
        (b"<graphml>", "binary data"),
    ],
)
def test_100_megabytes_of_garbage_are_not_read(head: bytes, what: str, tmp_path: Path) -> None:
    sparse_file(tmp_path / "net", head, 100_000_000)
    started = time.monotonic()
    with pytest.raises(TopologyError, match=what):
        load("file:net", base=tmp_path)
    assert time.monotonic() - started < 2.0


def test_a_large_file_of_a_known_format_is_refused_by_its_size(tmp_path: Path) -> None:
    sparse_file(tmp_path / "net", b"<graphml>" + b" " * 70_000, MAX_FILE_BYTES + 1)
    with pytest.raises(TopologyError, match="the file has 16 MiB, and at most 16 MiB are read"):
        load("file:net", base=tmp_path)


def test_missing_files(tmp_path: Path) -> None:
    (tmp_path / "abilene.graphml").touch()
    with pytest.raises(TopologyError) as caught:
        load("file:abilen.graphml", base=tmp_path)
    assert str(caught.value) == 'file:abilen.graphml: there is no such file; nearest: "abilene.graphml"'
    for path, what in [
        ("nowhere/x.gml", 'no folder "nowhere"'),
        (".", "not a file"),
        ("", "the path is missing"),
    ]:
        with pytest.raises(TopologyError, match=what):
            load(f"file:{path}", base=tmp_path)
    for strange in ("a\0b", "x" * 5000):
        with pytest.raises(TopologyError):
            load(f"file:{strange}", base=tmp_path)


def test_other_encodings(tmp_path: Path) -> None:
    text = '<?xml version="1.0"?><graphml><graph><node id="Malmö"/></graph></graphml>'
    (tmp_path / "utf16.graphml").write_bytes(text.encode("utf-16"))
    assert load("file:utf16.graphml", base=tmp_path).nodes[0].name == "Malmö"
    (tmp_path / "latin.gml").write_bytes('graph [ node [ id 1 label "Malmö" ] ]'.encode("latin-1"))
    latin = load("file:latin.gml", base=tmp_path)
    assert latin.nodes[0].name == "Malmö"
    assert any("Latin-1" in sentence for sentence in latin.provenance)


def read_any(data: bytes, format_name: str) -> None:
    try:
        parse_topology(data, format_name, "fuzz")
    except TopologyError as error:
        assert str(error)
        assert "\n" not in str(error)


@given(st.binary(max_size=400), st.sampled_from(sorted(READERS)))
def test_random_bytes_raise_nothing_else(data: bytes, format_name: str) -> None:
    read_any(data, format_name)
    try:
        sniff(data, "fuzz")
    except TopologyError as error:
        assert str(error)


@settings(max_examples=400)
@given(st.data(), st.sampled_from(sorted(EXAMPLES)))
def test_damaged_files_raise_nothing_else(data: st.DataObject, name: str) -> None:
    """Valid files with pieces cut out, doubled or overwritten, which reach deeper than noise."""
    content = (DATA / name).read_bytes()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 60)))
        piece = data.draw(
            st.one_of(
                st.just(b""),
                st.just(content[start:end] * 2),
                st.binary(max_size=8),
                st.sampled_from(
                    [
                        b"NaN",
                        b"inf",
                        b"-1",
                        b"1e999",
                        b"(",
                        b")",
                        b"[",
                        b"]",
                        b"&#0;",
                        b'"',
                        b"<a>",
                        b"9" * 400,
                    ]
                ),
            )
        )
        content = content[:start] + piece + content[end:]
    read_any(content, EXAMPLES[name])


def test_a_network_with_too_many_nodes_is_refused() -> None:
    gml = b"graph [" + b"".join(b"node[id %d]" % i for i in range(100_001)) + b"]"
    with pytest.raises(TopologyError, match="100001 nodes and 0 links; at most 100000"):
        parse_topology(gml, "GML", "x")


YED = b"""<graphml xmlns:y="http://www.yworks.com/xml/graphml">
<key attr.name="url" for="node" id="d4"/><key for="node" id="d6" yfiles.type="nodegraphics"/>
<key for="edge" id="d10" yfiles.type="edgegraphics"/>
<graph edgedefault="directed" id="G">
%s
<edge id="e0" source="n0" target="n1"><data key="d10"><y:PolyLineEdge><y:Arrows source="none" target="none"/>
<y:EdgeLabel>10 Gbps</y:EdgeLabel></y:PolyLineEdge></data></edge>
<edge id="e1" source="n1" target="n2"><data key="d10"><y:PolyLineEdge>
<y:Arrows source="none" target="standard"/></y:PolyLineEdge></data></edge>
<edge id="e2" source="n0" target="n2"/>
<edge id="e3" source="n0" target="n2"><data key="d10"><y:Arc>
<y:Arrows source="delta" target="none"/></y:Arc></data></edge></graph></graphml>""" % b"\n".join(
    b'<node id="n%d"><data key="d4">u</data><data key="d6"><y:ShapeNode><y:Geometry x="1"/>'
    b"<y:NodeLabel>%s<y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>" % (number, name)
    for number, name in enumerate((b"Berlin", b"Paris", b"Rome"))
)


def test_yed() -> None:
    """The labels of yEd's drawing are names, and its arrows say what leads one way, not the default."""
    graph = parse_topology(YED, "GraphML", "x")
    assert [(link.a, link.b, link.directed, link.label) for link in graph.links] == [
        ("Berlin", "Paris", False, "10 Gbps"),
        ("Paris", "Rome", True, None),
        ("Berlin", "Rome", False, None),
        ("Rome", "Berlin", True, None),
    ]
    assert any("with one arrow, which lead one way: 2;" in sentence for sentence in graph.provenance)
    assert "Not used: url (3 nodes)." in graph.provenance


def test_gml_as_yed_writes_it() -> None:
    """yEd exports every graph as directed; the arrows of its drawing say what is."""
    arrows = ("", 'targetArrow "standard"', 'sourceArrow "delta"', 'sourceArrow "x" targetArrow "x"')
    edges = " ".join(f"edge [ source 0 target 1 graphics [ {arrow} ] ]" for arrow in arrows)
    text = f'Creator "yFiles" graph [ directed 1 node [ id 0 label "A" ] node [ id 1 label "B" ] {edges} ]'
    graph = parse_topology(text.encode(), "GML", "x")
    assert [(link.a, link.directed) for link in graph.links] == [("A", False), ("A", False), ("A", False)]
    assert any("lead one way: 2;" in sentence for sentence in graph.provenance)
    assert any(sentence.startswith("1 pair of one-way") for sentence in graph.provenance)


def test_topohub_gml_as_networkx_writes_it() -> None:
    """Each of topohub's graphs has the names and places of `topohub/NAME`, and its lengths."""
    for name in hub.graph_names(hub_zoo.GROUP):
        graph = nx.node_link_graph(hub.graph(hub_zoo.GROUP, name), edges="edges")
        text = "\n".join(nx.generate_gml(graph)).encode()
        ours, source = parse_topology(text, "GML", name), load(f"topohub/{name}")
        assert [(n.name, n.place) for n in ours.nodes] == [(n.name, n.place) for n in source.nodes], name
        lengths = {frozenset((link.a, link.b)): link.length_km for link in ours.links}
        assert len(lengths) == len(source.links)
        for link in source.links:
            # topohub computes lengths before it rounds the places to 0.01 degrees, 1.6 km for both ends.
            assert lengths[frozenset((link.a, link.b))] == pytest.approx(link.length_km, rel=0.01, abs=2), (
                name
            )


def sndlib(links: str, unit: str = "META ( unit = MBITPERSEC )") -> Topology:
    nodes = "NODES ( A ( 8 50 ) B ( 9 51 ) C ( 10 50 ) )"
    return parse_topology(f"{unit}\n{nodes}\nLINKS ( {links} )".encode(), "SNDlib native", "x")


def test_sndlib_modules() -> None:
    one = sndlib("L1 ( A B ) 0 0 0 0 ( 40 25 ) L2 ( B C ) 0 0 0 0 ( 40 25 )")
    assert [link.capacity_bps for link in one.links] == [40_000_000] * 2
    assert "Not used: addModule.cost (2 links)." in one.provenance
    two = sndlib("L1 ( A B ) 0 0 0 0 ( 40 25 ) L2 ( B C ) 0 0 0 0 ( 40 25 155 70 )")
    assert [link.capacity_bps for link in two.links] == [None, None]
    sentences = [sentence for sentence in two.provenance if sentence.startswith("Not read:")]
    assert [sentence.partition("write ")[2] for sentence in sentences] == [
        f'[network.file.attributes] capacity = {{ name = "addModule[{number}].capacity", unit = "Mbps" }}'
        for number in (1, 2)
    ]
    installed = sndlib("L1 ( A B ) 100 0 0 0 ( 40 25 ) L2 ( B C ) 100 0 3 0 ( )")
    assert [link.capacity_bps for link in installed.links] == [100_000_000] * 2
    assert "Not used: addModule.capacity (1 link), addModule.cost (1 link), routingCost (1 link)." in (
        installed.provenance
    )
    mixed = sndlib("L1 ( A B ) 100 0 0 0 ( 40 25 ) L2 ( B C ) 0 0 0 0 ( 40 25 )")
    assert [link.capacity_bps for link in mixed.links] == [100_000_000, None]
    unknown = sndlib("L1 ( A B ) 0 0 0 0 ( 40 25 )", unit="")
    assert unknown.links[0].capacity_bps is None
    assert any("addModule.capacity" in s and "without a unit" in s for s in unknown.provenance)
    assert any("capacities of the source are not read" in s for s in unknown.provenance)


def test_the_unit_of_a_chosen_module_is_that_of_all_capacities() -> None:
    """Where the file states no unit, and links have a capacity from the start or modules, as in dfn-gwin."""
    text = (
        b"NODES ( A ( 8 50 ) B ( 9 51 ) ) LINKS ( L1 ( A B ) 622 0 0 0 ( ) L2 ( A B ) 0 0 0 0 ( 9 1 155 2 ) )"
    )
    choices = choices_from({"capacity": {"name": "addModule[2].capacity", "unit": "Mbps"}})
    links = parse_topology(text, "SNDlib native", "x", choices).links
    assert [link.capacity_bps for link in links] == [622_000_000, 155_000_000]


def test_sndlib_directed() -> None:
    """A file that lists each link from both ends is one of one-way links; any other has parallel ones."""
    ends = [("A", "B"), ("B", "A"), ("B", "C"), ("C", "B")]
    text = " ".join(f"L{number} ( {a} {b} ) 40 0 0 0 ( )" for number, (a, b) in enumerate(ends))
    both = sndlib(text)
    assert [(link.a, link.b, link.directed, link.label) for link in both.links] == [
        ("A", "B", False, "L0 / L1"),
        ("B", "C", False, "L2 / L3"),
    ]
    assert any("2 pairs of one-way entries" in sentence for sentence in both.provenance)
    assert not any("parallel" in sentence for sentence in both.provenance)
    mixed = sndlib(text + " L4 ( A C ) 40 0 0 0 ( )")
    assert [link.directed for link in mixed.links] == [False] * 5
    assert any("2 links are parallel" in sentence for sentence in mixed.provenance)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b'<graphml><key id="d" attr.name="bw"/><key id="e" attr.name="bw"/><graph><node id="a"/>\n'
            b'<node id="b"/><edge source="a" target="b"><data key="d">1</data>\n<data key="e">2</data></edge>'
            b"</graph></graphml>",
            'line 3: "bw" is there twice with unlike values; leave one of them',
        ),
        (b'graph [\n node [ id 1 label "a" label "b" ] ]', 'line 2: "label" is there 2 times'),
        (b"graph [\n node [ id 1 id 2 ] ]", 'line 2: "id" is there 2 times'),
    ],
)
def test_an_attribute_that_is_there_twice(data: bytes, message: str, tmp_path: Path) -> None:
    assert message in str(error_of(data, tmp_path))


@pytest.mark.parametrize("delay", ["1 ms", None])
def test_a_length_that_no_delay_needs_is_not_told_as_unknown(delay: str | None) -> None:
    link = {"source": "a", "target": "b"} | ({} if delay is None else {"delay": delay})
    text = json.dumps({"nodes": [{"id": "a"}, {"id": "b"}], "links": [link]})
    notes = " ".join(parse_topology(text.encode(), sniff(text.encode(), "x.json"), "x.json").provenance)
    assert ("1 link of 1 of unknown length" in notes) == (delay is None)
