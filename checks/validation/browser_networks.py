"""Networks that have a name, as files that a page fetches: Topology Zoo, topohub, SNDlib, and generators.

``make networks`` writes one JSON file for each, by the name that ``Scenario.networkFile`` has for it
(docs/browser.md), and ``index.json``, which lists them. A generator's network is that of its parameters:
those of the generator itself, and those of the examples.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anabranch import Scenario, ScenarioError, topology
from anabranch.setup.problems import Problems
from anabranch.setup.topologies import load_topology, plain_network

ROOT = Path(__file__).parents[2]


def file_name(spec: str, parameters: Mapping[str, Any]) -> str:
    """The name of a network's file, as the core has it in ``network_file.rs``."""
    if not parameters:
        return f"{spec.lower()}.json"
    text = json.dumps(parameters, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{spec.lower()}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def network_file(scenario: Scenario) -> dict[str, Any]:
    """What such a file holds for a scenario that names a topology."""
    return {
        "topology": scenario.network.topology,
        "parameters": dict(scenario.network.parameters),
        "provenance": list(load_topology(scenario, Problems(None)).provenance),
        "network": json.loads(plain_network(scenario)),
    }


def scenarios() -> Iterator[Scenario]:
    """A scenario for each network: those that have a name, and those of the examples."""
    traffic = [{"from": "a", "to": "b", "transport": "cubic"}]
    for name in topology.names():
        yield Scenario.from_data(
            {"network": {"topology": name.spec}, "traffic": traffic, "run": {"duration": "1 s"}}
        )
    for file in sorted((ROOT / "examples").glob("*.toml")):
        try:
            scenario = Scenario.load(file)
        except ScenarioError:
            # A study, or another kind of file.
            continue
        if scenario.network.topology in topology.GENERATORS:
            yield scenario


def write_networks(folder: Path) -> tuple[int, int]:
    """Writes all files into a folder; their number and bytes."""
    entries: dict[str, dict[str, Any]] = {}
    size = 0
    for scenario in scenarios():
        content = network_file(scenario)
        name = file_name(content["topology"], content["parameters"])
        if name in entries:
            continue
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        size += len(text.encode())
        entries[name] = {
            "topology": content["topology"],
            "parameters": content["parameters"],
            "file": name,
            "nodes": len(content["network"]["nodes"]),
            "links": len(content["network"]["links"]),
        }
    (folder / "index.json").write_text(
        json.dumps(list(entries.values()), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    return len(entries), size


def main() -> None:
    """Writes the files and says how many."""
    folder = Path(sys.argv[1])
    count, size = write_networks(folder)
    sys.stdout.write(f"{folder}: {count} networks, {size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
