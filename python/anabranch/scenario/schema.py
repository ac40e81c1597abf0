"""The JSON Schema of a scenario and of a study, by what the core says of their tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from anabranch.scenario import quantity
from anabranch.scenario.algorithm import Own
from anabranch.scenario.choice import QUANTITIES, largest
from anabranch.scenario.classes import class_of, classes_of
from anabranch.scenario.declarations import declarations, kinds_of_own_code, written_parameters
from anabranch.scenario.forms import Field, Form, TableForm, declared_form, table_forms
from anabranch.scenario.table import Table

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_WORDS = {"least": "minimum", "above": "exclusiveMinimum", "most": "maximum", "below": "exclusiveMaximum"}
_PLAIN: Mapping[str, Schema] = {
    "switch": {"type": "boolean"},
    "whole": {"type": "integer"},
    "real": {"type": "number"},
    "free": {},
    "products": {"type": "string", "pattern": r"\s*(\d+(?:\.\d*)?|\.\d+)\s*BDP\s*"},
}
_NUMBER = "[0-9.][0-9._]*"
_NUMBER_ABOVE_ZERO = "(?=[0-9._]*[1-9])[0-9.][0-9._]*"
_OWN_TEXT = "An algorithm of your own, by its class in Python; all other keys are parameters of that class."


def json_schema(table: type[Table]) -> Schema:
    """The schema of a table with everything that may stand in it.

    Args:
        table: its class: that of scenarios, or of studies.
    """
    book = _Book()
    schema = book.table(table.form())
    return {"$defs": dict(sorted(book.definitions.items())), **schema}


class _Book:
    """Schemas of tables, each of which is described once."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def reference(self, name: str, of: TableForm) -> Schema:
        """A reference to a table."""
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self.table(of)
        return {"$ref": f"#/$defs/{name}"}

    def table(self, of: TableForm) -> Schema:
        """The schema of a table."""
        properties: Schema = {}
        if of.tag is not None:
            key = of.tag["key"]
            words = {"description": _text(of.tag["text"]), "title": _title(key), "type": "string"}
            properties[key] = {"const": of.tag["word"], **words}
        usual = class_of(of.name)
        properties |= {key: self.field(field, usual) for key, field in of.by_key.items()}
        required = [key for key in properties if key not in of.by_key or of.by_key[key].required]
        return {
            "additionalProperties": False,
            "description": "\n\n".join(map(_text, of.text)),
            "properties": properties,
            **({"required": required} if required else {}),
            "title": of.name,
            "type": "object",
        }

    def field(self, field: Field, table: type[Table]) -> Schema:
        """The schema of a field of a table."""
        form, default = field.form, field.default
        if field.name in table.derived:
            form, default = form["of"], table.derived[field.name](table.of_data({}))
        schema = self.form(form)
        if not field.required:
            schema["default"] = default
        schema["description"] = _text(field.text)
        if "$ref" not in schema:
            schema["title"] = _title(field.key)
        return schema

    def form(self, form: Form) -> Schema:
        """The schema of values of a form."""
        make = getattr(self, f"_{form['kind'].replace('-', '_')}", None)
        return dict(_PLAIN[form["kind"]]) if make is None else make(form)

    def _text(self, form: Form) -> Schema:
        pattern = {"pattern": form["pattern"]} if "pattern" in form else {}
        return {"type": "string"} | ({"minLength": 1} if form["least"] else {}) | pattern

    def _quantity(self, form: Form) -> Schema:
        return _of_quantity(getattr(quantity, form["quantity"]))

    def _choice(self, form: Form) -> Schema:
        return _names(form["names"])

    def _algorithm(self, form: Form) -> Schema:
        return self.choice(form["registry"])

    def _declared(self, form: Form) -> Schema:
        return self.parameter(form["parameter"])

    def _table(self, form: Form) -> Schema:
        name = re.sub(r"\W", "_", form["table"])
        return self.reference(name, table_forms()[form["table"]])

    def _list(self, form: Form) -> Schema:
        bounds = {"minItems": form["least"] or None, "maxItems": form["most"]}
        return {"items": self.form(form["of"]), **_given(bounds), "type": "array"}

    def _named(self, form: Form) -> Schema:
        bounds = {"minProperties": form["least"] or None}
        return {"additionalProperties": self.form(form["of"]), **_given(bounds), "type": "object"}

    def _optional(self, form: Form) -> Schema:
        return {"anyOf": [self.form(form["of"]), {"type": "null"}]}

    def _one_of(self, form: Form) -> Schema:
        return {"oneOf": [self.form(choice) for choice in form["of"]]}

    def _within(self, form: Form) -> Schema:
        inner = self.form(form["of"])
        target = inner["anyOf"][0] if "anyOf" in inner else inner
        if target.get("type") in ("integer", "number"):
            bounds = {word: form[key] for key, word in _WORDS.items()}
            target.update(_given(bounds))
        elif "pattern" in target and (form["above"] == 0 or (form["least"] or 0) > 0):
            target["pattern"] = target["pattern"].replace(_NUMBER, _NUMBER_ABOVE_ZERO)
        return inner

    def choice(self, kind: str) -> Schema:
        """The schema of a choice of an algorithm: its name, or its table."""
        tables = [self.algorithm(kind, name) for name in classes_of(kind)]
        if kind in kinds_of_own_code():
            tables.append(self.own_class())
        return {"oneOf": [_names(declarations()[kind]), *tables]}

    def own_class(self) -> Schema:
        """A reference to the table of an algorithm of the user's own."""
        single = {"anyOf": [{"type": kind} for kind in ("boolean", "integer", "number", "string")]}
        python = {"description": "Module and class: ``my_module:Vegas``.", "minLength": 1, "title": "Python"}
        self.definitions[Own.__name__] = {
            "additionalProperties": single,
            "description": _OWN_TEXT,
            "properties": {"python": {**python, "type": "string"}},
            "required": ["python"],
            "title": "Own",
            "type": "object",
        }
        return {"$ref": f"#/$defs/{Own.__name__}"}

    def algorithm(self, kind: str, name: str) -> Schema:
        """A reference to the table of an algorithm."""
        title = classes_of(kind)[name].__name__
        if title not in self.definitions:
            definition = self.definitions[title] = {}
            declared = written_parameters(kind, name)
            words = {"description": "Its name.", "title": "Algorithm", "type": "string"}
            required = [key for key, entry in declared.items() if entry["required"]]
            definition.update(
                additionalProperties=False,
                description=_text(declarations()[kind][name]["text"]),
                properties={
                    "algorithm": {"const": name, "default": name, **words},
                    **{key: self.field_of(entry) for key, entry in declared.items()},
                },
                **({"required": required} if required else {}),
                title=title,
                type="object",
            )
        return {"$ref": f"#/$defs/{title}"}

    def field_of(self, entry: Mapping[str, Any]) -> Schema:
        """The schema of a parameter of an algorithm."""
        schema = self.parameter(entry)
        if entry["optional"]:
            schema = {"anyOf": [schema, {"type": "null"}]}
        if not entry["required"]:
            value, of = (
                entry["default"],
                QUANTITIES.get({"room": "packets"}.get(entry["kind"], entry["kind"])),
            )
            schema["default"] = value if of is None or value is None else of(value).plain
        choices = "; ".join(f"`{each['name']}`: {each['text'].rstrip('.')}" for each in entry["choices"])
        text = f"{entry['text']} {choices}." if choices else entry["text"]
        return {**schema, "title": _title(entry["name"]), "description": _text(text)}

    def parameter(self, entry: Mapping[str, Any]) -> Schema:
        """The schema of the values of a parameter."""
        schema = self.form(declared_form(entry))
        if entry["kind"] == "integer":
            schema["maximum"] = largest(entry)
        if entry["kind"] in ("integer", "number"):
            schema |= _given({word: entry[key] for key, word in _WORDS.items()})
        elif "pattern" in schema and (entry["above"] == 0 or (entry["least"] or 0) > 0):
            schema["pattern"] = schema["pattern"].replace(_NUMBER, _NUMBER_ABOVE_ZERO)
        return schema


def _of_quantity(kind: type[quantity.Quantity]) -> Schema:
    """Text with a unit, as far as JSON Schema can say it."""
    if not kind.units:
        return {"type": "integer", "minimum": 0}
    units = "|".join(re.escape(unit) for unit in kind.units)
    pattern = rf"^\s*{_NUMBER}([eE][-+]?[0-9]+)?\s*({units})\s*$"
    return {"type": "string", "pattern": pattern, "examples": [kind.example]}


def _names(names: Iterable[str]) -> Schema:
    listed = list(names)
    return {"const": listed[0], "type": "string"} if len(listed) == 1 else {"enum": listed, "type": "string"}


def _given(bounds: Mapping[str, Any]) -> Schema:
    return {key: bound for key, bound in bounds.items() if bound is not None}


def _title(key: str) -> str:
    return key.replace("_", " ").title()


def _text(text: str) -> str:
    return text.replace("`", "``")
