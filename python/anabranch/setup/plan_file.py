"""Plans as files: what ``anabranch routes --out`` writes, and the scheme ``given`` reads.

A plan names nodes and links, so that it can be read by people and other programs; shares are written with all
their digits, so that a plan comes back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from anabranch.errors import ScenarioError
from anabranch.results.stored import read_json
from anabranch.scenario.quantity import quoted, shown
from anabranch.scenario.table import read
from anabranch.scenario.tables.plan import PlanFile
from anabranch.setup.model import LinkSetup, NodeSetup, Setup
from anabranch.setup.problems import Problems

__all__ = ["PlanFile", "changed_links", "differences", "plan_text", "read_plan"]

FORMAT: Final = "anabranch-plan"
FORMAT_VERSION: Final = 1
_MOST_NAMED = 3


def plan_text(setup: Setup, plan: Mapping[str, Any], about: Mapping[str, str]) -> str:
    """The text of a plan's file.

    Args:
        setup: what the plan was made for.
        plan: plain data as ``_core.Plan.data`` has it.
        about: what :class:`PlanFile` says of its making, from ``anabranch`` to ``load_balancing``.
    """
    nodes = [node.name for node in setup.nodes]
    links = [link.name for link in setup.links]
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **about,
        "nodes": nodes,
        "links": [
            {"name": link.name, "capacity_bps": link.capacity, "delay_ps": link.delay} for link in setup.links
        ],
        "routes": [
            {
                "from": nodes[route["from"]],
                "to": nodes[route["to"]],
                "paths": [
                    {"links": [links[link] for link in path["links"]], "weight": path["weight"]}
                    for path in route["paths"]
                ],
            }
            for route in plan["routes"]
        ],
        "tables": [
            {
                "to": nodes[table["to"]],
                "next": {nodes[node]: [links[link] for link in hops] for node, hops in table["next"]},
            }
            for table in plan["tables"]
        ],
    }
    return _lines(content)


def _lines(content: Mapping[str, Any]) -> str:
    """JSON with a line for each link, route and table, so that two plans can be compared line by line."""
    parts = []
    for key, value in content.items():
        if isinstance(value, list) and key != "nodes":
            entries = ",\n".join(f"    {json.dumps(entry, ensure_ascii=False)}" for entry in value)
            text = f"[\n{entries}\n  ]" if entries else "[]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        parts.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read_plan(name: str, text: str, place: str, problems: Problems) -> PlanFile | None:
    """The plan in a text; None, and a problem, where it is none.

    Args:
        name: of the file.
        text: what it has.
        place: the field that names it.
        problems: takes what is wrong.
    """
    try:
        data = read_json(text)
    except json.JSONDecodeError as error:
        problems.add(f"{name}, line {error.lineno}", f"is no JSON: {error.msg}")
        return None
    except ValueError as error:
        problems.add(place, f"{quoted(name)} is no plan: it {error}")
        return None
    said = data.get("format") if isinstance(data, dict) else None
    if said != FORMAT:
        problems.add(
            place, f"{quoted(name)} is no plan; write one by: anabranch routes SCENARIO --out {name}"
        )
        return None
    if data.get("format_version") != FORMAT_VERSION:
        version = shown(data.get("format_version"))
        problems.add(place, f"{quoted(name)} has format {version}; this version reads {FORMAT_VERSION}")
        return None
    try:
        return read(PlanFile, data)
    except ScenarioError as error:
        for problem in error.problems:
            problems.add(f"{name}, {problem.place}", problem.message)
        return None


def differences(
    plan: PlanFile, nodes: Sequence[NodeSetup], links: Sequence[LinkSetup], label: str
) -> list[str]:
    """In what the network of a plan differs from this one; empty where nodes and links are the same."""
    sentences = []
    for kind, there, here in (
        ("node", plan.nodes, [node.name for node in nodes]),
        ("link", [link.name for link in plan.links], [link.name for link in links]),
    ):
        missing, surplus = set(there) - set(here), set(here) - set(there)
        if missing:
            sentences.append(f"{label} lacks {_some(kind, [name for name in there if name in missing])}")
        if surplus:
            sentences.append(f"the plan lacks {_some(kind, [name for name in here if name in surplus])}")
    return sentences


def changed_links(plan: PlanFile, links: Sequence[LinkSetup]) -> list[str]:
    """Links that have another capacity or delay than where the plan was made."""
    made = {link.name: link for link in plan.links}
    return [
        link.name
        for link in links
        if link.name in made
        and (link.capacity, link.delay) != (made[link.name].capacity_bps, made[link.name].delay_ps)
    ]


def _some(kind: str, names: Sequence[str]) -> str:
    listed = ", ".join(map(quoted, names[:_MOST_NAMED]))
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"the {kind}{'s' if len(names) > 1 else ''} {listed}{more}"
