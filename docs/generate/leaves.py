"""The Python classes of what a setup holds beside algorithms, by what the core says of them."""

import json
import re
from collections.abc import Callable
from typing import Any

Declaration = dict[str, Any]

PLAIN = {
    "switch": "bool",
    "integer": "int",
    "number": "float",
    "text": "str",
    "span": "int",
    "rate": "int",
    "bytes": "int",
    "id": "int",
}
"""The type of a value by its shape."""
UNITS = {"span": "in picoseconds", "rate": "in bits per second"}
"""Units of shapes, for the texts of fields."""
ALGORITHM = "algorithm"


def camel(name: str) -> str:
    """``log-normal`` as ``LogNormal``."""
    return "".join(part.capitalize() for part in re.split(r"[-_]", name))


def brought_along(leaves: list[Declaration]) -> set[str]:
    """The kinds of algorithms that may be code of the user's own."""
    return {leaf["name"] for leaf in leaves if leaf["tag"] == ALGORITHM}


def class_name(leaf: Declaration, form: Declaration) -> str:
    """The name of the class of a table: ``LinksChange``, or ``QueueSetup`` where there is one only."""
    return camel(form["name"]) + camel(leaf["name"]) if form["name"] else camel(leaf["name"]) + "Setup"


def union(leaf: Declaration) -> str:
    """The name of the type of a field that holds a leaf."""
    (first, *others) = leaf["forms"]
    return camel(leaf["name"]) if others else class_name(leaf, first)


def annotation(shape: Declaration, types: dict[str, str]) -> str:
    """The type of a field."""
    kind, of = shape["kind"], shape.get("of")
    match kind:
        case "choice":
            text = f"Literal[{', '.join(map(json.dumps, of))}]"
        case "algorithm":
            text = f"Any{camel(of)}"
        case "leaf":
            text = types[of]
        case "list":
            text = f"list[{annotation(of, types)}]"
        case "pair":
            text = f"tuple[{', '.join(annotation(each, types) for each in of)}]"
        case "optional":
            text = f"{annotation(of, types)} | None"
        case _:
            text = PLAIN[kind]
    return text


def unit(shape: Declaration) -> str | None:
    """The unit of a field, where its type does not say it."""
    return unit(shape["of"]) if shape["kind"] == "optional" else UNITS.get(shape["kind"])


def text(field: Declaration) -> str:
    """What a field says, with its unit."""
    said: str = field["text"]
    named = unit(field["shape"])
    return said if named is None or named.split()[-1] in said else f"{said} {named.capitalize()}."


def module(
    leaves: list[Declaration], registries: list[str], documentation: Callable[..., str], generated: str
) -> str:
    """The module of all leaves.

    Args:
        leaves: their declarations.
        registries: the kinds of algorithms.
        documentation: makes a documentation string of a text and an indent.
        generated: the sentence that says where the module comes from.
    """
    types = {leaf["name"]: union(leaf) for leaf in leaves if leaf["tag"] != ALGORITHM}
    parts = []
    for leaf in leaves:
        for form in leaf["forms"]:
            lines = [f"class {class_name(leaf, form)}(Record):"]
            lines.append(documentation(form["text"], "    ", of_class=True))
            if leaf["tag"] is not None or form["fields"]:
                lines.append("")
            if leaf["tag"] is not None:
                lines.append(f'    {leaf["tag"]}: Literal["{form["name"]}"] = "{form["name"]}"')
            for field in form["fields"]:
                lines.append(f"    {field['name']}: {annotation(field['shape'], types)}")
                lines.append(documentation(text(field), "    "))
            parts.append("\n".join(lines))
        if len(leaf["forms"]) > 1:
            classes = " | ".join(class_name(leaf, form) for form in leaf["forms"])
            parts.append(f"{camel(leaf['name'])} = {classes}\n{documentation(leaf['text'], '')}")
    body = "\n\n\n".join(parts)
    kinds = sorted(kind for kind in registries if re.search(rf"\bAny{camel(kind)}\b", body))
    imported = [f"    from anabranch.scenario.algorithms.{kind} import Any{camel(kind)}" for kind in kinds]
    head = [
        f'"""What a setup holds beside algorithms, as the core reads it. {generated}"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, Literal",
        "",
        "from anabranch.scenario.record import Record",
        "",
        "if TYPE_CHECKING:",
        *imported,
    ]
    return "\n".join(head) + f"\n\n\n{body}\n"
