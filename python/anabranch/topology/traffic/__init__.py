"""Traffic from files: matrices, lists of flows, distributions of sizes, as other programs write them."""

from anabranch.topology.traffic.error import TrafficError
from anabranch.topology.traffic.load import is_rate_table, load_series, load_traffic
from anabranch.topology.traffic.model import ListedFlows, SizePoint, TrafficFile, TrafficMatrix
from anabranch.topology.traffic.readers import TRAFFIC_FORMATS, TRAFFIC_READERS

__all__ = [
    "TRAFFIC_FORMATS",
    "TRAFFIC_READERS",
    "ListedFlows",
    "SizePoint",
    "TrafficError",
    "TrafficFile",
    "TrafficMatrix",
    "is_rate_table",
    "load_series",
    "load_traffic",
]
