"""From a transport's name and changes to all its choices as numbers."""

from __future__ import annotations

import json
from typing import Any

from anabranch import _core
from anabranch.scenario.messages import unknown_choice
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.transport import PARAMETERS, Transport
from anabranch.setup.model import TransportSetup
from anabranch.setup.problems import Problems

_PLAIN = {
    "mss": "mss",
    "sack": "sack",
    "timestamps": "timestamps",
    "ecn": "ecn",
    "initial_window_segments": "initial_window_segments",
    "receive_buffer": "receive_buffer_bytes",
    "delayed_ack_segments": "delayed_ack_segments",
    "delayed_ack_timeout": "delayed_ack_timeout",
    "initial_rto": "initial_rto",
    "min_rto": "min_rto",
    "max_rto": "max_rto",
    "undo": "undo",
}
"""The core's name of each field that is neither a choice nor a parameter of one."""

# Gains of Linux: net.ipv4.tcp_pacing_ss_ratio and tcp_pacing_ca_ratio, in percent 200 and 120. No preset
# paces by the window, so that they stand here.
_WINDOW_PACING = {"name": "window", "slow_start_gain": 2.0, "avoidance_gain": 1.2}

# At least Linux's TCP_MIN_MSS; at most what an IPv4 packet of 65,535 bytes holds beside 20 bytes of IP header
# and 60 of TCP header, less a margin that the core keeps.
_SMALLEST_MSS_BYTES, _LARGEST_MSS_BYTES = 88, 65_435
# RFC 7323 section 2.3: a window of 16 bits, shifted by at most 14.
_LARGEST_RECEIVE_BUFFER_BYTES = 65_535 << 14


class Transports:
    """The transports of a run, made when a flow first names them."""

    def __init__(self, scenario: Scenario, problems: Problems) -> None:
        self._tables = scenario.transport
        self._problems = problems
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
        tcp = self._resolve(name, self._tables.get(name, Transport()))
        if tcp is None:
            return None
        self.setups.append(TransportSetup(name, tcp))
        return len(self.setups) - 1

    def _unknown(self, name: str, place: str) -> None:
        known = list(dict.fromkeys([*self._tables, *self._presets]))
        self._problems.add(place, f"transport {unknown_choice(name, known)}")

    def _resolve(self, name: str, table: Transport) -> dict[str, Any] | None:
        place = f"transport.{name}"
        preset = table.preset or name
        if preset not in self._presets:
            if table.preset is None:
                message = f"is missing; {quoted(name)} is no preset itself: {', '.join(self._presets)}"
            else:
                message = unknown_choice(preset, self._presets)
            self._problems.add(f"{place}.preset", message)
            return None
        tcp: dict[str, Any] = json.loads(_core.transport_preset(preset))
        for field, key in _PLAIN.items():
            value = getattr(table, field)
            if value is not None:
                tcp[key] = int(value) if not isinstance(value, bool) else value
        for choice in PARAMETERS:
            tcp[choice] = self._component(choice, tcp[choice], table, place)
        self._check(tcp, place)
        return tcp

    def _component(
        self, choice: str, current: dict[str, Any], table: Transport, place: str
    ) -> dict[str, Any]:
        """One choice with its parameters: the preset's, or the defaults of another one."""
        name = getattr(table, choice) or current["name"]
        component = dict(current) if name == current["name"] else self._default(choice, name)
        for owner, parameters in PARAMETERS[choice].items():
            for parameter in parameters:
                value = getattr(table, parameter)
                if value is None or (owner != name and parameter in PARAMETERS[choice][name]):
                    continue
                if parameter in component:
                    component[parameter] = value
                else:
                    owners = [o for o, owned in PARAMETERS[choice].items() if parameter in owned]
                    self._problems.add(
                        f"{place}.{parameter}",
                        f"is a parameter of {' and '.join(owners)}; the {choice} here is {quoted(name)}",
                    )
        return component

    def _default(self, choice: str, name: str) -> dict[str, Any]:
        """A component with the parameters that the presets give it."""
        for preset in self._presets:
            component: dict[str, Any] = json.loads(_core.transport_preset(preset))[choice]
            if component["name"] == name:
                return component
        if choice == "pacing" and name == "window":
            return dict(_WINDOW_PACING)
        raise AssertionError(f"no preset has the {choice} {name}, and it has no defaults here")

    def _check(self, tcp: dict[str, Any], place: str) -> None:
        if not _SMALLEST_MSS_BYTES <= tcp["mss"] <= _LARGEST_MSS_BYTES:
            self._problems.add(f"{place}.mss", f"{tcp['mss']} B is not between 88 B and 65435 B")
        if not tcp["mss"] <= tcp["receive_buffer_bytes"] <= _LARGEST_RECEIVE_BUFFER_BYTES:
            self._problems.add(
                f"{place}.receive_buffer",
                f"{tcp['receive_buffer_bytes']} B is not between one segment and "
                f"{_LARGEST_RECEIVE_BUFFER_BYTES} B, the largest window that can be advertised",
            )
        if tcp["min_rto"] > tcp["max_rto"]:
            self._problems.add(f"{place}.min_rto", "is above max_rto")
        if tcp["delayed_ack_timeout"] > tcp["max_rto"]:
            self._problems.add(f"{place}.delayed_ack_timeout", "is above max_rto")
