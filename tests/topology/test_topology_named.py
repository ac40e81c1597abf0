"""Topology Zoo and SNDlib by name: all of both loads, with the nodes and links of its source."""

import io
import json
import zipfile
from importlib import resources
from pathlib import Path
from typing import IO, Any

import networkx as nx
import pytest
import topohub  # type: ignore[import-untyped]  # ships no types

from anabranch.topology import TopologyError, load, names
from anabranch.topology.sources import zoo
from anabranch.topology.sources.zoo import zoo_graphs

HUB = sorted(name.spec for source in ("topohub", "sndlib") for name in names(source))
SELF_LOOPS = {"Interoute": 2}
"""Links from a node to itself, which no scenario can use."""


def test_how_many_there_are() -> None:
    # Counted in the Zoo's archive and in topohub 1.5.
    assert [len(names(source)) for source in ("zoo", "topohub", "sndlib")] == [276, 203, 26]
    assert len(names()) == 276 + 203 + 26 + len(names("generator"))


@pytest.mark.parametrize("name", sorted(zoo_graphs()))
def test_every_graph_of_the_zoo_loads_whole(name: str) -> None:
    topology = load(f"zoo/{name}")
    source = nx.read_graphml(io.BytesIO(zoo.graphml(name)), force_multigraph=True)
    assert topology.name == f"zoo/{name}"
    assert len(topology.nodes) == len(source) == zoo_graphs()[name].nodes
    assert len(topology.links) + SELF_LOOPS.get(name, 0) == source.size() == zoo_graphs()[name].links
    said = " ".join(topology.provenance)
    assert "CC BY 4.0" in said
    simple = nx.Graph((a, b) for a, b in source.edges() if a != b)
    parallel = len(topology.links) - simple.size()
    assert (f"{parallel} links are parallel" in said or "1 link is parallel" in said) == (parallel > 0)
    components = nx.number_connected_components(source)
    assert (f"{components} components" in said) == (components > 1)
    missing = sum("Latitude" not in node for _, node in source.nodes(data=True))
    filled = [node for node in topology.nodes if node.place is None or node.place.source == "filled"]
    assert len(filled) == missing
    assert (" without coordinates" in said or "No node has coordinates" in said) == (missing > 0)
    assert all(link.length_km is not None and link.length_km >= 0 for link in topology.links)


def test_the_largest_are_there_by_name() -> None:
    """Nodes and links as the publications count them that use these graphs."""
    sizes = {"Cogentco": (197, 245), "Kdl": (754, 899), "Colt": (153, 191), "UsCarrier": (158, 189),
             "GtsCe": (149, 193)}  # fmt: skip
    for name, size in sizes.items():
        topology = load(f"zoo/{name.upper()}")
        assert (topology.name, len(topology.nodes), len(topology.links)) == (f"zoo/{name}", *size)


def test_one_graph_is_read_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    whole = zipfile.ZipFile.open

    def counting(archive: zipfile.ZipFile, member: str, *rest: Any) -> IO[bytes]:
        opened.append(member)
        return whole(archive, member, *rest)

    monkeypatch.setattr(zipfile.ZipFile, "open", counting)
    load("zoo/Abilene")
    assert opened == ["Abilene.graphml"]


def test_a_damaged_archive_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "topology_zoo.zip").write_bytes(b"PK")
    monkeypatch.setattr(zoo, "_data", tmp_path.joinpath)
    with pytest.raises(TopologyError, match=r"^zoo/Abilene: the archive topology_zoo.zip is damaged \("):
        zoo.graphml("Abilene")


def test_the_zoo_has_its_licence_beside_it() -> None:
    folder = resources.files("anabranch.topology").joinpath("data")
    text = folder.joinpath("topology_zoo.LICENSE").read_text(encoding="utf-8")
    assert "Creative Commons Attribution 4.0 International Public License" in text
    assert "S. Knight, H. X. Nguyen, N. Falkner, R. Bowden, M. Roughan" in text
    assert len(folder.joinpath("topology_zoo.zip").read_bytes()) < 700_000


@pytest.mark.parametrize("spec", HUB)
def test_everything_in_topohub_loads(spec: str) -> None:
    topology = load(spec)
    source = topohub.get(spec.replace("topohub/", "topozoo/"))
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
    assert seattle is abilene.node("3")  # the file's id is an alias
    assert seattle.place is not None
    assert (seattle.place.latitude, seattle.place.longitude) == (47.60621, -122.33207)
    rounded = load("topohub/abilene").node("Seattle").place
    assert rounded is not None
    assert (rounded.latitude, rounded.longitude) == (47.61, -122.33)


def test_att_has_city_codes_and_two_parallel_links_that_topohub_merges() -> None:
    att = load("zoo/AttMpls")
    assert [{link.a, link.b} for link in att.links].count({"LA03", "PHNX"}) == 2
    assert any("1 link is parallel to another one and kept" in sentence for sentence in att.provenance)
    att = load("topohub/AttMpls")
    assert {"ORLD", "SNFN", "NWOR", "DLLS"} <= {node.name for node in att.nodes}
    assert len(att.links) == 56
    assert any("57 links" in sentence and "parallel" in sentence for sentence in att.provenance)


def test_duplicate_names_are_numbered_and_found_by_id() -> None:
    arpanet = load("topohub/Arpanet19719")
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
        load("topohub/geant")
    assert str(caught.value) == (
        'no graph "geant" of the Topology Zoo in topohub; the Zoo\'s own graph is zoo/Geant'
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("zoo/Cogento", 'no graph "Cogento" in the Topology Zoo; nearest: "Cogentco"'),
        ("cogentco", 'no topology "cogentco"; nearest: "zoo/Cogentco"'),
        ("topohub/Abilen", 'no graph "Abilen" of the Topology Zoo in topohub; nearest: "Abilene"'),
        ("zoo/Abilen", 'no graph "Abilen" in the Topology Zoo; nearest: "Abilene"'),
        ("sndlib/nobel-uk", 'no network "nobel-uk" in SNDlib as topohub carries it; nearest: "nobel-us"'),
        ("abilene", 'no topology "abilene"; nearest: "zoo/Abilene"'),
        ("dumbel", 'no topology "dumbel"; nearest: "dumbbell"'),
        ("net.graphml", 'no topology "net.graphml"; for a file write: file:net.graphml'),
        ("lab.clab.yml", 'no topology "lab.clab.yml"; for a file write: file:lab.clab.yml'),
        ("Net.N2P", 'no topology "Net.N2P"; for a file write: file:Net.N2P'),
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


def test_the_archive_has_the_published_files(zoo_files: dict[str, bytes]) -> None:
    assert set(zoo_graphs()) == set(zoo_files)
    for name, data in zoo_files.items():
        counted = (zoo_graphs()[name].nodes, zoo_graphs()[name].links)
        assert counted == (data.count(b"<node "), data.count(b"<edge ")), name
        assert zoo.graphml(name) == data, name
