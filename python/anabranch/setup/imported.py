"""A scenario to start from, of files of other programs: a network, and the traffic over it.

What no file says and a run needs is filled in with a value that is noted.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import tomli_w

from anabranch import topology
from anabranch.errors import ImportFilesError, ScenarioError, reason
from anabranch.scenario.files import FILE
from anabranch.scenario.scenario import Scenario
from anabranch.setup import resolve
from anabranch.setup.files import traffic_of
from anabranch.setup.model import Setup
from anabranch.text.files import open_given
from anabranch.topology import Topology, TopologyError
from anabranch.topology.describe import format_bps
from anabranch.topology.model import MAX_CAPACITY_BPS
from anabranch.topology.readers.registry import READERS
from anabranch.topology.sources.files import sniff, unread_format
from anabranch.topology.traffic import TrafficFile, is_rate_table
from anabranch.topology.traffic.load import head_text, recognised
from anabranch.topology.traffic.seems import what_it_seems

_HEAD_BYTES: Final = 1 << 16
_ASSUMED: Final = {
    "network.links.capacity": ("capacity", "1 Gbps"),
    "network.links.delay": ("delay", "5 ms"),
}
"""What links get where no file says it, by the place of the mistake that it would be."""
_PACKET_BITS: Final = 1500 * 8
_MOST_PACKETS: Final = 500_000
"""Packets that a first run should have at most, so that it ends soon."""
_MOST_ENDS: Final = 100
"""Nodes that a scenario names at most."""
_ABILENE: Final = "sndlib/abilene"


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file, and what was taken from it."""

    name: str
    holds: str
    """What it is, in a line."""
    notes: tuple[str, ...]
    """What was read, assumed and left out, in sentences."""


@dataclass(frozen=True, slots=True)
class ImportedScenario:
    """A scenario of files."""

    text: str
    """As TOML."""
    files: tuple[ImportedFile, ...]
    assumed: tuple[str, ...]
    """What no file says and stands in the scenario, in sentences."""
    loads: bool
    """Whether it has a matrix, so that there are loads."""


@dataclass(slots=True)
class _Found:
    network: Topology | None = None
    network_name: str = ""
    matrix: Mapping[str, Any] | None = None
    series: int = 1
    flows: str | None = None
    last_start_s: float = 0.0
    sizes: str | None = None
    files: list[ImportedFile] = field(default_factory=list)


def import_files(files: Sequence[Path], folder: Path, *, named: str | None = None) -> ImportedScenario:
    """A scenario of these files, which runs and has loads.

    Args:
        files: a network, a matrix or a series of them (a folder, too), a list of flows, sizes of flows.
        folder: where the scenario will lie; names of files in it are relative to that.
        named: a network by its name, such as ``zoo/Abilene``, in place of a file of one.

    Raises:
        ImportFilesError: a file of no known format, two files of one kind, or no network.
        TopologyError: a network that cannot be read.
        TrafficError: traffic that cannot be read.
        ScenarioError: what does not go together, such as a matrix for other nodes.
    """
    content = _Found()
    if named is not None:
        content.network, content.network_name = topology.load(named), named
        content.files.append(ImportedFile(named, _of_network(content.network), content.network.provenance))
    for file in files:
        _take(file, FILE + _relative(file, folder), content)
    if content.network is None:
        raise ImportFilesError(_without_network(content))
    if content.matrix is None and content.network.demands and named is None:
        content.matrix = {"from": "topology"}
    if content.matrix is None and content.flows is None and content.sizes is None:
        content.sizes = ""
    if len(content.network.nodes) < 2:
        raise ImportFilesError(f"{content.network_name}: has one node, and traffic needs two")
    data, assumed = _completed(_data(content), folder)
    assumed = [*_choices(content), *assumed]
    text = "".join(f"# {line}\n" for line in assumed) + _text(data)
    return ImportedScenario(text, tuple(content.files), tuple(assumed), content.matrix is not None)


def _text(data: dict[str, Any]) -> str:
    """The scenario as TOML, each entry of traffic as a table of its own."""
    rest = tomli_w.dumps({key: value for key, value in data.items() if key != "traffic"})
    entries = (
        "".join(f"{key} = {_inline(value)}\n" for key, value in entry.items()) for entry in data["traffic"]
    )
    return rest + "".join(f"\n[[traffic]]\n{entry}" for entry in entries)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_inline(entry)}" for key, entry in value.items()) + " }"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n")


def _relative(file: Path, folder: Path) -> str:
    return Path(os.path.relpath(file, folder)).as_posix()


def _take(file: Path, name: str, content: _Found) -> None:
    """Takes what is in a file; a network with demands gives both."""
    head = _head(file)
    reader = None if head is None else recognised(head)
    is_traffic = head is None or is_rate_table(head_text(head)) or reader is not None
    # Whatever lists traffic alone is no network, though a reader of edges may take its columns for some.
    may_be_network = not is_traffic or (reader is not None and reader.name in READERS)
    format_name = _network_format(head, str(file)) if head is not None and may_be_network else None
    if format_name is None and not is_traffic:
        unread = unread_format(head or b"")
        if unread is not None:
            raise ImportFilesError(f"{file}: {unread.what}; {unread.conversion}")
        seems = what_it_seems(head or b"", str(file))
        raise ImportFilesError(f"{file}: {seems.what}; {seems.remedy}")
    network = None if format_name is None else _network(file, is_traffic=is_traffic)
    if network is not None and (network.links or not is_traffic):
        _once(content.network_name, "network", name)
        content.network, content.network_name = network, name
        content.files.append(ImportedFile(str(file), _of_network(network), network.provenance))
        return
    traffic = traffic_of(str(file), None)
    notes = ("The CSV has a rate and its unit for each pair.",) if traffic is None else traffic.notes
    if traffic is None or traffic.matrices:
        _once("" if content.matrix is None else str(content.matrix["from"]), "traffic matrix", name)
        content.matrix, content.series = {"from": name}, 1 if traffic is None else len(traffic.matrices)
    elif len(traffic.flows.bytes):
        _once(content.flows or "", "list of flows", name)
        content.flows, content.last_start_s = name, float(traffic.flows.start_ps.max()) / 1e12
    else:
        _once(content.sizes or "", "distribution of sizes", name)
        content.sizes = name
    content.files.append(ImportedFile(str(file), _of_traffic(traffic), notes))


def _network(file: Path, *, is_traffic: bool) -> Topology | None:
    """The network in a file; None where it has none, and traffic all the same.

    Raises:
        TopologyError: where it has neither.
    """
    try:
        return topology.load(f"{FILE}{file}")
    except TopologyError:
        if is_traffic:
            return None
        raise


def _once(before: str, what: str, name: str) -> None:
    if before:
        raise ImportFilesError(
            f"{name.removeprefix(FILE)}: a second {what}, beside {before}; give one of the two"
        )


def _head(file: Path) -> bytes | None:
    """The first bytes of a file; None for a folder, or a pattern, which is a series.

    Raises:
        ImportFilesError: if it cannot be read.
    """
    if file.is_dir() or not file.exists():
        return None
    try:
        with open_given(file) as stream:
            return stream.read(_HEAD_BYTES)
    except OSError as error:
        hint = "; save what comes through a pipe as a file" if file.is_fifo() else ""
        raise ImportFilesError(f"{file}: cannot be read: {reason(error)}{hint}") from None


def _network_format(head: bytes, where: str) -> str | None:
    """The format of a network's file with this head; None for none."""
    try:
        return sniff(head, where)
    except TopologyError:
        return None


def _of_network(network: Topology) -> str:
    given = sum(link.capacity_bps is not None for link in network.links)
    return f"a network of {len(network.nodes)} nodes and {len(network.links)} links, {given} with a capacity"


def _rate(bps: float) -> str:
    """What a file says may be of any size, and no number at all."""
    return format_bps(round(bps)) if bps <= MAX_CAPACITY_BPS else f"{bps:g} bps"


def _of_traffic(traffic: TrafficFile | None) -> str:
    if traffic is None:
        return "a traffic matrix (CSV)"
    if len(traffic.matrices) > 1:
        return f"{len(traffic.matrices)} traffic matrices ({traffic.format})"
    if traffic.matrices:
        matrix = traffic.matrices[0]
        with np.errstate(over="ignore"):
            sent = float(np.sum(matrix.value))
        total = f"{sent:g} in all" if traffic.unit is None else _rate(sent * traffic.unit.bps)
        return f"a traffic matrix of {len(matrix.value)} entries, {total} ({traffic.format})"
    if len(traffic.flows.bytes):
        return f"{len(traffic.flows.bytes)} flows ({traffic.format})"
    return f"a distribution of sizes by {len(traffic.sizes)} points"


def _without_network(content: _Found) -> str:
    hint = _ABILENE if any("Abilene matrices" in file.holds for file in content.files) else "zoo/Abilene"
    return f"no file has a network, which the traffic crosses; give one, too, or --topology, such as {hint}"


def _data(content: _Found) -> dict[str, Any]:
    """The scenario as plain data, before what no file says is filled in."""
    title = "from " + ", ".join(Path(file.name).name for file in content.files)
    data: dict[str, Any] = {"title": title[:200], "network": {"topology": content.network_name}}
    entry: dict[str, Any] = {}
    run: dict[str, Any] = {"duration": "1 s"}
    size = {"size": content.sizes or "1 MB"}
    if _has_weights(content.network):
        data["routing"] = {"scheme": "ecmp", "metric": "weight"}
    if content.matrix is not None:
        number = {"number": 1} if content.series > 1 else {}
        data["routing"] = {**data.get("routing", {}), "demand": {"matrix": {**content.matrix, **number}}}
        udp = {"application": {"kind": "udp", "packet": "1500 B"}}
        entry = {"matrix": {**content.matrix, **number}, **(size if content.sizes else udp)}
    elif content.flows is None:
        entry = {"from": _ends(content.network), "pairs": "permutation", **size}
        run |= {"until": "done", "duration": "60 s"}
    entries = [entry] if entry else []
    if content.flows is not None:
        entries.append({"flow_list": content.flows})
        run = {"duration": f"{content.last_start_s + 60:.6g} s", "until": "done"}
    return {**data, "traffic": entries, "run": run}


def _has_weights(network: Topology | None) -> bool:
    """Whether each link has a weight by which routers can go: a whole number of 32 bits."""
    weights = () if network is None else [link.weight or 0.0 for link in network.links]
    return bool(weights) and all(1 <= weight < 2**32 and weight.is_integer() for weight in weights)


def _ends(network: Topology | None) -> str | list[str]:
    """The ends of traffic: all, or those in the largest part of a network that is in several."""
    parts = () if network is None else network.components()
    if network is None or len(parts) < 2:
        return "*"
    hosts = {node.name for node in network.nodes if node.kind == "host"}
    return [name for name in parts[0] if name in hosts or not hosts][:_MOST_ENDS]


def _choices(content: _Found) -> list[str]:
    """What was chosen where the files leave a choice, in sentences."""
    choices = []
    if _has_weights(content.network):
        choices.append("Each link has a weight: the routes are all the shortest by weight (ECMP).")
    ends = _ends(content.network)
    if content.matrix is None and content.flows is None and content.network is not None and ends != "*":
        parts = len(content.network.components())
        choices.append(
            f"The network is in {parts} parts: traffic is between {len(ends)} nodes of the largest."
        )
    return choices


def _completed(data: dict[str, Any], folder: Path) -> tuple[dict[str, Any], list[str]]:
    """The data with what no file says, and what that is, in sentences.

    Raises:
        ScenarioError: what is wrong besides.
    """
    assumed: list[str] = []
    links: dict[str, str] = {}
    while True:
        try:
            setup = resolve(Scenario.from_data(data, base=folder))
            break
        except ScenarioError as error:
            missing = next((_ASSUMED[place] for place in _missing(error, links)), None)
            if missing is None and not _needs_unit(error, data):
                raise
            if missing is None:
                assumed.append('No file says what 1 means in the matrix: unit = "1 Mbps" is a guess.')
                continue
            key, value = missing
            if key == "capacity":
                value = _capacity(data, folder) or value
            links[key] = value
            data = {**data, "network": {**data["network"], "links": dict(links)}}
            assumed.append(
                f"No file says the {key} of every link: {value} is a guess, for those without one."
            )
    return _shortened(data, setup, assumed), assumed


def _capacity(data: dict[str, Any], folder: Path) -> str | None:
    """A capacity for links without one: the first power of ten above what any node sends or gets.

    None where there is no matrix, or none with these links.
    """
    if "demand" not in data.get("routing", {}):
        return None
    links = dict(_ASSUMED.values())
    try:
        setup = resolve(
            Scenario.from_data({**data, "network": {**data["network"], "links": links}}, base=folder)
        )
    except ScenarioError:
        return None
    if setup.demand is None:
        return None
    *_, pair = setup.demand.arrays()
    most = max(pair.sum(axis=0).max(), pair.sum(axis=1).max(), 1e9)
    return format_bps(10 ** math.ceil(math.log10(most)))


def _missing(error: ScenarioError, links: Mapping[str, str]) -> Iterator[str]:
    """The places of what no file says among the mistakes."""
    for problem in error.problems:
        if problem.place in _ASSUMED and _ASSUMED[problem.place][0] not in links:
            yield problem.place


def _needs_unit(error: ScenarioError, data: dict[str, Any]) -> bool:
    """Whether a unit is all that the matrix lacks; then it has got one."""
    places = [problem.place for problem in error.problems if problem.place.endswith("matrix.unit")]
    tables = [entry["matrix"] for entry in data["traffic"] if "matrix" in entry]
    tables += [routing["demand"]["matrix"]] if "demand" in (routing := data.get("routing", {})) else []
    if not places or any("unit" in table for table in tables):
        return False
    for table in tables:
        table["unit"] = "1 Mbps"
    return True


def _shortened(data: dict[str, Any], setup: Setup, assumed: list[str]) -> dict[str, Any]:
    """The data with a run that is short enough to be simulated soon."""
    bps = sum(flow.source.core().get("rate", 0) for flow in setup.datagrams)
    if not bps or bps / _PACKET_BITS <= _MOST_PACKETS:
        return data
    seconds = _MOST_PACKETS * _PACKET_BITS / bps
    duration = f"{max(seconds * 1e3, 0.001):.3g} ms"
    assumed.append(
        f"The traffic is {format_bps(round(bps))}: the run of {duration} has some 500,000 packets."
    )
    return {**data, "run": {**data["run"], "duration": duration}}
