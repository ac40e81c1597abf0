"""Topology Zoo and SNDlib by name: everything topohub carries loads, and what it lacks is said plainly."""

import json

import pytest
import topohub  # type: ignore[import-untyped]  # ships no types

from anabranch.topology import TopologyError, load, names
from anabranch.topology.sources.zoo import zoo_graphs

AVAILABLE = {name.spec for name in names() if name.available}


def test_how_many_there_are() -> None:
    zoo = names("zoo")
    # Counted in topohub 1.5 and in the Zoo's archive.
    assert sum(name.available for name in zoo) == 203
    assert len(zoo) == 276
    assert len(names("sndlib")) == 26
    assert len(names()) == 276 + 26 + len(names("generator"))


@pytest.mark.parametrize("spec", sorted(spec for spec in AVAILABLE if spec.startswith(("zoo/", "sndlib/"))))
def test_every_named_topology_loads(spec: str) -> None:
    topology = load(spec)
    source = topohub.get(spec.replace("zoo/", "topozoo/"))
    assert topology.name == spec
    assert len(topology.nodes) == len(source["nodes"])
    assert len(topology.links) == len(source["edges"])
    assert topology.provenance
    assert all(link.length_km is not None and link.length_km >= 0 for link in topology.links)
    assert {node.place.source for node in topology.nodes if node.place is not None} <= {"file"}
    json.loads(topology.to_json())


def test_abilene() -> None:
    abilene = load("zoo/abilene")
    assert abilene.name == "zoo/Abilene"
    assert len(abilene.nodes) == 11
    assert len(abilene.links) == 14
    assert abilene.is_connected()
    seattle = abilene.node("Seattle")
    assert seattle is abilene.node("3")  # topohub's id is an alias
    assert seattle.place is not None
    assert (seattle.place.latitude, seattle.place.longitude) == (47.61, -122.33)


def test_att_has_city_codes_and_lacks_one_parallel_link() -> None:
    att = load("zoo/AttMpls")
    assert {"ORLD", "SNFN", "NWOR", "DLLS"} <= {node.name for node in att.nodes}
    assert len(att.links) == 56
    assert any("57 links" in sentence and "parallel" in sentence for sentence in att.provenance)


def test_duplicate_names_are_numbered_and_found_by_id() -> None:
    arpanet = load("zoo/Arpanet19719")
    twins = [node for node in arpanet.nodes if node.name.startswith("BBN")]
    assert [node.name for node in twins] == ["BBN", "BBN (2)"]
    assert arpanet.node(twins[1].aliases[0]) is twins[1]
    assert any("BBN" not in sentence and '"Name (2)"' in sentence for sentence in arpanet.provenance)


def test_nobel_us_is_nsfnet() -> None:
    nobel = load("sndlib/nobel-us")
    # The 14 cities of NSFNET.
    assert {node.name for node in nobel.nodes} == {
        "Seattle",
        "Palo-Alto",
        "San-Diego",
        "Salt-Lake-City",
        "Boulder",
        "Houston",
        "Lincoln",
        "Urbana-Champaign",
        "Pittsburgh",
        "Atlanta",
        "Ann-Arbor",
        "Princeton",
        "Ithaca",
        "Washington",
    }
    assert len(nobel.links) == 21
    assert nobel.demands is not None
    assert len(nobel.demands) == 91
    assert nobel.demands["Palo-Alto", "San-Diego"] == 52.0
    assert any("degrees and minutes" in sentence for sentence in nobel.provenance)


def test_drawings_are_not_places() -> None:
    # Coordinates beyond 180 or 90 degrees, and india35, which would lie in the Gulf of Guinea and the Sahara.
    drawn = [
        "atlanta",
        "di-yuan",
        "france",
        "giul39",
        "india35",
        "newyork",
        "norway",
        "pioro40",
        "sun",
        "ta1",
        "ta2",
        "zib54",
    ]
    for name in names("sndlib"):
        topology = load(name.spec)
        planar = name.spec.removeprefix("sndlib/") in drawn
        assert all((node.place is None) == planar for node in topology.nodes), name.spec
        assert all((link.length_source == "default") == planar for link in topology.links), name.spec


def test_a_zoo_graph_that_topohub_lacks() -> None:
    with pytest.raises(TopologyError) as caught:
        load("zoo/Geant")
    assert str(caught.value) == (
        "zoo/Geant is in the Topology Zoo but topohub does not carry it; "
        "take its GraphML file: file:Geant.graphml"
    )
    lacking = [name for name in names("zoo") if not name.available]
    assert len(lacking) == 73
    for name in lacking:
        with pytest.raises(TopologyError, match="does not carry it"):
            load(name.spec)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("zoo/Abilen", 'no graph "Abilen" in the Topology Zoo; nearest: "Abilene"'),
        ("sndlib/nobel-uk", 'no network "nobel-uk" in SNDlib as topohub carries it; nearest: "nobel-us"'),
        ("abilene", 'no topology "abilene"; nearest: "zoo/Abilene"'),
        ("dumbel", 'no topology "dumbel"; nearest: "dumbbell"'),
        ("net.graphml", 'no topology "net.graphml"; for a file write: file:net.graphml'),
        ("zoo/", 'no graph "" in the Topology Zoo'),
    ],
)
def test_unknown_names(spec: str, message: str) -> None:
    with pytest.raises(TopologyError) as caught:
        load(spec)
    assert str(caught.value) == message


def test_a_name_takes_no_parameters() -> None:
    with pytest.raises(
        TopologyError, match='zoo/Abilene: has no parameter "k"; only generators take parameters'
    ):
        load("zoo/Abilene", k=4)


def test_names_of_an_unknown_source() -> None:
    with pytest.raises(TopologyError, match='nearest: "sndlib"'):
        names("sndlb")


def test_zoo_list_counts_the_archive(zoo_files: dict[str, bytes]) -> None:
    assert set(zoo_graphs()) == set(zoo_files)
    for name, data in zoo_files.items():
        counted = (zoo_graphs()[name].nodes, zoo_graphs()[name].links)
        assert counted == (data.count(b"<node "), data.count(b"<edge ")), name
