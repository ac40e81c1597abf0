"""Algorithms of the user's own: the classes that a scenario names, loaded where they are needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch import _core
from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.files import CodeReference
from anabranch.scenario.provenance import Agreement
from anabranch.setup.model import NotLoaded, OwnScheme

if TYPE_CHECKING:
    from anabranch.own.check import Chosen

_PS_PER_S = 1e12


class Needed(Enum):
    """The classes of the user's own that are loaded: those that the use of the scenario calls."""

    NOTHING = 0
    """None: names and numbers are looked at."""
    ROUTES = 1
    """Routing schemes: there is to be a plan."""
    ALL = 2
    """It is to run."""

    def of(self, references: Sequence[CodeReference]) -> list[CodeReference]:
        """The classes of a scenario that are loaded."""
        if self is Needed.NOTHING:
            return []
        return [entry for entry in references if self is Needed.ALL or entry.makes_routes]


_KINDS: Mapping[str, tuple[str, Needed, tuple[str, ...]]] = {
    "congestion_control": (
        "CONGESTION_CONTROL",
        Needed.ALL,
        ("measures_rate", "judges_losses", "counts_marks"),
    ),
    "scheduler": ("SCHEDULER", Needed.ALL, ()),
    "path_selector": ("PATH_SELECTOR", Needed.ALL, ()),
    "load_balancing": ("LOAD_BALANCER", Needed.ALL, ()),
    "application": ("CONTROLLER_APPLICATION", Needed.ALL, ("probes_links",)),
    "scheme": ("ROUTING_SCHEME", Needed.ROUTES, ()),
}
"""By what a class is its kind in own/check.py; where less is needed, it is not loaded; its hooks, of which
the core must know whether they are called."""


class OwnCode:
    """The code that a run brings along; the core names it by its place."""

    def __init__(self, base: Path | None, needed: Needed, agreement: Agreement | None) -> None:
        """``agreement`` says what may run of the classes that are needed; None where none is."""
        self._base = base
        self._needed = needed
        self._makers: dict[Chosen | NotLoaded, int] = {}
        self._schemes: dict[Chosen | NotLoaded, int] = {}
        self.agreement = agreement or Agreement()
        """What may run."""

    @property
    def makers(self) -> tuple[Chosen | NotLoaded, ...]:
        """The makers of algorithms of connections, in the order of their places."""
        return tuple(self._makers)

    def scheme(self, place: int) -> OwnScheme:
        """The routing scheme of a place, as its planner takes it."""
        return OwnScheme(list(self._schemes)[place], self.agreement)

    def algorithm(
        self,
        kind: str,
        python: str,
        parameters: Mapping[str, Any],
        delays_ps: Sequence[int],
        capacities_bps: Sequence[int],
    ) -> str:
        """An algorithm as the core reads it, as JSON.

        Args:
            kind: what it is: ``congestion_control``.
            python: its class, as the scenario names it.
            parameters: those of the class.
            delays_ps: of every link, for load balancing.
            capacities_bps: of every link, for load balancing.

        Raises:
            anabranch._core.ProblemError: if something is wrong with the class.
        """
        name, wanted, hooks = _KINDS[kind]
        maker = self._loaded(python, parameters, name, wanted)
        if kind == "load_balancing" and not isinstance(maker, NotLoaded):
            from anabranch.own.check import BalancerMaker  # noqa: PLC0415 - few scenarios have such code

            delays = tuple(delay / _PS_PER_S for delay in delays_ps)
            maker = BalancerMaker(maker.cls, maker.parameters, delays, tuple(map(float, capacities_bps)))
        places = self._schemes if kind == "scheme" else self._makers
        # Of a class that is not loaded no hook is known.
        abilities = {} if isinstance(maker, NotLoaded) else maker.abilities()
        hooks_there = {hook: bool(abilities.get(hook)) for hook in hooks}
        return json.dumps({"algorithm": PYTHON, "code": places.setdefault(maker, len(places)), **hooks_there})

    def _loaded(
        self, python: str, parameters: Mapping[str, Any], kind: str, wanted: Needed
    ) -> Chosen | NotLoaded:
        """What makes objects of a class.

        Raises:
            anabranch._core.ProblemError: if something is wrong with it.
        """
        # Own code may import much; scenarios without any do not wait for it.
        from anabranch.own import check  # noqa: PLC0415
        from anabranch.own.load import LoadError, check_reference, load  # noqa: PLC0415
        from anabranch.own.running import own_code_runs  # noqa: PLC0415

        try:
            if self._needed.value < wanted.value:
                check_reference(python, self._base)
                return NotLoaded(python, tuple(parameters.items()))
            cls = load(python, self._base, self.agreement)
            with own_code_runs(self.agreement):
                return check.chosen(getattr(check, kind), cls, dict(parameters))
        except LoadError as mistake:
            raise _core.ProblemError(str(mistake)) from None
