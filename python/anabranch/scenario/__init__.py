"""What a user writes: the typed scenario, its checks and its messages."""

from anabranch.scenario.algorithms.loss import GilbertElliott
from anabranch.scenario.controller import Controller, ControlLink, FlowTable
from anabranch.scenario.event import Event
from anabranch.scenario.network import (
    Codel,
    DistanceDelay,
    LinkOverride,
    LinkSettings,
    Network,
    NewNode,
    QueueLimits,
)
from anabranch.scenario.quantity import ByteCount, Number, PacketCount, Rate, Span, Speed
from anabranch.scenario.routing import Routing
from anabranch.scenario.run import Capture, Run
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.traffic import MessageApplication, RateApplication, Traffic
from anabranch.scenario.transport import Transport
from anabranch.scenario.variate import (
    Constant,
    Empirical,
    Exponential,
    Gaussian,
    LogNormal,
    Pareto,
    Uniform,
)

__all__ = [
    "ByteCount",
    "Capture",
    "Codel",
    "Constant",
    "ControlLink",
    "Controller",
    "DistanceDelay",
    "Empirical",
    "Event",
    "Exponential",
    "FlowTable",
    "Gaussian",
    "GilbertElliott",
    "LinkOverride",
    "LinkSettings",
    "LogNormal",
    "MessageApplication",
    "Network",
    "NewNode",
    "Number",
    "PacketCount",
    "Pareto",
    "QueueLimits",
    "Rate",
    "RateApplication",
    "Routing",
    "Run",
    "Scenario",
    "Span",
    "Speed",
    "Traffic",
    "Transport",
    "Uniform",
]
