"""The Python classes of the tables of a scenario, by what the core says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

Declaration = dict[str, Any]

ROOMS = {
    "network": (
        "The network: a topology by name, and what its links and nodes are like.",
        ("LinkSelector", "LinkSettings", "LinkOverride", "DistanceDelay", "BandwidthDelay", "Shaper",
         "Policer", "Reorder", "PacketChance", "NewNode", "HostSettings", "HostOverride", "RouterSettings",
         "RouterOverride", "Outage", "RiskGroup", "Maintenance", "AttributeSource", "FileAttributes",
         "TopologyFile", "Network", "Event",
         "Profile"),
    ),
    "traffic": (
        "Who sends what to whom, and how.",
        ("PairRates", "Demand", "Matrix", "RateApplication", "MessageApplication", "PingApplication",
         "UdpApplication", "ReceiverReading", "Collective", "Traffic", "Transport"),
    ),
    "control": (
        "Routes, the controller, and the run.",
        ("GivenPath", "RouteChoice", "TrafficRouting", "Routing", "ControlLink", "FlowTable", "Controller",
         "Run", "Capture"),
    ),
    "plan": ("A plan as a file has it.", ("PlanLink", "PlanPath", "PlanRoute", "PlanTable", "PlanFile")),
    "study": ("What a study varies, measures and leaves.", ()),
    "variates": (
        "Distributions that a time, a size or a number is drawn from.",
        ("Constant", "Uniform", "Exponential", "Gaussian", "LogNormal", "Pareto", "Empirical", "Cumulative"),
    ),
}  # fmt: skip
"""The modules: what they hold, and the classes in their order."""
BASES = {
    "RouteChoice": "routing.ChoiceOfRoutes",
    "Routing": "routing.SpreadOfPackets",
    "Controller": "controller.ApplicationOfController",
    "Traffic": "traffic.KindOfTraffic",
    "Range": "parts.RangeOfLevels",
    "Metric": "parts.TimesOfFlows",
    **dict.fromkeys(("Level", "Factor", "Output"), "parts.Part"),
    "ReceiverReading": "traffic.BlocksOfReader",
    **dict.fromkeys(ROOMS["variates"][1], "variate.Distribution"),
}
"""By class the module and the class that has what can be asked of it."""
OF_FORMS = {
    "switch": "bool",
    "whole": "int",
    "real": "float",
    "text": "str",
    "products": "str",
    "free": "Any",
}
STUDY = ("Range", "Level", "Factor", "Metric", "Output")
"""The tables of a study, which have a module in the package of studies."""
OUTSIDE = ("Scenario", "Study", "Own", *STUDY)
"""Tables whose classes are written by hand."""


def camel(name: str) -> str:
    """``load_balancing`` as ``LoadBalancing``."""
    return "".join(part.capitalize() for part in re.split(r"[-_]", name))


def annotation(form: Declaration) -> str:
    """The type of values of a form."""
    kind = form["kind"]
    if kind in OF_FORMS:
        return OF_FORMS[kind]
    match kind:
        case "quantity":
            outcome = form["quantity"]
        case "choice":
            outcome = f"Literal[{', '.join(map(json.dumps, form['names']))}]"
        case "algorithm":
            outcome = camel(form["registry"])
        case "declared":
            outcome = _of_parameter(form["parameter"])
        case "table":
            outcome = form["table"].partition("[")[0]
        case "list":
            outcome = f"list[{annotation(form['of'])}]"
        case "named":
            outcome = f"dict[str, {annotation(form['of'])}]"
        case "optional":
            outcome = f"{annotation(form['of'])} | None"
        case "within":
            outcome = annotation(form["of"])
        case _:
            outcome = " | ".join(dict.fromkeys(map(annotation, form["of"])))
            outcome = outcome.replace(" | ".join(ROOMS["variates"][1]), "AnyDistribution")
    return str(outcome)


_QUANTITIES = {"span": "Span", "bytes": "ByteCount", "rate": "Rate", "packets": "PacketCount"}
_SINGLE = {"switch": "bool", "integer": "int", "number": "float", "ordinals": "list[int]"}


def _of_parameter(parameter: Declaration) -> str:
    if parameter["kind"] == "choice":
        return f"Literal[{', '.join(json.dumps(choice['name']) for choice in parameter['choices'])}]"
    if parameter["kind"] == "algorithm":
        return camel(parameter["registry"])
    return _QUANTITIES.get(parameter["kind"]) or _SINGLE[parameter["kind"]]


DERIVED = {("RouteChoice", "metric"): "hops", ("Routing", "load_balancing"): "flow"}
"""Fields whose default depends on another, with what it is mostly."""


def usual(form: Declaration, default: Any) -> str:
    """A default as Python writes it."""
    if default is None or isinstance(default, dict):
        return "None" if default is None else "{}" if form["kind"] == "named" else f"{annotation(form)}()"
    quantities = re.findall(r'"quantity": "(\w+)"', json.dumps(form))
    if quantities and isinstance(default, str) and re.match(r"\d", default):
        return f'{quantities[0]}("{default}")'
    return json.dumps(default).replace("true", "True").replace("false", "False")


def table(declared: Declaration, documentation: Callable[..., str]) -> str:
    """The class of a table."""
    name = declared["name"]
    parts = list(reversed(declared["parts"]))
    base = BASES.get(name, "").rpartition(".")[2]
    bases = ", ".join([*([base] if base else []), *parts] or ["Table"])
    text = "\n\n".join(documentation(paragraph, "    ") for paragraph in declared["text"])
    text = text.replace('"""\n\n    """', "\n\n    ")
    if len(text.splitlines()) > 1:
        text = text.removesuffix('"""') + '\n    """'
    lines = [f"class {name}({bases}):", text, ""]
    of_parts = {field["name"] for part in declared["inherited"] for field in part["fields"]}
    if declared["tag"]:
        tag = declared["tag"]
        lines.append(f'    {tag["key"]}: Literal["{tag["word"]}"]')
        lines.append(documentation(tag["text"], "    "))
    for field in declared["fields"]:
        if field["name"] in of_parts:
            continue
        form, default = field["form"], field["default"]
        if (derived := DERIVED.get((name, field["name"]))) is not None:
            form, default = form["of"], derived
        if isinstance(default, dict) and form["kind"] == "optional":
            form = form["of"]
        kind = "Amount" if declared["of"] and annotation(form) == declared["of"] else annotation(form)
        kind = kind.replace(f"{declared['of']} ", "Amount ").replace(f"[{declared['of']}]", "[Amount]")
        value = "" if field["required"] else f" = {usual(form, default)}"
        lines.append(f"    {field['name']}: {kind}{value}")
        lines.append(documentation(field["text"], "    "))
    lines += _signature(declared)
    return "\n".join(lines)


def _signature(declared: Declaration) -> list[str]:
    """How the class is called, for type checkers and editors: keywords whose values it checks itself."""
    names = [field["name"] for field in declared["fields"]]
    if declared["tag"]:
        names.insert(0, declared["tag"]["key"])
    if not names:
        return []
    required = [field["name"] for field in declared["fields"] if field["required"]]
    values = [f"{name}: Any" if name in required else f"{name}: Any = ..." for name in names]
    keyed = any(field["key"] != field["name"] for field in declared["fields"])
    rest = ", **keys: Any" if keyed else ""
    return [
        "",
        "    if TYPE_CHECKING:",
        "",
        f"        def __init__(self, *, {', '.join(values)}{rest}) -> None: ...",
    ]


def modules(
    declared: list[Declaration], documentation: Callable[..., str], generated: str
) -> Mapping[str, str]:
    """Every module, by its name in the folder of the scenario."""
    tables: dict[str, Declaration] = {}
    for entry in declared:
        tables.setdefault(entry["name"], entry)
    for entry in tables.values():
        entry["inherited"] = [tables[part] for part in entry["parts"]]
    homes = {name: room for room, (_, names) in ROOMS.items() for name in names}
    assert homes.keys() | set(OUTSIDE) == tables.keys(), homes.keys() ^ tables.keys()  # noqa: S101 - see ROOMS
    made = {
        f"tables/{room}.py": _module(room, [tables[name] for name in names], homes, documentation, generated)
        for room, (_, names) in ROOMS.items()
        if names
    }
    every = "\n".join(
        f"from anabranch.scenario.tables.{room} import {', '.join(names)}"
        for room, (_, names) in ROOMS.items()
        if names
    )
    every += ", AnyDistribution"
    listed = ", ".join(f'"{name}"' for name in sorted([*homes, "AnyDistribution"]))
    made["tables/__init__.py"] = (
        f'"""The tables of a scenario. {generated}"""\n\n{every}\n\n__all__ = [{listed}]\n'
    )
    room = next(form for form in _forms(tables["LinkSettings"]) if form["kind"] == "one-of")
    made["tables/types.py"] = _types(room, generated)
    study = _module(
        "study", [tables[name] for name in STUDY], dict.fromkeys(STUDY, "study"), documentation, generated
    )
    made["../study/tables.py"] = study.replace("anabranch.scenario.parts", "anabranch.study.parts")
    return made


def _forms(table: Declaration) -> list[Declaration]:
    queue = next(field for field in table["fields"] if field["name"] == "queue")
    of: list[Declaration] = queue["form"]["of"]["of"]
    return of


def _types(room: Declaration, generated: str) -> str:
    return (
        f'"""Types of fields that several tables have. {generated}"""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import Literal\n\n"
        "from anabranch.scenario.quantity import ByteCount, PacketCount, Span\n"
        "from anabranch.scenario.tables.network import BandwidthDelay\n\n"
        f'Limit = {annotation(room)}\n"""Room for waiting packets."""\n'
    )


_IMPORTED = {
    **dict.fromkeys(
        ("Span", "Rate", "ByteCount", "PacketCount", "SegmentCount", "Speed", "Number"), "quantity"
    ),
    "Amount": "variate",
    "Metric": "algorithms.scheme",
}


def _module(
    room: str,
    tables: list[Declaration],
    homes: Mapping[str, str],
    documentation: Callable[..., str],
    generated: str,
) -> str:
    body = "\n\n\n".join(table(declared, documentation) for declared in tables)
    used = set(re.findall(r"\b[A-Z]\w+\b", body))
    bases = {base for declared in tables for base in declared["parts"]}
    runtime: dict[str, set[str]] = {"table": {"Table"}} if "(Table)" in body else {}
    for declared in tables:
        if declared["name"] in BASES:
            source, _, name = BASES[declared["name"]].rpartition(".")
            runtime.setdefault(source, set()).add(name)
    typing: dict[str, set[str]] = {}
    called = set(re.findall(r"= (\w+)\(", body))
    for name in sorted(used):
        where = runtime if name in bases | called else typing
        if name in homes and homes[name] != room:
            where.setdefault(f"tables.{homes[name]}", set()).add(name)
        elif name == "AnyDistribution" and room != "variates":
            where.setdefault("tables.variates", set()).add(name)
        elif name in _IMPORTED and name not in homes:
            where.setdefault(_IMPORTED[name], set()).add(name)
    for kind in re.findall(r'"registry": "(\w+)"', json.dumps([declared["fields"] for declared in tables])):
        if camel(kind) in used:
            typing.setdefault(f"algorithms.{kind}", set()).add(camel(kind))

    def lines(sources: Mapping[str, set[str]], indent: str) -> list[str]:
        return [
            f"{indent}from anabranch.scenario.{source} import {', '.join(sorted(names))}"
            for source, names in sorted(sources.items())
        ]

    if room == "variates":
        body += f'\n\n\nAnyDistribution = {" | ".join(ROOMS[room][1])}\n"""A distribution."""'
    head = [f'"""{ROOMS[room][0]} {generated}"""', "", "from __future__ import annotations", ""]
    head += ["from typing import TYPE_CHECKING, Any, Literal", "", *lines(runtime, ""), ""]
    head += ["if TYPE_CHECKING:", *lines(typing, "    ")] if typing else []
    return "\n".join(head) + f"\n\n\n{body}\n"
