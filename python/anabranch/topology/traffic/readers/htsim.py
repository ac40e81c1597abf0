"""Connection matrices of htsim (csg-htsim, ``.cm``).

::

    Nodes 32
    Connections 2
    19->0 id 1 start 0 size 2000000
    1->25 id 2 start 1000000 size 2000000

Nodes are numbers of hosts, sizes are bytes, and starts picoseconds. A connection that waits for a trigger of
another one has no start, and is refused.
"""

import re
from typing import Final

from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import ListedFlows, NodeList, TrafficFile
from anabranch.topology.traffic.numbers import CUT, amount, flow_bytes, start_ps, whole

_ENDS: Final = re.compile(r"(\d+)->(\d+)")
_HEAD: Final = ("Nodes", "Connections", "Triggers", "Failures")
_READ: Final = ("start", "size")
_LEFT: Final = ("id", "prio", "send_done_trigger", "recv_done_trigger")
_NAME: Final = "htsim connections"


def read_connections(source: FileSource) -> TrafficFile:
    """The connections of a file."""
    counts: dict[str, int] = {}
    nodes, rows = NodeList(), []
    for number, line in enumerate(source.text().splitlines(), start=1):
        words, where = line.split(), f"{source.where}, line {number}"
        if not words or words[0].startswith("#"):
            continue
        if words[0] in _HEAD:
            counts[words[0]] = whole(words[1] if len(words) > 1 else "", f"the number of {words[0]}", where)
            continue
        ends = _ENDS.fullmatch(words[0])
        if ends is None:
            raise TrafficError(
                where, f'"{words[0][:20]}" is no connection like 3->4', "triggers and failures are not read"
            )
        places = [_host(end, counts.get("Nodes"), where) for end in ends.groups()]
        size, start = _amounts(words[1:], where)
        rows.append((nodes.place(places[0]), nodes.place(places[1]), size, start))
    stated = counts.get("Connections", len(rows))
    if stated != len(rows):
        raise TrafficError(source.where, f"it says {stated} connections, and {len(rows)} follow", CUT)
    notes = [f"{len(rows)} connections.", "Ids and priorities are left out."]
    if "Nodes" in counts:
        notes.append(f"The file is for {counts['Nodes']} hosts.")
    return TrafficFile(_NAME, nodes.names(), "hosts", flows=ListedFlows.of_rows(rows), notes=tuple(notes))


def _host(text: str, count: int | None, where: str) -> str:
    host = whole(text, "the number of a host", where)
    if count is not None and host >= count:
        raise TrafficError(where, f"there is no host {host} of {count}", "they are numbered from 0")
    return str(host)


def _amounts(words: list[str], where: str) -> tuple[int, int]:
    """The size in bytes and the start in picoseconds of a connection."""
    amounts: dict[str, float] = {}
    pairs = zip(words[::2], [*words[1::2], ""], strict=False)
    for key, value in pairs:
        if key == "trigger":
            raise TrafficError(where, "the connection waits for a trigger", "give it a start")
        if key not in (*_READ, *_LEFT):
            raise TrafficError(where, f'"{key[:20]}" is not known', "known: id, start, size and prio")
        amounts[key] = amount(value, f"a {key}", where)
    missing = next((key for key in _READ if key not in amounts), None)
    if missing is not None:
        raise TrafficError(where, f"the connection has no {missing}", CUT)
    return flow_bytes(amounts["size"], where), start_ps(amounts["start"] / 1e12, where)


READER: Final = TrafficFormat(
    _NAME,
    "flows",
    "bytes, picoseconds",
    read_connections,
    lambda text: re.match(r"(#.*\n|\s)*Nodes \d+\s+Connections \d+", text) is not None,
)
