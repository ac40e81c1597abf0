"""How a JSON Schema says that a field is a table, and how a page names it."""

import json
import re
from typing import Any

Schema = dict[str, Any]


def whole_table(field: Schema) -> tuple[str, str] | None:
    """Whether a field is a table, a list of tables or tables by name, and nothing else; and which table."""
    options = [option for option in field.get("anyOf", [field]) if option.get("type") != "null"]
    if len(options) != 1:
        return None
    (only,) = options
    for form, node in (
        ("one", only),
        ("list", only.get("items", {})),
        ("named", only.get("additionalProperties", {})),
    ):
        if isinstance(node, dict) and "$ref" in node and not node["$ref"].endswith("/JsonValue"):
            return form, name_of(node)
    return None


def name_of(node: Schema) -> str:
    """Name of the definition that a node refers to."""
    return str(node["$ref"]).rsplit("/", 1)[1]


def references(node: object) -> list[str]:
    """The definitions that a field refers to, in order."""
    return re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(node))


def distribution(table: str) -> str | None:
    """Name of what a table is a distribution of, such as ``Span``; None if it is none."""
    match = re.fullmatch(r"[A-Z]\w*?_(Span|ByteCount|Number)_", table)
    return match.group(1) if match else None


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
