"""The loss of a pair's TCP when its packets take several paths: a model without a parameter to fit.

Fukushima et al. 2016, section 4: a packet on a longer path is overtaken by later packets on shorter ones, and
three of them make NewReno take it for lost. A connection sends segments at a rate r, each at random over the
paths p of its pair with probability x_p and delay d_p. The segments sent after one on path p and ahead of it
at the end come, as a Poisson process does, with mean

    m_p(r) = r sum over q of x_q max(0, d_p - d_q)

so that the segment is overtaken by three or more with probability 1 - exp(-m) (1 + m + m^2 / 2). Each such
event costs what a loss costs, hence the rate is that of the square-root law (Mathis et al. 1997, equation 3)
at the share of segments so overtaken, or that of the application if it is less. The share grows with the rate
and the law falls with the share: there is one rate at which both agree.

What the model does not know: the gaps of an application are exponential and the paper's rule (full rate while
the delays differ by less than three mean gaps) takes them for equal, which is sharper; a window's segments
leave in bursts where the window is the limit, which overtakes more while delays differ by less than about two
gaps; timeouts; queues, and links that are full.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from .errors import RobustRoutingError, RoutingError
from .model import SHARE_TOLERANCE, Floats, FlowNetwork, TrafficSplit
from .selection import path_delay_ms

MATHIS_CONSTANT: Final = math.sqrt(3 / 2)
"""C of the square-root law with an ACK for each segment."""
_STEPS: Final = 60
"""Halvings of the rate's interval: down to the last bit of a double."""


class FlowError(RobustRoutingError):
    """Numbers that describe no connection."""


@dataclass(frozen=True)
class Connection:
    """One NewReno connection of each pair, as in section 6 of the paper."""

    application_mbps: float = 10.0
    """The most that the application sends: 1 KB every 0.8 ms."""
    segment_bytes: float = 1000.0
    access_delay_ms: float = 0.0
    """Propagation delay outside the network, of both ends together, one way."""

    def __post_init__(self) -> None:
        for name in ("application_mbps", "segment_bytes"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise FlowError(f"connection.{name}", f"{value}", "must be positive and finite")
        if not (self.access_delay_ms >= 0 and math.isfinite(self.access_delay_ms)):
            raise FlowError(
                "connection.access_delay_ms", f"{self.access_delay_ms}", "must be finite and not negative"
            )


PAPER_CONNECTION: Final = Connection()
"""That of section 6: 10 Mbps in segments of 1 KB."""


def overtaken_share(rate_per_ms: float, delay_ms: Floats, fraction: Floats) -> float:
    """Share of the segments that three or more later ones overtake, at this rate of segments."""
    ahead = np.maximum(0.0, delay_ms[:, None] - delay_ms[None, :]) @ fraction
    mean = rate_per_ms * ahead
    # 1 - exp(-m) (1 + m + m^2 / 2) loses its digits where m is small; there it is m^3 / 6 (1 - 3 m / 4).
    exact = -np.expm1(-mean) - np.exp(-mean) * mean * (1 + mean / 2)
    return float(fraction @ np.where(mean < 1e-3, mean**3 / 6 * (1 - 0.75 * mean), exact))


def pair_throughput_mbps(
    delay_ms: ArrayLike, fraction: ArrayLike, connection: Connection = PAPER_CONNECTION
) -> float:
    """Predicted TCP throughput of a pair, in Mbps.

    Args:
        delay_ms: propagation delay of each of its paths.
        fraction: x_p of each, with sum 1.
        connection: what sends.

    Raises:
        RoutingError: fractions that are none.
    """
    delays, shares = np.asarray(delay_ms, np.float64), np.asarray(fraction, np.float64)
    if delays.shape != shares.shape or not (np.abs(shares.sum() - 1) <= SHARE_TOLERANCE):
        raise RoutingError(
            "fraction", f"{shares.tolist()} over {delays.size} paths", "fractions of all paths with sum 1"
        )
    used = shares > SHARE_TOLERANCE
    delays, shares = delays[used], shares[used]
    limit = connection.application_mbps
    if len(shares) == 1:
        return limit
    per_ms = 1e3 / (8 * connection.segment_bytes)  # Segments per ms at one Mbps.
    rtt_ms = 2 * (float(shares @ delays) + connection.access_delay_ms)

    def sustained(mbps: float) -> bool:
        """Whether the square-root law gives this rate at least, at the share overtaken at this rate."""
        share = overtaken_share(mbps * per_ms, delays, shares)
        return mbps * per_ms * rtt_ms * math.sqrt(share) <= MATHIS_CONSTANT

    if sustained(limit):
        return limit
    low, high = 0.0, limit
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if sustained(middle) else (low, middle)
    return low


def throughput_mbps(
    network: FlowNetwork, routing: TrafficSplit, connection: Connection = PAPER_CONNECTION
) -> Floats:
    """Predicted TCP throughput of one connection of each pair, in Mbps, shape (pairs,).

    Raises:
        RoutingError: the routing has no paths, only shares of links.
    """
    candidates, fraction = routing.by_paths
    delay_ms = path_delay_ms(network, candidates)
    return np.array(
        [
            pair_throughput_mbps(delay_ms[first:end], fraction[first:end], connection)
            for first, end in itertools.pairwise(candidates.path_start.tolist())
        ]
    )
