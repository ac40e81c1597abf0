"""From a transport's name and changes to all its choices as numbers."""

from __future__ import annotations

import json
from typing import Any

from anabranch import _core
from anabranch.scenario.messages import unknown_choice
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.transport import CHOICES, FIELDS, PARAMETERS, Transport, fields_of
from anabranch.setup.model import TransportSetup
from anabranch.setup.problems import Problems

# Gains of Linux: net.ipv4.tcp_pacing_ss_ratio and tcp_pacing_ca_ratio, in percent 200 and 120. No preset
# paces by the window, so that they stand here.
_WINDOW_PACING = {"name": "window", "slow_start_gain": 2.0, "avoidance_gain": 1.2}

# At least Linux's TCP_MIN_MSS; at most what an IPv4 packet of 65,535 bytes holds beside 20 bytes of IP header
# and 60 of TCP header, less a margin that the core keeps.
_SMALLEST_MSS_BYTES, _LARGEST_MSS_BYTES = 88, 65_435
# The headers of a segment of these protocols take 40 bytes; IPv4 counts to 65,535.
_SMALLEST_SEGMENT_BYTES, _LARGEST_SEGMENT_BYTES = 41, 65_535
# RFC 4653 section 3 requires SACK, RR-TCP its DSACK, and TCP-PR an acknowledgment of each segment.
_NEED_SACK = ("tcp-pr", "rr-tcp", "tcp-ncr")
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
        config = self._resolve(name, self._tables.get(name, Transport()))
        if config is None:
            return None
        self.setups.append(TransportSetup(name, config))
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
        config: dict[str, Any] = json.loads(_core.transport_preset(preset))
        self._check_fields(table, config["protocol"], preset, place)
        protocol = config["protocol"]
        self._fill(config, protocol, table, place)
        if protocol == "tcp":
            self._check_tcp(config, place)
        elif protocol == "mptcp":
            self._fill(config["tcp"], "tcp", table, place)
            self._check_tcp(config["tcp"], place)
        else:
            self._check_segments(config, place)
        return config

    def _fill(self, config: dict[str, Any], protocol: str, table: Transport, place: str) -> None:
        """Puts the table's own values in the place of the preset's."""
        for field, key in FIELDS[protocol].items():
            value = getattr(table, field)
            if value is not None:
                config[key] = value if isinstance(value, bool | str) else int(value)
        for choice in CHOICES.get(protocol, ()):
            config[choice] = self._component(choice, config[choice], table, place)

    def _check_fields(self, table: Transport, protocol: str, preset: str, place: str) -> None:
        """Notes every field that another protocol has, but not this one."""
        own = fields_of(protocol)
        for field in type(table).model_fields:
            if field == "preset" or field in own or getattr(table, field) is None:
                continue
            owners = [other for other in FIELDS if field in fields_of(other)]
            has = "" if protocol in CHOICES else f", which has {', '.join(own)}"
            self._problems.add(
                f"{place}.{field}",
                f"is a field of {' and '.join(owners)}; the protocol of {quoted(preset)} is {protocol}{has}",
            )

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
        if not PARAMETERS[choice][name]:
            return {"name": name}
        for preset in self._presets:
            component: dict[str, Any] | None = json.loads(_core.transport_preset(preset)).get(choice)
            if component is not None and component["name"] == name:
                return component
        if choice == "pacing" and name == "window":
            return dict(_WINDOW_PACING)
        raise AssertionError(f"no preset has the {choice} {name}, and it has no defaults here")

    def _check_segments(self, config: dict[str, Any], place: str) -> None:
        if not _SMALLEST_SEGMENT_BYTES <= config["segment_bytes"] <= _LARGEST_SEGMENT_BYTES:
            self._problems.add(
                f"{place}.segment",
                f"{config['segment_bytes']} B is not between 41 B, the headers and a byte, and 65535 B",
            )
        if config["initial_rto"] > config["max_rto"]:
            self._problems.add(f"{place}.initial_rto", "is above max_rto")

    def _check_tcp(self, tcp: dict[str, Any], place: str) -> None:
        if not _SMALLEST_MSS_BYTES <= tcp["mss"] <= _LARGEST_MSS_BYTES:
            self._problems.add(f"{place}.mss", f"{tcp['mss']} B is not between 88 B and 65435 B")
        if not tcp["mss"] <= tcp["receive_buffer_bytes"] <= _LARGEST_RECEIVE_BUFFER_BYTES:
            self._problems.add(
                f"{place}.receive_buffer",
                f"{tcp['receive_buffer_bytes']} B is not between one segment and "
                f"{_LARGEST_RECEIVE_BUFFER_BYTES} B, the largest window that can be advertised",
            )
        detection = tcp["loss_detection"]["name"]
        if detection in _NEED_SACK and not tcp["sack"]:
            self._problems.add(
                f"{place}.sack",
                f"is false, but the loss_detection {quoted(detection)} needs selective acknowledgments",
            )
        if tcp["min_rto"] > tcp["max_rto"]:
            self._problems.add(f"{place}.min_rto", "is above max_rto")
        if tcp["delayed_ack_timeout"] > tcp["max_rto"]:
            self._problems.add(f"{place}.delayed_ack_timeout", "is above max_rto")
