"""Anabranch: TCP over many paths. Routes, packets and studies on one engine.

Start with :class:`Scenario`: read one from a file (``Scenario.load``) or build it from the tables beside it,
then ask for its ``routes()`` or ``run()`` it.
"""

from anabranch._core import version as _version
from anabranch.errors import AnabranchError, Problem, ResultError, ScenarioError
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

__version__ = _version()

__all__ = [
    "AnabranchError",
    "Capture",
    "Event",
    "LinkOverride",
    "LinkSettings",
    "Network",
    "NewNode",
    "Problem",
    "Result",
    "ResultError",
    "Routes",
    "Routing",
    "Run",
    "Scenario",
    "ScenarioError",
    "Traffic",
    "Transport",
    "__version__",
    "run",
]
