"""Writes the tables of docs/topologies.md that say as what files are read.

    python docs/generate/topology_files.py [FOLDER ...]

The first table has the files of ``tests/topology/data``, the second one those of other people in the folders,
networks, traffic, measurements and captures, counts only: they are not part of the repository. Without a
folder the second one stays as it is.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from anabranch.errors import CaptureError
from anabranch.runs.capture import CaptureResult, analyze
from anabranch.setup.files import traffic_of
from anabranch.topology import Topology, TopologyError, load
from anabranch.topology.readers.registry import READERS
from anabranch.topology.sources.files import sniff
from anabranch.topology.traffic import TrafficFile, is_rate_table
from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.load import head_text, recognised

ROOT = Path(__file__).parents[2]
OWN = ROOT / "tests" / "topology" / "data"
PAGE = ROOT / "docs" / "topologies.md"
OWN_HEAD = "| file | format | read as |\n|---|---|---|\n"
OTHER_HEAD = "| file of other people | format | read as |\n|---|---|---|\n"


def own_rows() -> list[str]:
    """A row for each file of the tests: its format and what is in the network."""
    rows = []
    for path in _files([OWN]):
        network = load(f"file:{path.name}", base=path.parent)
        rows.append(f"| `{path.name}` | {_format(path)} | {', '.join(_facts(network))} |\n")
    return rows


def other_rows(folders: Iterable[Path]) -> list[str]:
    """A row for each file in folders: what it is read as, or what is said where it is not read."""
    return [f"| `{path.name}` | {' | '.join(_read_as(path))} |\n" for path in _files(folders)]


def _read_as(path: Path) -> tuple[str, str]:
    """The format of a file of any kind and what is in it: a network, traffic, a measurement, a capture."""
    head = path.read_bytes()[: 1 << 16]
    traffic = recognised(head)
    if traffic is None or traffic.name in READERS:
        try:
            network = load(f"file:{path.name}", base=path.parent)
            if network.links or traffic is None:
                return _format(path), ", ".join(_facts(network))
        except TopologyError:
            pass
    problem = ""
    if traffic is None and not is_rate_table(head_text(head)):
        try:
            return _measured(analyze([path]))
        except CaptureError as error:
            problem = error.problems[0].message
    try:
        read = traffic_of(path.name, path.parent)
    except TrafficError as error:
        is_capture = "packet capture" in error.what
        return "not read", problem if is_capture else f"{error.what}; {error.remedy}"
    return (traffic.name if traffic else "CSV of rates"), "a matrix" if read is None else _of_traffic(read)


def _measured(result: CaptureResult) -> tuple[str, str]:
    tools = ", ".join(map(str, result.summary.get("measured_by", ["capture"])))
    subflows = _count(result.subflows.height, "subflow")
    return tools, f"{_count(result.connections.height, 'connection')}, {subflows}"


def _of_traffic(read: TrafficFile) -> str:
    if read.matrices:
        count = sum(len(matrix.value) for matrix in read.matrices)
        entries = "1 entry" if count == 1 else f"{count} entries"
        return (
            f"{len(read.matrices)} matrices, {entries}"
            if len(read.matrices) > 1
            else f"a matrix of {entries}"
        )
    if len(read.flows.bytes):
        return _count(len(read.flows.bytes), "flow")
    return f"a distribution of sizes by {_count(len(read.sizes), 'point')}"


def page(text: str, folders: Iterable[Path]) -> str:
    """The page with both tables.

    Raises:
        ValueError: if the page does not have them.
    """
    others = other_rows(folders)
    for head, rows in ((OWN_HEAD, own_rows()), (OTHER_HEAD, others)):
        if head not in text:
            raise ValueError(f"docs/topologies.md has no table {head.splitlines()[0]}")
        if rows:
            old = re.search(rf"{re.escape(head)}(?:\|.*\n)*", text)
            text = text.replace(old.group() if old else head, head + "".join(rows))
    return text


def _files(folders: Iterable[Path]) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]


def _format(path: Path) -> str:
    return sniff(path.read_bytes()[: 1 << 16], path.name)


def _facts(network: Topology) -> list[str]:
    """What is in a network, leaving out what is not."""
    links = network.links
    counts = {
        "one way": sum(link.directed for link in links),
        "with capacity": sum(link.capacity_bps is not None for link in links),
        "with delay": sum(link.delay_ps is not None for link in links),
        "with loss": sum(link.loss is not None for link in links),
        "with weight": sum(link.weight is not None for link in links),
        "of a length in the file": sum(link.length_source == "file" for link in links),
    }
    kinds = [node.kind for node in network.nodes]
    placed = sum(node.place is not None and node.place.source == "file" for node in network.nodes)
    of_nodes = [_count(kinds.count(kind), kind) for kind in ("host", "switch") if kind in kinds]
    of_nodes += [f"{placed} with a place"] if placed else []
    of_links = [f"{count} {what}" for what, count in counts.items() if count]
    facts = [
        _count(len(kinds), "node") + _in_brackets(of_nodes),
        _count(len(links), "link") + _in_brackets(of_links),
    ]
    return facts + ([_count(len(network.demands), "demand")] if network.demands else [])


def _count(count: int, what: str) -> str:
    ending = "" if count == 1 else "es" if what.endswith("ch") else "s"
    return f"{count} {what}{ending}"


def _in_brackets(words: list[str]) -> str:
    return f" ({', '.join(words)})" if words else ""


def main(folders: Iterable[Path]) -> None:
    """Writes the tables into the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), folders), encoding="utf-8")


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]])
