"""The type of a field in words: quantities with their units, bounds, names to choose from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shape import anchor, distribution, name_of, whole_table

from anabranch.scenario.quantity import ByteCount, PacketCount, Quantity, Rate, SegmentCount, Span, Speed

if TYPE_CHECKING:
    from reference import Book

Schema = dict[str, Any]

ABOVE_ZERO = "(?="
"""In the pattern of a quantity: it takes no zero."""

QUANTITIES: dict[str, type[Quantity]] = {
    "time": Span,
    "rate": Rate,
    "size": ByteCount,
    "packets": PacketCount,
    "segments": SegmentCount,
    "speed": Speed,
}
_BY_EXAMPLE = {quantity.example: name for name, quantity in QUANTITIES.items()}
_PLURALS = {"Span": "times", "ByteCount": "sizes", "Number": "whole numbers"}
_SCALARS = {
    "string": "text",
    "boolean": "`true`, `false`",
    "integer": "whole number",
    "number": "number",
}
_LARGEST = 2**64 - 1


class Kinds:
    """Types in words, for one page."""

    def table(self) -> str:
        """The quantities, with their units."""
        lines = [
            "## Quantities\n",
            "Text with a unit, in quotes. Decimals and exponents are allowed, and are read exactly.\n",
            "| type | units | example |",
            "|---|---|---|",
        ]
        for name, quantity in QUANTITIES.items():
            units = ", ".join(f"`{unit}`" for unit in quantity.units)
            lines.append(f'| {name} | {units} | `"{quantity.example}"` |')
        return "\n".join(lines) + "\n"

    def of(self, book: Book, name: str, field: Schema) -> str:
        """A field's type."""
        inner = whole_table(field)
        if inner is not None:
            return self._tables(book, name, *inner)
        words = self._words(book, field, name)
        if words in QUANTITIES and ABOVE_ZERO in json.dumps(field):
            words += " above zero"
        return words

    def _tables(self, book: Book, name: str, form: str, table: str) -> str:
        """A field that is a table, or several: a link to their section."""
        words = {"one": "table", "list": "tables", "named": "tables by name"}[form]
        for place in book.sections:
            if place.table == table and place.path.removesuffix(".NAME").rsplit(".", 1)[-1] == name:
                return f"[{words}](#{anchor(place.heading)})"
        return words

    def variant_heading(self, book: Book, field: str, table: str) -> str:
        """Heading of a table that a field may be: the field with what marks the table."""
        for key, node in book.definitions[table]["properties"].items():
            if "const" in node:
                return f'`{field} = {{ {key} = "{node["const"]}", ... }}`'
            if key == "kind" and "enum" in node:
                names = " | ".join(f'"{choice}"' for choice in node["enum"])
                return f"`{field} = {{ {key} = {names}, ... }}`"
        first = next(iter(book.definitions[table]["properties"]))
        return f"`{field} = {{ {first} = ..., ... }}`"

    def _words(self, book: Book, node: Schema, name: str = "") -> str:
        for key in ("anyOf", "oneOf"):
            if key in node:
                options = [option for option in node[key] if option.get("type") != "null"]
                return self._choice(book, options, name)
        if "$ref" in node:
            return "any value" if name_of(node) == "JsonValue" else "table"
        if "const" in node:
            return f'`"{node["const"]}"`'
        if "enum" in node:
            return ", ".join(f'`"{name}"`' for name in node["enum"])
        if "examples" in node:
            return _BY_EXAMPLE[node["examples"][0]]
        return self._plain(book, node)

    def _plain(self, book: Book, node: Schema) -> str:
        match node.get("type"):
            case "string" | "boolean" | "integer" | "number" as scalar:
                return _SCALARS[scalar] + _bounds(node)
            case "array":
                inner = self._words(book, node["items"]) if node.get("items") else "any value"
                pair = node.get("minItems") == node.get("maxItems") == 2
                return f"list of two: {inner}" if pair else f"list: {inner}"
            case "object":
                extra = node.get("additionalProperties")
                inner = self._words(book, extra) if isinstance(extra, dict) and extra else "any value"
                return f"table: {inner} by name"
            case _:
                return "any value"

    def _choice(self, book: Book, options: list[Schema], field: str) -> str:
        """Alternatives, with all distributions as one and tables as links to where they are described."""
        entries: list[str] = []
        for option in options:
            words = self._words(book, option, field)
            if option.get("type") == "array" and self._words(book, option["items"], field) == " or ".join(
                entries
            ):
                words = "list of these"
            if "$ref" in option:
                table = name_of(option)
                kind = distribution(table)
                if kind is not None:
                    words = f"[distribution](#distributions) of {_PLURALS[kind]}"
                elif book.is_declared(table):
                    words = f"a [table with its parameters](#{field})"
                elif words == "table" and table != "Scenario":
                    words = f"[table](#{anchor(self.variant_heading(book, book.home(table, field), table))})"
            if words not in entries:
                entries.append(words)
        return " or ".join(entries)


def _bounds(node: Schema) -> str:
    """The bounds of a number, in words."""
    low, above = node.get("minimum"), node.get("exclusiveMinimum")
    high, below = node.get("maximum"), node.get("exclusiveMaximum")
    if low is not None and high is not None and high < _LARGEST:
        return f" from {_number(low)} to {_number(high)}"
    words = []
    if low is not None:
        words.append(f"from {_number(low)}")
    if above is not None:
        words.append(f"above {_number(above)}")
    if high is not None and high < _LARGEST:
        words.append(f"at most {_number(high)}")
    if below is not None:
        words.append(f"below {_number(below)}")
    return f" {', '.join(words)}" if words else ""


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
