"""How pydantic reads and writes a choice of an algorithm or a parameter, and what its JSON Schema is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import (
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, InitErrorDetails, core_schema

from anabranch.scenario.algorithm import Declaration, Own, declarations, written_parameters
from anabranch.scenario.choice import (
    QUANTITIES,
    Algorithm,
    Fault,
    checked_choice,
    checked_parameter,
    classes_of,
    largest,
    plain,
)
from anabranch.scenario.docstrings import field_docstring
from anabranch.scenario.limit import Limit
from anabranch.scenario.quantity import Quantity

JsonSchema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """Marks a field that takes any algorithm of a kind: its name, or a table with parameters."""

    kind: str
    external: bool = False
    """Whether it takes a class of the user's own, too."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """The check by the declarations."""
        check = partial(checked_choice, self.kind, external=self.external)
        return _plain_schema(lambda value, faults: check(value, steps=(), faults=faults))

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchema:
        """The names, or a table of each."""
        return _choice_schema(self.kind, handler, external=self.external)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Marks a field that takes the value of a parameter."""

    kind: str
    """The kind of algorithm."""
    algorithm: str
    name: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """The check by the declaration."""

        def check(value: object, faults: list[Fault]) -> Any:
            declared = written_parameters(self.kind, self.algorithm)[self.name]
            return checked_parameter(declared, value, (), faults)

        return _plain_schema(check)

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchema:
        """The values that it takes."""
        return _parameter_schema(written_parameters(self.kind, self.algorithm)[self.name], handler)


def _plain_schema(check: Callable[[object, list[Fault]], Any]) -> CoreSchema:
    """A schema by a check that notes every fault."""

    def checked(value: object) -> Any:
        faults: list[Fault] = []
        found = check(value, faults)
        if faults:
            # pydantic puts the place of the field before those of the faults.
            raise ValidationError.from_exception_data("choice", [_detail(fault) for fault in faults])
        return found

    written = core_schema.plain_serializer_function_ser_schema(_plain, info_arg=True)
    return core_schema.no_info_plain_validator_function(checked, serialization=written)


def _detail(fault: Fault) -> InitErrorDetails:
    context = {"error": ValueError(fault.message)}
    return InitErrorDetails(type="value_error", loc=fault.steps, input=fault.read, ctx=context)


def _plain(value: object, info: SerializationInfo) -> Any:
    return plain(value, given_only=bool(info.exclude_unset), with_none=not info.exclude_none)


def _choice_schema(kind: str, handler: GetJsonSchemaHandler, *, external: bool = False) -> JsonSchema:
    tables = [_table_schema(cls, handler) for cls in classes_of(kind).values()]
    if external:
        tables.append(_described(Own, handler))
    return {"oneOf": [_names_schema(declarations()[kind]), *tables]}


def _described(kind: Any, handler: GetJsonSchemaHandler) -> JsonSchema:
    """The JSON Schema of a type that pydantic knows."""
    # A handler looks at references and at what a type says of itself only below what it is given.
    return handler(core_schema.definitions_schema(TypeAdapter(kind).core_schema, []))


def _names_schema(names: Iterable[str]) -> JsonSchema:
    listed = list(names)
    return {"const": listed[0], "type": "string"} if len(listed) == 1 else {"enum": listed, "type": "string"}


def _table_schema(cls: type[Algorithm], handler: GetJsonSchemaHandler) -> JsonSchema:
    """A reference to the table of an algorithm, which is described once."""
    described = core_schema.any_schema(ref=f"{cls.__module__}.{cls.__qualname__}:{id(cls)}")
    reference = handler(core_schema.definitions_schema(described, []))
    definition = handler.resolve_ref_schema(reference)
    if definition:
        return reference
    declared = written_parameters(cls.kind, cls.algorithm)
    definition["type"] = "object"
    definition.update(
        title=cls.__name__,
        description=inspect.cleandoc(cls.__doc__ or ""),
        additionalProperties=False,
        properties={
            "algorithm": {
                "const": cls.algorithm,
                "default": cls.algorithm,
                "description": field_docstring(Algorithm, "algorithm"),
                "title": "Algorithm",
                "type": "string",
            },
            **{name: _field_schema(cls, entry, handler) for name, entry in declared.items()},
        },
    )
    if required := [name for name, entry in declared.items() if entry["required"]]:
        definition["required"] = required
    return reference


def _field_schema(cls: type[Algorithm], entry: Declaration, handler: GetJsonSchemaHandler) -> JsonSchema:
    name = entry["name"]
    schema = _parameter_schema(entry, handler)
    if entry["optional"]:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if not entry["required"]:
        default = getattr(cls, name)
        schema["default"] = default.plain if isinstance(default, Quantity) else default
    return {
        **schema,
        "title": name.replace("_", " ").title(),
        "description": field_docstring(cls, name),
    }


def _parameter_schema(entry: Declaration, handler: GetJsonSchemaHandler) -> JsonSchema:
    match entry["kind"]:
        case "room":
            schema = _described(Limit, handler)
        case "algorithm":
            schema = _choice_schema(entry["registry"], handler)
        case "choice":
            schema = _names_schema(choice["name"] for choice in entry["choices"])
        case "ordinals":
            schema = {"items": {"type": "integer"}, "type": "array"}
        case "switch":
            schema = {"type": "boolean"}
        case "integer":
            schema = {"type": "integer", "maximum": largest(entry), **_bounds_schema(entry)}
        case "number":
            schema = {"type": "number", **_bounds_schema(entry)}
        case quantity:
            schema = _described(QUANTITIES[quantity], handler)
    return dict(schema)


def _bounds_schema(entry: Declaration) -> JsonSchema:
    words = {"least": "minimum", "above": "exclusiveMinimum", "most": "maximum", "below": "exclusiveMaximum"}
    return {word: entry[key] for key, word in words.items() if entry[key] is not None}
