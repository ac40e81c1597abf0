"""What a user writes: the typed scenario, its checks and its messages."""

from anabranch.scenario.algorithms.loss import GilbertElliott
from anabranch.scenario.algorithms.queue import Codel, Fifo, FqCodel, Pie, Red, Threshold
from anabranch.scenario.controller import Controller, ControlLink, FlowTable
from anabranch.scenario.demand import Matrix
from anabranch.scenario.event import Event
from anabranch.scenario.limit import BandwidthDelay
from anabranch.scenario.network import (
    DistanceDelay,
    LinkOverride,
    LinkSettings,
    Network,
    NewNode,
)
from anabranch.scenario.quantity import ByteCount, Number, PacketCount, Rate, Span, Speed
from anabranch.scenario.routing import Routing
from anabranch.scenario.run import Capture, Run
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.traffic import (
    MessageApplication,
    PingApplication,
    RateApplication,
    Traffic,
    UdpApplication,
)
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
    "BandwidthDelay",
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
    "Fifo",
    "FlowTable",
    "FqCodel",
    "Gaussian",
    "GilbertElliott",
    "LinkOverride",
    "LinkSettings",
    "LogNormal",
    "Matrix",
    "MessageApplication",
    "Network",
    "NewNode",
    "Number",
    "PacketCount",
    "Pareto",
    "Pie",
    "PingApplication",
    "Rate",
    "RateApplication",
    "Red",
    "Routing",
    "Run",
    "Scenario",
    "Span",
    "Speed",
    "Threshold",
    "Traffic",
    "Transport",
    "UdpApplication",
    "Uniform",
]
