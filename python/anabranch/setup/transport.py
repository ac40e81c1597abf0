"""From a transport's name and changes to all its choices as numbers."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from anabranch import _core
from anabranch.scenario.algorithm import Own, declarations, parameters_of
from anabranch.scenario.algorithms.protocol import AnyProtocol
from anabranch.scenario.choice import Algorithm, configuration, leaf_of_core
from anabranch.scenario.messages import unknown_choice
from anabranch.scenario.quantity import quoted
from anabranch.scenario.record import core_value
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.transport import CHOICES, Transport, fields_of
from anabranch.setup.model import TransportSetup
from anabranch.setup.own import OwnCode
from anabranch.setup.problems import Problems

# The runs of a study have the same transports over and over.
_preset = lru_cache(maxsize=1024)(_core.transport_preset)


@lru_cache(maxsize=1024)
def _complete(config: str) -> AnyProtocol:
    """A transport with all its choices, of JSON in which some may be left out."""
    found: AnyProtocol = leaf_of_core("protocol", json.loads(_core.resolve_transport(config)))
    return found


class Transports:
    """The transports of a run, made when a flow first names them."""

    def __init__(self, scenario: Scenario, own: OwnCode, problems: Problems) -> None:
        self._tables = scenario.transport
        self._problems = problems
        self.own = own
        self._presets = _core.transport_preset_names()
        self._indices: dict[str, int | None] = {}
        self.setups: list[TransportSetup] = []

    def check_unused(self) -> None:
        """Checks the tables that no flow names, so that a mistake does not wait until one does."""
        for name in self._tables:
            if name not in self._indices:
                self._resolve(name, self._tables[name])

    def index(self, name: str, place: str) -> int | None:
        """Index of a transport; an unknown one is noted, with the nearest name."""
        if name not in self._indices:
            self._indices[name] = self._make(name, place)
        elif self._indices[name] is None and name not in self._tables:
            self._unknown(name, place)
        return self._indices[name]

    def _make(self, name: str, place: str) -> int | None:
        if name not in self._tables and name not in self._presets:
            self._unknown(name, place)
            return None
        config = self._resolve(name, self._tables.get(name, Transport()))
        if config is None:
            return None
        self.setups.append(TransportSetup(name, config))
        return len(self.setups) - 1

    def _unknown(self, name: str, place: str) -> None:
        known = list(dict.fromkeys([*self._tables, *self._presets]))
        self._problems.add(place, f"transport {unknown_choice(name, known)}")

    def _resolve(self, name: str, table: Transport) -> AnyProtocol | None:
        place = f"transport.{name}"
        preset = table.preset or name
        if preset not in self._presets:
            if table.preset is None:
                message = f"is missing; {quoted(name)} is no preset itself: {', '.join(self._presets)}"
            else:
                message = unknown_choice(preset, self._presets)
            self._problems.add(f"{place}.preset", message)
            return None
        config: dict[str, Any] = json.loads(_preset(preset))
        protocol = config["algorithm"]
        self._check_fields(table, protocol, preset, place)
        before = len(self._problems)
        self._fill(config, protocol, table, place)
        if protocol == "mptcp":
            self._fill(config["tcp"], "tcp", table, place)
        if len(self._problems) > before:
            return None
        try:
            return _complete(json.dumps(config))
        except _core.SetupError as error:
            parameter, problem = error.args
            # The core has the subflows' TCP in a table of its own; the scenario has it beside the rest.
            self._problems.add(f"{place}.{parameter.removeprefix('tcp.')}", problem)
            return None

    def _fill(self, config: dict[str, Any], protocol: str, table: Transport, place: str) -> None:
        """Puts the table's own values in the place of the preset's."""
        for field in parameters_of("protocol", protocol):
            value: str | Algorithm | Own | Any = getattr(table, field)
            if isinstance(value, Own):
                load = self.own.scheduler if field == "scheduler" else self.own.control
                if (found := load(value, f"{place}.{field}")) is not None:
                    config[field] = found.core()
            elif value is not None:
                config[field] = configuration(value) if field in CHOICES else core_value(value)

    def _check_fields(self, table: Transport, protocol: str, preset: str, place: str) -> None:
        """Notes every field that another protocol has, but not this one."""
        own = fields_of(protocol)
        for field in type(table).model_fields:
            if field == "preset" or field in own or getattr(table, field) is None:
                continue
            owners = [other for other in declarations()["protocol"] if field in fields_of(other)]
            has = "" if protocol in ("tcp", "mptcp") else f", which has {', '.join(own)}"
            self._problems.add(
                f"{place}.{field}",
                f"is a field of {' and '.join(owners)}; the protocol of {quoted(preset)} is {protocol}{has}",
            )
