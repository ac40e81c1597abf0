"""A matrix as CSV with other names than the core's ``from,to,rate_mbps``: ``src;dst;demand (Mbit/s)``.

A row is an entry, a column its rate: one whose name says that it is traffic (``demand``, ``rate``,
``volume``, ...). The unit stands in the name; without one the scenario says it. Commas, semicolons or tabs
separate; where it is no comma, ``2,5`` is a number. Other columns are named and left out.
"""

import csv
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from anabranch.topology.attributes.spelling import meaning_of
from anabranch.topology.attributes.units import decimal_number, unit_named
from anabranch.topology.model import DemandUnit
from anabranch.topology.readers.ends import ends_of
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import NodeList, TrafficFile
from anabranch.topology.traffic.numbers import amount, loops_note
from anabranch.topology.traffic.readers.entries import matrix_of

_NAME: Final = "CSV of demands"
_SEPARATORS: Final = (",", ";", "\t")
_TRAFFIC: Final = frozenset(("rate", "demand", "demands", "traffic", "volume", "offered"))
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_UNIT: Final = re.compile(
    r"([kKMGT]?(?:bps|b/s|bit/?s|bits/?s|bit per s))\W*$|([kKMGT]bit)\W*$", re.IGNORECASE
)
_DECIMAL: Final = re.compile(r"\d+,\d+")


class _Header(NamedTuple):
    separator: str
    names: list[str]
    columns: tuple[int, int, int]
    """Places of the sender, the receiver and the rate."""


def read_demands(source: FileSource) -> TrafficFile:
    """The matrix of a file."""
    lines = source.text().splitlines()
    skipped = next((number for number, line in enumerate(lines) if _is_content(line)), 0)
    header = _header(lines[skipped])
    if header is None:
        raise TrafficError(
            source.where, "the first line names no ends and no rate", "write from,to,rate_mbps"
        )
    nodes, rows = NodeList(), []
    reader = csv.reader(lines[skipped + 1 :], delimiter=header.separator, skipinitialspace=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith("#"):
                where = f"{source.where}, line {reader.line_num + skipped + 1}"
                rows.append(_entry(cells, header, nodes, where))
    except csv.Error as error:
        raise TrafficError(source.where, f"is no CSV: {error}") from error
    if not rows:
        raise TrafficError(source.where, "the file has no entry", "write a row for each pair of nodes")
    matrix, loops = matrix_of(rows)
    name = header.names[header.columns[2]]
    others = [each for place, each in enumerate(header.names) if place not in header.columns]
    notes = [f"{len(rows)} entries, by {name}.", *loops_note(loops)]
    if others:
        notes.append(f"Not read: {', '.join(others)}.")
    return TrafficFile(_NAME, nodes.names(), "names", _unit(name), (matrix,), notes=tuple(notes))


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _header(line: str) -> _Header | None:
    """The columns that a line names, if it is the header of a table of demands."""
    for separator in _SEPARATORS:
        names = [cell.strip().strip('"').strip() for cell in line.split(separator)]
        ends = ends_of(names)
        if ends is None or any(decimal_number(name) is not None for name in names):
            continue
        others = [name for name in names if name not in ends]
        rates = [name for name in others if _is_rate(name)]
        # A table of links may have a load beside its capacity.
        if len(rates) == 1 and not any(meaning_of(name) for name in others if name not in rates):
            origin, to, rate = (names.index(name) for name in (*ends, rates[0]))
            return _Header(separator, names, (origin, to, rate))
    return None


def _is_rate(name: str) -> bool:
    """Whether a name is of traffic, and not of a capacity."""
    return not _TRAFFIC.isdisjoint(word.lower() for word in _WORDS.findall(name))


def _unit(name: str) -> DemandUnit | None:
    """The unit at the end of a name: ``rate_kbps``, ``demand (Mbit/s)``."""
    said = _UNIT.search(name)
    unit = None if said is None else unit_named(said[1] or said[2], "capacity")
    return None if unit is None else DemandUnit(unit.name, float(unit.factor))


def _entry(cells: Sequence[str], header: _Header, nodes: NodeList, where: str) -> tuple[int, int, float]:
    if len(cells) != len(header.names):
        raise TrafficError(where, f"has {len(cells)} cells in place of {len(header.names)}", "mend the row")
    origin, to, rate = (cells[place].strip() for place in header.columns)
    if not origin or not to:
        raise TrafficError(where, "a node has no name", "mend the row")
    if header.separator != "," and _DECIMAL.fullmatch(rate):
        rate = rate.replace(",", ".")
    return nodes.place(origin), nodes.place(to), amount(rate, "a rate", where)


def _recognises(text: str) -> bool:
    first = next((line for line in text.split("\n", _LINES_BEFORE) if _is_content(line)), "")
    return len(first) < _LONGEST_HEADER and _header(first) is not None


_LONGEST_HEADER: Final = 4096
_LINES_BEFORE: Final = 100
"""Comments and empty lines before a header at most."""

READER: Final = TrafficFormat(_NAME, "a matrix", "as the header states it", read_demands, _recognises)
