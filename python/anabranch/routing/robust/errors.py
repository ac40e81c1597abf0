"""Mistakes in a robust routing problem, each with a place and a remedy."""

from __future__ import annotations

from anabranch.errors import AnabranchError


class RobustRoutingError(AnabranchError):
    """Base of the errors of this package.

    Attributes:
        place: what is wrong, such as a node, a pair or a link, by name; may be empty.
        what: what was read there.
        remedy: what would be right; may be empty.
    """

    def __init__(self, place: str, what: str, remedy: str = "") -> None:
        self.place = place
        self.what = what
        self.remedy = remedy
        message = f"{place}: {what}" if place else what
        super().__init__(f"{message}; {remedy}" if remedy else message)

    def __reduce__(self) -> tuple[type[RobustRoutingError], tuple[str, str, str]]:
        """Keep the three parts when the exception crosses a process boundary."""
        return (type(self), (self.place, self.what, self.remedy))


class NetworkError(RobustRoutingError):
    """Arrays that describe no network."""


class BoundsError(RobustRoutingError):
    """Demand bounds that no traffic matrix can meet, or that allow unlimited traffic."""


class CandidateError(RobustRoutingError):
    """Candidate paths that are no paths of their pair, or a pair without one."""


class CapacityError(RobustRoutingError):
    """A link without capacity that traffic uses."""


class RoutingError(RobustRoutingError):
    """Shares of traffic that are no routing."""


class SolverError(RobustRoutingError):
    """The solver ended without any routing: a time limit reached too early, or a failure of its own."""
