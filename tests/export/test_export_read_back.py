"""What an export says of a network is read again as the same one: names, places, hosts, directions."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from anabranch import Scenario
from anabranch.export.write import export
from anabranch.topology import Topology, load

FILES = {
    "networkx": "network.json",
    "graphml": "network.graphml",
    "containerlab": "anabranch.clab.yml",
    "csv": "links.csv",
}
"""By format the file that describes the network."""
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Direction = tuple[str, str, int, int, float, float | None]


@dataclass(frozen=True)
class Drawn:
    """A network as it was drawn: kind and place of each node, and each direction of each link."""

    nodes: dict[str, tuple[str, tuple[float, float] | None]]
    ways: list[Direction]

    def scenario(self, folder: Path) -> Scenario:
        nodes = [
            {
                "id": name,
                "kind": kind,
                **({} if place is None else dict(zip(("latitude", "longitude"), place, strict=True))),
            }
            for name, (kind, place) in self.nodes.items()
        ]
        edges = [
            {
                "source": a,
                "target": b,
                "capacity_bps": bps,
                "delay_ms": ps / 1e9,
                "loss": loss,
                "weight": weight,
            }
            for a, b, bps, ps, loss, weight in self.ways
        ]
        document = {"directed": True, "multigraph": True, "graph": {}, "nodes": nodes, "links": edges}
        (folder / "net.json").write_text(json.dumps(document))
        data = {
            "network": {"topology": f"file:{folder}/net.json"},
            "traffic": [{"from": "first", "to": "last", "size": "1 kB"}],
            "run": {"duration": "1 s"},
        }
        return Scenario.from_data(data)


def directions(topology: Topology) -> list[Direction]:
    entries: list[Any] = []
    for link in topology.links:
        rest = (link.capacity_bps, link.delay_ps, link.loss, link.weight)
        entries += [(link.a, link.b, *rest)] + [(link.b, link.a, *rest)] * (not link.directed)
    return sorted(entries, key=repr)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda name: name == " ".join(name.split()) and name not in ("first", "last")
)


@st.composite
def networks(draw: st.DrawFn) -> Drawn:
    """Routers in a row, so that all are reached, more links between them in either direction, and hosts."""
    inner = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    hosts = draw(st.integers(0, len(inner) - 1))
    routers = ["first", *inner[hosts:], "last"]
    # All nodes have places of their own, or none has: what is filled in is a place in an export.
    is_placed = draw(st.booleans())
    nodes: dict[str, tuple[str, tuple[float, float] | None]] = {}
    for i, name in enumerate([*inner, "first", "last"], start=1):
        kind = "host" if name in inner[:hosts] else "router"
        nodes[name] = (kind, (-9.5 * i, 20.0625 * i) if is_placed else None)
    quantities = st.tuples(
        st.integers(1000, 10**12),
        st.integers(0, 10**12),
        st.just(0.0) | st.floats(1e-9, 0.999),
        st.none() | st.integers(1, 1000).map(float),
    )
    pairs = [*pairwise(routers), *((name, routers[0]) for name in inner[:hosts])]
    pairs += [(b, a) for a, b in pairs]
    pairs += draw(st.lists(st.permutations(routers).map(lambda row: (row[0], row[1])), max_size=6))
    ways: list[Direction] = [(*pair, *draw(quantities)) for pair in pairs]
    return Drawn(nodes, sorted(ways, key=repr))


@pytest.mark.parametrize("form", FILES)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # an export takes too long to shrink
)
@given(drawn=networks())
def test_the_network_of_an_export_is_read_again(form: str, drawn: Drawn) -> None:
    if form == "graphml" and any(NOT_IN_XML.search(name) for name in drawn.nodes):
        return
    if form == "csv" and any("\0" in name for name in drawn.nodes):
        return
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        export(drawn.scenario(folder), form, folder / "out")
        again = load(f"file:{FILES[form]}", base=folder / "out")
    assert directions(again) == drawn.ways
    assert {node.name for node in again.nodes} == set(drawn.nodes)
    if form == "csv":  # links alone
        return
    for node in again.nodes:
        kind, place = drawn.nodes[node.name]
        if form != "graphml":
            assert node.kind == kind
        assert (None if node.place is None else (node.place.latitude, node.place.longitude)) == place


def test_what_xml_cannot_hold_is_said(tmp_path: Path) -> None:
    odd = Drawn({"first": ("router", None), "last\x07": ("router", None), "last": ("router", None)}, [
        ("first", "last", 1000, 0, 0.0, None), ("last", "first", 1000, 0, 0.0, None),
    ])  # fmt: skip
    files = export(odd.scenario(tmp_path), "graphml", tmp_path / "out")
    assert any("characters of names that XML does not have" in note for note in files.notes)
    again = load("file:network.graphml", base=tmp_path / "out")
    assert [node.name for node in again.nodes] == ["first", "last\N{REPLACEMENT CHARACTER}", "last"]


def test_what_a_table_cannot_hold_is_said(tmp_path: Path) -> None:
    odd = Drawn({"first": ("router", None), "a\0b": ("router", None), "last": ("router", None)}, [
        ("first", "last", 1000, 0, 0.0, None), ("last", "first", 1000, 0, 0.0, None),
    ])  # fmt: skip
    files = export(odd.scenario(tmp_path), "csv", tmp_path / "out")
    assert any("U+0000" in note for note in files.notes)


def test_nodes_that_a_table_of_links_does_not_have_are_said(tmp_path: Path) -> None:
    alone = Drawn({"first": ("router", None), "last": ("router", None), "alone": ("router", None)}, [
        ("first", "last", 1000, 0, 0.0, None), ("last", "first", 1000, 0, 0.0, None),
    ])  # fmt: skip
    files = export(alone.scenario(tmp_path), "csv", tmp_path / "out")
    assert "`links.csv`: nodes without links, 1 of them" in files.notes
