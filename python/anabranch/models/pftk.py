"""The square-root law with timeouts and a largest window.

Padhye, Firoiu, Towsley, Kurose, "Modeling TCP Throughput: A Simple Model and its Empirical Validation",
SIGCOMM 1998.
"""

from __future__ import annotations

import math
from typing import Final

from anabranch.models.model import Model, ValidRange, predicted
from anabranch.models.path import PathConditions, Prediction

NAME: Final = "pftk"
VALID: Final = ValidRange(1e-5, 0.2)
"""Loss: from where the square-root law begins, to where the window falls to 3 segments with the paper's b = 2
(4/19): beyond, every loss is a timeout, and the model consists of its backoff.
"""
LEAST_WINDOW: Final = 3.0


def pftk(path: PathConditions) -> Prediction:
    """The full model (equation 28, and section 2.3 for the largest window)."""
    return predicted(path, NAME, VALID, _window)


def _window(path: PathConditions) -> float:
    """Segments sent per round trip."""
    p, b, rtt = path.loss, path.segments_per_increase, path.rtt_s
    q = 1 - p
    # Equation 13: the mean window at the end of a round of growth, without a limit.
    offset = (2 + b) / (3 * b)
    free = offset + math.sqrt(8 * q / (3 * b * p) + offset**2)
    window = min(free, path.largest_window)
    # Rounds between two losses: linear growth, with a limit partly at the limit (section 2.3).
    rounds = b / 2 * window if window == free else b / 8 * window + q / (p * window) + 1
    by_timeout = timeout_share(p, window)
    sent = q / p + window + by_timeout / q
    lasts = rtt * (rounds + 1) + by_timeout * path.first_timeout_s * backoff(p) / q
    return sent / lasts * rtt


def timeout_share(p: float, window: float) -> float:
    """Q: the share of losses that end in a timeout (equation 22).

    Args:
        p: loss, between 0 and 1, both excluded.
        window: segments in flight when it happens.
    """
    if window <= LEAST_WINDOW:  # No three duplicate ACKs; the equation, too, gives 1 at 3 segments.
        return 1.0

    def some_lost(segments: float) -> float:
        """1 - (1 - p)^segments, exact for small p, too."""
        return -math.expm1(segments * math.log1p(-p))

    later = 1 + (1 - p) ** 3 * some_lost(window - 3)
    return min(1.0, some_lost(3) * later / some_lost(window))


def backoff(p: float) -> float:
    """f(p) of equation 27: mean length in T0 of a series of timeouts that double up to 64 T0, times 1 - p."""
    return 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6


MODEL: Final = Model(NAME, "Padhye et al. 1998, equation 28, section 2.3", VALID, pftk)
