"""`zoo/NAME`: the Internet Topology Zoo whole, 276 GraphML files as published.

`data/topology_zoo.zip` holds the files, each compressed by itself, so that reading one decompresses no other;
`data/topology_zoo.tsv` their names and counts, and `data/topology_zoo.LICENSE` attribution and licence (CC BY
4.0).
"""

import importlib.resources
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable

from anabranch.text.suggest import nearest_remedy
from anabranch.topology.assemble import assemble
from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology
from anabranch.topology.readers.graphml import read_graphml

from . import hub


@dataclass(frozen=True, slots=True)
class ZooGraph:
    """The counts of the file of a graph: all nodes, and all links with parallel ones and loops."""

    name: str
    nodes: int
    links: int


@cache
def zoo_graphs() -> Mapping[str, ZooGraph]:
    """Every graph of the Topology Zoo by name, without opening the archive."""
    graphs = {}
    for line in _data("topology_zoo.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, nodes, links = line.split("\t")
            graphs[name] = ZooGraph(name, int(nodes), int(links))
    return graphs


def load_zoo(name: str) -> Topology:
    """The graph of this name, whatever its case. Raises TopologyError for an unknown name."""
    names = tuple(zoo_graphs())
    spelled = hub.match_name(name, names)
    if spelled is None:
        raise TopologyError("", f'no graph "{name}" in the Topology Zoo', nearest_remedy(name, names))
    spec = f"zoo/{spelled}"
    draft = read_graphml(graphml(spelled), spec)
    return assemble(spec, spec, draft, ["The file of the Zoo itself, as Anabranch carries it."])


def graphml(name: str) -> bytes:
    """The file of a graph, a key of :func:`zoo_graphs`. Raises TopologyError where the archive is damaged."""
    try:
        with _data("topology_zoo.zip").open("rb") as stream, zipfile.ZipFile(stream) as archive:
            return archive.read(f"{name}.graphml")
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise TopologyError(
            f"zoo/{name}", f"the archive topology_zoo.zip is damaged ({error})", "install anabranch again"
        ) from error


def _data(name: str) -> Traversable:
    return importlib.resources.files(__name__.rsplit(".", 2)[0]).joinpath("data", name)
