"""The one exception of traffic from files."""

from anabranch.topology.error import PlacedError


class TrafficError(PlacedError):
    """A file of traffic that could not be had; the message is one readable line.

    Its parts are those of a :class:`anabranch.topology.TopologyError`.
    """
