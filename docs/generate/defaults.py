"""Defaults: those that the schema knows, and those of presets."""

import json
from typing import Any

from anabranch import _core
from anabranch.scenario.quantity import ByteCount, Span

Schema = dict[str, Any]

CHOICES = ("loss_detection", "congestion_control", "pacing", "path_manager", "scheduler")
"""The choices of a transport that have parameters of their own."""


def shown(table: str, name: str, field: Schema) -> str:
    """A field's default as TOML would write it; nothing where there is none."""
    if table == "Transport":
        return _of_presets(name)
    default = field.get("default")
    if default is None or isinstance(default, dict) or default in ([], ""):
        return ""
    return _code(default)


def beside(table: str) -> list[str]:
    """What stands below a table's fields: the presets' choices, for transports."""
    if table != "Transport":
        return []
    lines = [
        "Defaults are the presets'. Where they differ, most have the first value, and those named another.\n",
        "| preset | protocol | what it chooses |",
        "|---|---|---|",
    ]
    for preset, config in _presets().items():
        fields = {**config.get("tcp", {}), **config}
        listed = ", ".join(
            f'`{choice} = "{fields[choice]["algorithm"]}"`' for choice in CHOICES if choice in fields
        )
        lines.append(f"| `{preset}` | {config['algorithm']} | {listed} |")
    return [*lines, ""]


def _presets() -> dict[str, dict[str, Any]]:
    return {name: json.loads(_core.transport_preset(name)) for name in _core.transport_preset_names()}


def _of_presets(name: str) -> str:
    """The value of a transport's field in the presets; each value with its presets where they differ."""
    entries: dict[str, list[str]] = {}
    for preset, config in _presets().items():
        value = _value(config, name)
        if value is not None:
            entries.setdefault(_code(value), []).append(preset)
    if len(entries) <= 1:
        return next(iter(entries), "")
    # The value of most presets needs no list.
    most = max(entries, key=lambda value: len(entries[value]))
    others = [f"{value} ({', '.join(presets)})" for value, presets in entries.items() if value != most]
    return "; ".join([most, *others])


def _value(config: dict[str, Any], name: str) -> object:
    """A field's value in a preset, as a scenario writes it; None if the preset has no such field."""
    value = {**config.get("tcp", {}), **config}.get(name)
    return str(value["algorithm"]) if isinstance(value, dict) else _in_units(name, value)


def _in_units(name: str, value: object) -> object:
    """Picoseconds and bytes as text with a unit."""
    if isinstance(value, int) and not isinstance(value, bool):
        if name.endswith(("_rto", "_timeout", "fastrto_max")):
            return Span(value).text
        if name in ("mss", "segment", "receive_buffer"):
            return ByteCount(value).text
    return value


def _code(value: object) -> str:
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case Span() | ByteCount():
            return _code(value.text)
        case str():
            return '`"0 s"`' if value == "0 ps" else f'`"{value}"`'
        case list():
            return f"`{json.dumps(value)}`"
        case _:
            return f"`{value}`"
