"""Student's t distribution: how wide a confidence interval over few replications must be.

``scipy.special.stdtrit`` says the same, but takes 0.2 s of processor time to import, and a study needs no
more of scipy unless its routes take a solver.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

LEAST_VALUES = 3
"""Values from which on there is an interval."""


@lru_cache(maxsize=1024)
def t_quantile(probability: float, degrees: int) -> float:
    """The value that a t-distributed variate stays below with a probability of 0.5 or more.

    Args:
        probability: at least 0.5 and below 1.
        degrees: degrees of freedom, at least 1.
    """
    inside = 2 * probability - 1
    upper = 1.0
    while _within(upper, degrees) < inside:
        upper *= 2
    lower = 0.0
    # Bisection: sixty halvings leave nothing of a double's digits.
    while (middle := (lower + upper) / 2) not in (lower, upper):
        if _within(middle, degrees) < inside:
            lower = middle
        else:
            upper = middle
    return upper


def half_width(values: list[float], confidence: float) -> float | None:
    """Half of the confidence interval of the mean of independent values.

    None for fewer than three, of which two would give an interval 13 times their distance wide, and where all
    are equal, which tells nothing of how they scatter.

    The t interval: t(1 - alpha/2, n - 1) * s / sqrt(n), with the sample's standard deviation s.
    """
    count = len(values)
    if count < LEAST_VALUES or min(values) == max(values):
        return None
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return t_quantile((1 + confidence) / 2, count - 1) * math.sqrt(variance / count)


def _within(t: float, degrees: int) -> float:
    """Probability of a magnitude below t (Abramowitz and Stegun 1964, equations 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    odd = degrees % 2
    number = np.arange(1 + odd, degrees, 2)
    factors = degrees / (degrees + t * t) * number / (number + 1)
    terms = np.cumprod(np.concatenate([[math.cos(angle) if odd else 1.0], factors]))[:-1]
    inside = math.sin(angle) * math.fsum(terms.tolist())
    return 2 / math.pi * (angle + inside) if odd else inside
