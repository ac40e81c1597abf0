"""Algorithms of the user's own, and the names of those that are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.table import Table

if TYPE_CHECKING:
    from anabranch.scenario.choice import Algorithm


class Own(Table):
    """An algorithm of your own, by its class in Python; all other keys are parameters of that class."""

    python: str
    """Module and class: ``my_module:Vegas``."""

    @property
    def algorithm(self) -> str:
        """The name by which the core calls it."""
        return PYTHON

    @property
    def parameters(self) -> dict[str, bool | int | float | str]:
        """The parameters that the scenario gives."""
        return {key: value for key, value in self._given.items() if key != PYTHON}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A parameter of the class, or a field."""
            given = self.__dict__.get("_given", {})
            return given[name] if name in given else super().__getattr__(name)

    def data(self, *, given_only: bool = False, with_none: bool = False) -> dict[str, Any]:
        """The table as a file has it; the flags have no meaning here."""
        del given_only, with_none
        return dict(self._given)


def name_of(chosen: str | Algorithm | Own) -> str:
    """The name of the algorithm that is chosen."""
    return chosen if isinstance(chosen, str) else chosen.algorithm
