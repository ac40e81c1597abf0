"""A table of edges as CSV: a header with `from` and `to`, or other names of theirs, and a line for each link.

All other columns are attributes of links, whose names have the units (`capacity_bps`, `delay_ms`, ...).
Commas, semicolons or tabs separate; blanks around a cell mean nothing. Where semicolons or tabs separate, as
in countries that write 2,5, such a cell is a number. A column `directed` (true or false) says which links go
one way. Without it, a file that has a link in both directions for some pair has a line for each direction,
and any other file a line for each link. `links.csv` of the export `--to csv` is of this form. Quotes as in
RFC 4180.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from anabranch.text.csv_cells import unescaped
from anabranch.topology.attributes.units import decimal_number
from anabranch.topology.draft import Draft, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_LINKS

from .attributes import draft_link
from .ends import ends_of
from .file_format import FileFormat
from .text import decode_text

_SEPARATORS: Final = (",", ";", "\t")
_DIRECTED: Final = "directed"
_YES_NO: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_MAX_COLUMNS: Final = 1000
_DECIMAL: Final = re.compile(r"[+-]?\d+,\d+")
_HEAD: Final = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\r?\n)+")
"""Comments and empty lines before the header; behind it, a line may begin with any name."""


class _Header(NamedTuple):
    separator: str
    names: list[str]
    """In lower case."""
    ends: tuple[int, int]
    """Places of the columns of the first and of the second end."""


class _Row(NamedTuple):
    a: str
    b: str
    attributes: dict[str, str]
    place: str


def read_edge_csv(data: bytes, where: str) -> Draft:
    """The links of a table. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    rows = list(_rows(text, where))
    says = any(_DIRECTED in row.attributes for row in rows)
    pairs = {(row.a, row.b) for row in rows if row.a != row.b}
    one_way = not says and any((b, a) in pairs for a, b in pairs)
    links = []
    for row in rows:
        stated = row.attributes.pop(_DIRECTED, None)
        directed = one_way if stated is None else _yes_or_no(stated, row.place)
        links.append(draft_link(row.a, row.b, row.attributes, directed, row.place))
    nodes = dict.fromkeys(end for row in rows for end in (row.a, row.b))
    if one_way:
        notes.append("Some links stand here in both directions, so that each line is one direction.")
    return Draft([DraftNode(node) for node in nodes], links, notes=notes)


def _recognises(text: str) -> bool:
    return _header(_HEAD.sub("", text, count=1).partition("\n")[0]) is not None


READER: Final = FileFormat("CSV of edges", read_edge_csv, _recognises)


def _header(line: str) -> _Header | None:
    """The columns that a line names, if it is the header of a table of edges.

    None of the names is a number, and `a,b` alone is rather a link between two nodes.
    """
    for separator in _SEPARATORS:
        cells = [cell.strip().strip('"').strip() for cell in line.strip("\r\n").split(separator)]
        ends = ends_of(cells)
        is_told = ends is not None and (len(cells) > 2 or any(len(end) > 1 for end in ends))
        if ends is not None and is_told and all(decimal_number(cell) is None for cell in cells):
            names = [cell.lower() for cell in cells]
            return _Header(separator, names, (cells.index(ends[0]), cells.index(ends[1])))
    return None


def _rows(text: str, where: str) -> Iterator[_Row]:
    """The lines that are no comments, cell by cell."""
    table = _HEAD.sub("", text, count=1)
    skipped = text.count("\n", 0, len(text) - len(table))
    header = _header(table.partition("\n")[0])
    if header is None:
        raise TopologyError(where, 'the first line has no "from" and "to"', "write a header with both")
    separator, names, ends = header
    _check_columns(names, where)
    reader = csv.reader(io.StringIO(table, newline=""), delimiter=separator, strict=True)
    try:
        next(reader)
        for count, cells in enumerate(reader):
            place = f"{where}, line {reader.line_num + skipped}"
            if not any(cell.strip() for cell in cells):
                continue
            if count > MAX_LINKS:
                raise TopologyError(where, f"the file has more than {MAX_LINKS} links", "leave some out")
            yield _row(_numbers_of(cells, separator), names, ends, place)
    except csv.Error as error:
        place = f"{where}, line {reader.line_num + skipped}"
        raise TopologyError(place, f"this is no CSV ({error})", "mend the quotes of this line") from error


def _numbers_of(cells: list[str], separator: str) -> list[str]:
    """The cells with a point in place of the comma of numbers, which no comma separates."""
    if separator == ",":
        return cells
    return [cell.replace(",", ".") if _DECIMAL.fullmatch(cell.strip()) else cell for cell in cells]


def _check_columns(names: Sequence[str], where: str) -> None:
    if len(names) > _MAX_COLUMNS:
        raise TopologyError(where, f"the table has {len(names)} columns", f"at most {_MAX_COLUMNS} are read")
    for name in names:
        if names.count(name) > 1 and name:
            raise TopologyError(where, f'there are two columns "{name}"', "leave out one")


def _row(cells: Sequence[str], names: Sequence[str], ends: tuple[int, int], place: str) -> _Row:
    if len(cells) != len(names):
        raise TopologyError(
            place, f"the line has {len(cells)} cells", f"the header has {len(names)}; put texts in quotes"
        )
    a, b = (unescaped(cells[end].strip()) for end in ends)
    if not a or not b:
        raise TopologyError(place, "an end of the link is empty", "name both ends")
    attributes = {
        name: cell for i, (name, cell) in enumerate(zip(names, cells, strict=True))
        if i not in ends and cell.strip() and name
    }  # fmt: skip
    return _Row(a, b, attributes, place)


def _yes_or_no(text: str, place: str) -> bool:
    value = _YES_NO.get(text.strip().lower())
    if value is None:
        raise TopologyError(place, f'directed is "{text[:40]}"', "write true or false")
    return value
