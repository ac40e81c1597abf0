"""Formats of other programs: small files of known content, and networkx where it reads the format."""

import json
import runpy
from decimal import Decimal
from pathlib import Path

import networkx
import pytest
import topohub

from anabranch.topology import Topology, TopologyError, load
from anabranch.topology.readers.quantities import rate_bps, time_ms
from anabranch.topology.readers.registry import READERS
from anabranch.topology.sources.files import parse_topology, sniff

from .bad_formats import BAD
from .directions import both_ways, directions, said

DATA = Path(__file__).parent / "data"
MBPS, GBPS, MS = 10**6, 10**9, 10**9
"""Of a rate in bps, and of a delay in ps."""


def example(name: str) -> Topology:
    return load(f"file:{name}", base=DATA)


def parsed(text: str, format_name: str) -> Topology:
    return parse_topology(text.encode(), format_name, "file:net")


def names(topology: Topology) -> list[str]:
    return [node.name for node in topology.nodes]


def kinds(topology: Topology) -> dict[str, str]:
    return {node.name: node.kind for node in topology.nodes}


def test_node_link_json() -> None:
    square = example("square.json")
    assert names(square) == ["Anfield", "Burgh", "Cold Harbour", "[4, 0]"]
    assert square.node("3").name == "Cold Harbour"
    assert kinds(square)["Anfield"] == "host"
    assert kinds(square)["Burgh"] == "router"
    assert directions(square) == sorted(
        [
            ("Anfield", "Burgh", 10 * MBPS, 1_250_000_000, 0.001, 4.0),
            ("Anfield", "Burgh", 5 * MBPS, 2_500_000_000, None, None),
            ("Burgh", "Cold Harbour", None, None, None, None),
            ("Cold Harbour", "[4, 0]", None, None, None, None),
        ],
        key=repr,
    )
    assert square.links[2].length_km == 12.5
    place = square.node("Burgh").place
    assert place is not None
    assert (place.latitude, place.longitude) == (0.0, 3.0)


def test_networkx_reads_the_same_graph() -> None:
    document = json.loads((DATA / "square.json").read_text())
    document["nodes"][3]["id"] = "4"
    document["edges"][3]["target"] = "4"
    graph = networkx.node_link_graph(document, edges="edges")
    assert graph.is_directed()
    square = parsed(json.dumps(document), "JSON node-link")
    ours = sorted((square.node(str(a)).name, square.node(str(b)).name) for a, b in graph.edges())
    assert ours == sorted((link.a, link.b) for link in square.links)


@pytest.mark.parametrize("key", ["links", "edges"])
@pytest.mark.parametrize("directed", [False, True])
def test_node_link_json_of_networkx(key: str, directed: bool) -> None:
    graph = networkx.krackhardt_kite_graph()
    graph = graph.to_directed() if directed else graph
    kite = parsed(json.dumps(networkx.node_link_data(graph, edges=key)), "JSON node-link")
    expected = {(str(a), str(b)) for pair in graph.edges() for a, b in (pair, pair[::-1])}
    assert {(a, b) for a, b, *_ in directions(kite)} == expected
    assert len(directions(kite)) == len(expected)


def test_json_whose_links_count_nodes() -> None:
    d3 = {"nodes": [{"name": "A"}, {"name": "B"}], "links": [{"source": 0, "target": 1}]}
    topology = parsed(json.dumps(d3), "JSON node-link")
    assert [(link.a, link.b) for link in topology.links] == [("A", "B")]
    assert said(topology, "positions in the list of nodes")


def test_topohubs_json_has_places_and_lengths() -> None:
    document = {
        "graph": {"demands": {"0": {"1": 7.5}}},
        "nodes": [
            {"name": "Aachen", "pos": [6.08, 50.78], "id": 0},
            {"name": "Bremen", "pos": [8.8, 53.08], "id": 1},
        ],
        "links": [{"dist": 312.5, "source": 0, "target": 1}],
    }
    hub = parsed(json.dumps(document), "JSON node-link")
    place = hub.node("Bremen").place
    assert place is not None
    assert (place.latitude, place.longitude) == (53.08, 8.8)
    assert (hub.links[0].length_km, hub.links[0].length_source) == (312.5, "file")
    assert hub.demands == {("Aachen", "Bremen"): 7.5}


def test_topohubs_own_files_are_the_networks_that_have_its_names() -> None:
    """Its package has a file for each; lengths are taken from the file here, and from the places there."""
    folder = Path(topohub.__file__).parent / "data"
    read = drawings = 0
    for group, kind in (("topozoo", "topohub"), ("sndlib", "sndlib")):
        for path in sorted((folder / group).glob("*.json"))[:: 12 if group == "topozoo" else 3]:
            ours, named = parsed(path.read_text(), "JSON node-link"), load(f"{kind}/{path.stem}")
            read += 1
            assert names(ours) == names(named)
            assert [(link.a, link.b) for link in ours.links] == [(link.a, link.b) for link in named.links]
            drawings += all(node.place is None for node in ours.nodes)
            if path.stem != "india35":  # a drawing within the Earth's degrees
                assert [node.place for node in ours.nodes] == [node.place for node in named.nodes]
            if kind == "sndlib":
                assert ours.demands == named.demands
    assert read >= 20
    assert drawings >= 1


def test_containerlab() -> None:
    lab = example("square.clab.yml")
    assert names(lab) == ["anfield", "burgh", "cold-harbour", "010"]
    assert kinds(lab) == {"anfield": "host", "burgh": "router", "cold-harbour": "router", "010": "switch"}
    plain = (None, None, None, None)
    assert directions(lab) == sorted(
        [
            *both_ways(("anfield", "burgh", *plain), ("anfield", "burgh", *plain)),
            *both_ways(("burgh", "cold-harbour", *plain)),
            ("cold-harbour", "010", 10 * MBPS, 1_250_000_000, 0.001, 4.0),
            ("010", "cold-harbour", 5 * MBPS, 1_250_000_000, None, None),
        ],
        key=repr,
    )
    assert said(lab, "lead out of the lab and are left out: 2.")


def test_repetita() -> None:
    square = example("square.graph")
    assert names(square) == ["0_Anfield", "1_Burgh", "2_Cold_Harbour", "3_Dunmore"]
    place = square.node("3_Dunmore").place
    assert place is not None
    assert (place.latitude, place.longitude) == (1.0, 0.0)
    pairs = directions(square)
    assert len(pairs) == 8
    # 1,000,000 kbps are 1 Gbps, 678 microseconds are 0.678 ms.
    assert ("0_Anfield", "1_Burgh", GBPS, 678_000_000, None, 10.0) in pairs
    assert ("1_Burgh", "2_Cold_Harbour", 2_500 * MBPS, 237_500_000, None, 10.0) in pairs
    assert ("2_Cold_Harbour", "1_Burgh", GBPS, 237_500_000, None, 20.0) in pairs
    assert said(square, "kbps and delays in microseconds")


def test_dot() -> None:
    square = example("square.dot")
    assert names(square) == ["h1", "Cold Harbour", "s2", "s3, port", "s4", "r"]
    assert kinds(square)["h1"] == "host"
    assert square.node("s3").name == "s3, port"
    edge = (None, None, 0.001, None)
    harbour = "Cold Harbour"
    assert directions(square) == sorted(
        [
            ("h1", harbour, 10 * MBPS, 1_250_000_000, None, 4.0),
            (harbour, "h1", 10 * MBPS, 1_250_000_000, None, None),
            *both_ways((harbour, "s2", *edge), (harbour, "s3, port", *edge)),
            # `s4 -> s2 [dir=back]` is another edge than `s2 -> s4`, and goes from s2 to s4.
            *both_ways(("s2", "s4", *edge), ("s3, port", "s4", *edge), ("r", "s4", *edge)),
            ("s2", "s4", *edge),
        ],
        key=repr,
    )


def test_an_edge_of_a_strict_graph_stands_for_all_of_its_nodes() -> None:
    text = "strict graph { a -- b [delay_ms=1]; b -- a [loss=0.5]; a -- c }"
    plain = (None, None, None, None)
    assert directions(parsed(text, "DOT")) == both_ways(("a", "b", None, MS, 0.5, None), ("a", "c", *plain))
    assert len(parsed(text.replace("strict ", ""), "DOT").links) == 3


def test_a_csv_of_edges() -> None:
    square = example("square.csv")
    harbour = "Cold Harbour, the"
    assert names(square) == ["Anfield", "Burgh", harbour, "=Dunmore"]
    assert directions(square) == sorted(
        [
            ("Anfield", "Burgh", 10 * MBPS, 1_250_000_000, 0.001, 4.0),
            ("Burgh", "Anfield", 5 * MBPS, 1_250_000_000, None, 4.0),
            *both_ways(("Anfield", "Burgh", 10 * MBPS, 2_500_000_000, None, None)),
            *both_ways((harbour, "=Dunmore", None, None, None, None)),
            ("Burgh", harbour, MBPS, None, None, None),
        ],
        key=repr,
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("ends", [("source", "target"), ("Src", "Dst"), ('"from"', '"to"')])
def test_a_csv_of_edges_without_directions(separator: str, ends: tuple[str, str]) -> None:
    lines = [("weight", *ends), (1, "a", "b"), (2, "b", "c"), (3, "b", "c")]
    text = "\n".join(separator.join(map(str, line)) for line in lines)
    assert sniff(text.encode(), "x") == "CSV of edges"
    plain = (None, None, None)
    expected = both_ways(("a", "b", *plain, 1.0), ("b", "c", *plain, 2.0), ("b", "c", *plain, 3.0))
    assert directions(parsed(text, "CSV of edges")) == expected
    # A pair that stands there in both directions shows that each line is one.
    both = parsed(f"{text}\n{separator.join(('4', 'b', 'a'))}\n", "CSV of edges")
    assert len(directions(both)) == 4
    assert said(both, "each line is one direction")


def test_net2plan() -> None:
    square = example("square.n2p")
    assert names(square) == ["Anfield", "Burgh", "Node 5"]
    # 300 km at 200,000 km/s are 1.5 ms.
    assert directions(square) == sorted(
        [
            ("Anfield", "Burgh", 2_500 * MBPS, 1_500_000_000, None, None),
            ("Burgh", "Anfield", 2_500 * MBPS, 1_500_000_000, None, None),
            ("Burgh", "Node 5", None, None, None, None),
        ],
        key=repr,
    )
    assert {link.length_km for link in square.links} == {300.0, 120.0}
    assert square.demands == {("Anfield", "Node 5"): 2.5}
    assert said(square, 'layer "IP", one of 2')
    assert said(square, 'they are in "Mbps"')


def test_net2plan_of_an_old_version() -> None:
    old = example("old.n2p")
    assert {(a, b) for a, b, *_ in directions(old)} == {("Anfield", "Burgh"), ("Burgh", "Anfield")}
    assert {link.length_km for link in old.links} == {149.5}
    assert old.demands == {("Anfield", "Burgh"): 0.5}
    assert said(old, "Capacities are in Erlangs")


def test_rocketfuel_by_the_name_of_the_file() -> None:
    a, b, c = "Cold Harbour, Isle1", "Anfield, Isle2", "London4083"
    latencies, weights = example("square.latencies.intra"), example("square.weights.intra")
    pairs = ((a, b), (b, a), (b, c))
    for topology, values in ((latencies, (7, 7, 0.5)), (weights, (2, 3, 2.5))):
        is_delay = topology is latencies
        expected = [
            (*pair, None, int(value * MS) if is_delay else None, None, None if is_delay else float(value))
            for pair, value in zip(pairs, values, strict=True)
        ]
        assert directions(topology) == sorted(expected, key=repr)


def test_rocketfuel_under_another_name_has_no_number(tmp_path: Path) -> None:
    (tmp_path / "net.intra").write_bytes((DATA / "square.weights.intra").read_bytes())
    topology = load("file:net.intra", base=tmp_path)
    assert {(delay, weight) for _, _, _, delay, _, weight in directions(topology)} == {(None, None)}
    assert said(topology, "The numbers are not read")


def test_a_rocketfuel_map() -> None:
    square = example("square.cch")
    assert names(square) == ["a1.anfield.example", "b1.burgh.example", "192.0.2.3", "198.51.100.7"]
    plain = (None, None, None, None)
    assert directions(square) == both_ways(
        ("a1.anfield.example", "b1.burgh.example", *plain),
        ("a1.anfield.example", "192.0.2.3", *plain),
        ("b1.burgh.example", "192.0.2.3", *plain),
        ("a1.anfield.example", "198.51.100.7", *plain),
    )
    assert said(square, "Links that only one of their two routers lists, kept as links both ways: 1.")


def test_hpcc() -> None:
    fabric = example("fabric.hpcc.txt")
    assert [node.kind for node in fabric.nodes] == ["host"] * 4 + ["switch"] * 2
    assert directions(fabric) == both_ways(
        ("0", "4", 100 * GBPS, 10**6, 0.0, None),
        ("1", "4", 100 * GBPS, 10**6, 0.0, None),
        ("2", "5", 25 * GBPS, 10**6, 0.0, None),
        ("3", "5", 25 * GBPS, 10**6, 0.5, None),
        ("4", "5", 400 * GBPS, 2 * 10**6, 0.0, None),
    )


def test_simai() -> None:
    servers = example("servers.simai.txt")
    assert [node.kind for node in servers.nodes] == ["host"] * 4 + ["switch"] * 3
    assert len(servers.links) == 6
    # 0.000025 ms are 25 ns.
    assert ("0", "4", 2880 * GBPS, 25_000, 0.0, None) in directions(servers)
    assert said(servers, "GPUs H100, 2 in each server")


def test_brite() -> None:
    square = example("square.brite")
    # 300 km at the speed of light, 299,792.458 km/s, take 1.0006922855944561 ms.
    ms = {300: 1_000_692_286, 400: 1_334_256_381, 500: 1_667_820_476}
    assert {link.length_km for link in square.links} == {300.0, 400.0, 500.0}
    assert directions(square) == sorted(
        [
            *both_ways(("0", "1", 10 * MBPS, ms[300], None, None)),
            ("1", "2", 2_500_000, ms[400], None, None),
            *both_ways(("0", "2", None, ms[500], None, None)),
        ],
        key=repr,
    )
    assert all(node.place is None for node in square.nodes)
    assert said(square, "BRITE gives bandwidths no unit")


def test_inet_and_orbis() -> None:
    inet, orbis = example("square.inet"), example("square.orbis")
    none = (None, None, None)
    assert directions(inet) == both_ways(("0", "1", *none, 4990.0), ("1", "2", *none, 3000.0))
    plain = (*none, None)
    pairs = (("1", "2"), ("2", "3"), ("3", "1"), ("3", "4"))
    assert directions(orbis) == both_ways(*((a, b, *plain) for a, b in pairs))
    both = parsed("1 2\n2 1\n2 3\n3 2\n", "Orbis")
    assert directions(both) == both_ways(("1", "2", *plain), ("2", "3", *plain))
    assert said(both, "a line is one direction")


def test_shadow() -> None:
    square = example("square.shadow.yaml")
    assert names(square) == ["0", "1"]
    assert [(link.a, link.b, link.loss) for link in square.links] == [("0", "1", 0.01)]
    with pytest.raises(TopologyError, match=r"the graph is not inline; .* file:net\.gml"):
        parsed("network:\n  graph: {type: gml, file: {path: net.gml}}\n", "Shadow")


def test_gexf() -> None:
    square = example("square.gexf")
    assert names(square) == ["Anfield", "Burgh", "c"]
    assert directions(square) == sorted(
        [
            *both_ways(("Anfield", "Burgh", 10 * MBPS, 1_250_000_000, None, 4.0)),
            ("Burgh", "c", MBPS, None, None, None),
        ],
        key=repr,
    )


def test_networkx_reads_the_same_gexf(tmp_path: Path) -> None:
    graph = networkx.les_miserables_graph()
    networkx.write_gexf(graph, tmp_path / "net.gexf")
    ours = load("file:net.gexf", base=tmp_path)
    assert len(ours.nodes) == 77
    assert {frozenset((link.a, link.b)): link.weight for link in ours.links} == {
        frozenset(pair): float(graph.edges[pair]["weight"]) for pair in graph.edges
    }


def test_fnss() -> None:
    square = example("square.fnss.xml")
    assert kinds(square) == {"1": "router", "2": "host"}
    assert directions(square) == [
        ("1", "2", 2_500 * MBPS, 678_000_000, None, 4.0),
        ("2", "1", 10 * GBPS, None, None, None),
    ]
    assert 120.5 in {link.length_km for link in square.links}


def test_annotated_topologies() -> None:
    ndnsim, zhang = example("square.ndnsim.txt"), example("square.zhang.txt")
    assert directions(ndnsim) == both_ways(
        ("r0", "r1", MBPS, 10 * MS, None, 1.0), ("r1", "r2", 2_500 * MBPS, 678_000_000, None, 20.0)
    )
    assert all(node.place is None for node in ndnsim.nodes)
    assert directions(zhang) == [
        ("A-M5", "Bng", 9_920 * MBPS, None, None, 1176.0),
        ("Bng", "A-M5", 2_480 * MBPS, None, None, 587.0),
    ]
    place = zhang.node("Bng").place
    assert place is not None
    assert (place.latitude, place.longitude) == (1.0, -3.0)


def test_a_leaf_spine_of_htsim_is_that_of_the_generator() -> None:
    ours = example("fabric.htsim.topo")
    same = load("leaf-spine", spines=2, leaves=4, hosts_per_leaf=8)
    assert (len(ours.nodes), len(ours.links)) == (len(same.nodes), len(same.links)) == (38, 40)
    pairs = networkx.Graph((link.a, link.b) for link in ours.links)
    assert networkx.is_isomorphic(pairs, networkx.Graph((link.a, link.b) for link in same.links))
    speeds = {(link.capacity_bps, link.delay_ps) for link in ours.links}
    assert speeds == {(100 * GBPS, 1_000_000), (200 * GBPS, 500_000)}


def test_fat_trees_of_htsim() -> None:
    tree = example("tree.htsim.topo")
    # 4 pods of 2 edge and 2 aggregation switches, each pair of them joined twice; 1 core for each of the 2
    # aggregation switches of a pod, joined twice to each pod: ports 4 up at edges, 2 up at aggregations.
    assert len(tree.nodes) == 16 + 4 * (2 + 2) + 2
    assert len(tree.links) == 16 + 4 * 2 * 2 * 2 + 4 * 2 * 2
    assert said(tree, "Not read: switch_latency_ns (add it to the delay of links).")
    text = (DATA / "tree.htsim.topo").read_text().replace("Bundle 2", "Bundle 1").replace("Down 8", "Down 4")
    plain = text.replace("Radix_Up 4", "Radix_Up 2").replace(
        "Radix_Down 4\nRadix_Up", "Radix_Down 2\nRadix_Up"
    )
    ours = networkx.Graph((link.a, link.b) for link in parsed(plain, "htsim").links)
    same = networkx.Graph((link.a, link.b) for link in load("fat-tree", k=4).links)
    assert networkx.is_isomorphic(ours, same)


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_told_with_its_place(case: str) -> None:
    format_name, text, where, what = BAD[case]
    with pytest.raises(TopologyError) as caught:
        parsed(text, format_name)
    assert where in caught.value.where
    assert what in str(caught.value)
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


def test_a_bomb_of_yaml_stays_small() -> None:
    """Nine levels of ten aliases each stand for 10^9 nodes, and merge keys for as many entries."""
    levels = ["a: &a0 {x: 1}"] + [f"b{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    bomb = "\n".join([*levels, "topology: {nodes: {n: {labels: *a9}}}"])
    assert names(parsed(bomb, "containerlab")) == ["n"]
    merging = ["m0: &m0 {x: 1}"]
    merging += [f"m{i}: &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 10)}]}}" for i in range(1, 10)]
    assert names(parsed("\n".join([*merging, "topology: {nodes: {n: *m9}}"]), "containerlab")) == ["n"]


def test_every_format_is_told_from_the_others() -> None:
    """Each example is of one format alone: another order of asking would give the same answer."""
    # SNDlib's document element is that of Net2Plan, and Shadow's files hold GML: these are asked first.
    held = {"Net2Plan": {"SNDlib XML"}, "Shadow": {"GML"}}
    files = [path for path in sorted(DATA.iterdir()) if path.is_file()]
    assert len(files) >= len(READERS)
    for path in files:
        text = path.read_text(encoding="utf-8").lstrip()
        asked = {reader.name for reader in READERS.values() if reader.recognises(text)}
        inner = set[str]().union(*(held.get(name, set()) for name in asked))
        assert asked - inner == {sniff(path.read_bytes(), path.name)}


def test_a_key_of_htsim_that_is_not_read_is_named() -> None:
    text = (DATA / "fabric.htsim.topo").read_text() + "Queue_size_bytes 9000\n"
    assert said(parsed(text, "htsim"), "Not read: queue_size_bytes.")


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("100Gbps", 100 * GBPS),
        ("1.5Mb/s", 1_500_000),
        ("5MB/s", 40 * MBPS),
        ("1KiBps", 8192),
        ("1Gib/s", 2**30),
        ("7bps", 7),
    ],
)
def test_rates_of_ns3(text: str, bps: int) -> None:
    """Units as ns-3's manual has them for DataRate: b is a bit, B a byte, i a binary prefix."""
    assert rate_bps(text, "a rate", "x") == bps


@pytest.mark.parametrize(
    ("text", "ms"),
    [("0.001ms", "0.001"), ("1000ns", "0.001"), ("1us", "0.001"), ("2s", "2000"), ("0.5", "500")],
)
def test_times_of_ns3(text: str, ms: str) -> None:
    assert time_ms(text, "a time", "x") == Decimal(ms)


@pytest.mark.parametrize("text", ["100", "Gbps", "1ibps", "1Pbps", "-1Gbps", "1e99Gbps", "1 Gbps x"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(TopologyError, match="give a rate with its unit"):
        rate_bps(text, "a rate", "x")


def test_a_merge_key_gives_what_a_mapping_lacks() -> None:
    text = (
        "x: &switch {kind: bridge, labels: {anabranch-name: Burgh}}\n"
        "topology:\n  nodes:\n    a: {<<: *switch}\n    b: {<<: [*switch], kind: linux, labels: {}}\n"
    )
    lab = parsed(text, "containerlab")
    assert kinds(lab) == {"Burgh": "switch", "b": "router"}


def test_the_page_says_as_what_the_files_are_read() -> None:
    """The table of docs/topologies.md, which `make formats` writes."""
    generate = Path(__file__).parents[2] / "docs" / "generate" / "topology_files.py"
    tables = runpy.run_path(str(generate), run_name="tables")
    text = (generate.parents[1] / "topologies.md").read_text(encoding="utf-8")
    assert len(tables["own_rows"]()) == len(list(DATA.iterdir()))
    assert tables["page"](text, []) == text, "docs/topologies.md is stale: make formats"
