"""Parallel paths: two hosts joined by several paths, each with its own delay, capacity and loss."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from anabranch.text.suggest import nearest_remedy
from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology, TopologyLink, TopologyNode

from .quantities import QUANTITIES, LinkQuantities, check_count, check_size, generated


def parallel(
    common: LinkQuantities,
    *,
    paths: int | Sequence[Mapping[str, object]] = 2,
    routers_per_path: int = 1,
) -> Topology:
    """Two hosts joined by disjoint paths, each with its own capacity, end-to-end delay and end-to-end loss.

    `paths` is their number or a list with an entry for each path; what an entry leaves out is taken from
    `capacity_bps`, `delay_ps` and `loss`. Nodes: `source`, `sink` and between them `path1`, `path2`, ...
    (with more than one router a path: `path1.1`, `path1.2`, ...). With `routers_per_path = 0` the paths are
    parallel links. A path's delay is divided among its links to the picosecond; its loss sits on its first
    link. Links are labelled with the path's name. 2 + P R nodes, P (R + 1) links for P paths with R routers
    each.
    """
    check_count("routers_per_path", routers_per_path, low=0)
    entries = _entries(paths, common)
    check_size(2 + len(entries) * routers_per_path, len(entries) * (routers_per_path + 1))
    nodes = [TopologyNode("source", kind="host")]
    links: list[TopologyLink] = []
    for number, whole in enumerate(entries, start=1):
        label = f"path{number}"
        routers = (
            [label] if routers_per_path == 1 else [f"{label}.{i}" for i in range(1, routers_per_path + 1)]
        )
        nodes += [TopologyNode(name) for name in routers]
        stops = ["source", *routers, "sink"]
        pieces = whole.split(len(stops) - 1)
        links += [piece.link(a, b, label) for piece, a, b in zip(pieces, stops, stops[1:], strict=False)]
    nodes.append(TopologyNode("sink", kind="host"))
    return generated(
        f"parallel(paths={len(entries)})",
        nodes,
        links,
        f"Generated: {len(entries)} parallel paths between two hosts.",
    )


def _entries(paths: int | Sequence[Mapping[str, object]], common: LinkQuantities) -> list[LinkQuantities]:
    if isinstance(paths, int):
        check_count("paths", paths)
        return [common] * paths
    if isinstance(paths, (str, bytes)) or not isinstance(paths, Sequence) or not paths:
        raise TopologyError(
            "paths", f"{paths!r} is neither a number nor a list of paths", "give an entry for each path"
        )
    check_count("paths", len(paths))
    entries_read = []
    for i, entry in enumerate(paths):
        if not isinstance(entry, Mapping):
            raise TopologyError(
                f"paths[{i}]", f"{entry!r} is no path", f"give a table with {', '.join(QUANTITIES)}"
            )
        for key in entry:
            if key not in QUANTITIES:
                raise TopologyError(
                    f"paths[{i}]", f'a path has no "{key}"', nearest_remedy(str(key), QUANTITIES)
                )
        given = {key: value for key, value in entry.items() if value is not None}
        entries_read.append(replace(common, **given, prefix=f"paths[{i}]."))  # type: ignore[arg-type]  # each is checked
    return entries_read
