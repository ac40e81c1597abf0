"""Labels and arrows of yEd's drawings in GraphML (yFiles for Java, GraphML extensions) and in GML.

yEd writes every graph as directed. Whether a link leads one way, the arrows of its drawing say.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from .xml_tree import Element

DRAWINGS: Final = ("nodegraphics", "edgegraphics")
"""The values of `yfiles.type` of a declared attribute that is a drawing of a node or an edge."""
Arrow = Literal["none", "forward", "backward", "both"]


@dataclass(slots=True)
class DrawnEdges:
    """How many edges of a file have which arrows."""

    one_way: int = 0
    both_ways: int = 0

    def directed(self, a: str, b: str, head: Arrow) -> tuple[str, str, bool]:
        """Count an edge. Its ends, as it leads, and whether it leads one way."""
        one_way = head in ("forward", "backward")
        self.one_way += one_way
        self.both_ways += not one_way
        return (b, a, True) if head == "backward" else (a, b, one_way)

    def notes(self) -> list[str]:
        """A sentence of provenance, if the file has such edges."""
        if not self.one_way + self.both_ways:
            return []
        return [
            "Of yEd's drawing (nodegraphics, edgegraphics; graphics) labels and arrows are read: links with "
            f"one arrow, which lead one way: {self.one_way}; links without an arrow or with two, which lead "
            f"both ways: {self.both_ways}."
        ]


def drawn_label(drawing: Element) -> str:
    """The first label in the drawing of a node or an edge; empty without one."""
    labels = (element.text for element in _inside(drawing) if element.tag in ("NodeLabel", "EdgeLabel"))
    return next((label for label in labels if label), "")


def arrow(drawing: Element) -> Arrow:
    """The ends of an edge that have an arrow in its drawing, from source to target being forward."""
    drawn = next((element for element in _inside(drawing) if element.tag == "Arrows"), None)
    if drawn is None:
        return "none"
    return _arrow(*(drawn.attributes.get(end, "none").lower() != "none" for end in ("source", "target")))


def arrow_of_gml(attributes: Mapping[str, str]) -> Arrow:
    """The ends of an edge that have an arrow, by its attributes in GML that yEd has written."""
    ends = (attributes.get(f"graphics.{end}Arrow", "none") != "none" for end in ("source", "target"))
    return _arrow(*ends)


def _arrow(at_source: bool, at_target: bool) -> Arrow:
    if at_source and at_target:
        return "both"
    return "forward" if at_target else "backward" if at_source else "none"


def _inside(element: Element) -> Iterator[Element]:
    for child in element.children:
        yield child
        yield from _inside(child)
