"""The registry of generators: each has a name and typed parameters, which are listed and checked."""

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anabranch.suggest import nearest_remedy
from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology


@dataclass(frozen=True, slots=True)
class Parameter:
    """A keyword parameter of a generator. Units come last in the name: `_bps`, `_ps`."""

    name: str
    annotation: Any
    default: Any
    required: bool


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator under the name that a scenario gives it; `function` takes keyword parameters only."""

    name: str
    function: Callable[..., Topology]

    @property
    def summary(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in the order of the function."""
        return _parameters(self.function)

    def build(self, parameters: Mapping[str, object]) -> Topology:
        """The topology for these parameters.

        Raises TopologyError, whose place is this generator and the parameter, for unknown, missing or wrong
        ones.
        """
        known = [parameter.name for parameter in self.parameters]
        for name in parameters:
            if name not in known:
                raise TopologyError(self.name, f'there is no parameter "{name}"', nearest_remedy(name, known))
        missing = [p.name for p in self.parameters if p.required and p.name not in parameters]
        if missing:
            raise TopologyError(self.name, f'the parameter "{missing[0]}" is missing', "give it a value")
        try:
            return self.function(**parameters)
        except TopologyError as error:
            where = f"{self.name}: {error.where}" if error.where else self.name
            raise TopologyError(where, error.what, error.remedy) from None


@functools.cache
def _parameters(function: Callable[..., Topology]) -> tuple[Parameter, ...]:
    # Once: to read a signature takes longer than to build a small network.
    hints = typing.get_type_hints(function)
    return tuple(
        Parameter(p.name, hints[p.name], None if p.default is p.empty else p.default, p.default is p.empty)
        for p in inspect.signature(function).parameters.values()
    )
