"""What a user writes: the typed scenario, its checks and its messages."""

from anabranch.scenario.event import Event
from anabranch.scenario.limit import BandwidthDelay
from anabranch.scenario.network import LinkOverride, LinkSettings, Network, NewNode
from anabranch.scenario.quantity import ByteCount, PacketCount, Rate, Span, Speed
from anabranch.scenario.routing import Routing
from anabranch.scenario.run import Capture, Run
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.traffic import Traffic
from anabranch.scenario.transport import Transport

__all__ = [
    "BandwidthDelay",
    "ByteCount",
    "Capture",
    "Event",
    "LinkOverride",
    "LinkSettings",
    "Network",
    "NewNode",
    "PacketCount",
    "Rate",
    "Routing",
    "Run",
    "Scenario",
    "Span",
    "Speed",
    "Traffic",
    "Transport",
]
