"""The tables of a scenario as the core declares them: their fields, and what values these take."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from anabranch import _core
from anabranch.scenario.declarations import declarations, written_parameters

Form = Mapping[str, Any]
"""What values are: ``kind``, such as ``quantity``, and what else there is to know (crates/scenario)."""
QUANTITY, TABLE = "quantity", "table"


class Field:
    """A field of a table.

    Attributes:
        key: its key in a file.
        name: its name as an attribute, which differs where the key is a word of Python.
        text: what it is.
        form: what its values are.
        required: whether it has no default.
        default: its default as a file would have it; None for nothing.
    """

    __slots__ = ("default", "form", "key", "name", "required", "text")

    def __init__(self, *, key: str, name: str, text: str, form: Form, required: bool, default: Any) -> None:
        self.key, self.name, self.text = key, name, text
        self.form, self.required, self.default = form, required, default


class TableForm:
    """A table.

    Attributes:
        name: its name as a class.
        full_name: the same with the quantity that it is of in brackets, if there are several of that name.
        text: what it is, by paragraphs.
        tag: ``key``, ``word`` and ``text`` of the key that tells it apart from others; None without one.
        parts: the names of the tables whose fields it has besides its own.
        fields: its fields by their names as attributes, in their order, those of its parts first.
        by_key: the same by their keys.
    """

    __slots__ = ("by_key", "fields", "full_name", "name", "parts", "tag", "text")

    def __init__(self, declared: Mapping[str, Any]) -> None:
        self.name, of = declared["name"], declared["of"]
        self.full_name = self.name if of is None else f"{self.name}[{of}]"
        self.text, self.tag, self.parts = declared["text"], declared["tag"], declared["parts"]
        fields = [Field(**entry) for entry in declared["fields"]]
        self.fields = {field.name: field for field in fields}
        self.by_key = {field.key: field for field in fields}

    def keys(self) -> list[str]:
        """Every key that a file may have here, its tag first."""
        return [*([self.tag["key"]] if self.tag else []), *self.by_key]


@cache
def table_forms() -> Mapping[str, TableForm]:
    """Every table by its full name."""
    forms = map(TableForm, json.loads(_core.scenario_tables()))
    return {form.full_name: form for form in forms}


def alternatives(form: Form) -> Iterator[Form]:
    """The single forms in a form: choices, bounds and what may be left out are opened."""
    if form["kind"] == "one-of":
        for choice in form["of"]:
            yield from alternatives(choice)
    elif form["kind"] in ("optional", "within"):
        yield from alternatives(form["of"])
    elif form["kind"] == "declared":
        yield from alternatives(declared_form(form["parameter"]))
    else:
        yield form


_SINGLE = {"switch": "switch", "integer": "whole", "number": "real"}
_QUANTITIES = {"span": "Span", "bytes": "ByteCount", "rate": "Rate", "packets": "PacketCount"}


def declared_form(parameter: Mapping[str, Any]) -> Form:
    """The form of the values that a parameter of an algorithm takes."""
    kind = parameter["kind"]
    if kind == "choice":
        return {"kind": "choice", "names": [choice["name"] for choice in parameter["choices"]]}
    if kind == "algorithm":
        return {"kind": "algorithm", "registry": parameter["registry"]}
    if kind == "ordinals":
        return {"kind": "list", "of": {"kind": "whole"}, "least": 0, "most": None}
    if kind == "room":
        return _room()
    if kind in _QUANTITIES:
        return {"kind": QUANTITY, "quantity": _QUANTITIES[kind]}
    return {"kind": _SINGLE[kind]}


@cache
def _room() -> Form:
    """What the room of a queue is: the first of what a queue may be."""
    queue = table_forms()["LinkSettings"].fields["queue"].form["of"]
    room: Form = queue["of"][0]
    return room


def tables_of(form: Form) -> Iterator[TableForm]:
    """The tables that a value of this form may be."""
    for choice in alternatives(form):
        if choice["kind"] == TABLE:
            yield table_forms()[choice["table"]]


def form_below(form: Form, step: str | int) -> Form | None:
    """The form of an entry of a value, in whichever alternative has it first; None where none has.

    Args:
        form: that of the value.
        step: a key, or the place in a list.
    """
    for choice in alternatives(form):
        match choice["kind"]:
            case "list" if isinstance(step, int):
                return dict(choice["of"])
            case "named" if isinstance(step, str):
                return dict(choice["of"])
            case "table" if step in (table := table_forms()[choice["table"]]).by_key:
                return table.by_key[str(step)].form
            case "free":
                return choice
            case "algorithm" if isinstance(step, str) and (below := _of_algorithms(choice, step)) is not None:
                return below
            case _:
                pass
    return None


def _of_algorithms(choice: Form, key: str) -> Form | None:
    """The form of a parameter of whichever algorithm of a kind has it first."""
    if key == "algorithm":
        return {"kind": "text"}
    for name in declarations()[choice["registry"]]:
        parameters = written_parameters(choice["registry"], name)
        if key in parameters:
            return declared_form(parameters[key])
    return None


def keys_below(choice: Form) -> list[str]:
    """The keys of a single form: those of a table, or of an algorithm with any parameters."""
    if choice["kind"] == TABLE:
        return table_forms()[choice["table"]].keys()
    if choice["kind"] != "algorithm":
        return []
    kind = choice["registry"]
    every = (written_parameters(kind, name) for name in declarations()[kind])
    return list(dict.fromkeys(["algorithm", *(key for parameters in every for key in parameters)]))
