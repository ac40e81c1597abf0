"""Nothing of a file is dropped unseen: each attribute of its links and nodes is read, or named.

The raw files are walked here by other parsers than the readers': ElementTree, and networkx for GML.
"""

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest

from anabranch.topology import Topology
from anabranch.topology.sources import zoo
from anabranch.topology.sources.files import parse_topology, sniff

from .conftest import REPOSITORY

DATA = Path(__file__).parent / "data"
SHARED = REPOSITORY.parent / "shared/cases"
NAMESPACE = re.compile(r"\{.*\}")
READ = {
    "node": {"label", "name", "latitude", "longitude"},
    "edge": {
        *("linklabel", "label", "linkspeed", "linkspeedraw", "linkspeedunits"),
        *("capacity_bps", "delay_ms", "length_km", "loss", "weight"),
    },
}
"""What is read of every node or link that has it, by what the manual says, and so need not be named."""


def graphml_attributes(data: bytes) -> dict[str, Counter[str]]:
    """How many nodes and edges have each attribute."""
    root = ElementTree.fromstring(data)  # noqa: S314 - files of our own choice
    tag = {element: NAMESPACE.sub("", element.tag) for element in root.iter()}
    keys = {
        element.attrib["id"]: element.attrib.get("attr.name") or element.attrib.get("yfiles.type") or ""
        for element in root.iter()
        if tag[element] == "key"
    }
    counts: dict[str, Counter[str]] = {"node": Counter(), "edge": Counter()}
    for element in root.iter():
        if tag[element] in counts:
            names = {keys[child.attrib["key"]] for child in element if tag[child] == "data"}
            names |= element.attrib.keys() - {"id", "source", "target", "directed"}
            counts[tag[element]].update(names)
    return counts


def sndlib_xml_attributes(data: bytes) -> dict[str, Counter[str]]:
    """How many nodes and links have each element that has a text of its own."""
    root = ElementTree.fromstring(data)  # noqa: S314 - files of our own choice
    counts: dict[str, Counter[str]] = {"node": Counter(), "edge": Counter()}
    for kind, tag in (("node", "node"), ("edge", "link")):
        for element in root.iter():
            if NAMESPACE.sub("", element.tag) == tag:
                names = {NAMESPACE.sub("", part.tag) for part in element.iter() if (part.text or "").strip()}
                counts[kind].update(names - {"source", "target", "x", "y"})
    return counts


def gml_attributes(data: bytes) -> dict[str, Counter[str]]:
    # networkx wants to be told of parallel edges, and no number such as 3e0.
    text = re.sub(r"(?<=\d)e(?=\d)", ".0e", data.decode("utf-8", "replace"))
    graph = nx.parse_gml(text.replace("graph [", "graph [ multigraph 1", 1), label="id")
    counts: dict[str, Counter[str]] = {"node": Counter(), "edge": Counter()}
    for _, attributes in graph.nodes(data=True):
        counts["node"].update(attributes)
    for *_, attributes in graph.edges(data=True):
        counts["edge"].update(attributes)
    return counts


WALKERS = {"GraphML": graphml_attributes, "GML": gml_attributes, "SNDlib XML": sndlib_xml_attributes}


def unseen(counts: dict[str, Counter[str]], topology: Topology) -> list[str]:
    """The attributes that are neither read by their name nor named in the provenance."""
    said = "\n".join(topology.provenance)
    return [
        name
        for kind in counts
        for name in counts[kind]
        if name.lower() not in READ[kind] and not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said)
    ]


def test_nothing_of_the_zoo_is_unseen() -> None:
    named = Counter[tuple[str, str]]()
    for name in zoo.zoo_graphs():
        data = zoo.graphml(name)
        counts = graphml_attributes(data)
        topology = parse_topology(data, "GraphML", name)
        assert unseen(counts, topology) == [], name
        (unused,) = (sentence for sentence in topology.provenance if sentence.startswith("Not used:"))
        for entry in unused.removeprefix("Not used: ").removesuffix(".").split(", "):
            attribute, number, what = re.fullmatch(r"(\S+) \((\d+) (node|link)s?\)", entry).groups()  # type: ignore[union-attr]
            kind = "node" if what == "node" else "edge"
            assert int(number) <= counts[kind][attribute], (name, entry)
            if attribute.lower() not in READ[kind]:
                assert int(number) == counts[kind][attribute], (name, entry)
            named[what, attribute] += 1
    assert named["node", "id"] == 276
    rare = ("LinkType", "LinkNote", "LinkStatus", "key", "Country", "geocode_append", "doubted")
    assert set(rare) <= {attribute for _, attribute in named}


@pytest.mark.parametrize("name", [path.name for path in sorted(DATA.iterdir()) if path.suffix != ".txt"])
def test_nothing_of_own_files_is_unseen(name: str) -> None:
    data = (DATA / name).read_bytes()
    format_name = sniff(data, name)
    if format_name not in WALKERS:
        pytest.skip(f"not here: another parser for {format_name}")
    assert unseen(WALKERS[format_name](data), parse_topology(data, format_name, name)) == []


@pytest.mark.parametrize("folder", ["topologies", "public/topologies"])
def test_nothing_of_files_of_others_is_unseen(folder: str) -> None:
    if not (SHARED / folder).is_dir():
        pytest.skip(f"not here: files of other people in {SHARED / folder}")
    seen = 0
    for path in sorted((SHARED / folder).iterdir()):
        if path.suffix not in (".graphml", ".gml", ".xml"):
            continue
        data = path.read_bytes()
        format_name = sniff(data, path.name)
        assert unseen(WALKERS[format_name](data), parse_topology(data, format_name, path.name)) == [], path
        seen += 1
    assert seen >= 4
