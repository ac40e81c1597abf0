"""Algorithms of the user's own: the classes that a scenario names, loaded where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.scenario.algorithm import Own
from anabranch.scenario.files import CodeReference
from anabranch.scenario.leaves import (
    PythonApplication,
    PythonCongestionControl,
    PythonLoadBalancing,
    PythonScheduler,
)
from anabranch.scenario.provenance import Agreement
from anabranch.setup.model import LinkSetup, NotLoaded, OwnScheme
from anabranch.setup.problems import Problems

if TYPE_CHECKING:
    from anabranch.own.check import Chosen

_PS_PER_S = 1e12


class Needed(Enum):
    """Which classes of the user's own are loaded: those that what is done with the scenario calls."""

    NOTHING = 0
    """None: names and numbers are looked at."""
    ROUTES = 1
    """Routing schemes: there is to be a plan."""
    ALL = 2
    """It is to run."""

    def of(self, references: Sequence[CodeReference]) -> list[CodeReference]:
        """Those of a scenario's classes that are loaded."""
        if self is Needed.NOTHING:
            return []
        return [entry for entry in references if self is Needed.ALL or entry.makes_routes]


class OwnCode:
    """The code that a run brings along; the core names it by its place."""

    def __init__(
        self, base: Path | None, problems: Problems, needed: Needed, agreement: Agreement | None
    ) -> None:
        """``agreement`` says what may run of the classes that are needed; None where none is."""
        self._base = base
        self._problems = problems
        self._needed = needed
        self._agreement = agreement or Agreement()
        self._makers: dict[Chosen | NotLoaded, int] = {}

    @property
    def makers(self) -> tuple[Chosen | NotLoaded, ...]:
        """What makes algorithms of connections, in the order of their places."""
        return tuple(self._makers)

    @property
    def agreement(self) -> Agreement:
        """What may run."""
        return self._agreement

    def control(self, chosen: Own, place: str) -> PythonCongestionControl | None:
        """A congestion control as a setup has it; None if something is wrong, which is noted."""
        maker = self._loaded(chosen, place, "CONGESTION_CONTROL")
        if maker is None:
            return None
        hooks = _hooks(maker)
        return PythonCongestionControl(
            code=self._place(maker),
            measures_rate="measures_rate" in hooks,
            judges_losses="judges_losses" in hooks,
            counts_marks="counts_marks" in hooks,
        )

    def scheduler(self, chosen: Own, place: str) -> PythonScheduler | None:
        """A scheduler of Multipath TCP as a setup has it; None if something is wrong, which is noted."""
        maker = self._loaded(chosen, place, "SCHEDULER")
        return None if maker is None else PythonScheduler(code=self._place(maker))

    def balancer(self, chosen: Own, links: Sequence[LinkSetup]) -> PythonLoadBalancing | None:
        """Load balancing as a setup has it; None if something is wrong, which is noted."""
        maker = self._loaded(chosen, "routing.load_balancing", "LOAD_BALANCER")
        if maker is None:
            return None
        if isinstance(maker, NotLoaded):
            return PythonLoadBalancing(code=self._place(maker))
        from anabranch.own.check import BalancerMaker  # noqa: PLC0415 - few scenarios have such code

        delays = tuple(link.delay / _PS_PER_S for link in links)
        capacities = tuple(float(link.capacity) for link in links)
        bound = BalancerMaker(maker.cls, maker.parameters, delays, capacities)
        return PythonLoadBalancing(code=self._place(bound))

    def application(self, chosen: Own) -> PythonApplication | None:
        """A controller application as a setup has it; None if something is wrong, which is noted."""
        maker = self._loaded(chosen, "controller.application", "CONTROLLER_APPLICATION")
        if maker is None:
            return None
        return PythonApplication(code=self._place(maker), probes_links="probes_links" in _hooks(maker))

    def scheme(self, chosen: Own, place: str) -> OwnScheme | None:
        """A routing scheme as its planner takes it; None if something is wrong, which is noted."""
        maker = self._loaded(chosen, place, "ROUTING_SCHEME", Needed.ROUTES)
        if maker is None:
            return None
        return OwnScheme(maker, self._agreement)

    def _place(self, maker: Chosen | NotLoaded) -> int:
        """The place of the code among all that the run brings along."""
        return self._makers.setdefault(maker, len(self._makers))

    def _loaded(
        self, chosen: Own, place: str, kind: str, wanted: Needed = Needed.ALL
    ) -> Chosen | NotLoaded | None:
        """What makes objects of a class; None if something is wrong, which is noted.

        Args:
            chosen: the class, with its parameters.
            place: where it stands.
            kind: name of its kind, in own/check.py.
            wanted: where less than this is needed, the class is not loaded.
        """
        # Own code may import much; scenarios without any do not wait for it.
        from anabranch.own import check  # noqa: PLC0415
        from anabranch.own.load import LoadError, check_reference, load  # noqa: PLC0415
        from anabranch.own.running import own_code_runs  # noqa: PLC0415

        try:
            if self._needed.value < wanted.value:
                check_reference(chosen.python, self._base)
                return NotLoaded(chosen.python, tuple(chosen.parameters.items()))
            cls = load(chosen.python, self._base, self._agreement)
            with own_code_runs(self._agreement):
                return check.chosen(getattr(check, kind), cls, chosen.parameters)
        except LoadError as mistake:
            self._problems.add(place, str(mistake))
            return None


def _hooks(maker: Chosen | NotLoaded) -> set[str]:
    """The hooks of a class that are called; none is known of one that is not loaded."""
    abilities = {} if isinstance(maker, NotLoaded) else maker.abilities()
    return {name for name, has in abilities.items() if has}
