"""What all tables of a scenario have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Self, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    GetJsonSchemaHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError

from anabranch.errors import Problem, ProblemsError, ScenarioError
from anabranch.scenario.docstrings import field_docstring
from anabranch.scenario.quantity import HALF_CHARACTER, is_unicode, quoted

FIELD_ERROR = "anabranch_field"
"""Type of an error that a table raises about one of its own fields."""


class Table(BaseModel):
    """A table of a scenario: unknown keys are errors, and nothing is converted silently.

    Keys that are Python keywords have another name as attributes (``from`` is ``source``); in Python
    both can be written, in TOML only the key.

    Raises:
        ScenarioError: with everything that is wrong with its keywords; StudyError for a table of a study.
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

    # Methods, because pydantic reads the annotation of an attribute again for each class that inherits it.

    @classmethod
    def error_type(cls) -> type[ProblemsError]:
        """What its mistakes are raised as."""
        return ScenarioError

    @classmethod
    def own_place(cls) -> str:
        """What places of its mistakes begin with where it stands alone."""
        return cls.__name__

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _refused(type(self), error, called=True) from None

    # Otherwise pydantic calls it for each table inside of another: slow, and without the place around it.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def model_validate(cls, obj: Any, **how: Any) -> Self:
        """The table in plain data, with the arguments that pydantic takes.

        Raises:
            ScenarioError: with everything that is wrong with it; StudyError for a table of a study.
        """
        try:
            return super().model_validate(obj, **how)
        except ValidationError as error:
            raise _refused(cls, error) from None

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **how: Any) -> Self:
        """The table in a JSON text; as :meth:`model_validate`."""
        try:
            return super().model_validate_json(json_data, **how)
        except ValidationError as error:
            raise _refused(cls, error) from None

    @classmethod
    def model_validate_strings(cls, obj: Any, **how: Any) -> Self:
        """The table in data whose values are all text; as :meth:`model_validate`."""
        try:
            return super().model_validate_strings(obj, **how)
        except ValidationError as error:
            raise _refused(cls, error) from None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values in some fields, which are checked as in a call of the class.

        Args:
            update: fields with their values, as a call of the class takes them.
            deep: copy what is in the fields, too.

        Raises:
            ScenarioError: with everything that is wrong with the new values; StudyError for a table of a
                study.
        """
        copied = super().model_copy(deep=deep)
        if not update:
            return copied
        own = type(self).model_fields
        names = {field.alias: name for name, field in own.items() if field.alias}
        kept = {name: getattr(copied, name) for name in copied.model_fields_set & own.keys()}
        changes = {names.get(key, key): value for key, value in update.items()}
        try:
            changed = self.__pydantic_validator__.validate_python(
                {**kept, **(copied.model_extra or {}), **changes}
            )
        except ValidationError as error:
            raise _refused(type(self), error, called=True) from None
        # Where it comes from, and whether its code may run.
        object.__setattr__(changed, "__pydantic_private__", copied.__pydantic_private__)
        return cast("Self", changed)

    if not TYPE_CHECKING:
        # A type checker would take every assignment for right.

        def __setattr__(self, name: str, value: Any) -> None:
            if not name.startswith("_"):
                raise _unchangeable(type(self), name)
            super().__setattr__(name, value)

        def __delattr__(self, name: str) -> None:
            if not name.startswith("_"):
                raise _unchangeable(type(self), name)
            super().__delattr__(name)

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


T = TypeVar("T", bound=Table)


def read(table: type[T], data: object, place: str = "") -> T:
    """The table in plain data, as a TOML parser returns it: with keys as a file has them.

    Args:
        table: the class.
        data: the data.
        place: where it stands, which places of mistakes begin with.

    Raises:
        ScenarioError: with everything that is wrong with it; StudyError for a table of a study.
    """
    try:
        return cast("T", table.__pydantic_validator__.validate_python(data, by_alias=True, by_name=False))
    except ValidationError as error:
        raise _refused(table, error, place) from None


def _refused(
    table: type[Table], error: ValidationError, place: str | None = None, *, called: bool = False
) -> ProblemsError:
    """The error in our words.

    Args:
        table: the class of the table.
        error: what pydantic says.
        place: where the table stands; None where it stands alone.
        called: whether the values are keywords in Python.
    """
    from anabranch.scenario.messages import problems  # noqa: PLC0415 - imports algorithms, which are tables

    start = table.own_place() if place is None else place
    found = problems(error, table, called=called)
    return table.error_type()([Problem(_joined(start, problem.place), problem.message) for problem in found])


def _unchangeable(table: type[Table], name: str) -> ProblemsError:
    """What is raised where somebody assigns to a field, or deletes it."""
    from anabranch.scenario.messages import called_names, unknown_key  # noqa: PLC0415 - as above

    names = called_names(table)
    if name not in names:
        message = unknown_key(name, names)
    else:
        message = (
            f"cannot be changed; model_copy(update={{{quoted(name)}: ...}}) makes a copy with another value"
        )
    return table.error_type()([Problem(_joined(table.own_place(), name), message)])


def _joined(start: str, place: str) -> str:
    return f"{start}.{place}" if start and place else start or place


def untouched(table: type[T]) -> T:
    """A table in which nothing is set, as the default of a field.

    Calling the table would validate nothing, and build its validator while the package is imported.
    """
    return cast("T", table.model_construct())


def refuse(field: str | Sequence[str | int], message: str) -> NoReturn:
    """Raises an error about one field of the table that is being validated.

    Args:
        field: key of the field, as the scenario writes it; with dots, of one below it. Or its path.
        message: what was read and what would be right.
    """
    steps = tuple(field.split(".")) if isinstance(field, str) else tuple(field)
    raise PydanticCustomError(FIELD_ERROR, "{message}", {"message": message, "steps": steps})


def _unicode(text: str) -> str:
    if not is_unicode(text):
        raise ValueError(f"{quoted(text)} {HALF_CHARACTER}")
    return text


Text = Annotated[str, AfterValidator(_unicode)]
"""Any text that a file can have; pydantic looks at text only where its length is bounded."""


def is_word(value: object, word: str) -> bool:
    """Whether a value that may be anything is this word; an array of numpy compares its entries."""
    return isinstance(value, str) and value == word


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
        is_one = is_word(value, told_by) if isinstance(told_by, str) else isinstance(value, told_by)
        return alternative(one if is_one else other)

    return Discriminator(chosen)


def is_alternative(part: str | int) -> bool:
    """Whether a part of an error's location is such a tag rather than a key."""
    return isinstance(part, str) and part.startswith("<") and part.endswith(">")
