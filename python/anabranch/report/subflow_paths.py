"""Short names of the paths that subflows take."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch import _core

SEPARATOR = " > "
"""Between the nodes of a label that names a whole path."""


def nodes_of(path: str | None) -> tuple[str, ...]:
    """The nodes of a path as the table has it, ``b#2`` where the second of parallel links leads to ``b``."""
    nodes = _core.read_path(path) if path else []
    return tuple(f"{name}#{number}" if number > 1 else name for name, number in nodes)


def between_ends(path: str | None, destination: str) -> tuple[str, ...]:
    """The nodes between the hosts, so that connections of several hosts share a path's name.

    The last one stays where its number says which of parallel links leads there, and all stay where nothing
    else would.
    """
    nodes = nodes_of(path)
    inner = nodes[1:-1] if nodes and nodes[-1] == destination else nodes[1:]
    return inner or nodes


def names_of_paths(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """A name for each path: the nodes that not every path has; all nodes where that does not tell them apart.

    Paths that are not known, without a node, have the empty name.
    """
    distinct = {path for path in paths if path}
    everywhere = set.intersection(*map(set, distinct)) if distinct else set()
    short = {path: ", ".join(node for node in path if node not in everywhere) for path in distinct}
    used = list(short.values())
    names = {
        path: name if name and used.count(name) == 1 else SEPARATOR.join(path) for path, name in short.items()
    }
    return [names.get(path, "") for path in paths]
