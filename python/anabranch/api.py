"""The public names of the package, together: what ``anabranch.NAME`` is.

A module of its own, so that ``import anabranch`` takes no time: ``__init__`` imports it when the first of its
names is asked for.
"""

from __future__ import annotations

from anabranch.errors import AnabranchError, Problem, ResultError, ScenarioError, StudyError
from anabranch.result import Result
from anabranch.routes import Routes
from anabranch.runner import run
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
    "run",
]
