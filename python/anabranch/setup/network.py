"""The network of a scenario, whose nodes and links are found by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

from anabranch import _core
from anabranch.scenario.leaves import PlaceSetup
from anabranch.setup.model import LinkSetup, NodeSetup
from anabranch.setup.problems import Problems
from anabranch.setup.typed import fields_of


@dataclass(frozen=True)
class NamedNetwork:
    """The core's network with its nodes and links as tables."""

    core: _core.Network

    @cached_property
    def nodes(self) -> list[NodeSetup]:
        """The nodes in the order of their ids."""
        return [
            NodeSetup(name, None if place is None else PlaceSetup(latitude=place[0], longitude=place[1]))
            for name, place in self.core.nodes()
        ]

    @cached_property
    def links(self) -> list[LinkSetup]:
        """The directed links in the order of their ids."""
        rows, texts = self.core.links()
        others = [fields_of(LinkSetup)(json.loads(text)) for text in texts]
        return [
            LinkSetup(origin, to, name, capacity, delay, weight=weight, **others[place])
            for origin, to, name, capacity, delay, weight, place in rows
        ]

    def node(self, name: str, place: str, problems: Problems) -> int | None:
        """The id of a node by name or alias; where there is none, that is noted at the place."""
        return self.core.node(name, place, problems.add)

    def link(self, ends: tuple[str, str], index: int, place: str, problems: Problems) -> int | None:
        """The id of a link between two nodes by their names, among parallel ones the one of this number.

        Numbers begin with 1. Where there is no such link, that is noted at the place.
        """
        return self.core.link(ends, index, place, problems.add)
