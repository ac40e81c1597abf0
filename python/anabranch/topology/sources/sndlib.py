"""`sndlib/NAME`: instances of SNDlib, as topohub carries them, each with one demand matrix."""

from typing import Final

from anabranch.text.suggest import nearest_remedy
from anabranch.topology.assemble import assemble
from anabranch.topology.draft import Draft
from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology, TopologyLink
from anabranch.topology.readers.sndlib_common import coordinate_notes, nodes_from

from . import hub

_GROUP: Final = "sndlib"

_DRAWN_WITHIN_DEGREES: Final = frozenset({"india35"})
"""Plane drawings whose coordinates happen to lie within -180..180, -90..90.

india35 has 0..48 in both directions, where India lies at 68 to 97 degrees east; the other drawings give
themselves away by larger numbers.
"""


def load_sndlib(name: str) -> Topology:
    """The instance of this name, whatever its case. Raises TopologyError for an unknown name."""
    names = hub.graph_names(_GROUP)
    spelled = hub.match_name(name, names)
    if spelled is None:
        raise TopologyError(
            "", f'no network "{name}" in SNDlib as topohub carries it', nearest_remedy(name, names)
        )
    data = hub.graph(_GROUP, spelled)
    coordinates: dict[str, tuple[float, float] | None] = {
        str(node["id"]): (float(node["pos"][0]), float(node["pos"][1])) for node in data["nodes"]
    }
    labels = {str(node["id"]): str(node["name"]) for node in data["nodes"]}
    nodes, planar = nodes_from(coordinates, True if spelled in _DRAWN_WITHIN_DEGREES else None, labels)
    links = [TopologyLink(str(link["source"]), str(link["target"])) for link in data["edges"]]
    demands = {
        (str(source), str(target)): float(value)
        for source, row in data["graph"]["demands"].items()
        for target, value in row.items()
    }
    provenance = [
        f'SNDlib, network "{spelled}" (Orlowski, Wessaely, Pioro, Tomaszewski, Networks 55(3), 2010), as '
        f"carried by topohub {hub.version()} (MIT).",
        *coordinate_notes(coordinates, planar),
        f"Its {len(demands)} demands, each from its first to its second node, keep SNDlib's values; topohub "
        "does not say their unit.",
        *hub.left_aside(data),
    ]
    return assemble(f"sndlib/{spelled}", f"sndlib/{spelled}", Draft(nodes, links, demands), provenance)
