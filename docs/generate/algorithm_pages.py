"""The chapter on algorithms of docs/reference.md, from the declarations."""

from typing import Any

from anabranch.scenario.declarations import declarations
from anabranch.scenario.quantity import ByteCount, PacketCount, Quantity, Rate, Span

Declaration = dict[str, Any]

HEAD = """## Algorithms

A field that chooses an algorithm takes its name, `congestion_control = "cubic"`, or a table of the name and
parameters, `congestion_control = { algorithm = "cubic", beta = 0.8 }`. A parameter that is left out has its
default. A congestion control, a scheduler, a routing scheme and a load balancer may also be classes of yours
in Python: [own.md](own.md).
"""
QUANTITIES: dict[str, type[Quantity]] = {
    "span": Span,
    "bytes": ByteCount,
    "rate": Rate,
    "packets": PacketCount,
    "room": PacketCount,
}
WORDS = {
    "span": "time",
    "bytes": "size",
    "rate": "rate",
    "packets": "packets",
    "room": "[room](links.md#queues)",
    "switch": "`true`, `false`",
    "ordinals": "list of rising whole numbers from 1",
}
NUMBERS = {"integer": "whole number", "number": "number"}
BOUNDS = {"least": "at least", "above": "above", "most": "at most", "below": "below"}
UNBOUNDED = (2**32 - 1, int(Span.largest))
"""Bounds that say no more than the width of a number, or what every time is held to."""
INTERNAL = ("ids", "table")
BESIDE = "metric"
"""A parameter that a scenario has beside the choice of the algorithm."""


def value(parameter: Declaration, number: Any) -> str:
    """A value with its unit."""
    kind = QUANTITIES.get(parameter["kind"])
    return kind(int(number)).text if kind else f"{number:g}" if isinstance(number, float) else str(number)


def kind(parameter: Declaration) -> str:
    """The type of a parameter in words, with its bounds."""
    if parameter["kind"] == "choice":
        return ", ".join(f'`"{choice["name"]}"`' for choice in parameter["choices"])
    if parameter["kind"] == "algorithm":
        return f"an algorithm: [`{parameter['registry']}`](#{parameter['registry']})"
    bounds = [
        f"{word} {value(parameter, parameter[key]) if parameter[key] else 'zero'}"
        for key, word in BOUNDS.items()
        if parameter[key] is not None and parameter[key] not in UNBOUNDED
    ]
    return " ".join([{**WORDS, **NUMBERS}[parameter["kind"]], " and ".join(bounds)]).strip()


def default(parameter: Declaration) -> str:
    """The default of a parameter."""
    outcome = parameter["default"]
    if outcome is None:
        return "*required*" if parameter["required"] else ""
    if isinstance(outcome, bool):
        return f"`{str(outcome).lower()}`"
    quoted = parameter["kind"] in QUANTITIES or isinstance(outcome, str)
    return f'`"{value(parameter, outcome)}"`' if quoted else f"`{value(parameter, outcome)}`"


def text(parameter: Declaration) -> str:
    """What a parameter does, and what its names mean."""
    choices = [f"`{choice['name']}`: {choice['text'].rstrip('.')}" for choice in parameter["choices"]]
    outcome = " ".join([parameter["text"], *([f"{'; '.join(choices)}."] if choices else [])])
    return outcome.replace("|", "\\|")


def algorithm(name: str, declared: Declaration) -> str:
    """An algorithm with its parameters."""
    beside = [
        choice["name"]
        for entry in declared["parameters"]
        if entry["name"] == BESIDE
        for choice in entry["choices"]
    ]
    lines = [f"`{name}`: {declared['text']}", ""]
    if beside:
        lines += [f"With `{BESIDE}` = {', '.join(f'`{choice}`' for choice in beside)}.", ""]
    parameters = [
        entry for entry in declared["parameters"] if entry["kind"] not in INTERNAL and entry["name"] != BESIDE
    ]
    if parameters:
        lines += ["| parameter | type | default | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{entry['name']}` | {kind(entry)} | {default(entry)} | {text(entry)} |"
            for entry in parameters
        ]
        lines.append("")
    return "\n".join(lines)


def chapter() -> str:
    """Every kind of algorithm that a field chooses."""
    lines = [HEAD]
    for name, algorithms in declarations().items():
        if name == "protocol":
            # Its fields are those of [transport.NAME].
            continue
        lines += [f"### `{name}`\n", *(algorithm(*entry) for entry in algorithms.items())]
    return "\n".join(lines)
