"""The fitted scenario as text, with a comment on each inferred value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anabranch import _core
from anabranch.fitting.outcome import Fit, InferredRange
from anabranch.fitting.path import PathModel, rate, scenario_data, span
from anabranch.text.comments import comment

SCENARIO, DOCUMENT = "fitted.toml", "fit.json"
_SCALES = {
    "rate_mbps": (1.0, "Mbps"), "rtt_ms": (1.0, "ms"), "buffer_bytes": (1e-3, "kB"),
    "jitter_ms": (1.0, "ms"),
    "udp_mbps": (1.0, "Mbps"), "uplink_packets": (1.0, "packets"), "policer_mbps": (1.0, "Mbps"),
    "policer_bytes": (1e-3, "kB"), "bucket_bytes": (1e-3, "kB"), "loss": (100.0, "%"),
}  # fmt: skip
_LABELS = {
    "rate_mbps": "capacity", "rtt_ms": "propagation there and back", "buffer_bytes": "buffer",
    "jitter_ms": "jitter",
    "udp_mbps": "cross traffic", "uplink_packets": "buffer of the way back",
    "policer_mbps": "rate of the policer",
    "policer_bytes": "burst of the policer", "bucket_bytes": "burst of the token bucket",
    "loss": "random loss",
}  # fmt: skip


def label(name: str) -> str:
    """A parameter in words."""
    key, _, number = name.partition(".")
    return f"{_LABELS[key]} of path {int(number) + 1}" if number else _LABELS[key]


def estimate_words(one: InferredRange) -> str:
    """A value with its range: ``22.0 Mbps (21.9 to 22.1)``, or ``at least 40 kB``."""
    factor, unit = _SCALES[one.name.partition(".")[0]]
    value, low = (_number(x * factor) for x in (one.value, one.low))
    if one.high is None:
        return f"at least {value} {unit}"
    return f"{value} {unit} ({low} to {_number(one.high * factor)})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def scenario_text(fit: Fit) -> str:
    """The scenario as TOML: it runs as it is, by chance and not by replay."""
    data = scenario_data(fit.model, fit.traffic, fit.duration_s)
    title = f"Fitted to {', '.join(fit.names)}: {fit.title}"
    head = [
        comment(f"Fitted by Anabranch {_core.version()} to {', '.join(fit.names)}, of {fit.transport}."),
        comment(fit.verdict),
        *(comment(f"Cannot be told: {sentence}.") for sentence in fit.unknown),
        f"title = {_value(title)}",
        "",
    ]
    lines = list(head)
    for table in ("network", "routing", "run"):
        if table == "network":
            lines += _network(data["network"], _comments(fit))
        elif table in data:
            lines += [f"[{table}]", *(f"{key} = {_value(value)}" for key, value in data[table].items()), ""]
    for table in ("traffic", "event"):
        for entry in data.get(table, []):
            lines += [f"[[{table}]]", *_said(entry, _comments(fit)), ""]
    return "\n".join(lines)


def _comments(fit: Fit) -> dict[tuple[str, str], str]:
    """The comment on a value, by the value's key and its text."""
    model = fit.model
    comments = {}
    for one in fit.ranges:
        key, text = _place(model, one.name)
        comments[key, text] = f"{label(one.name)}: {estimate_words(one)}: {one.source}"
    return comments


def _place(model: PathModel, name: str) -> tuple[str, str]:
    """Key and text of a parameter in the scenario."""
    value = model.value(name)
    written = {
        "rate_mbps": ("capacity" if model.bucket_bytes is None else "shaper", rate(value)),
        "rtt_ms": ("delay", span(value / 2)),
        "buffer_bytes": ("queue", f"{round(value)} B"),
        "uplink_packets": ("queue", f"{max(1, round(value))} packets"),
        "jitter_ms": ("jitter", span(value)),
        "udp_mbps": ("application", rate(value)),
        "loss": ("loss", ""),
        "policer_mbps": ("policer", rate(value)),
        "policer_bytes": ("policer", f"{round(value)} B"),
        "bucket_bytes": ("shaper", f"{round(value)} B"),
    }
    return written[name.partition(".")[0]]


def _network(network: Mapping[str, Any], comments: Mapping[tuple[str, str], str]) -> list[str]:
    lines = ["[network]", ""]
    for node in network["node"]:
        lines += ["[[network.node]]", *(f"{key} = {_value(value)}" for key, value in node.items()), ""]
    for link in network["link"]:
        lines += ["[[network.link]]", *_said(link, comments), ""]
    return lines


def _said(entry: Mapping[str, Any], comments: Mapping[tuple[str, str], str]) -> list[str]:
    """The lines of a table, with a comment above each value that was inferred."""
    lines = []
    for key, value in entry.items():
        lines += [f"# {text}" for (of, part), text in comments.items() if of == key and _has(value, part)]
        lines.append(f"{key} = {_value(value)}")
    return lines


def _has(value: Any, part: str) -> bool:
    return not part or part in _texts(value)


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value.values()] if isinstance(value, dict) else [str(value)]


def _value(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
