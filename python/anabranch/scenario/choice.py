"""The choice of an algorithm, with its parameters: one check of all, which reads the declarations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeGuard, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from anabranch.errors import Problem, ScenarioError
from anabranch.scenario import leaves
from anabranch.scenario.algorithm import (
    PYTHON,
    Declaration,
    Own,
    declarations,
    is_written,
    owners,
    written_parameters,
)
from anabranch.scenario.limit import Limit
from anabranch.scenario.messages import (
    choice_or_elsewhere,
    listed,
    located,
    place,
    purpose,
    unknown_key,
    wrong_number,
)
from anabranch.scenario.quantity import ByteCount, PacketCount, Quantity, Rate, Span, quoted, shown, within
from anabranch.scenario.record import Record, core_value

Steps = tuple[str | int, ...]
Number = TypeVar("Number", int, float)

QUANTITIES: Mapping[str, type[Quantity]] = {
    "span": Span,
    "bytes": ByteCount,
    "rate": Rate,
    "packets": PacketCount,
}
"""The type of a parameter's values by its kind, where they have units."""
_BROUGHT: Mapping[str, Callable[..., Record]] = {
    "congestion_control": leaves.PythonCongestionControl,
    "scheduler": leaves.PythonScheduler,
}
"""What stands for code of the user's own in a transport, by the kind of algorithm."""
_ALGORITHM = "algorithm"
_LARGEST_INTEGER = 2**63 - 1
"""The most that TOML can write."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a choice."""

    steps: Steps
    """Where."""
    read: object
    """What was read there."""
    message: str
    """What was read and what would be right."""


class Algorithm(Record):
    """An algorithm by name, with its parameters; what is left out has the default of its declaration.

    Its values are checked when it is made. They may be as a file has them, ``"5 ms"``.
    """

    kind: ClassVar[str] = ""
    """What it is: ``queue``."""
    algorithm: str
    """Its name."""

    def __init_subclass__(cls, kind: str = "") -> None:
        """Notes the fields and the kind."""
        super().__init_subclass__()
        cls.kind = kind

    def __init__(self, **values: Any) -> None:
        """Checks the values, and fills in the others.

        Raises:
            ScenarioError: with everything that is wrong with them.
        """
        faults: list[Fault] = []
        name = values.pop(_ALGORITHM, self.algorithm)
        if name != self.algorithm:
            message = f"{shown(name)} is the name of another class; leave it out"
            faults.append(Fault((_ALGORITHM,), name, message))
        self._keep(values, (), faults)
        if faults:
            kind = type(self).__name__
            raise ScenarioError([Problem(place((kind, *fault.steps)), fault.message) for fault in faults])

    def _keep(self, values: Mapping[str, Any], steps: Steps, faults: list[Fault]) -> None:
        """Keeps the parameters as they are checked; those left out have their defaults."""
        declared = written_parameters(self.kind, self.algorithm)
        kept: dict[str, Any] = {_ALGORITHM: self.algorithm}
        for name, entry in declared.items():
            if name in values:
                kept[name] = checked_parameter(entry, values[name], (*steps, name), faults)
            elif entry["required"]:
                faults.append(Fault((*steps, name), values, f"is missing{purpose(entry['text'])}"))
            else:
                kept[name] = getattr(type(self), name)
        for name in values:
            if name not in declared:
                message = _unknown_parameter(str(name), self.kind, self.algorithm)
                faults.append(Fault((*steps, str(name)), values[name], message))
        self.__dict__.update(kept, _given=frozenset(declared.keys() & values.keys()))

    @property
    def given(self) -> frozenset[str]:
        """The names of the parameters that were given."""
        names: frozenset[str] = self.__dict__["_given"]
        return names

    @property
    def model_fields_set(self) -> frozenset[str]:
        """The names of the parameters that were given, as a table of a scenario has it."""
        return frozenset(self.given)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """The same with other values of some parameters, as a table of a scenario has it.

        Args:
            update: the parameters with their new values.
            deep: has no meaning: values do not change.

        Raises:
            ScenarioError: as when it is made.
        """
        del deep
        return self.replace(**(update or {}))

    def replace(self, **changes: Any) -> Self:
        """The same with other values of some parameters.

        Args:
            **changes: the parameters with their new values.

        Raises:
            ScenarioError: as when it is made.
        """
        kept = {name: value for name, value in self.items() if name in self.given}
        return type(self)(**{**kept, **changes})

    def data(self, *, given_only: bool = False, with_none: bool = False) -> dict[str, Any]:
        """The table as a file has it, quantities as text.

        Args:
            given_only: without the parameters that have been left out.
            with_none: with those that have no value.
        """
        return {
            name: plain(value, given_only=given_only, with_none=with_none)
            for name, value in self.items()
            if name == _ALGORITHM
            or ((name in self.given or not given_only) and (value is not None or with_none))
        }

    def _for_core(self) -> dict[str, Any]:
        """The algorithm as the core reads it, without the room of a queue."""
        values = self.__dict__
        parts = _core_kinds(self.kind, self.algorithm).items()
        own = {name: _part_for_core(kind, values[name]) for name, kind in parts if name in values}
        return {_ALGORITHM: self.algorithm, **own}

    @classmethod
    def filled(cls, values: Mapping[str, Any]) -> Self:
        """The algorithm with values that hold, and the defaults of all others, unchecked.

        Args:
            values: by name, those that the program fills in among them.
        """
        made = cls.__new__(cls)
        kept: dict[str, Any] = {_ALGORITHM: cls.algorithm}
        for entry in declarations()[cls.kind][cls.algorithm]["parameters"]:
            name = entry["name"]
            value = values[name] if name in values else getattr(cls, name, None)
            if entry["kind"] == _ALGORITHM and isinstance(value, str | Algorithm):
                value = leaf(entry["registry"], value)
            if name in values or is_written(entry):
                kept[name] = value
        made.__dict__.update(kept, _given=frozenset())
        return made


def _part_for_core(kind: str | None, value: Any) -> Any:
    if kind == _ALGORITHM:
        return configuration(value)
    core = core_value(value)
    if kind == "table" and value is not None:
        # The table of one algorithm only needs no name.
        return {name: entry for name, entry in core.items() if name != _ALGORITHM}
    return core


@cache
def _core_kinds(kind: str, name: str) -> Mapping[str, str]:
    """The kinds of the parameters that the core takes; the room of a queue stands beside its discipline."""
    declared = declarations()[kind][name]["parameters"]
    return {entry["name"]: entry["kind"] for entry in declared if entry["kind"] != "room"}


def leaf(kind: str, chosen: str | Algorithm, **filled: Any) -> Any:
    """A choice as a setup has it: its class, with every parameter.

    Args:
        kind: what is chosen: ``queue``.
        chosen: its name, or a table.
        **filled: what the program fills in.
    """
    if isinstance(chosen, str):
        return classes_of(kind)[chosen].filled(filled) if filled else _usual_leaf(kind, chosen)
    nested = any(entry["kind"] == _ALGORITHM for entry in written_parameters(kind, chosen.algorithm).values())
    return type(chosen).filled({**dict(chosen.items()), **filled}) if filled or nested else chosen


@cache
def _usual_leaf(kind: str, name: str) -> Algorithm:
    return classes_of(kind)[name].filled({})


def leaf_of_core(kind: str, config: Mapping[str, Any]) -> Any:
    """An algorithm as a setup has it, of what the core says of it: every parameter, numbers in base units."""
    name = config[_ALGORITHM]
    if name == PYTHON:
        return _BROUGHT[kind](**{key: value for key, value in config.items() if key != _ALGORITHM})
    cls = classes_of(kind)[name]
    declared = declarations()[kind][name]["parameters"]
    return cls.filled(
        {
            entry["name"]: _of_core(entry, config[entry["name"]])
            for entry in declared
            if entry["name"] in config
        }
    )


def _of_core(entry: Declaration, value: Any) -> Any:
    if entry["kind"] == _ALGORITHM:
        return leaf_of_core(entry["registry"], value)
    if entry["kind"] == "table" and value is not None:
        return leaf_of_core("protocol", {_ALGORITHM: entry["name"], **value})
    quantity = QUANTITIES.get(entry["kind"])
    return value if quantity is None or value is None else quantity(value)


def plain(value: object, *, given_only: bool = False, with_none: bool = False) -> Any:
    """A choice, or the value of a parameter, as a file has it; the flags are as in :meth:`Algorithm.data`."""
    match value:
        case Algorithm():
            return value.data(given_only=given_only, with_none=with_none)
        case Quantity():
            return value.plain
        case BaseModel():
            return value.model_dump(mode="json", exclude_unset=given_only, exclude_none=not with_none)
        case list():
            return [plain(entry, given_only=given_only, with_none=with_none) for entry in value]
        case _:
            return value


def configuration(chosen: str | Algorithm) -> dict[str, Any]:
    """A choice as the core reads it, whether it is a plain name or a table."""
    return {_ALGORITHM: chosen} if isinstance(chosen, str) else chosen.core()


def parameters(kind: str, chosen: str | Algorithm) -> dict[str, Any]:
    """The parameters of a choice in base units, with the defaults of those that are left out."""
    made: Algorithm = leaf(kind, chosen)
    declared = declarations()[kind][made.algorithm]["parameters"]
    names = [entry["name"] for entry in declared if entry["kind"] != "ids"]
    return {name: core_value(getattr(made, name)) for name in names}


@cache
def classes_of(kind: str) -> Mapping[str, type[Algorithm]]:
    """The classes of all algorithms of a kind, by the names of the algorithms."""
    module = import_module(f"anabranch.scenario.algorithms.{kind}")
    classes = (entry for entry in vars(module).values() if isinstance(entry, type))
    return {
        entry.algorithm: entry for entry in classes if issubclass(entry, Algorithm) and entry.kind == kind
    }


def checked_choice(
    kind: str, value: object, *, external: bool, steps: Steps, faults: list[Fault]
) -> str | Algorithm | Own | None:
    """A choice as a scenario has it: a name, a table, or what one of both was read as.

    Args:
        kind: what is chosen: ``queue``.
        value: what was read.
        external: whether it may be a class of the user's own.
        steps: where it stands.
        faults: gets what is wrong with it.

    Returns:
        The choice; None where there are faults.
    """
    if isinstance(value, Algorithm) and value.kind == kind:
        return value
    if isinstance(value, Own) and external:
        return value
    if not isinstance(value, dict):
        return _checked_name(kind, value, steps, faults)
    name, classes = value.get(_ALGORITHM), classes_of(kind)
    if external and (name == PYTHON or (name is None and PYTHON in value)):
        own: Own | None = _by_pydantic(Own, value, steps, faults)
        return own
    if not isinstance(name, str) or name not in classes:
        faults.append(Fault(steps, value, _no_algorithm(value, list(classes), external=external)))
        return None
    made = classes[name].__new__(classes[name])
    made._keep({key: entry for key, entry in value.items() if key != _ALGORITHM}, steps, faults)
    return made


def _checked_name(kind: str, value: object, steps: Steps, faults: list[Fault]) -> str | None:
    """A plain name; that of an algorithm with parameters that have no default is refused."""
    declared = declarations()[kind]
    if not isinstance(value, str) or value not in declared:
        read = value.algorithm if isinstance(value, Algorithm) else value
        faults.append(Fault(steps, value, choice_or_elsewhere(read, list(declared))))
        return None
    if missing := [entry["name"] for entry in declared[value]["parameters"] if entry["required"]]:
        values = "".join(f", {entry} = ..." for entry in missing)
        message = (
            f"{quoted(value)} needs {' and '.join(missing)}; write {{ algorithm = {quoted(value)}{values} }}"
        )
        faults.append(Fault(steps, value, message))
    return value


def _no_algorithm(read: Mapping[str, Any], names: list[str], *, external: bool) -> str:
    """What to say about a table that has no name of an algorithm, or an unknown one."""
    if _ALGORITHM in read:
        return f"algorithm {choice_or_elsewhere(read[_ALGORITHM], names)}"
    own = '; or "python": a class of yours' if external else ""
    return f'a table here needs the key "algorithm": one of {", ".join(map(quoted, names))}{own}'


def _unknown_parameter(key: str, kind: str, name: str) -> str:
    """What to say about a key that an algorithm does not have; another one may have it."""
    own = list(written_parameters(kind, name))
    having = owners(key, [kind]) or owners(key)
    if not having:
        return unknown_key(key, [_ALGORITHM, *own])
    owned = " and ".join(
        f"{listed([owner for other, owner in having if other == of])} ({of})"
        for of in dict.fromkeys(of for of, _ in having)
    )
    has = f"which has {', '.join(own)}" if own else "which has no parameters"
    return f"is a parameter of {owned}; the {kind} here is {quoted(name)}, {has}"


def checked_parameter(entry: Declaration, value: object, steps: Steps, faults: list[Fault]) -> Any:
    """The value of a parameter as a scenario has it.

    Args:
        entry: the declaration of the parameter.
        value: what was read.
        steps: where it stands.
        faults: gets what is wrong with it.

    Returns:
        The value as it is kept; None where there are faults, or where nothing is given.
    """
    if value is None and entry["optional"]:
        return None
    if entry["kind"] == "algorithm":
        return checked_choice(entry["registry"], value, external=False, steps=steps, faults=faults)
    if entry["kind"] == "room":
        return _by_pydantic(Limit, value, steps, faults)
    if entry["kind"] == "ordinals":
        return _ordinals(value, steps, faults)
    try:
        return _quantity(entry, value) if entry["kind"] in QUANTITIES else _PLAIN[entry["kind"]](entry, value)
    except ValueError as error:
        faults.append(Fault(steps, value, str(error)))
        return None


def _quantity(entry: Declaration, value: object) -> Quantity:
    kind = QUANTITIES[entry["kind"]]
    read = kind.validate(value)
    bounds = quantity_bounds(entry)
    if bounds == {"above": 0} and read == 0:
        raise ValueError(f"{shown(value)} must be above zero, for example {quoted(kind.example)}")
    return within(**bounds).func(read) if bounds else read  # type: ignore[call-arg]


def quantity_bounds(entry: Declaration) -> dict[str, int]:
    """The bounds of a quantity in base units, without what bounds every quantity of its type."""
    bounds = {key: entry[key] for key in ("least", "above", "most", "below")}
    largest = QUANTITIES[entry["kind"]].largest
    return {key: int(bound) for key, bound in bounds.items() if bound is not None and bound != largest}


def _switch(_: Declaration, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{shown(value)} is neither true nor false")


def _integer(entry: Declaration, value: object) -> int:
    if not _is_whole(value):
        raise ValueError(f"{shown(value)} is not a whole number")
    return _bounded({**entry, "most": largest(entry)}, value, int(value))


def _is_whole(value: object) -> TypeGuard[int]:
    # A quantity is an int, too, and says another thing than a number.
    return isinstance(value, int) and not isinstance(value, bool | Quantity)


def largest(entry: Declaration) -> int:
    """The largest value of a parameter that is a whole number."""
    return _LARGEST_INTEGER if entry["most"] is None else int(entry["most"])


def _number(entry: Declaration, value: object) -> float:
    if not (_is_whole(value) or isinstance(value, float)):
        raise ValueError(wrong_number(value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{shown(value)} is not a number that can be used; write a finite one")
    bounds = {key: None if entry[key] is None else float(entry[key]) for key in _WORDS}
    return _bounded(bounds, value, number)


_WORDS: Mapping[str, tuple[str, Callable[[float, float], bool]]] = {
    "most": ("at most", lambda value, bound: value <= bound),
    "below": ("below", lambda value, bound: value < bound),
    "least": ("at least", lambda value, bound: value >= bound),
    "above": ("above", lambda value, bound: value > bound),
}


def _bounded(bounds: Mapping[str, Any], read: object, value: Number) -> Number:
    """A number within its bounds."""
    for key, (word, holds) in _WORDS.items():
        if bounds[key] is not None and not holds(value, bounds[key]):
            raise ValueError(f"{shown(read)} must be {word} {bounds[key]}")
    return value


def _name(entry: Declaration, value: object) -> str:
    names = [choice["name"] for choice in entry["choices"]]
    if isinstance(value, str) and value in names:
        return value
    raise ValueError(choice_or_elsewhere(value, names))


_PLAIN: Mapping[str, Callable[[Declaration, object], Any]] = {
    "switch": _switch,
    "integer": _integer,
    "number": _number,
    "choice": _name,
}


def _ordinals(value: object, steps: Steps, faults: list[Fault]) -> list[int] | None:
    """Places in a sequence, which rise from 1 on."""
    if not isinstance(value, list | tuple):
        message = f"{shown(value)} is not a list; write it in square brackets"
        faults.append(Fault(steps, value, message))
        return None
    wrong = [
        Fault((*steps, index), entry, f"{shown(entry)} is not a whole number")
        for index, entry in enumerate(value)
        if not _is_whole(entry)
    ]
    if not wrong:
        wrong = [
            Fault(steps, value, f"{number} stands behind {before}; the numbers must rise, from 1 on")
            for before, number in pairwise([0, *value])
            if number <= before
        ][:1]
    faults += wrong
    return None if wrong else list(value)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _by_pydantic(kind: Any, value: object, steps: Steps, faults: list[Fault]) -> Any:
    """A value of a type that pydantic checks."""
    try:
        return _adapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            inner, message = located(detail, kind)
            faults.append(Fault((*steps, *inner), detail["input"], message))
        return None
