"""All 276 GraphML files of the Topology Zoo, held against networkx's reader and against known counts."""

import io
from collections import Counter
from typing import Any

import networkx as nx
import pytest

from anabranch.topology import Topology
from anabranch.topology.attributes.reading import Interpreted, interpret
from anabranch.topology.draft import Draft
from anabranch.topology.readers.gml import read_gml
from anabranch.topology.readers.graphml import read_graphml
from anabranch.topology.sources.files import parse_topology, sniff


@pytest.fixture(scope="module")
def topologies(zoo_files: dict[str, bytes]) -> dict[str, Topology]:
    return {name: parse_topology(data, sniff(data[:65536], name), name) for name, data in zoo_files.items()}


@pytest.fixture(scope="module")
def by_networkx(zoo_files: dict[str, bytes]) -> dict[str, Any]:
    return {
        name: nx.read_graphml(io.BytesIO(data), force_multigraph=True) for name, data in zoo_files.items()
    }


def has_parallel_links(topology: Topology) -> bool:
    return max(Counter(frozenset((link.a, link.b)) for link in topology.links).values()) > 1


def as_read(draft: Draft) -> Interpreted:
    return interpret(draft, {}, "zoo")


def test_known_counts(topologies: dict[str, Topology]) -> None:
    """The counts that the data's own README states."""
    assert len(topologies) == 276
    assert sum(has_parallel_links(t) for t in topologies.values()) == 96
    connected = [t for t in topologies.values() if t.is_connected()]
    assert len(connected) == 253
    fully_placed = [
        t for t in connected if all(n.place is not None and n.place.source == "file" for n in t.nodes)
    ]
    assert len(fully_placed) == 75


def test_same_graph_as_networkx(zoo_files: dict[str, bytes], by_networkx: dict[str, Any]) -> None:
    for name, data in zoo_files.items():
        draft, reference = as_read(read_graphml(data, name)), by_networkx[name]
        assert [node.id for node in draft.nodes] == list(reference.nodes), name
        for node in draft.nodes:
            attributes = reference.nodes[node.id]
            assert (node.label or "") == (attributes.get("label") or "").strip(), (name, node)
            places = (attributes.get("Latitude"), attributes.get("Longitude"))
            assert node.coordinates == (None if None in places else places), (name, node)
        links = Counter(frozenset((link.a, link.b)) for link in draft.links)
        assert links == Counter(frozenset((a, b)) for a, b in reference.edges()), name


def test_link_speeds_as_networkx_reads_them(
    topologies: dict[str, Topology], zoo_files: dict[str, bytes], by_networkx: dict[str, Any]
) -> None:
    with_raw = with_capacity = 0
    for name, reference in by_networkx.items():
        raw = Counter(d["LinkSpeedRaw"] for *_, d in reference.edges(data=True) if "LinkSpeedRaw" in d)
        ours = Counter(link.capacity_bps for link in as_read(read_graphml(zoo_files[name], name)).links)
        assert all(ours[int(speed)] >= count for speed, count in raw.items()), name
        named = sum("LinkSpeed" in d or "LinkSpeedRaw" in d for *_, d in reference.edges(data=True))
        assert sum(count for speed, count in ours.items() if speed is not None) == named, name
        with_raw += bool(raw)
        with_capacity += any(link.capacity_bps is not None for link in topologies[name].links)
    assert with_raw == 115
    assert with_capacity == 116  # one file gives LinkSpeed and LinkSpeedUnits without LinkSpeedRaw


def test_gaps_are_filled_and_flagged(topologies: dict[str, Topology], zoo_files: dict[str, bytes]) -> None:
    filled = 0
    for name, topology in topologies.items():
        draft = as_read(read_graphml(zoo_files[name], name))
        missing = sum(node.coordinates is None for node in draft.nodes)
        sources = Counter(None if n.place is None else n.place.source for n in topology.nodes)
        assert sources["filled"] + sources[None] == missing, name
        assert (missing > 0) == any("coordinates" in sentence for sentence in topology.provenance), name
        # In a component with at least one place every node gets one; in others none does.
        placed = {node.name for node in topology.nodes if node.place is not None}
        for component in topology.components():
            assert len(placed & set(component)) in (0, len(component)), name
        filled += sources["filled"]
        assert all(link.length_km is not None and link.length_km >= 0 for link in topology.links), name
    assert filled > 1000


def test_self_loops_are_dropped_and_noted(topologies: dict[str, Topology]) -> None:
    noted = [n for n, t in topologies.items() if any("to itself" in sentence for sentence in t.provenance)]
    assert noted == ["Interoute"]
    assert len(topologies["Interoute"].links) == 158 - 2


def test_names_are_unique_and_printable(topologies: dict[str, Topology]) -> None:
    for topology in topologies.values():
        names = [node.name for node in topology.nodes]
        assert len(set(names)) == len(names), topology.name
        assert all(name and name.isprintable() and name == " ".join(name.split()) for name in names), (
            topology.name
        )


def test_gml_as_networkx_writes_it(by_networkx: dict[str, Any]) -> None:
    """Each graph through networkx's GML writer, less its `multigraph` line, and back through our reader."""
    for name, graph in by_networkx.items():
        text = "\n".join(line for line in nx.generate_gml(graph) if line.strip() != "multigraph 1")
        draft = as_read(read_gml(text.encode("ascii"), name))
        labels = {node.id: node.label for node in draft.nodes}
        assert list(labels.values()) == list(graph.nodes), name
        for node in draft.nodes:
            attributes = graph.nodes[node.label]
            places = (attributes.get("Latitude"), attributes.get("Longitude"))
            assert node.coordinates == (None if None in places else places), name
        ours = Counter(frozenset((labels[link.a], labels[link.b])) for link in draft.links)
        assert ours == Counter(frozenset((a, b)) for a, b in graph.edges()), name
