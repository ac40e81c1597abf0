"""The topology as data: lookups, components, JSON, pickling; suggestions; the text for `topology show`."""

import json
import pickle

import pytest

from anabranch.text.suggest import suggest
from anabranch.topology import Topology, TopologyError, TopologyLink, TopologyNode, load
from anabranch.topology.describe import (
    LINK_HEADER,
    NODE_HEADER,
    describe,
    format_bps,
    link_rows,
    node_rows,
    summary_rows,
)


def small() -> Topology:
    nodes = (TopologyNode("a", aliases=("0", "b")), TopologyNode("b"), TopologyNode("c"), TopologyNode("d"))
    links = (
        TopologyLink("c", "b"),
        TopologyLink("c", "b", directed=True),
        TopologyLink("d", "c", capacity_bps=1500),
    )
    return Topology("small", nodes, links, ("Made for a test.",), {("a", "b"): 2.0})


def test_nodes_by_name_and_alias() -> None:
    topology = small()
    assert topology.node("0").name == "a"
    assert topology.node("b").name == "b"  # the name beats the alias of another node
    with pytest.raises(TopologyError) as caught:
        load("zoo/Abilene").node("Seatle")
    assert str(caught.value) == 'no node "Seatle" in zoo/Abilene; nearest: "Seattle"'


def test_components() -> None:
    assert small().components() == (("b", "c", "d"), ("a",))
    assert not small().is_connected()
    assert not Topology("none", (), ()).is_connected()


def test_a_topology_is_sound_or_not_built() -> None:
    a, b = TopologyNode("a"), TopologyNode("b")
    with pytest.raises(TopologyError, match='two nodes are named "a"'):
        Topology("t", (a, a), ())
    with pytest.raises(TopologyError, match='"c", which is no node'):
        Topology("t", (a, b), (TopologyLink("a", "c"),))
    with pytest.raises(TopologyError, match="to itself"):
        Topology("t", (a, b), (TopologyLink("a", "a"),))
    with pytest.raises(TopologyError, match="a demand names"):
        Topology("t", (a, b), (), (), {("a", "c"): 1.0})


def test_json_is_complete_and_stable() -> None:
    document = json.loads(small().to_json())
    assert document["links"][2]["capacity_bps"] == 1500
    assert document["links"][1]["directed"] is True
    assert document["demands"] == [["a", "b", 2.0]]
    assert document["connected"] is False
    assert load("sndlib/nobel-us").to_json() == load("sndlib/nobel-us").to_json()


def test_pickle_and_equality() -> None:
    topology = small()
    copy = pickle.loads(pickle.dumps(topology))
    assert copy == topology
    assert hash(copy) == hash(topology)
    assert copy.node("0") == topology.node("0")
    error = pickle.loads(pickle.dumps(TopologyError("here", "this is wrong", "do that")))
    assert (error.where, error.what, error.remedy) == ("here", "this is wrong", "do that")


def test_demands_cannot_be_changed() -> None:
    demands = {("a", "b"): 1.0}
    topology = Topology("t", (TopologyNode("a"), TopologyNode("b")), (), (), demands)
    demands["b", "a"] = 5.0
    assert topology.demands == {("a", "b"): 1.0}


def test_messages_are_one_line_without_control_characters() -> None:
    message = str(TopologyError("x\ny", "a\x1b[31mred\x00" + "z" * 10_000, "r"))
    assert message.isprintable()
    assert len(message) < 1000
    assert message.endswith("...; r")


def test_suggest() -> None:
    assert suggest("Seatle", ["Denver", "Seattle", "Atlanta"]) == "Seattle"
    assert suggest("SEATTLE ", ["Denver", "Seattle"]) == "Seattle"
    assert suggest("xyz", ["Denver", "Seattle"]) is None
    assert suggest("x", []) is None


def test_summary() -> None:
    rows = dict(summary_rows(small()))
    assert rows["nodes"] == "4"
    assert rows["links"] == "3 (1 parallel to another)"
    assert rows["connected"] == "no: 2 components, 3, 1 nodes"
    assert rows["capacities"] == "1 of 3 given"
    abilene = dict(summary_rows(load("zoo/Abilene")))
    assert abilene["places"] == "11 from the source, 0 filled, 0 none"
    assert abilene["connected"] == "yes"


def test_describe_shows_everything() -> None:
    topology = load("zoo/Abilene")
    text = describe(topology)
    for node in topology.nodes:
        assert node.name in text
    for sentence in topology.provenance:
        assert sentence in text
    assert all(len(row) == len(NODE_HEADER) for row in node_rows(topology))
    assert all(len(row) == len(LINK_HEADER) for row in link_rows(topology))
    assert len(link_rows(topology)) == 14
    assert link_rows(small())[1][-1] == "one way"
    assert "sndlib" in describe(load("sndlib/atlanta"))
    assert describe(load("line"))


@pytest.mark.parametrize(
    ("bps", "text"),
    [
        (2_500_000_000, "2.5 Gbps"),
        (155_000_000, "155 Mbps"),
        (1_000_000_001, "1.000000001 Gbps"),
        (999, "999 bps"),
        (64_000, "64 kbps"),
        (10**12, "1 Tbps"),
    ],
)
def test_format_bps(bps: int, text: str) -> None:
    assert format_bps(bps) == text
