"""`zoo/NAME`: graphs of the Internet Topology Zoo, as far as topohub carries them."""

import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from anabranch.suggest import nearest_remedy
from anabranch.topology.assemble import assemble
from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology

from . import hub

_GROUP = "topozoo"


@dataclass(frozen=True, slots=True)
class ZooGraph:
    """What the Zoo's own GraphML file of a graph counts: all nodes, and all links with parallel ones."""

    name: str
    nodes: int
    links: int


@cache
def zoo_graphs() -> Mapping[str, ZooGraph]:
    """Every graph of the Topology Zoo by name, from `data/topology_zoo.tsv`, carried by topohub or not."""
    text = importlib.resources.files(__name__.rsplit(".", 2)[0]).joinpath("data", "topology_zoo.tsv")
    graphs = {}
    for line in text.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, nodes, links = line.split("\t")
            graphs[name] = ZooGraph(name, int(nodes), int(links))
    return graphs


def load_zoo(name: str) -> Topology:
    """The graph of this name, whatever its case. Raises TopologyError where topohub does not carry it."""
    carried = hub.graph_names(_GROUP)
    found = hub.match_name(name, carried)
    if found is None:
        raise _missing(name, carried)
    data = hub.graph(_GROUP, found)
    nodes = [
        DraftNode(str(n["id"]), n["name"], (float(n["pos"][1]), float(n["pos"][0]))) for n in data["nodes"]
    ]
    links = [DraftLink(str(link["source"]), str(link["target"])) for link in data["edges"]]
    provenance = [
        f'Internet Topology Zoo, graph "{found}" (Knight, Nguyen, Falkner, Bowden, Roughan, IEEE JSAC '
        f"29(9), 2011; licence CC BY 4.0), as carried by topohub {hub.version()} (MIT), coordinates rounded "
        "to 0.01 degrees."
    ]
    original = zoo_graphs().get(found)
    if original is not None and (original.nodes, original.links) != (len(nodes), len(links)):
        provenance.append(
            f"The Zoo's own file has {original.nodes} nodes and {original.links} links, topohub "
            f"{len(nodes)} and {len(links)}: it merges parallel links and leaves out nodes without "
            f"coordinates. For the whole graph take its GraphML file: file:{found}.graphml."
        )
    return assemble(f"zoo/{found}", f"zoo/{found}", Draft(nodes, links), provenance)


def _missing(name: str, carried: tuple[str, ...]) -> TopologyError:
    known = hub.match_name(name, tuple(zoo_graphs()))
    if known is not None:
        return TopologyError(
            "",
            f"zoo/{known} is in the Topology Zoo but topohub does not carry it",
            f"take its GraphML file: file:{known}.graphml",
        )
    return TopologyError(
        "", f'no graph "{name}" in the Topology Zoo', nearest_remedy(name, (*carried, *zoo_graphs()))
    )
