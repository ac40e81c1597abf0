"""Anabranch: TCP over many paths. Routes, packets and studies on one engine.

Start with :class:`Scenario`: read one from a file (``Scenario.load``) or build it from the tables beside it,
then ask for its ``routes()`` or ``run()`` it. A :class:`Study` runs it over many settings.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing, whose import takes longer than this one
if TYPE_CHECKING:
    from typing import Any

    from anabranch.api.fits import Fit, TransportPrediction, fit, predict
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

    __version__: str

__all__ = [
    "AnabranchError",
    "Capture",
    "Event",
    "Factor",
    "Fit",
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
    "TransportPrediction",
    "__version__",
    "fit",
    "predict",
    "run",
]


_NAMES = {
    "anabranch.api.fits": ("Fit", "TransportPrediction", "fit", "predict"),
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
    """A public name, imported when it is asked for: what it stands on takes time to import.

    The core, too: until ``anabranch.__main__`` runs, Ctrl-C ends the command line with Python's traceback.
    """
    from importlib import import_module  # noqa: PLC0415 - see above

    if name == "__version__":
        value = import_module("anabranch._core").version()
    elif name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
