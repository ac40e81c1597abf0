"""Routes as CSV, a row for each path or next hop: the columns, how paths are written, and the reader.

``anabranch routes --csv`` and ``anabranch export --to csv`` write such files (``plans/named.py``), and
``[routing] paths`` reads them. Nodes stand there as in the text of a path (crates/network/src/path_text.rs).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from anabranch import _core
from anabranch.scenario.quantity import quoted
from anabranch.setup.model import LinkSetup
from anabranch.setup.problems import Problems
from anabranch.setup.table_file import TableRow, header_of, number_of, table_rows

_Nodes = list[tuple[str, int]]
COLUMNS: Final = ("from", "to", "kind", "weight", "path")
"""The columns that a file must have; others are for people, and not read."""
PATH: Final = "path"
"""The kind of a row with a whole path, whose weight is its share of the packets of the pair."""
NEXT_HOP: Final = "next-hop"
"""The kind of a row with the link by which packets to a destination leave a node, hop by hop."""


@dataclass(frozen=True, slots=True)
class RouteRow:
    """A row of a file of routes."""

    place: str
    """File and line, for messages."""
    is_path: bool
    """Whether it is a path; a next hop if not."""
    ends: tuple[str, str]
    weight: float
    hops: tuple[tuple[str, int], ...]
    """The nodes along the path, and which of parallel links leads to each, from 1 on."""


def path_names(nodes: Sequence[str], links: Sequence[LinkSetup]) -> _core.PathNames:
    """Returns what writes paths over the links of a setup as text."""
    return _core.PathNames(nodes, [(link.origin, link.to) for link in links])


def read_rows(name: str, text: str, place: str, problems: Problems) -> Iterator[RouteRow]:
    """Reads a file of routes.

    Args:
        name: of the file.
        text: what it has.
        place: the field that names the file.
        problems: takes what is wrong, with the line.
    """
    header = header_of(text)
    if "kind" not in header and set(COLUMNS) - {"kind"} <= set(header):
        message = (
            f"these are the columns of an older version; now they are {','.join(COLUMNS)}: write the file "
            "anew (anabranch routes SCENARIO --csv FOLDER), or add the column kind, which is path in each "
            "row, and write paths like a > b > c"
        )
        problems.add(f"{name}, line 1", message)
        return
    count = before = len(problems)
    for row in table_rows(name, text, COLUMNS, problems):
        count += 1
        if (read := _row(row, problems)) is not None:
            yield read
    if count == before == len(problems):
        problems.add(place, f"{quoted(name)} has no path")


def _row(row: TableRow, problems: Problems) -> RouteRow | None:
    cells = row.cells
    read = [_nodes(row, column, problems) for column in ("from", "to", "path")]
    weight = number_of(cells["weight"]) or 0.0
    origin, to, hops = read
    if origin is None or to is None or hops is None:
        return None
    if (fault := _fault(cells, weight, (origin, to, hops))) is not None:
        problems.add(row.place, fault)
        return None
    ends = (_whole(origin[0]), _whole(to[0]))
    return RouteRow(row.place, cells["kind"] == PATH, ends, weight, tuple(hops))


def _fault(cells: Mapping[str, str], weight: float, nodes: tuple[_Nodes, _Nodes, _Nodes]) -> str | None:
    """What is wrong with a row, if anything is."""
    origin, to, hops = nodes
    path = quoted(cells["path"])
    several = next((name for name, of in (("from", origin), ("to", to)) if len(of) > 1), None)
    fault = None
    if cells["kind"] not in (PATH, NEXT_HOP):
        fault = f"the kind is {quoted(cells['kind'])}; it must be {PATH} or {NEXT_HOP}"
    elif weight <= 0:
        fault = f"the weight is {quoted(cells['weight'])}; it must be a number above zero"
    elif several is not None:
        fault = f"{several} is {quoted(cells[several])}; it must be one node"
    elif "->" in cells["path"] and '"' not in cells["path"]:
        fault = f"the path is {path}; write > in place of ->, and a name with > in quotation marks"
    elif len(hops) < 2:
        fault = f"the path is {path}; write the nodes like a > b > c"
    elif cells["kind"] == NEXT_HOP and len(hops) > 2:
        fault = f"the next hop is {path}; it must be one link, like a > b"
    return fault


def _whole(node: tuple[str, int]) -> str:
    """The name of a node where no link leads to it: ``a#2`` without quotation marks is one, too."""
    name, number = node
    return name if number == 1 else f"{name}#{number}"


def _nodes(row: TableRow, column: str, problems: Problems) -> _Nodes | None:
    try:
        return _core.read_path(row.cells[column])
    except ValueError as error:
        problems.add(row.place, f"{column} is {quoted(row.cells[column])}: {error}")
        return None
