"""From the attributes of a file to nodes and links, with sentences on what was read and what was not."""

from collections.abc import Mapping
from dataclasses import dataclass

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.model import TopologyLink

from .choices import AttributeChoice, refuse_unused
from .links import LinkReader
from .nodes import read_nodes
from .topohub import NOTE, topohub_graph
from .units import Quantity
from .unread import Tally


@dataclass(frozen=True, slots=True)
class Interpreted:
    """The nodes and links of a draft, and sentences of provenance on what was read and what was not."""

    nodes: list[DraftNode]
    links: list[TopologyLink]
    notes: list[str]
    unread: frozenset[Quantity]
    """Quantities of which the file has values that are not read."""


def interpret(draft: Draft, choices: Mapping[str, AttributeChoice], where: str) -> Interpreted:
    """The nodes and links of a draft with the quantities that its attributes state.

    Raises TopologyError, with the line of the file, for values that cannot be in attributes of Anabranch's
    own or of the user's choice, and for units that contradict their names; and for choices that the file
    does not have.
    """
    tally = Tally()
    topohub = topohub_graph(draft)
    nodes = read_nodes(draft.nodes, choices, topohub, tally)
    meanings = {**draft.meanings, **({} if topohub is None else topohub.meanings)}
    reader = LinkReader(choices, meanings, tally)
    links = [
        part
        for link in draft.links
        for part in (reader.read(link) if isinstance(link, DraftLink) else (link,))
    ]
    tally.check_size(where)
    refuse_unused(choices, tally.links, tally.nodes)
    notes = tally.notes() if topohub is None else [NOTE, *tally.notes()]
    return Interpreted(nodes, links, notes, tally.unread_quantities)
