"""What all tables of a scenario have in common."""

from __future__ import annotations

from typing import NoReturn

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError

FIELD_ERROR = "anabranch_field"
"""Type of an error that a table raises about one of its own fields."""


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
        use_attribute_docstrings=True,
    )


def refuse(field: str, message: str) -> NoReturn:
    """Raises an error about one field of the table that is being validated.

    Args:
        field: key of the field, as the scenario writes it.
        message: what was read and what would be right.
    """
    raise PydanticCustomError(FIELD_ERROR, "{message}", {"message": message, "field": field})


def alternative(name: str) -> str:
    """The tag of one alternative of a field; marked, so that messages can leave it out of a place."""
    return f"<{name}>"


def is_alternative(part: str | int) -> bool:
    """Whether a part of an error's location is such a tag rather than a key."""
    return isinstance(part, str) and part.startswith("<") and part.endswith(">")
