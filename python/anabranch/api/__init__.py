"""The public names of the package, together: what ``anabranch.NAME`` is.

Each is imported when it is asked for: who reads a scenario need not wait for what simulates it and draws it.
Scenarios and results get here what is done with them: the tables themselves know neither what runs them nor
what draws them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anabranch.api.routes import Routes
    from anabranch.api.runs import Result, Simulation, run
    from anabranch.api.scenario import Scenario
    from anabranch.api.studies import Factor, Level, Metric, Range, Study, StudyResult
    from anabranch.errors import AnabranchError, OwnCodeError, Problem, ResultError, ScenarioError, StudyError
    from anabranch.scenario import (
        Capture,
        Event,
        LinkOverride,
        LinkSettings,
        Network,
        NewNode,
        Routing,
        Run,
        Traffic,
        Transport,
    )

_NAMES = {
    "anabranch.api.routes": ("Routes",),
    "anabranch.api.runs": ("Result", "Simulation", "run"),
    "anabranch.api.scenario": ("Scenario",),
    "anabranch.api.studies": ("Factor", "Level", "Metric", "Range", "Study", "StudyResult"),
    "anabranch.errors": (
        "AnabranchError", "OwnCodeError", "Problem", "ResultError", "ScenarioError", "StudyError",
    ),
    "anabranch.scenario": (
        "Capture", "Event", "LinkOverride", "LinkSettings", "Network", "NewNode", "Routing", "Run", "Traffic",
        "Transport",
    ),
}  # fmt: skip
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A public name, from the module that has it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


__all__ = [
    "AnabranchError",
    "Capture",
    "Event",
    "Factor",
    "Level",
    "LinkOverride",
    "LinkSettings",
    "Metric",
    "Network",
    "NewNode",
    "OwnCodeError",
    "Problem",
    "Range",
    "Result",
    "ResultError",
    "Routes",
    "Routing",
    "Run",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "Study",
    "StudyError",
    "StudyResult",
    "Traffic",
    "Transport",
    "run",
]
