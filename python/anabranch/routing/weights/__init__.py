"""IGP weights for ECMP under which the highest load is low: of a matrix or all within bounds, with failures.

Which weights are best is hard to find (Fortz and Thorup, Internet Traffic Engineering by Optimizing OSPF
Weights, 2000), and a local search in the core looks for good ones: of one matrix, or of the worst of each arc
over all within bounds, which it finds anew for all weights. It knows a few failures; what turns out to be
the worst joins them, until the work is done. So the load that is told is that of all failures, whatever the
search has seen.
"""

from anabranch.routing.weights.bound import load_bound
from anabranch.routing.weights.cases import Weights, with_weights
from anabranch.routing.weights.search import (
    EQUAL_WEIGHT,
    GREATEST_WEIGHT,
    FoundWeights,
    WeightChange,
    WeightLimits,
    find_weights,
)

__all__ = [
    "EQUAL_WEIGHT",
    "GREATEST_WEIGHT",
    "FoundWeights",
    "WeightChange",
    "WeightLimits",
    "Weights",
    "find_weights",
    "load_bound",
    "with_weights",
]
