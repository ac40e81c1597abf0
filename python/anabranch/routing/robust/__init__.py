"""Fixed robust routing: the fractions that make the worst-case maximum link load least."""

from .errors import (
    BoundsError,
    CandidateError,
    CapacityError,
    NetworkError,
    RobustRoutingError,
    RoutingError,
    SolverError,
)
from .model import Candidates, DemandBounds, Network, Routing, Solution, Status, WorstCase

__all__ = [
    "BoundsError",
    "CandidateError",
    "Candidates",
    "CapacityError",
    "DemandBounds",
    "Network",
    "NetworkError",
    "RobustRoutingError",
    "Routing",
    "RoutingError",
    "Solution",
    "SolverError",
    "Status",
    "WorstCase",
]
