"""What all tables of a scenario have in common."""

from __future__ import annotations

from typing import Any, NoReturn, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from anabranch.scenario.docstrings import field_docstring

FIELD_ERROR = "anabranch_field"
"""Type of an error that a table raises about one of its own fields."""


T = TypeVar("T", bound=BaseModel)


class Table(BaseModel):
    """A table of a scenario: unknown keys are errors, and nothing is converted silently.

    Keys that are Python keywords have another name as attributes (``from`` is ``source``); in Python
    both can be written, in TOML only the key.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        # Validators are built when they are first used: most tables are only ever a part of the scenario.
        defer_build=True,
    )

    def _check_together(self) -> None:
        """Refuses fields that do not go together, by :func:`refuse`; after whatever its base refuses."""

    @model_validator(mode="after")
    def _checked(self) -> Self:
        self._check_together()
        return self

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> dict[str, Any]:
        """Its JSON Schema, in which every field has its documentation string."""
        schema = handler(core_schema)
        described = handler.resolve_ref_schema(schema).get("properties", {})
        for name, field in cls.model_fields.items():
            text = field_docstring(cls, name)
            for key in (field.alias or name, name):
                # A reference already has what the table that it leads to says of itself.
                if (
                    key in described
                    and text
                    and handler.resolve_ref_schema(described[key]).get("description") != text
                ):
                    described[key].setdefault("description", text)
        return schema


def untouched(table: type[T]) -> T:
    """A table in which nothing is set, as the default of a field.

    Calling the table would validate nothing, and build its validator while the package is imported.
    """
    return table.model_construct()


def refuse(field: str, message: str) -> NoReturn:
    """Raises an error about one field of the table that is being validated.

    Args:
        field: key of the field, as the scenario writes it; with dots, of one below it.
        message: what was read and what would be right.
    """
    raise PydanticCustomError(FIELD_ERROR, "{message}", {"message": message, "field": field})


def alternative(name: str) -> str:
    """The tag of one alternative of a field; marked, so that messages can leave it out of a place."""
    return f"<{name}>"


def either(told_by: str | type | tuple[type, ...], one: str, other: str) -> Discriminator:
    """Tells two alternatives of a field apart.

    Args:
        told_by: the first one is this word, or a value of one of these types.
        one: the name of the first alternative.
        other: that of the second.
    """

    def chosen(value: object) -> str:
        is_one = value == told_by if isinstance(told_by, str) else isinstance(value, told_by)
        return alternative(one if is_one else other)

    return Discriminator(chosen)


def is_alternative(part: str | int) -> bool:
    """Whether a part of an error's location is such a tag rather than a key."""
    return isinstance(part, str) and part.startswith("<") and part.endswith(">")
