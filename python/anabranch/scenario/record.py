"""Named values that do not change: the base of the classes that are generated from the core's declarations.

A dataclass would be the same to its users. But to make one takes 0.5 ms, since its methods are compiled while
the package is imported; a class over this base takes 0.02 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record:
    """Named values: equal by their values, hashable, and changed by :meth:`replace` alone.

    A class lists its fields as annotations, with a default where a field may be left out. Values are given by
    name, and are kept as they are.
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Notes the names of the fields, those of a base first."""
        own = (name for name, kind in cls.__annotations__.items() if not str(kind).startswith("ClassVar"))
        cls._fields = tuple(dict.fromkeys((*cls._fields, *own)))

    def __init__(self, **values: Any) -> None:
        """Keeps the values.

        Raises:
            TypeError: if a value has no field, or a field without a default has no value.
        """
        cls = type(self)
        if unknown := [name for name in values if name not in cls._fields]:
            raise TypeError(f"{cls.__name__} has no {', '.join(unknown)}; it has {', '.join(cls._fields)}")
        if missing := [name for name in cls._fields if name not in values and not hasattr(cls, name)]:
            raise TypeError(f"{cls.__name__} needs {', '.join(missing)}")
        self.__dict__.update({name: values.get(name, getattr(cls, name, None)) for name in cls._fields})

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
        return all(value == getattr(other, name) for name, value in self.items())

    def __hash__(self) -> int:
        return hash((type(self), *(_hashable(value) for _, value in self.items())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.items())})"

    def items(self) -> Iterator[tuple[str, Any]]:
        """Each field with its value, in the order of the class."""
        values = self.__dict__
        return ((name, values[name]) for name in self._fields)

    def replace(self, **changes: Any) -> Self:
        """The same with other values in some fields.

        Args:
            **changes: the fields to change, with their new values.

        Raises:
            TypeError: if there is no such field.
        """
        return type(self)(**{**dict(self.items()), **changes})


def field_names(kind: type[Record]) -> tuple[str, ...]:
    """The names of the fields of a class, in its order."""
    return kind._fields


def _hashable(value: object) -> object:
    """A value as a part of a hash; lists are compared by their entries."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
