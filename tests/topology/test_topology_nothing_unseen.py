"""Nothing of a file is dropped unseen: each attribute of its links and nodes is read, or named.

The raw files are walked here by other parsers than the readers': ElementTree, PyYAML, json and csv, and
networkx for GML.
"""

import csv
import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest
import yaml

from anabranch.topology import Topology, TopologyError
from anabranch.topology.sources import zoo
from anabranch.topology.sources.files import parse_topology, sniff

from .conftest import REPOSITORY

DATA = Path(__file__).parent / "data"
SHARED = REPOSITORY.parent / "shared/cases"
NAMESPACE = re.compile(r"\{.*\}")
READ = {
    "node": {"label", "name", "kind", "type", "latitude", "longitude"},
    "edge": {
        *("linklabel", "label", "linkspeed", "linkspeedraw", "linkspeedunits"),
        *("capacity_bps", "delay_ms", "delay_s", "length_km", "loss", "weight"),
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


def json_attributes(data: bytes) -> dict[str, Counter[str]]:
    """How many nodes and links of node-link JSON have each key."""
    document = json.loads(data)
    counts: dict[str, Counter[str]] = {"node": Counter(), "edge": Counter()}
    for node in document["nodes"]:
        counts["node"].update(node.keys() - {"id"})
    for link in document.get("links") or document["edges"]:
        counts["edge"].update(link.keys() - {"source", "target", "key"})
    return counts


def gexf_attributes(data: bytes) -> dict[str, Counter[str]]:
    """How many nodes and edges have each attribute by its title, and each XML attribute."""
    root = ElementTree.fromstring(data)  # noqa: S314 - files of our own choice
    tag = {element: NAMESPACE.sub("", element.tag) for element in root.iter()}
    titles = {
        (group.attrib["class"], element.attrib["id"]): element.attrib["title"]
        for group in root.iter()
        if tag[group] == "attributes"
        for element in group
    }
    counts: dict[str, Counter[str]] = {"node": Counter(), "edge": Counter()}
    for element in root.iter():
        if (kind := tag[element]) in counts:
            values = (part for part in element.iter() if tag[part] == "attvalue")
            counts[kind].update({titles[kind, value.attrib["for"]] for value in values})
            counts[kind].update(element.attrib.keys() - {"id", "source", "target", "type"})
    return counts


def csv_attributes(data: bytes) -> dict[str, Counter[str]]:
    """How many links of a CSV of edges have a value in each column."""
    lines = (line for line in data.decode().splitlines() if not line.startswith("#"))
    rows = [{name: value for name, value in row.items() if value} for row in csv.DictReader(lines)]
    columns = Counter(name for row in rows for name in row if name not in ("from", "to", "directed"))
    return {"edge": columns}


def net2plan_attributes(data: bytes) -> dict[str, Counter[str]]:
    """How many nodes and links have each XML attribute, and each <attribute> by its key."""
    root = ElementTree.fromstring(data)  # noqa: S314 - files of our own choice
    structure = {"id", "name", "xCoord", "yCoord", "originNodeId", "destinationNodeId"}
    # Lengths with speeds are delays.
    read = structure | {"lengthInKm", "linkLengthInKm", "propagationSpeedInKmPerSecond", "capacity"}
    counts: dict[str, Counter[str]] = {"node": Counter(), "edge": Counter()}
    layers = [layer for layer in root.iter("layer") if layer.get("isDefaultLayer") == "true"] or [root]
    for kind, elements in (("node", root.iter("node")), ("edge", layers[0].iter("link"))):
        for element in elements:
            keys = {part.attrib["key"] for part in element.iter("attribute")}
            counts[kind].update((element.attrib.keys() | keys) - read)
    return counts


def fnss_attributes(data: bytes) -> dict[str, Counter[str]]:
    """How many nodes and links have each property."""
    root = ElementTree.fromstring(data)  # noqa: S314 - files of our own choice
    counts: dict[str, Counter[str]] = {"node": Counter(), "edge": Counter()}
    for kind, tag in (("node", "node"), ("edge", "link")):
        for element in root.iter(tag):
            names = {part.attrib["name"] for part in element.iter("property")}
            counts[kind].update(names - {"type", "capacity", "delay", "weight", "length"})
    return counts


def containerlab_attributes(data: bytes) -> dict[str, Counter[str]]:
    """How many nodes and links between nodes have each key."""
    lab = yaml.safe_load(data)["topology"]
    ours = {"labels": "anabranch-kind", "vars": "anabranch"}
    structure = {"kind", "type", "endpoints"}

    def others(entry: dict[str, object]) -> set[str]:
        own_fields = {
            key for key, value in entry.items() if isinstance(value, dict) and ours.get(key) in value
        }
        return entry.keys() - structure - own_fields

    counts: dict[str, Counter[str]] = {"node": Counter(), "edge": Counter()}
    for node in lab["nodes"].values():
        counts["node"].update(others(node or {}))
    for link in lab["links"]:
        if "endpoints" in link and not any(str(end).startswith("host:") for end in link["endpoints"]):
            counts["edge"].update(others(link))
    return counts


WALKERS = {
    "Net2Plan": net2plan_attributes,
    "FNSS": fnss_attributes,
    "containerlab": containerlab_attributes,
    "GraphML": graphml_attributes,
    "GML": gml_attributes,
    "SNDlib XML": sndlib_xml_attributes,
    "JSON node-link": json_attributes,
    "GEXF": gexf_attributes,
    "CSV of edges": csv_attributes,
}
"""Other parsers by the format that they are for; formats without attributes by name have none."""


def walked(folder: Path) -> list[str]:
    """The files of a folder of which there is another parser."""
    # Shadow's YAML has GML inside.
    files = (path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix != ".yaml")
    heads = [(path.name, path.read_bytes()) for path in files] if folder.is_dir() else []
    return [name for name, data in heads if recognised(data, name) in WALKERS]


def recognised(data: bytes, name: str) -> str | None:
    try:
        return sniff(data, name)
    except TopologyError:
        return None


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
    # Read only where it is the kind of a node: "Router", not "PoP".
    assert named["node", "type"] > 50
    rare = ("LinkType", "LinkNote", "LinkStatus", "key", "Country", "geocode_append", "doubted")
    assert set(rare) <= {attribute for _, attribute in named}


@pytest.mark.parametrize("name", walked(DATA))
def test_nothing_of_own_files_is_unseen(name: str) -> None:
    data = (DATA / name).read_bytes()
    format_name = sniff(data, name)
    assert unseen(WALKERS[format_name](data), parse_topology(data, format_name, name)) == []


@pytest.mark.parametrize("folder", ["topologies", "public/topologies"])
def test_nothing_of_files_of_others_is_unseen(folder: str) -> None:
    if not (SHARED / folder).is_dir():
        pytest.skip(f"not here: files of other people in {SHARED / folder}")
    names = walked(SHARED / folder)
    assert len(names) >= 4
    for name in names:
        data = (SHARED / folder / name).read_bytes()
        format_name = sniff(data, name)
        assert unseen(WALKERS[format_name](data), parse_topology(data, format_name, name)) == [], name
