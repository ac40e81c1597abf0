"""Nodes and links with the attributes that a file gives them: what a reader of a format makes of each.

What the attributes mean, and what is said of those that mean nothing, `topology/attributes` settles for all
formats. A list is handed on as `[6.08, 50.78]`, and a table within an attribute as further attributes:
`graphics.x`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from anabranch.topology.directions import lists_both_directions
from anabranch.topology.draft import DraftLink, DraftNode
from anabranch.topology.error import TopologyError

_FEWEST_ENTRIES: Final = 4
"""Of two pairs of nodes, from each end: so many entries that differ."""


class NodeIds:
    """The ids of a file's nodes, and where each is declared."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}

    def declare(self, node_id: str, place: str) -> None:
        """Raise TopologyError if an earlier node has this id."""
        if node_id in self._places:
            line = self._places[node_id].rpartition(" ")[2]
            raise TopologyError(
                place, f'node id "{node_id}" was already used on line {line}', "give every node its own id"
            )
        self._places[node_id] = place

    def check_ends(self, a: str, b: str, place: str) -> None:
        """Raise TopologyError if an edge ends at a node that is not there."""
        for end in (a, b):
            if end not in self._places:
                raise TopologyError(place, f'the edge ends at "{end}", which is no node', "declare the node")


def one_way_entries(links: list[DraftLink], notes: list[str]) -> list[DraftLink]:
    """The links, one-way where the file has each of them once from each end, which `notes` then says.

    Two links between the only two nodes that have any are rather two cables.
    """
    ends = [(link.a, link.b) for link in links]
    is_one_way = any(link.directed for link in links)
    if is_one_way or len(set(ends)) < _FEWEST_ENTRIES or not lists_both_directions(ends):
        return links
    notes.append("Each link stands here from both ends, so that an entry is one direction.")
    return [replace(link, directed=True) for link in links]


def draft_node(node_id: str, attributes: Mapping[str, str], where: str) -> DraftNode:
    """The node that has these attributes; `where` is its place for messages."""
    return DraftNode(node_id, attributes=attributes, where=where)


def draft_link(a: str, b: str, attributes: Mapping[str, str], directed: bool, where: str) -> DraftLink:
    """The link from `a` to `b`, and back unless `directed`, that has these attributes."""
    return DraftLink(a, b, attributes, directed, where)
