"""Algorithms of your own, in Python: the classes to derive from. docs/own.md explains them.

A scenario names a class by its module: ``congestion_control = { python = "my_module:Vegas", alpha = 2 }``.
"""

from __future__ import annotations

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
