"""Systems of the user's own: what a scenario says of routing, transport and control, without its network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anabranch.errors import Problem
from anabranch.scenario.files import with_files
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.terminal.command_options import load_scenario
from anabranch_publications.comparison.systems import SYSTEMS, System
from anabranch_publications.errors import ComparisonError

_NOT_OF_A_SYSTEM = ("demand", "reaction")
"""Fields of ``[routing]`` that belong to the network that is compared on."""
_CONTROL = ("application", "metric", "statistics_interval", "table", "linger")
"""Fields of ``[controller]`` that belong to a system; the others say where it is."""


def added_systems(files: Sequence[Path], *, trust: bool = False) -> tuple[System, ...]:
    """A system for each scenario, named after its file, or its folder where that is ``scenario.toml``.

    Args:
        files: the scenarios.
        trust: let the code that they name run without a question.

    Raises:
        ConsentError: if nobody has agreed to that code.
        ComparisonError: if a name is taken, or the flows of a scenario have several transports.
        ScenarioError: if a scenario cannot be read.
    """
    systems: dict[str, System] = {}
    for file in files:
        system = _system(file, trust=trust)
        if system.name in SYSTEMS or system.name in systems:
            message = f"there is a system {quoted(system.name)} already; rename the file {file}"
            raise ComparisonError([Problem("--add", message)])
        systems[system.name] = system
    return tuple(systems.values())


def _system(file: Path, *, trust: bool) -> System:
    scenario = load_scenario(file, None, None, routes_only=False, trust=trust)
    name = file.resolve().parent.name if file.stem == "scenario" else file.stem
    routing = {
        key: value for key, value in _there(scenario, "routing").items() if key not in _NOT_OF_A_SYSTEM
    }
    control = {key: value for key, value in _there(scenario, "controller").items() if key in _CONTROL}
    title = scenario.title or name
    return System(
        name,
        name,
        f"as in {file.name}: {title}" if title != name else f"as in {file.name}",
        str(file),
        "flow" if control else "path",
        _transport(scenario, file),
        {"scheme": "shortest", **({} if control else routing)},
        control or None,
        Provenance.worker(scenario.provenance.agreement),
    )


def _there(scenario: Scenario, table: str) -> dict[str, Any]:
    """A table of the scenario, with files and modules by their whole names."""
    base = scenario.base or Path()

    def whole(name: str, _place: str) -> str:
        return str((base / name).resolve())

    data: Mapping[str, Any] = with_files(scenario.data(), whole, base=base)
    return dict(data.get(table, {}))


def _transport(scenario: Scenario, file: Path) -> dict[str, Any]:
    """The transport of all its flows.

    Raises:
        ComparisonError: if there are several.
    """
    names = sorted({str(entry.transport) for entry in scenario.traffic if not entry.has_datagrams})
    if len(names) != 1:
        several = ", ".join(map(quoted, names)) or "none"
        message = f"the flows of {file} must have one transport, which the system has; they have {several}"
        raise ComparisonError([Problem("--add", message)])
    transport: dict[str, Any] = _there(scenario, "transport").get(names[0], {"preset": names[0]})
    return transport
