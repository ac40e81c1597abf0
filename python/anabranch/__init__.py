"""Anabranch: TCP over many paths. Routes, packets and studies on one engine.

Start with :class:`Scenario`: read one from a file (``Scenario.load``) or build it from the tables beside it,
then ask for its ``routes()`` or ``run()`` it. A :class:`Study` runs it over many settings.
"""

from anabranch._core import version as _version
from anabranch.errors import AnabranchError, Problem, ResultError, ScenarioError, StudyError
from anabranch.result import Result
from anabranch.routes import Routes
from anabranch.run import run
from anabranch.scenario import (
    Capture,
    Event,
    LinkOverride,
    LinkSettings,
    Network,
    NewNode,
    Routing,
    Run,
    Scenario,
    Traffic,
    Transport,
)
from anabranch.study import Factor, Level, Metric, Range, Study, StudyResult

__version__ = _version()

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
    "Problem",
    "Range",
    "Result",
    "ResultError",
    "Routes",
    "Routing",
    "Run",
    "Scenario",
    "ScenarioError",
    "Study",
    "StudyError",
    "StudyResult",
    "Traffic",
    "Transport",
    "__version__",
    "run",
]
