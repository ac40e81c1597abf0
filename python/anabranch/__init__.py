"""Anabranch: TCP over many paths. Routes, packets and studies on one engine.

Start with :class:`Scenario`: read one from a file (``Scenario.load``) or build it from the tables beside it,
then ask for its ``routes()`` or ``run()`` it. A :class:`Study` runs it over many settings.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anabranch._core import version as _version

if TYPE_CHECKING:
    from anabranch.api import *

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
    "Simulation",
    "Study",
    "StudyError",
    "StudyResult",
    "Traffic",
    "Transport",
    "__version__",
    "run",
]


def __getattr__(name: str) -> Any:
    """A public name, imported when it is asked for: what it stands on takes time to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module("anabranch.api"), name)
    return value


def __dir__() -> list[str]:
    return __all__
