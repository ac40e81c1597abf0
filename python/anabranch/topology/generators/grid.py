"""A grid of routers."""

from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology, TopologyNode

from .quantities import LinkQuantities, check_count, check_size, generated


def grid(
    link: LinkQuantities,
    *,
    rows: int = 2,
    columns: int = 2,
) -> Topology:
    """`rows` x `columns` routers, each linked to its neighbours in its row and its column; all links equal.

    Nodes: `router1.1` (row, column) to `routerROWS.COLUMNS`, which are opposite corners. rows columns nodes,
    rows (columns - 1) + columns (rows - 1) links.
    """
    check_count("rows", rows)
    check_count("columns", columns)
    if rows * columns < 2:
        raise TopologyError("rows", "a grid of one router has no links", "give at least 2 rows or 2 columns")
    check_size(rows * columns, rows * (columns - 1) + columns * (rows - 1))
    nodes = [TopologyNode(_name(r, c)) for r in range(1, rows + 1) for c in range(1, columns + 1)]
    links = []
    for r in range(1, rows + 1):
        for c in range(1, columns + 1):
            if c < columns:
                links.append(link.link(_name(r, c), _name(r, c + 1)))
            if r < rows:
                links.append(link.link(_name(r, c), _name(r + 1, c)))
    return generated(
        f"grid(rows={rows}, columns={columns})",
        nodes,
        links,
        f"Generated: a grid of {rows} x {columns} routers.",
    )


def _name(row: int, column: int) -> str:
    return f"router{row}.{column}"
