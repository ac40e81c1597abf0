"""Fixed robust routing: the fractions that make the worst-case maximum link load least.

Traffic is known by bounds only (`DemandBounds`), and the fractions of a pair's traffic on its paths stay
whatever comes. Over candidate paths take `single_lp`, over all paths `all_paths`; `survivable` minds failures
of links as well. `fewest_splits` takes, of the many routings with the least load, one that spreads few pairs.
`worst_case` and `worst_case_under_failures` score any routing and know nothing of the solvers; `cut_bound` is
a floor under all of them.
"""

from .all_paths import all_paths
from .cuts import cut_bound
from .decompose import decompose
from .errors import (
    BoundsError,
    CandidateError,
    CapacityError,
    NetworkError,
    RobustRoutingError,
    RoutingError,
    SolverError,
)
from .failures import worst_case_under_failures
from .fewest_splits import Splits, ceiling_of, fewest_splits
from .model import Candidates, DemandBounds, FlowNetwork, Solution, TrafficSplit, WorstCase
from .single_lp import single_lp
from .survivable import SurvivableSolution, survivable
from .worst_case import worst_case

__all__ = [
    "BoundsError",
    "CandidateError",
    "Candidates",
    "CapacityError",
    "DemandBounds",
    "FlowNetwork",
    "NetworkError",
    "RobustRoutingError",
    "RoutingError",
    "Solution",
    "SolverError",
    "Splits",
    "SurvivableSolution",
    "TrafficSplit",
    "WorstCase",
    "all_paths",
    "ceiling_of",
    "cut_bound",
    "decompose",
    "fewest_splits",
    "single_lp",
    "survivable",
    "worst_case",
    "worst_case_under_failures",
]
