"""`topohub/NAME`: graphs of the Internet Topology Zoo as topohub simplifies them.

Publications take them from there: topohub rounds coordinates to 0.01 degrees, merges parallel links, and has
neither nodes without coordinates nor link speeds.
"""

from typing import Final

from anabranch.text.suggest import nearest_remedy
from anabranch.topology.assemble import assemble
from anabranch.topology.draft import Draft, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology, TopologyLink

from . import hub
from .zoo import zoo_graphs

GROUP: Final = "topozoo"


def load_hub_zoo(name: str) -> Topology:
    """The graph of this name, whatever its case. Raises TopologyError where topohub does not carry it."""
    carried = hub.graph_names(GROUP)
    spelled = hub.match_name(name, carried)
    if spelled is None:
        whole = hub.match_name(name, tuple(zoo_graphs()))
        remedy = nearest_remedy(name, carried) if whole is None else f"the Zoo's own graph is zoo/{whole}"
        raise TopologyError("", f'no graph "{name}" of the Topology Zoo in topohub', remedy)
    data = hub.graph(GROUP, spelled)
    nodes = [
        DraftNode(str(n["id"]), n["name"], (float(n["pos"][1]), float(n["pos"][0]))) for n in data["nodes"]
    ]
    links = [TopologyLink(str(link["source"]), str(link["target"])) for link in data["edges"]]
    provenance = [
        f'Internet Topology Zoo, graph "{spelled}" (Knight, Nguyen, Falkner, Bowden, Roughan, IEEE JSAC '
        f"29(9), 2011; licence CC BY 4.0), as carried by topohub {hub.version()} (MIT), coordinates rounded "
        "to 0.01 degrees."
    ]
    provenance += hub.left_aside(data)
    original = zoo_graphs()[spelled]
    if (original.nodes, original.links) != (len(nodes), len(links)):
        provenance.append(
            f"The Zoo's own file has {original.nodes} nodes and {original.links} links, topohub "
            f"{len(nodes)} and {len(links)}: it merges parallel links and leaves out nodes without "
            f"coordinates. The whole graph is zoo/{spelled}."
        )
    return assemble(f"topohub/{spelled}", f"topohub/{spelled}", Draft(nodes, links), provenance)
