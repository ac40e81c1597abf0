"""The value of a path in each metric: a function of its numbers, and a column with the unit in its name.

Smaller is better in all but ``capacity`` and ``b-over-dl``. The routes themselves are found by the core; this
is for people who read them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol


class PathNumbers(Protocol):
    """The numbers that the metrics of a path are made of."""

    @property
    def hops(self) -> int:
        """Number of links."""

    @property
    def delay_ms(self) -> float:
        """Sum of the propagation delays."""

    @property
    def bottleneck_mbps(self) -> float:
        """Smallest capacity."""

    @property
    def capacities_mbps(self) -> tuple[float, ...]:
        """Capacity of each link."""

    @property
    def igp_cost(self) -> int | None:
        """Sum of the links' weights; None where one has none."""

    @property
    def loss(self) -> float:
        """Probability that a packet is lost on the way."""


@dataclass(frozen=True, slots=True)
class PathMetric:
    """A metric of a path."""

    name: str
    """As ``routing.metric`` has it."""
    column: str
    """Name of the column, which ends with the unit where there is one."""
    source: str
    of: Callable[[PathNumbers], float]
    """Its value. A path that loses everything is the worst there is: infinite, and 0 for ``b-over-dl``, which
    is infinite without delay or loss."""


def _delivered(path: PathNumbers) -> float:
    """Probability that a packet arrives (transmission success rate)."""
    return 1 - path.loss


def _slog(path: PathNumbers) -> float:
    """-ln(1 - p), which adds up over links: "logarithmic transmission success"."""
    return math.inf if path.loss >= 1 else -math.log1p(-path.loss)


def _tcpbp(path: PathNumbers) -> float:
    return path.delay_ms / 1e3 * math.sqrt(path.loss) if path.loss < 1 else math.inf


def _smm(path: PathNumbers) -> float:
    return _slog(path) + path.delay_ms / 1e3


def _argaq(path: PathNumbers) -> float:
    return path.delay_ms / _delivered(path) if path.loss < 1 else math.inf


def _bandwidth_by_delay_and_loss(path: PathNumbers) -> float:
    if path.loss >= 1:
        return 0.0
    product = path.delay_ms / 1e3 * path.loss
    return path.bottleneck_mbps / product if product > 0 else math.inf


_ALL: Final = (
    PathMetric("hops", "hops", "number of links", lambda path: float(path.hops)),
    PathMetric("hops-then-delay", "hops", "number of links", lambda path: float(path.hops)),
    PathMetric("delay", "delay_ms", "sum of propagation delays", lambda path: path.delay_ms),
    PathMetric(
        "inverse-capacity",
        "inverse_capacity_s_per_tb",
        "sum of 1 / capacity (RFC 2328 appendix C.3 leaves the cost of an interface to the operator)",
        lambda path: sum(1e6 / capacity for capacity in path.capacities_mbps),
    ),
    PathMetric("loss", "slog", "-ln(1 - p), the sum of the links'", _slog),
    PathMetric(
        "weight",
        "igp_cost",
        "sum of the links' weights, as an interior gateway protocol adds them up (RFC 2328, section 16.1)",
        lambda path: math.inf if path.igp_cost is None else float(path.igp_cost),
    ),
    PathMetric("capacity", "bottleneck_mbps", "smallest capacity", lambda path: path.bottleneck_mbps),
    PathMetric("tcpbp", "tcpbp_s", "d sqrt(p): Vilela 2022, chapter 3", _tcpbp),
    PathMetric("smm", "smm", "slog + d, with d in s: Costa, Fdida, Duarte 2000 (Vilela 2022, 5.4.1)", _smm),
    PathMetric("argaq", "argaq_ms", "d / (1 - p): Barolli et al. 2003 (Vilela 2022, 5.4.1)", _argaq),
    PathMetric(
        "b-over-dl",
        "b_over_dl_mbps_per_s",
        "b / (d l): Tantisarkhornkhet, Werapun 2016 (Vilela 2022, 5.4.1)",
        _bandwidth_by_delay_and_loss,
    ),
)

PATH_METRICS: Final[dict[str, PathMetric]] = {metric.name: metric for metric in _ALL}
"""Metrics by name."""

METRICS_OF_LOSS: Final = ("loss", "tcpbp", "b-over-dl")
"""Those that tell no paths apart where nothing is lost."""

METRICS_TIMES_DELAY: Final = ("tcpbp", "argaq", "b-over-dl")
"""Those that tell no paths apart where nothing takes time to propagate."""
