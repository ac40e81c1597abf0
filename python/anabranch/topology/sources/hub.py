"""The one place that knows the topohub package, which carries SNDlib and a part of the Zoo.

topohub (P. Jurkiewicz, SoftwareX 24, 2023; MIT) holds graphs as JSON: `pos` = (longitude, latitude) in
degrees, undirected links without capacities, demands by node id. Its link lengths are left aside, because
they are computed from the places anyway, with another Earth radius, and also where the "places" are points of
a drawing.
"""

import importlib
import importlib.resources
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any, Final

from anabranch.topology.attributes.unread import Tally
from anabranch.topology.error import TopologyError

_READ_OF_NODES: Final = frozenset(("id", "name", "pos"))
_READ_OF_LINKS: Final = frozenset(("source", "target"))


def version() -> str:
    """The version of topohub in use."""
    return str(_topohub().__version__)


@cache
def graph_names(group: str) -> tuple[str, ...]:
    """The names of all graphs in a group of topohub ("topozoo", "sndlib"), sorted."""
    _topohub()
    folder = importlib.resources.files("topohub").joinpath("data", group)
    return tuple(
        sorted(entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json"))
    )


def graph(group: str, name: str) -> dict[str, Any]:
    """A graph in node-link form. `name` must be one of `graph_names(group)`."""
    data: dict[str, Any] = _topohub().get(f"{group}/{name}")
    return data


def left_aside(graph: Mapping[str, Any]) -> list[str]:
    """A sentence on the attributes of a graph's nodes and links that nothing is made of, if it has any."""
    tally = Tally()
    for node in graph["nodes"]:
        tally.nodes.update(name for name in node if name not in _READ_OF_NODES)
    for link in graph["edges"]:
        tally.links.update(name for name in link if name not in _READ_OF_LINKS)
    return tally.notes()


def match_name(name: str, names: tuple[str, ...]) -> str | None:
    """The one of `names` that is `name` but for its case."""
    return next((candidate for candidate in names if candidate.casefold() == name.casefold()), None)


def _topohub() -> ModuleType:
    try:
        return importlib.import_module("topohub")
    except ImportError as error:
        raise TopologyError(
            "zoo/... and sndlib/...",
            "the package topohub is not installed",
            "install it: pip install topohub",
        ) from error
