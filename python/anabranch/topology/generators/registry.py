"""The registry of generators: each has a name and typed parameters, which are listed and checked."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from anabranch.text.suggest import nearest_remedy
from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology

from .quantities import QUANTITIES, LinkQuantities


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator of a network whose links are of some kinds.

    `function` takes the quantities of each kind, then keyword parameters, which all have defaults.
    """

    function: Callable[..., Topology]
    kinds: tuple[str, ...] = ("",)
    """What stands before the quantities of each kind: "access_" in `access_delay_ps`."""

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
        """The parameters: the function's, then the quantities. Units come last in the name: `_bps`, `_ps`."""
        return _parameters(self)

    def build(self, parameters: Mapping[str, object]) -> Topology:
        """The topology for these parameters.

        Raises TopologyError, whose place is this generator and the parameter, for unknown or wrong ones.
        """
        names = [parameter.name for parameter in self.parameters]
        for name in parameters:
            if name not in names:
                raise TopologyError(self.name, f'there is no parameter "{name}"', nearest_remedy(name, names))
        try:
            given = dict(parameters)
            quantities = [
                LinkQuantities(**{name: given.pop(kind + name, None) for name in QUANTITIES}, prefix=kind)  # type: ignore[arg-type]
                for kind in self.kinds
            ]
            return self.function(*quantities, **given)
        except TopologyError as error:
            where = f"{self.name}: {error.where}" if error.where else self.name
            raise TopologyError(where, error.what, error.remedy) from None


@cache
def _parameters(generator: Generator) -> tuple[inspect.Parameter, ...]:
    # Once: to read a signature takes longer than to build a small network.
    parameters = inspect.signature(generator.function).parameters.values()
    of_links = (
        inspect.Parameter(kind + name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for kind in generator.kinds
        for name, annotation in LinkQuantities.__annotations__.items()
        if name in QUANTITIES
    )
    return (*(each for each in parameters if each.kind is each.KEYWORD_ONLY), *of_links)
