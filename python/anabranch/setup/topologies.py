"""Loading the topology that a scenario names, with a generator's parameters in units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn

from anabranch import _core, topology
from anabranch.scenario.place import key_in_place
from anabranch.scenario.quantity import Quantity, Rate, Span, quoted
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.tables import Network
from anabranch.setup.problems import Problems
from anabranch.topology import GENERATORS, Topology, TopologyError
from anabranch.topology.attributes.choices import TABLE as ATTRIBUTES

_UNITS: Mapping[str, type[Quantity]] = {"_bps": Rate, "_ps": Span}
"""Suffix of a generator's parameter that takes a quantity; in a scenario the value has the unit."""

_SUFFIX = re.compile(r"(?<=[a-z])_(bps|ps)\b")
_PLACE = "network.parameters"


def load_topology(scenario: Scenario, problems: Problems) -> Topology:
    """The topology that the scenario names, or an empty one where it names none.

    Raises:
        ScenarioError: if it cannot be had.
    """
    network = scenario.network
    if network.topology is None:
        return Topology("this scenario", (), ())
    parameters = _in_base_units(network, problems)
    problems.raise_if_any()
    try:
        attributes = _attributes(network)
        return topology.load(network.topology, scenario.base, attributes=attributes, **parameters)
    except TopologyError as error:
        _refuse(network, error, problems)


def _attributes(network: Network) -> dict[str, object]:
    """What the scenario says of the attributes of a topology's file."""
    if network.file is None or network.file.attributes is None:
        return {}
    return network.file.attributes.data(given_only=True)


def is_generated(network: Network) -> bool:
    """Whether the topology comes from a generator, so that its values stand in the scenario itself."""
    return network.topology in GENERATORS


def plain_network(scenario: Scenario) -> str:
    """The network that the scenario's topology gives, as JSON: the core takes it where no Python runs.

    Raises:
        ScenarioError: if it cannot be had.
    """
    network = load_topology(scenario, Problems(scenario.origin))
    return _core.plain_network(network, is_generated(scenario.network))


def _in_base_units(network: Network, problems: Problems) -> dict[str, object]:
    """A generator's parameters under its own names: ``capacity = "10 Mbps"`` is ``capacity_bps``."""
    generator = GENERATORS.get(network.topology or "")
    if generator is None:
        return dict(network.parameters)
    # The entries of a list of paths have the same quantities as all paths together.
    quantities = {
        parameter.name.removesuffix(suffix): (parameter.name, unit)
        for parameter in generator.parameters
        for suffix, unit in _UNITS.items()
        if parameter.name.endswith(suffix)
    }

    def converted(place: str, table: Mapping[str, Any]) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, value in table.items():
            inside = f"{place}.{key_in_place(key)}"
            if key in quantities:
                name, unit = quantities[key]
                try:
                    result[name] = int(unit.validate(value))
                except ValueError as error:
                    problems.add(inside, str(error))
            elif _SUFFIX.search(key):
                problems.add(inside, f"no such parameter; nearest: {quoted(_SUFFIX.sub('', key))}")
            else:
                result[key] = nested(inside, value)
        return result

    def nested(place: str, value: Any) -> object:
        if isinstance(value, dict):
            return converted(place, value)
        if isinstance(value, list):
            return [nested(f"{place}[{index}]", entry) for index, entry in enumerate(value)]
        return value

    return converted(_PLACE, network.parameters)


def _refuse(network: Network, error: TopologyError, problems: Problems) -> NoReturn:
    """Notes why there is no such topology, with the parameter as the place where that is known."""
    remedy = f"; {error.remedy}" if error.remedy else ""
    message = f"{error.what}{remedy}"
    generator = network.topology if is_generated(network) else None
    parameter = error.where.removeprefix(f"{generator}").removeprefix(": ") if generator else ""
    if generator is not None:
        place = f"{_PLACE}.{_SUFFIX.sub('', parameter)}" if parameter else _PLACE
        problems.add(place, f"{generator}: {_SUFFIX.sub('', message)}")
    elif error.where.startswith(ATTRIBUTES):
        problems.add(error.where, message)
    else:
        where = f"{error.where}: " if error.where else ""
        problems.add("network.topology", f"{where}{message}")
    problems.raise_if_any()
    raise AssertionError("a problem was noted above")
