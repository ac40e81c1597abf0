"""Attributes of links and nodes: what is read, in which unit, and that everything else is named."""

import tomllib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.topology import Topology, TopologyError
from anabranch.topology.attributes.choices import choices_from
from anabranch.topology.attributes.reading import interpret
from anabranch.topology.attributes.spelling import meaning_of
from anabranch.topology.directions import paired
from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.model import TopologyLink
from anabranch.topology.sources.files import parse_topology


def gml(edges: str, nodes: str = "node [ id 1 ] node [ id 2 ]", directed: int = 0) -> bytes:
    return f"graph [ directed {directed} {nodes}\n{edges} ]".encode()


def one_edge(attributes: str) -> str:
    return f"edge [ source 1 target 2 {attributes} ]"


def topology(data: bytes, **attributes: Any) -> Topology:
    return parse_topology(data, "GML", "net", choices_from(attributes))


def unread(graph: Topology) -> list[str]:
    return [sentence for sentence in graph.provenance if sentence.startswith("Not read:")]


def line_in(sentence: str) -> dict[str, Any]:
    """What a warning says to write, as TOML has it."""
    line = sentence.partition("to have it read, write ")[2].removesuffix(" (or another unit)")
    header, _, entry = line.partition("] ")
    table: dict[str, Any] = tomllib.loads(f"{header}]\n{entry}")["network"]["file"]["attributes"]
    return table


CAPACITIES = [
    ("bw_mbps 10", 10**7),
    ("bandwidth_gbps 2.5", 25 * 10**8),
    ("capacity_kbit 64", 64_000),
    ("bw_Mb_s 64", 64 * 10**6),
    ("LinkSpeedGbps 10", 10**10),
    ("maxBW_Mbit_per_s 3", 3 * 10**6),
    ('bw "10 Gbps"', 10**10),
    ('BANDWIDTH "100 Mbit/s"', 10**8),
    ('speed "10G"', 10**10),
    ('cap "1 GBit/s"', 10**9),
    ('link_rate "56 kb/s"', 56_000),
    ("LinkSpeedRaw 155000000", 155 * 10**6),
    ("capacity_bps 5", 5),
]
DELAYS_PS = [
    ("delay_us 5", 5 * 10**6),
    ("LinkDelayMs 1.5", 15 * 10**8),
    ('latency "5ms"', 5 * 10**9),
    ('prop_delay "0.25 s"', 25 * 10**10),
    ('propagation_delay "7 µs"', 7 * 10**6),
    ("RTTms 20", 10**10),
    ('rtt "20 ms"', 10**10),
    ("delayms 4", 4 * 10**9),
    ("roundTripTime_ms 20", 10**10),
    ('round_trip_delay "20 ms"', 10**10),
    ("latencyNs 7", 7_000),
]
LENGTHS_KM = [
    ("dist_km 312.5", 312.5),
    ("length_m 500", 0.5),
    ('distance "10 mi"', 16.09344),
    ("lengthKM 3", 3),
]
LOSSES = [
    ("plr 0.01", 0.01),
    ("loss_percent 2", 0.02),
    ("packet_loss 0.0", 0),
    ('loss "2 %"', 0.02),
    ('packet_loss "3 %"', 0.03),
    ("loss_probability 0.5", 0.5),
]
WEIGHTS = [("weight 3", 3), ("cost 4", 4), ("ospf_cost 5", 5), ("IGPMetric 6", 6), ("metric 7", 7)]


@pytest.mark.parametrize(
    ("attribute", "key", "value"),
    [
        *((text, "capacity_bps", value) for text, value in CAPACITIES),
        *((text, "delay_ps", value) for text, value in DELAYS_PS),
        *((text, "length_km", value) for text, value in LENGTHS_KM),
        *((text, "loss", value) for text, value in LOSSES),
        *((text, "weight", value) for text, value in WEIGHTS),
    ],
)
def test_a_quantity_is_read_where_its_unit_is_sure(attribute: str, key: str, value: float) -> None:
    graph = topology(gml(one_edge(attribute)))
    assert getattr(graph.links[0], key) == pytest.approx(value, rel=1e-12)
    assert unread(graph) == []
    assert not any(sentence.startswith("Not used:") for sentence in graph.provenance)


@pytest.mark.parametrize(
    ("attribute", "line"),
    [
        ("bw 10", {"capacity": {"name": "bw", "unit": "Mbps"}}),
        ("max_bw 10", {"capacity": {"name": "max_bw", "unit": "Mbps"}}),
        ("LinkDelay 5", {"delay": {"name": "LinkDelay", "unit": "ms"}}),
        ("dist 300", {"length": {"name": "dist", "unit": "km"}}),
        ("packet_loss 0.1", {"loss": {"name": "packet_loss", "unit": "%"}}),
        # One of several delays of a link, and bytes.
        ("min_delay_ms 5", {"delay": {"name": "min_delay_ms", "unit": "ms"}}),
        ("bw_GB 10", {"capacity": {"name": "bw_GB", "unit": "Mbps"}}),
        ("bw_mb_s 10", {"capacity": {"name": "bw_mb_s", "unit": "Mbps"}}),
        ("queue_length 5", None),
        ("delays 5", None),
    ],
)
def test_another_is_told_with_the_line_to_write(attribute: str, line: dict[str, Any] | None) -> None:
    data = gml(one_edge(attribute))
    graph = topology(data)
    if line is None:
        assert unread(graph) == []
        assert f"Not used: {attribute.split(maxsplit=1)[0]} (1 link)." in graph.provenance
        return
    (sentence,) = unread(graph)
    assert line_in(sentence) == line
    chosen = topology(data, **line)
    assert unread(chosen) == []
    assert any(
        getattr(chosen.links[0], key) is not None and getattr(graph.links[0], key) is None
        for key in ("capacity_bps", "delay_ps", "loss")
    ) or (graph.links[0].length_source, chosen.links[0].length_source) == ("default", "file")


def test_all_other_attributes_are_named_once_with_their_number() -> None:
    nodes = "node [ id 1 Country X graphics [ x 1 y 2 ] ] node [ id 2 Country Y ]".replace(
        "X", '"X"'
    ).replace("Y", '"Y"')
    graph = topology(gml(one_edge('colour "red"') + one_edge('colour "blue" note ""'), nodes))
    assert (
        "Not used: colour (2 links), note (1 link), Country (2 nodes), graphics.x (1 node), "
        "graphics.y (1 node)."
    ) in graph.provenance


def test_two_attributes_of_one_quantity() -> None:
    """Own names come first; one that says the same is settled, another is named."""
    graph = topology(gml(one_edge("bw_mbps 10 capacity_bps 20000000 speed_kbps 20000")))
    assert graph.links[0].capacity_bps == 20_000_000
    assert "Not used: bw_mbps (1 link)." in graph.provenance


def test_the_directions_of_a_link_keep_their_own() -> None:
    data = gml(one_edge("LinkFwdCap 1000 LinkBkwdCap 500"))
    (sentence,) = unread(topology(data))
    assert line_in(sentence) == {
        "capacity": {"name": "LinkFwdCap", "backward": "LinkBkwdCap", "unit": "Mbps"}
    }
    links = topology(data, **line_in(sentence)).links
    assert [(link.a, link.b, link.directed, link.capacity_bps) for link in links] == [
        ("1", "2", True, 10**9),
        ("2", "1", True, 5 * 10**8),
    ]
    alike = topology(gml(one_edge('cap_fwd "1 Gbps" cap_bwd "1 Gbps"'))).links
    assert [(link.directed, link.capacity_bps) for link in alike] == [(False, 10**9)]


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ('delay_ms "5 km"', 'line 2: delay_ms is "5 km", and km is no unit of a delay'),
        ('LinkDelayMs "5 us"', 'line 2: LinkDelayMs is "5 us", and its name, or the scenario, says ms'),
        ('bw "5 ms"', 'line 2: bw is "5 ms", and ms is no unit of a capacity'),
        ("capacity_bps 0", 'line 2: capacity_bps is "0"; give a number of bps from 1 to 1000000000000000'),
        ("delay_ms -1", 'line 2: delay_ms is "-1"; give a number of ms from 0 to 1000000'),
        ("loss 1.5", 'line 2: loss is "1.5"; give a number from 0 to 1'),
    ],
)
def test_contradictions_and_impossible_values_have_a_place(attribute: str, message: str) -> None:
    with pytest.raises(TopologyError) as caught:
        topology(gml(one_edge(attribute)))
    assert message in str(caught.value)


def test_a_value_that_is_no_number_is_told() -> None:
    graph = topology(gml(one_edge('latency_ms "n/a"') + one_edge("latency_ms 3")))
    assert [link.delay_ps for link in graph.links] == [None, 3 * 10**9]
    assert 'latency_ms of 1 link, such as "n/a", is no delay and counts as not given.' in graph.provenance


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (
            {"capacity": {"name": "bww", "unit": "Mbps"}},
            'no link of the file has an attribute "bww"; nearest: "bw"',
        ),
        ({"latitude": {"name": "bw"}}, 'latitude: no node of the file has an attribute "bw"'),
        ({"capacitty": {"name": "bw"}}, 'no such key "capacitty"; nearest: "capacity"'),
        ({"capacity": {"name": "bw"}}, "capacity.unit: is missing; write"),
        ({"capacity": {"name": "bw", "unit": "MBps"}}, '"MBps" is no unit of a capacity'),
        ({"delay": {"name": "bw", "unit": "km"}}, '"km" is no unit of a delay'),
        ({"weight": {"name": "bw", "unit": "km"}}, "a weight has no unit here"),
        ({"label": {"name": "bw", "backward": "x"}}, "a label has no direction"),
        ({"capacity": {"unit": "Mbps"}}, "capacity.name: is missing"),
        ({"capacity": "bw"}, "is no table; write [network.file.attributes] capacity"),
        ({"capacity": {"name": 3, "unit": "Mbps"}}, "is no text"),
        ({"capacity": {"nam": "bw"}}, 'no such key "nam"; nearest: "name"'),
    ],
)
def test_mistakes_in_a_choice(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(TopologyError) as caught:
        topology(gml(one_edge("bw 10")), **attributes)
    assert str(caught.value).startswith("network.file.attributes")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [
        ("lat", "lng"),
        ("LATITUDE", "Long"),
        ("geo_lat", "geo_lon"),
        ("nodeLat", "nodeLon"),
        ("lat_deg", "lon_deg"),
    ],
)
def test_spellings_of_places(latitude: str, longitude: str) -> None:
    nodes = (
        f'node [ id 1 node_name "A" {latitude} 50 {longitude} 8 ] node [ id 2 {latitude} 51 {longitude} 9 ]'
    )
    graph = topology(gml(one_edge(""), nodes))
    assert placed(graph) == ["A", "2"]
    assert not any(sentence.startswith("Not used:") for sentence in graph.provenance)
    other = topology(gml(one_edge(""), "node [ id 1 lat_error 50 long_name 8 ] node [ id 2 ]"))
    assert "Not used: lat_error (1 node), long_name (1 node)." in other.provenance


def test_kinds_of_nodes() -> None:
    graph = topology(gml(one_edge(""), 'node [ id 1 kind "host" ] node [ id 2 kind "PoP" ]'))
    assert [node.kind for node in graph.nodes] == ["host", "router"]
    assert "Not used: kind (1 node)." in graph.provenance


def test_choices_of_nodes() -> None:
    nodes = 'node [ id 1 city "Aachen" pos 6.08 pos 50.78 ] node [ id 2 city "Bremen" pos 8.8 pos 53.08 ]'
    data = gml(one_edge(""), nodes)
    (sentence,) = unread(topology(data))
    assert sentence == (
        "Not read: pos[0] and pos[1] of 2 nodes may be places or points of a drawing; "
        "if they are degrees, write "
        '[network.file.attributes] longitude = { name = "pos[0]" } and latitude = { name = "pos[1]" }'
    )
    graph = topology(data, name={"name": "city"}, longitude={"name": "pos[0]"}, latitude={"name": "pos[1]"})
    assert [(n.name, n.place and (n.place.latitude, n.place.longitude)) for n in graph.nodes] == [
        ("Aachen", (50.78, 6.08)),
        ("Bremen", (53.08, 8.8)),
    ]
    assert unread(graph) == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.sampled_from(["", "_bw", " delay"]))
def test_names_of_any_character(start: str, end: str) -> None:
    """Whatever a name is, it is read, or named; the line of a warning has it as TOML reads it."""
    name = start + end
    attributes = {name: "10"}
    draft = Draft([DraftNode("1"), DraftNode("2")], [DraftLink("1", "2", attributes)])
    read = interpret(draft, {}, "x")
    meaning = meaning_of(name)
    for sentence in read.notes:
        if sentence.startswith("Not read:") and meaning is not None:
            (entry,) = line_in(sentence).values()
            assert entry["name"] == name
    assert read.notes or name.strip().lower() in ("weight", "label", "name", "linklabel")


@given(st.decimals(min_value="0.001", max_value="1000", places=3))
def test_capacities_are_exact(number: Decimal) -> None:
    for unit, factor in (("kbps", 10**3), ("Mbps", 10**6), ("Gbps", 10**9)):
        graph = topology(gml(one_edge(f'bw "{number} {unit}"')))
        assert graph.links[0].capacity_bps == int(number * factor)


ZERO = "node [ id 1 Latitude 0 Longitude 0 ] node [ id 2 Latitude 0.0 Longitude -0.0 ]"
FAR_NODES = "node [ id 1 lat 50.1 lon 8.7 ] node [ id 2 lat 50.1 lon 8.7 ] node [ id 3 lat 48.1 lon 11.6 ]"


def placed(graph: Topology) -> list[str]:
    return [node.name for node in graph.nodes if node.place is not None and node.place.source == "file"]


def test_places_at_zero_that_stand_for_none() -> None:
    graph = topology(gml(one_edge(""), ZERO))
    assert unread(graph) == [
        "Not read: the coordinates 0/0 of 2 nodes, which stand for coordinates that nobody knew."
    ]
    assert (graph.links[0].length_km, graph.links[0].length_source) == (100.0, "default")
    # One node at 0/0 is no better, 5000 km from all others; the Gulf of Guinea may have one near others.
    alone = topology(gml(one_edge(""), "node [ id 1 lat 0 lon 0 ] node [ id 2 lat 48.1 lon 11.6 ]"))
    assert placed(alone) == ["2"]
    several = topology(gml(one_edge(""), f"{ZERO} node [ id 3 lat 0 lon 3 ]"))
    assert placed(several) == ["3"]
    near = topology(gml(one_edge(""), "node [ id 1 lat 0 lon 0 ] node [ id 2 lat 0 lon 3 ]"))
    assert placed(near) == ["1", "2"]
    assert unread(near) == []


def test_places_that_all_nodes_have() -> None:
    nodes = " ".join(f"node [ id {number} lat 50 lon 8 ]" for number in (1, 2, 3))
    graph = topology(gml(one_edge(""), nodes))
    assert unread(graph) == [
        "Not read: the coordinates 50/8, which all 3 nodes have: links between them would have no delay."
    ]
    assert graph.links[0].length_source == "default"
    site = topology(gml(one_edge("delay_us 3"), nodes))
    assert unread(site) == []
    assert placed(site) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("stated", "length"),
    [
        ("length_km 300", 300),
        ("delay_ms 1.5", 300),
        ("length_km 30", None),
        ("delay_ms 0.4", None),
        ("", None),
    ],
)
def test_places_that_far_nodes_share(stated: str, length: int | None) -> None:
    graph = topology(gml(one_edge(stated) + "edge [ source 2 target 3 ]", FAR_NODES))
    if length is None:
        assert placed(graph) == ["1", "2", "3"]
        assert unread(graph) == []
        return
    assert placed(graph) == ["3"]
    assert unread(graph) == [
        "Not read: the coordinates 50.1/8.7 that 2 nodes share, though a link between two of them is "
        f"{length} km long."
    ]


def test_positions_are_places_where_the_lengths_are_great_circles_between_them() -> None:
    nodes = 'node [ id 1 name "A" pos 6.08 pos 50.78 ] node [ id 2 name "B" pos 8.8 pos 53.08 ]'
    true = topology(gml(one_edge("dist 316.8"), nodes))
    assert placed(true) == ["A", "B"]
    assert (true.links[0].length_km, true.links[0].length_source) == (316.8, "file")
    drawing = topology(gml(one_edge("dist 12"), nodes))
    assert placed(drawing) == []
    assert [sentence.split()[2] for sentence in unread(drawing)] == ["dist", "pos[0]"]


def test_two_one_way_entries_are_one_link() -> None:
    back = "edge [ source 2 target 1 {} ]"
    (link,) = topology(gml(one_edge("bw_mbps 10") + back.format("bw_mbps 10"), directed=1)).links
    assert (link.a, link.b, link.directed, link.capacity_bps) == ("1", "2", False, 10**7)
    unlike = topology(gml(one_edge("bw_mbps 10") + back.format("bw_mbps 5"), directed=1))
    assert [(link.a, link.directed, link.capacity_bps) for link in unlike.links] == [
        ("1", True, 10**7),
        ("2", True, 5 * 10**6),
    ]
    assert not any("parallel" in sentence for sentence in unlike.provenance)
    assert (
        "1 pair of one-way links are the two directions of one link each, with values of their own."
    ) in unlike.provenance
    undirected = topology(gml(one_edge("") + back.format("")))
    assert len(undirected.links) == 2
    assert any(sentence.startswith("1 link is parallel") for sentence in undirected.provenance)


def test_one_way_entries_are_paired_with_those_that_are_alike() -> None:
    """Two cables, of 10 and of 5 Mbps, each listed from both ends, and a third in one direction only."""
    entries = [(1, 2, 10), (1, 2, 5), (2, 1, 5), (2, 1, 10), (1, 2, 7)]
    edges = "".join(f"edge [ source {a} target {b} bw_mbps {bw} ]" for a, b, bw in entries)
    graph = topology(gml(edges, directed=1))
    assert [(link.directed, link.capacity_bps) for link in graph.links] == [
        (False, 10**7),
        (False, 5 * 10**6),
        (True, 7 * 10**6),
    ]
    assert any(sentence.startswith("2 links are parallel") for sentence in graph.provenance)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(1, 3)), max_size=12))
def test_pairing_keeps_the_capacity_of_every_direction(entries: list[tuple[str, str, int]]) -> None:
    """What leads from a node to another is the same before and after, whatever is paired."""
    links = [TopologyLink(a, b, capacity_bps=bps, directed=True) for a, b, bps in entries if a != b]
    merged = paired(links, [])
    after = [(link.a, link.b, link.capacity_bps) for link in merged]
    after += [(link.b, link.a, link.capacity_bps) for link in merged if not link.directed]
    assert sorted(after) == sorted((link.a, link.b, link.capacity_bps) for link in links)
