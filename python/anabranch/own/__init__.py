"""Algorithms of your own, in Python: the classes to derive from. docs/own.md explains them.

A scenario names a class by its module: ``congestion_control = { python = "my_module:Vegas", alpha = 2 }``.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing, whose import takes longer than this one
if TYPE_CHECKING:
    from typing import Any

    from anabranch._core import (
        Ack,
        EcnFeedback,
        FlowEntry,
        LinkCounters,
        LinkProbe,
        LossEpisode,
        LostSegment,
        PacketIn,
        RemovedEntry,
        Report,
        Subflow,
        SwitchStatistics,
        WaitingData,
    )
    from anabranch.own.balancer import LoadBalancer, PathChoice
    from anabranch.own.congestion import CongestionControl
    from anabranch.own.controller import ControllerApplication
    from anabranch.own.network import ControlledNetwork
    from anabranch.own.path_selector import PathSelector
    from anabranch.own.routing import RoutingNetwork, RoutingScheme, WeightedLinks
    from anabranch.own.scheduler import SubflowScheduler

__all__ = [
    "Ack",
    "CongestionControl",
    "ControlledNetwork",
    "ControllerApplication",
    "EcnFeedback",
    "FlowEntry",
    "LinkCounters",
    "LinkProbe",
    "LoadBalancer",
    "LossEpisode",
    "LostSegment",
    "PacketIn",
    "PathChoice",
    "PathSelector",
    "RemovedEntry",
    "Report",
    "RoutingNetwork",
    "RoutingScheme",
    "Subflow",
    "SubflowScheduler",
    "SwitchStatistics",
    "WaitingData",
    "WeightedLinks",
]

_NAMES = {
    "anabranch.own.balancer": ("LoadBalancer", "PathChoice"),
    "anabranch.own.congestion": ("CongestionControl",),
    "anabranch.own.controller": ("ControllerApplication",),
    "anabranch.own.network": ("ControlledNetwork",),
    "anabranch.own.path_selector": ("PathSelector",),
    "anabranch.own.routing": ("RoutingNetwork", "RoutingScheme", "WeightedLinks"),
    "anabranch.own.scheduler": ("SubflowScheduler",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A class, imported when it is asked for: a run without code of the user's own needs none of them."""
    from importlib import import_module  # noqa: PLC0415 - see above

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES.get(name, "anabranch._core")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
