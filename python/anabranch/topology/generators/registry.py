"""The registry of generators: each has a name and typed parameters, which are listed and checked."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from anabranch.suggest import nearest_remedy
from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator; `function` takes keyword parameters only, which all have defaults."""

    function: Callable[..., Topology]

    @property
    def name(self) -> str:
        """The name that a scenario gives it: that of the function, with dashes."""
        return self.function.__name__.replace("_", "-")

    @property
    def summary(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """The parameters in the order of the function. Units come last in the name: `_bps`, `_ps`."""
        return _parameters(self.function)

    def build(self, parameters: Mapping[str, object]) -> Topology:
        """The topology for these parameters.

        Raises TopologyError, whose place is this generator and the parameter, for unknown or wrong ones.
        """
        known = [parameter.name for parameter in self.parameters]
        for name in parameters:
            if name not in known:
                raise TopologyError(self.name, f'there is no parameter "{name}"', nearest_remedy(name, known))
        try:
            return self.function(**parameters)
        except TopologyError as error:
            where = f"{self.name}: {error.where}" if error.where else self.name
            raise TopologyError(where, error.what, error.remedy) from None


@cache
def _parameters(function: Callable[..., Topology]) -> tuple[inspect.Parameter, ...]:
    # Once: to read a signature takes longer than to build a small network.
    return tuple(inspect.signature(function).parameters.values())
