"""The parts that all tables of a scenario have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from anabranch import _core
from anabranch.errors import Problem, ProblemsError, ScenarioError
from anabranch.scenario.forms import Field, TableForm, table_forms
from anabranch.scenario.place import joined
from anabranch.scenario.plain import Noted, plain_call, plain_data, with_keys, written
from anabranch.scenario.quantity import quoted
from anabranch.scenario.record import Record
from anabranch.scenario.typed import converter
from anabranch.scenario.unknown import unknown_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Fields:
    """The fields of the class that it is read of: by name, what the core says of each."""

    def __get__(self, _: object, owner: type[Table]) -> Mapping[str, Field]:
        return owner.form().fields


class Table:
    """A table of a scenario: unknown keys are errors, and nothing is converted silently.

    A table keeps what it is given, as a file would have it; the objects of its fields are made when they are
    asked for. Keys that are Python keywords have another name as attributes (``from`` is ``source``); in
    Python both can be written, in TOML only the key.

    Raises:
        ScenarioError: with everything that is wrong with its keywords; StudyError for a table of a study.
    """

    model_fields = _Fields()
    """By name what the core says of each field."""
    derived: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    """Of fields whose default depends on others: by name, the default in plain data."""
    unwritten: ClassVar[Mapping[str, Callable[[Any], bool]]] = {}
    """Of fields that are not written out where nobody has given them: by name, when."""
    _given: dict[str, Any]

    def __init_subclass__(cls) -> None:
        """Forgets the defaults that the class has for people; those that count are the core's."""
        for name in cls.__annotations__:
            if not name.startswith("_") and name in vars(cls) and name not in ("derived", "unwritten"):
                delattr(cls, name)

    def __init__(self, /, **values: Any) -> None:
        self._build(values)

    def _build(self, values: Mapping[str, Any]) -> None:
        """Checks keywords with their values, and keeps them."""
        noted = Noted(type(self).own_place())
        given = plain_call(type(self), values, noted)
        problems = noted.joined(type(self).check(given, called=True))
        if problems:
            raise type(self).error_type()(problems)
        self._keep(with_keys(type(self).form(), given), values)

    @classmethod
    def error_type(cls) -> type[ProblemsError]:
        """The error that mistakes of the table are raised as."""
        return ScenarioError

    @classmethod
    def own_place(cls) -> str:
        """The beginning of the places of mistakes where the table stands alone."""
        return cls.__name__

    @classmethod
    def form(cls) -> TableForm:
        """The core's declaration of the table."""
        return _form(cls.__mro__)

    @classmethod
    def check(cls, data: object, *, called: bool = False) -> list[tuple[str, str]]:
        """Places and messages of everything that the core finds wrong with plain data.

        Args:
            data: the data.
            called: whether they are keywords in Python, and what is in them.
        """
        return _core.check_table(cls.form().full_name, data, called)

    @classmethod
    def of_data(cls, data: Mapping[str, Any], *, of: str = "") -> Self:
        """The table in plain data that hold, which become its own.

        Args:
            data: the data.
            of: the name of the quantity that a distribution is of.
        """
        del of
        table = cls.__new__(cls)
        table.__dict__["_given"] = data
        return table

    @classmethod
    def model_validate(cls, obj: Any) -> Self:
        """The table in plain data, with keys as a file has them, or the names of attributes in place of them.

        Raises:
            ScenarioError: with everything that is wrong with it; StudyError for a table of a study.
        """
        noted = Noted(cls.own_place())
        given = plain_data(obj, noted)
        if isinstance(given, dict):
            given = with_keys(cls.form(), given)
        return _checked(cls, given, noted)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes) -> Self:
        """The table in a JSON text; as :meth:`model_validate`."""
        try:
            data = json.loads(json_data)
        except ValueError as error:
            raise cls.error_type()([Problem(cls.own_place(), f"is not JSON: {error}")]) from None
        return cls.model_validate(data)

    @property
    def model_fields_set(self) -> frozenset[str]:
        """The names of the fields that were given."""
        by_key = type(self).form().by_key
        return frozenset(by_key[key].name if key in by_key else key for key in self._given)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values in some fields, which are checked as in a call of the class.

        Args:
            update: fields with their values, as a call of the class takes them.
            deep: copy what is in the fields, too.

        Raises:
            ScenarioError: with everything that is wrong with the new values; StudyError for a table of a
                study.
        """
        private = {name: value for name, value in self.__dict__.items() if self._stays(name, deep)}
        if not update:
            copied = type(self).__new__(type(self))
            copied.__dict__.update(private, _given=self._given)
            return copied
        form = type(self).form()
        spelled = {name: name for name in form.fields} | {
            key: field.name for key, field in form.by_key.items()
        }
        changes = {spelled.get(key, key): value for key, value in update.items()}
        kept = {form.by_key[key].name: value for key, value in self._given.items() if key in form.by_key}
        rest = {key: value for key, value in self._given.items() if key not in form.by_key}
        changed = type(self).__new__(type(self))
        changed._build({**rest, **kept, **changes})
        for name, value in private.items():
            # Objects of what nobody gave may depend on what has changed.
            if name.startswith("_") or (name in kept and name not in changes):
                changed.__dict__.setdefault(name, value)
        return changed

    def _stays(self, name: str, deep: bool) -> bool:
        """Whether a copy has this, too: where it comes from, and the objects of fields."""
        return name not in ("_given", "_read") and (name.startswith("_") or not deep)

    def _keep(self, given: dict[str, Any], values: Mapping[str, Any]) -> None:
        """Keeps plain data, and the tables among the values that they come from."""
        self.__dict__["_given"] = given
        names = {field.key: name for name, field in type(self).form().fields.items()}
        for key, value in values.items():
            if isinstance(value, Table | Record):
                self.__dict__[names.get(key, key)] = value

    if not TYPE_CHECKING:
        # A type checker would take every attribute and every assignment for right.

        def __getattr__(self, name: str) -> Any:
            """The object of a field, which is made when it is first asked for."""
            form = None if name.startswith("_") else type(self).form()
            if form is not None and form.tag is not None and form.tag["key"] == name:
                return form.tag["word"]
            field = None if form is None else form.fields.get(name)
            if field is None:
                raise AttributeError(f"{type(self).__name__} has no {name}")
            value = self.__dict__[name] = self._value(field)
            return value

        def __setattr__(self, name: str, value: Any) -> None:
            if not name.startswith("_"):
                raise _unchangeable(type(self), name)
            object.__setattr__(self, name, value)

        def __delattr__(self, name: str) -> None:
            raise _unchangeable(type(self), name)

    def _value(self, field: Field) -> Any:
        """The object of a field, of what is given or of its default."""
        if field.key in self._given:
            return _converter(self._full_form(), field.name)(self._given[field.key])
        default = field.default
        if field.name in self.derived:
            default = self.derived[field.name](self)
        return None if default is None else _converter(self._full_form(), field.name)(default)

    def _full_form(self) -> TableForm:
        return type(self).form()

    def items(self) -> Iterator[tuple[str, Any]]:
        """Each field with its value, in the order of the class."""
        return ((name, getattr(self, name)) for name in type(self).form().fields)

    def data(self, *, given_only: bool = False, with_none: bool = False) -> dict[str, Any]:
        """The table as a file has it, in new plain data.

        Args:
            given_only: without what has been left out.
            with_none: with fields that have no value.
        """
        if given_only:
            copied: dict[str, Any] = plain_data(self._given)
            return copied
        form = type(self).form()
        data = {} if form.tag is None else {form.tag["key"]: form.tag["word"]}
        for name, field in form.fields.items():
            value = getattr(self, name)
            hidden = name in self.unwritten and field.key not in self._given and self.unwritten[name](self)
            if not hidden and (value is not None or with_none):
                data[field.key] = written(value, with_none=with_none)
        return data

    def __eq__(self, other: object) -> bool:
        """Whether it is of the same class and says the same."""
        if type(self) is not type(other):
            return NotImplemented
        return self._given == cast("Self", other)._given or self.data() == cast("Self", other).data()

    def __hash__(self) -> int:
        return hash((type(self).__name__, repr(self.data())))

    def __repr__(self) -> str:
        fields = type(self).form().fields
        given = (f"{name}={getattr(self, name)!r}" for name in fields if fields[name].key in self._given)
        return f"{type(self).__name__}({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: what was given, and where it comes from."""
        return {
            name: value for name, value in self.__dict__.items() if name.startswith("_") and name != "_read"
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


@cache
def _form(classes: tuple[type, ...]) -> TableForm:
    """What the core says of a class, or of the first of its bases of which it says something.

    Raises:
        StopIteration: if that is none; a table without a declaration is a slip of a programmer.
    """
    forms = table_forms()
    names = (name for each in classes for name in (each.__name__, f"{each.__name__}[Span]"))
    return next(forms[name] for name in names if name in forms)


@cache
def _converter(form: TableForm, name: str) -> Callable[[Any], Any]:
    return converter(form.fields[name].form)


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
    noted = Noted(place)
    return _checked(table, plain_data(data, noted), noted)


def _checked(table: type[T], given: Any, noted: Noted) -> T:
    """The table in plain data, of which nothing is known yet but what no file can hold."""
    problems = noted.joined(table.check(given))
    if problems:
        raise table.error_type()(problems)
    return table.of_data(given)


def _unchangeable(table: type[Table], name: str) -> ProblemsError:
    """What is raised where somebody assigns to a field, or deletes it."""
    names = list(table.form().fields)
    if name not in names:
        message = unknown_key(name, names)
    else:
        message = (
            f"cannot be changed; model_copy(update={{{quoted(name)}: ...}}) makes a copy with another value"
        )
    return table.error_type()([Problem(joined(table.own_place(), name), message)])
