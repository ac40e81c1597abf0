"""Flows as CSV, a row for each: ``from,to,size_bytes,start_s``.

The header says the units: ``size_bytes``, ``size_kb``, ``size_mb`` or ``size_gb`` (1 kB is 1000 bytes), and
``start_s``, ``start_ms``, ``start_us`` or ``start_ns``. The ends may be called as in tables of links, such as
``src`` and ``dst``. Other columns are left out.
"""

import csv
from collections.abc import Iterator, Sequence
from typing import Final

from anabranch.topology.readers.ends import ends_of
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import ListedFlows, NodeList, TrafficFile
from anabranch.topology.traffic.numbers import amount, flow_bytes, start_ps

SIZES: Final = {"size_bytes": 1.0, "size_kb": 1e3, "size_mb": 1e6, "size_gb": 1e9}
"""Bytes of 1, by column."""
STARTS: Final = {"start_s": 1.0, "start_ms": 1e-3, "start_us": 1e-6, "start_ns": 1e-9}
"""Seconds of 1, by column."""
_NAME: Final = "CSV of flows"


def read_flows(source: FileSource) -> TrafficFile:
    """The flows of a file."""
    rows = csv.reader(source.text().splitlines(), skipinitialspace=True)
    try:
        header = [cell.strip() for cell in next(rows, [])]
        columns = _columns(header, f"{source.where}, line 1")
        nodes = NodeList()
        flows = ListedFlows.of_rows(_flows(source.where, rows, header, columns, nodes))
    except csv.Error as error:
        raise TrafficError(source.where, f"is no CSV: {error}") from error
    if not len(flows.bytes):
        raise TrafficError(source.where, "the file has no flow", "write a row for each")
    others = [name for place, name in enumerate(header) if place not in columns]
    notes = [f"{len(flows.bytes)} flows, by {header[columns[2]]} and {header[columns[3]]}."]
    if others:
        notes.append(f"Not read: {', '.join(others)}.")
    return TrafficFile(_NAME, nodes.names(), flows=flows, notes=tuple(notes))


def _columns(header: Sequence[str], where: str) -> list[int]:
    """The places of sender, receiver, size and start."""
    ends = ends_of(header) or ("from", "to")
    places = []
    for what, names in (
        ("the sender", ends[:1]), ("the receiver", ends[1:]), ("a size", SIZES), ("a start", STARTS),
    ):  # fmt: skip
        matches = [place for place, name in enumerate(header) if name in names]
        if len(matches) != 1:
            count = "several columns" if matches else "no column"
            raise TrafficError(where, f"the header has {count} with {what}", f"known: {', '.join(names)}")
        places += matches
    return places


def _flows(
    where: str, rows: Iterator[list[str]], header: Sequence[str], columns: Sequence[int], nodes: NodeList
) -> Iterator[tuple[int, int, int, int]]:
    """The flows row by row: sender, receiver, bytes, start in picoseconds."""
    bytes_of_1, seconds_of_1 = SIZES[header[columns[2]]], STARTS[header[columns[3]]]
    for number, cells in enumerate(rows, start=2):
        if not any(cell.strip() for cell in cells):
            continue
        at = f"{where}, line {number}"
        if len(cells) != len(header):
            raise TrafficError(at, f"has {len(cells)} cells in place of {len(header)}", "mend the row")
        origin, to, size, start = (cells[place].strip() for place in columns)
        if not origin or not to:
            raise TrafficError(at, "a node has no name", "mend the row")
        size_bytes = flow_bytes(amount(size, "a size", at) * bytes_of_1, at)
        yield (
            nodes.place(origin),
            nodes.place(to),
            size_bytes,
            start_ps(amount(start, "a start", at) * seconds_of_1, at),
        )


def _recognises(text: str) -> bool:
    header = [cell.strip() for cell in text.split("\n", 1)[0].split(",")]
    is_of_flows = any(name.split("_")[0] in ("size", "start") for name in header)
    return is_of_flows and ends_of(header) is not None


READER: Final = TrafficFormat(_NAME, "flows", "as the header states it", read_flows, _recognises)
