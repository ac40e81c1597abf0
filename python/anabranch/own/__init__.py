"""Algorithms of your own, in Python: the classes to derive from. docs/own.md explains them.

A scenario names a class by its module: ``congestion_control = { python = "my_module:Vegas", alpha = 2 }``.
"""

from __future__ import annotations

from anabranch._core import Ack, EcnFeedback, LossEpisode, LostSegment, Report, Subflow, WaitingData
from anabranch.own.balancer import LoadBalancer, PathChoice
from anabranch.own.congestion import CongestionControl
from anabranch.own.routing import RoutingNetwork, RoutingScheme, WeightedLinks
from anabranch.own.scheduler import SubflowScheduler

__all__ = [
    "Ack",
    "CongestionControl",
    "EcnFeedback",
    "LoadBalancer",
    "LossEpisode",
    "LostSegment",
    "PathChoice",
    "Report",
    "RoutingNetwork",
    "RoutingScheme",
    "Subflow",
    "SubflowScheduler",
    "WaitingData",
    "WeightedLinks",
]
