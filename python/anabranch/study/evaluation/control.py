"""The control that is evaluated, a preset or a class in Python, and the transports beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.scenario.choice import QUANTITIES
from anabranch.scenario.declarations import PYTHON, written_parameters
from anabranch.scenario.files import code_file
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.quantity import quoted
from anabranch.scenario.reading import field_steps, value_of, with_value
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.unknown import unknown_choice

Transport = dict[str, Any]
"""A table ``[transport.NAME]``."""

OWN = "own"
"""The name of the evaluated transport in every scenario."""
ECN = "own-ecn"
"""The same with ``ecn = true``."""
MULTIPATH = "own-multipath"
"""Its congestion control on each subflow of Multipath TCP."""
CUBIC, BBR, RENO = "cubic", "bbr", "reno"
"""The names of the transports beside it."""

USUAL_PRESET = "newreno"
"""What the rest of the sender does where the control is a class."""
_LINUX = "linux-"
_MULTIPATH = "mptcp"
_CHOICE = "congestion_control"


@dataclass(frozen=True)
class Control:
    """A congestion control, with the transport that it runs in."""

    name: str
    """For people: a preset, or ``module:Class``."""
    transport: Transport
    rivals: Mapping[str, str] = field(repr=False)
    """The presets behind :data:`CUBIC`, :data:`BBR` and :data:`RENO`."""
    base: Path | None = None
    """The folder where the module of a class is looked for."""
    provenance: Provenance = field(default_factory=Provenance, repr=False)

    def cubic(self) -> Control:
        """CUBIC in its place, with the loss detection of the other transports beside it."""
        return Control(self.rivals[CUBIC], {"preset": self.rivals[CUBIC]}, self.rivals)

    def scenario(self, data: Mapping[str, Any], transports: Sequence[str]) -> Scenario:
        """A scenario of plain data, with the transports of these names.

        Raises:
            ScenarioError: if the control is none.
        """
        whole = {**data, "transport": self.tables(transports)}
        return Scenario.from_data(whole, base=self.base, provenance=self.provenance)

    def tables(self, names: Sequence[str]) -> dict[str, Transport]:
        """The tables of the transports of these names."""
        return {name: self._table(name) for name in dict.fromkeys(names)}

    def _table(self, name: str) -> Transport:
        if name == OWN:
            return self.transport
        if name == ECN:
            return {**self.transport, "ecn": True}
        return self._multipath() if name == MULTIPATH else {"preset": self.rivals[name]}

    def _multipath(self) -> Transport:
        """Multipath TCP with the congestion control on each subflow, uncoupled unless it couples itself."""
        preset = str(self.transport["preset"])
        if json.loads(_core.transport_preset(preset))["algorithm"] == "mptcp":
            return self.transport
        family = "linux-mptcp" if preset.startswith(_LINUX) else _MULTIPATH
        return {"preset": family, _CHOICE: self.transport.get(_CHOICE) or _choice_of(preset)}


def control_of(
    text: str,
    preset: str | None = None,
    settings: Sequence[str] = (),
    *,
    base: Path | None = None,
    trust: bool = False,
) -> Control:
    """The control that somebody names.

    Args:
        text: a preset of TCP or Multipath TCP, or a class as ``module:Class`` or ``file.py:Class``.
        preset: what the rest of the sender does where it is a class; ``newreno`` if None.
        settings: texts FIELD=VALUE that change the transport, such as ``congestion_control.beta=0.8``.
        base: the folder where the module is looked for; None for the current one.
        trust: let the code of a class run, whoever has written it.

    Raises:
        ScenarioError: if there is no such preset, it is no TCP, or a setting is none.
    """
    presets = tcp_presets()
    if ":" in text:
        chosen = preset or USUAL_PRESET
        transport: Transport = {"preset": chosen, _CHOICE: {PYTHON: text}}
    elif preset is not None:
        message = f"is for a class in Python; {quoted(text)} is a preset itself"
        raise ScenarioError([Problem("--preset", message)])
    else:
        chosen, transport = text, {"preset": text}
    if chosen not in presets:
        place = "CONTROL" if chosen == text else "--preset"
        is_preset = chosen in _core.transport_preset_names()
        message = (
            f"{quoted(chosen)} is no TCP, which RFC 9743's scenarios are of; there are {', '.join(presets)}"
            if is_preset
            else f'{unknown_choice(chosen, presets)}, or a class as "module:Class"'
        )
        raise ScenarioError([Problem(place, message)])
    linux = _LINUX if chosen.startswith(_LINUX) else ""
    rivals = {CUBIC: f"{linux}cubic", BBR: f"{linux}bbr", RENO: "linux-reno" if linux else "newreno"}
    for setting in settings:
        transport = _with_setting(transport, setting)
    file = code_file(text.rpartition(":")[0], base) if ":" in text else None
    provenance = Provenance() if file is None else Provenance.of_file((base or Path()) / file)
    return Control(text, transport, rivals, base, provenance.with_trust() if trust else provenance)


def tcp_presets() -> list[str]:
    """The presets of TCP and of Multipath TCP."""
    protocols = {name: json.loads(_core.transport_preset(name)) for name in _core.transport_preset_names()}
    return [name for name, preset in protocols.items() if preset["algorithm"] in ("tcp", "mptcp")]


def _with_setting(transport: Transport, setting: str) -> Transport:
    name, separator, value = setting.partition("=")
    if not separator or not name.strip():
        message = f"{setting!r} is not FIELD=VALUE, such as congestion_control.beta=0.8"
        raise ScenarioError([Problem("", message)], "--set")
    try:
        steps = field_steps(name.strip())
        if steps[0] == _CHOICE and len(steps) > 1 and _CHOICE not in transport:
            transport = {**transport, _CHOICE: _choice_of(transport["preset"])}
        return with_value(transport, steps, value_of(value.strip()))
    except ValueError as error:
        raise ScenarioError([Problem("", str(error))], "--set") from None


def _choice_of(preset: str) -> dict[str, Any]:
    """The congestion control of a preset, whose quantities are base units, as a scenario writes it."""
    resolved = json.loads(_core.transport_preset(preset))
    choice = resolved.get("tcp", resolved)[_CHOICE]
    declared = written_parameters("congestion_control", choice["algorithm"])
    return {"algorithm": choice["algorithm"]} | {
        name: QUANTITIES[entry["kind"]](choice[name]).plain if entry["kind"] in QUANTITIES else choice[name]
        for name, entry in declared.items()
        if choice.get(name) is not None
    }
