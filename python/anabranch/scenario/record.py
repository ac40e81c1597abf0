"""Named values that do not change: the base of the classes that are generated from the core's declarations.

A dataclass would be the same to its users. But to make one takes 0.5 ms, since its methods are compiled while
the package is imported; a class over this base takes 0.02 ms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Literal, NoReturn, Self, dataclass_transform


def filled_in(default: Any, *, init: Literal[False] = False) -> Any:
    """A field that nobody gives: the program fills it in, and objects without it have the default.

    Args:
        default: what it is where nothing has been filled in.
        init: tells type checkers that it is not given.
    """
    del init
    return default


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(filled_in,))
class Record:
    """Named values: equal by their values, hashable, and changed by :meth:`replace` alone.

    A class lists its fields as annotations, with a default where a field may be left out. Values are given by
    name, and are kept as they are.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _names: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        """Notes the names of the fields, those of a base first."""
        names = (name for name, kind in cls.__annotations__.items() if not str(kind).startswith("ClassVar"))
        cls._fields = tuple(dict.fromkeys((*cls._fields, *names)))
        cls._names = frozenset(cls._fields)
        cls._defaults = {name: getattr(cls, name) for name in cls._fields if hasattr(cls, name)}

    def __init__(self, **values: Any) -> None:
        """Keeps the values.

        Raises:
            TypeError: if a value has no field, or a field without a default has no value.
        """
        cls = type(self)
        kept = {**cls._defaults, **values}
        if kept.keys() != cls._names:
            raise TypeError(cls._wrong_names(kept))
        self.__dict__.update(kept)

    @classmethod
    def _wrong_names(cls, given: Collection[str]) -> str:
        """What to say about names that are not those of the fields."""
        if unknown := [name for name in given if name not in cls._names]:
            return f"{cls.__name__} has no {', '.join(unknown)}; it has {', '.join(cls._fields)}"
        return f"{cls.__name__} needs {', '.join(name for name in cls._fields if name not in given)}"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuses every change."""
        raise AttributeError(f"{type(self).__name__} does not change; make another one: .replace({name}=...)")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuses every change."""
        raise AttributeError(f"{type(self).__name__} does not change, so {name} stays")

    def __eq__(self, other: object) -> bool:
        """Whether it is of the same class with equal values."""
        if type(self) is not type(other):
            return NotImplemented
        return dict(self.items()) == dict(other.items())

    def __hash__(self) -> int:
        return hash((type(self), *(_hashable(value) for _, value in self.items())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.items())})"

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: the values, without what they are for the core."""
        return {name: value for name, value in self.__dict__.items() if name != "_core"}

    def items(self) -> Iterator[tuple[str, Any]]:
        """Each field with its value, in the order of the class; those that are not filled in are left out."""
        values = self.__dict__
        return ((name, values[name]) for name in self._fields if name in values)

    def core(self) -> dict[str, Any]:
        """The values as the core reads them: numbers in base units. They are not to be changed."""
        core: dict[str, Any] | None = self.__dict__.get("_core")
        if core is None:
            core = self.__dict__["_core"] = self._for_core()
        return core

    def _for_core(self) -> dict[str, Any]:
        return {name: core_value(value) for name, value in self.items()}

    def replace(self, **changes: Any) -> Self:
        """The record with other values in some fields.

        Args:
            **changes: the fields to change, with their new values.

        Raises:
            TypeError: if there is no such field.
        """
        return type(self)(**{**dict(self.items()), **changes})


_PLAIN = frozenset({int, float, str, bool, type(None)})


def core_value(value: Any) -> Any:
    """A value as the core reads it: records as tables, quantities as integers in base units."""
    if value.__class__ in _PLAIN:
        return value
    if isinstance(value, Record):
        return value.core()
    if isinstance(value, list | tuple):
        return [core_value(entry) for entry in value]
    return int(value) if isinstance(value, int) else value


def field_names(kind: type[Record]) -> tuple[str, ...]:
    """The names of the fields of a class, in its order."""
    return kind._fields


def _hashable(value: object) -> object:
    """A value as a part of a hash; lists are compared by their entries."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
