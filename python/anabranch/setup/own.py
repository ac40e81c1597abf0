"""Algorithms of the user's own: the classes that a scenario names, loaded and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anabranch.own.check import Maker, as_control, parameters_of
from anabranch.own.congestion import CongestionControl
from anabranch.own.load import LoadError, load
from anabranch.scenario.algorithm import PYTHON, Own
from anabranch.setup.problems import Problems


class OwnCode:
    """The code that a run brings along; the core names it by its place."""

    def __init__(self, base: Path | None, problems: Problems) -> None:
        self._base = base
        self._problems = problems
        self._makers: dict[Maker, int] = {}

    @property
    def makers(self) -> tuple[Maker, ...]:
        """What makes the algorithms, in the order of their places."""
        return tuple(self._makers)

    def control(self, chosen: Own, place: str) -> dict[str, Any] | None:
        """A congestion control as the core reads it; None if something is wrong, which is noted."""
        try:
            cls = as_control(load(chosen.python, self._base))
            parameters = parameters_of(cls, chosen.parameters)
        except LoadError as mistake:
            self._problems.add(place, str(mistake))
            return None
        maker = Maker(cls, tuple(parameters.items()))
        return {
            "algorithm": PYTHON,
            "code": self._makers.setdefault(maker, len(self._makers)),
            "measures_rate": cls.measures_rate,
            "judges_losses": cls.on_segment_lost is not CongestionControl.on_segment_lost,
            "counts_marks": cls.on_ecn_feedback is not CongestionControl.on_ecn_feedback,
        }
