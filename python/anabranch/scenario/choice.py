"""The choice of an algorithm, with its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar, Self

from anabranch import _core
from anabranch.errors import ScenarioError
from anabranch.scenario import leaves
from anabranch.scenario.classes import classes_of
from anabranch.scenario.declarations import PYTHON, Declaration, declarations, is_written, written_parameters
from anabranch.scenario.forms import declared_form
from anabranch.scenario.plain import Noted, plain_value, written
from anabranch.scenario.quantity import ByteCount, PacketCount, Quantity, Rate, Span, shown
from anabranch.scenario.record import Record, core_value
from anabranch.scenario.typed import converter

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
    "path_selector": leaves.PythonPathSelector,
}
"""What stands for code of the user's own in a transport, by the kind of algorithm."""
_ALGORITHM = "algorithm"


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
        kind = type(self).__name__
        noted = Noted(kind)
        name = values.pop(_ALGORITHM, self.algorithm)
        if name != self.algorithm:
            message = f"{shown(name)} is the name of another class; leave it out"
            noted.add((_ALGORITHM,), message)
        declared = written_parameters(self.kind, self.algorithm)
        given = {
            key: plain_value(
                list(value) if isinstance(value, tuple) else value,
                declared_form(declared[key]) if key in declared else {"kind": "free"},
                noted,
                key,
            )
            for key, value in values.items()
            if value is not None
        }
        problems = noted.joined(_core.check_choice(self.kind, {_ALGORITHM: self.algorithm, **given}))
        if problems:
            raise ScenarioError(problems)
        self._keep(given)

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        """The algorithm in the plain data of a table that hold."""
        made = cls.__new__(cls)
        made._keep(data)
        return made

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Keeps the parameters as objects; those left out have their defaults."""
        kept: dict[str, Any] = {_ALGORITHM: self.algorithm}
        for name in written_parameters(self.kind, self.algorithm):
            if name in given:
                kept[name] = _converter(self.kind, self.algorithm, name)(given[name])
            else:
                kept[name] = getattr(type(self), name)
        self.__dict__.update(kept, _given=frozenset(given.keys() - {_ALGORITHM}))

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
        """The algorithm with other values of some parameters, as a table of a scenario has it.

        Args:
            update: the parameters with their new values.
            deep: has no meaning: values do not change.

        Raises:
            ScenarioError: as when it is made.
        """
        del deep
        return self.replace(**(update or {}))

    def replace(self, **changes: Any) -> Self:
        """The algorithm with other values of some parameters.

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
            name: written(value, with_none=with_none)
            for name, value in self.items()
            if name == _ALGORITHM
            or ((name in self.given or not given_only) and (value is not None or with_none))
        }

    def _for_core(self) -> dict[str, Any]:
        """The algorithm as the core reads it, without the room of a queue."""
        values = self.__dict__
        parts = _core_kinds(self.kind, self.algorithm).items()
        parameters = {name: _part_for_core(kind, values[name]) for name, kind in parts if name in values}
        return {_ALGORITHM: self.algorithm, **parameters}

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
def _converter(kind: str, algorithm: str, parameter: str) -> Callable[[Any], Any]:
    declared = written_parameters(kind, algorithm)[parameter]
    convert = converter(declared_form(declared))
    return (lambda value: None if value is None else convert(value)) if declared["optional"] else convert


def largest(entry: Declaration) -> int:
    """The largest value of a parameter that is a whole number."""
    return 2**63 - 1 if entry["most"] is None else int(entry["most"])
