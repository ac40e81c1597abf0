"""Algorithms of the user's own: the classes that a scenario names, loaded and checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anabranch.own.check import (
    CONGESTION_CONTROL,
    CONTROLLER_APPLICATION,
    LOAD_BALANCER,
    ROUTING_SCHEME,
    SCHEDULER,
    BalancerMaker,
    Chosen,
    Kind,
    parameters_of,
)
from anabranch.own.congestion import CongestionControl
from anabranch.own.controller import ControllerApplication
from anabranch.own.load import LoadError, load
from anabranch.scenario.algorithm import PYTHON, Own
from anabranch.setup.model import LinkSetup
from anabranch.setup.problems import Problems

_PS_PER_S = 1e12


class OwnCode:
    """The code that a run brings along; the core names it by its place."""

    def __init__(self, base: Path | None, problems: Problems) -> None:
        self._base = base
        self._problems = problems
        self._makers: dict[Chosen, int] = {}

    @property
    def makers(self) -> tuple[Chosen, ...]:
        """What makes algorithms of connections, in the order of their places."""
        return tuple(self._makers)

    def control(self, chosen: Own, place: str) -> dict[str, Any] | None:
        """A congestion control as the core reads it; None if something is wrong, which is noted."""
        maker = self._found(chosen, place, CONGESTION_CONTROL)
        if maker is None:
            return None
        cls: type[CongestionControl] = maker.cls
        return {
            "algorithm": PYTHON,
            "code": self._place(maker),
            "measures_rate": cls.measures_rate,
            "judges_losses": cls.on_segment_lost is not CongestionControl.on_segment_lost,
            "counts_marks": cls.on_ecn_feedback is not CongestionControl.on_ecn_feedback,
        }

    def scheduler(self, chosen: Own, place: str) -> dict[str, Any] | None:
        """A scheduler of Multipath TCP as the core reads it; None if something is wrong, which is noted."""
        maker = self._found(chosen, place, SCHEDULER)
        return None if maker is None else {"algorithm": PYTHON, "code": self._place(maker)}

    def balancer(self, chosen: Own, links: Sequence[LinkSetup]) -> dict[str, Any]:
        """Load balancing as the core reads it; what is wrong is noted."""
        found = self._found(chosen, "routing.load_balancing", LOAD_BALANCER)
        if found is None:
            return {}
        delays = tuple(link.delay / _PS_PER_S for link in links)
        capacities = tuple(float(link.capacity) for link in links)
        maker = BalancerMaker(found.cls, found.parameters, delays, capacities)
        return {"algorithm": PYTHON, "code": self._place(maker)}

    def application(self, chosen: Own) -> dict[str, Any]:
        """A controller application as the core reads it; what is wrong is noted."""
        maker = self._found(chosen, "controller.application", CONTROLLER_APPLICATION)
        if maker is None:
            return {}
        probes = maker.cls.on_probe is not ControllerApplication.on_probe
        return {"algorithm": PYTHON, "code": self._place(maker), "probes_links": probes}

    def _place(self, maker: Chosen) -> int:
        return self._makers.setdefault(maker, len(self._makers))

    def scheme(self, chosen: Own, place: str) -> dict[str, Any] | None:
        """A routing scheme as its planner takes it; None if something is wrong, which is noted."""
        found = self._found(chosen, place, ROUTING_SCHEME)
        return None if found is None else {"algorithm": PYTHON, "code": found}

    def _found(self, chosen: Own, place: str, kind: Kind) -> Chosen | None:
        try:
            cls = load(chosen.python, self._base)
            kind.check(cls)
            return kind.maker(cls, tuple(parameters_of(cls, chosen.parameters).items()))
        except LoadError as mistake:
            self._problems.add(place, str(mistake))
            return None
