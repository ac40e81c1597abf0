"""How far a simulation is from a measurement: residuals in standard errors, and their weighted mean square.

A residual of 1 is what two runs of the same path differ by, or what the simulator differs from the kernel by
(docs/fit.md, "Misfit"). Counts enter by their roots, whose errors do not depend on the count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anabranch.fitting.features import GAP_SHARES, RTT_SHARES, Features

LARGEST = 6.0
"""A residual counts as no more: it is wrong, how much so says little."""
NOTHING_LIKE_IT = LARGEST**2
"""The misfit of a simulation that carried nothing."""
_CHAOTIC = {
    **dict.fromkeys(("goodput", "rate p50", "rate p95", "rate spread"), 5.0),
    "rate mode": 25.0,
    **dict.fromkeys(
        ("retransmissions", "loss events", "RTT max", "RTT p99", "RTT p5", "RTT p25", "RTT at losses",
         "early losses", "pair rate p10"), 2.5,
    ),
    "second by second": 5.0,
}  # fmt: skip
"""Where the flow has little of the link, chance decides what it gets: errors are so many times larger."""


@dataclass(frozen=True)
class Residual:
    """One comparison."""

    name: str
    errors: float
    """How many standard errors the simulation lies above the measurement."""
    weight: float


@dataclass(frozen=True)
class Misfit:
    """All comparisons of one transfer or of several."""

    residuals: tuple[Residual, ...]

    @property
    def score(self) -> float:
        """The weighted mean square."""
        weights = sum(one.weight for one in self.residuals)
        if not weights:
            return NOTHING_LIKE_IT
        squares = sum(min(abs(one.errors), LARGEST) ** 2 * one.weight for one in self.residuals)
        return squares / weights

    @property
    def worst(self) -> list[Residual]:
        """The residuals, the largest first."""
        return sorted(self.residuals, key=lambda one: -abs(one.errors))


def misfit(
    flows: Sequence[Features], simulated_flows: Sequence[Features], *, over_time: bool, chaotic: bool
) -> Misfit:
    """Compares a simulation with the measurement: their largest flows, and the goodput of all together.

    Args:
        flows: the features of the capture's flows, those with most data first.
        simulated_flows: those of the simulation; none where it carried nothing.
        over_time: whether the model says what happened when, so that each quarter of a second counts.
        chaotic: whether the flow has little of the link.
    """
    if not simulated_flows or not simulated_flows[0].rtt_ms.size:
        return Misfit(())
    measured, simulated = flows[0], simulated_flows[0]
    residuals = []
    comparisons = (
        _goodput(flows, simulated_flows),
        *_rates(measured, simulated),
        *_round_trips(measured, simulated),
        *_losses(measured, simulated),
        *_gaps(measured, simulated),
        *_series(measured, simulated, over_time),
    )
    for one in comparisons:
        if math.isfinite(one.errors):
            wider = _CHAOTIC.get(one.name, 1.0) if chaotic else 1.0
            residuals.append(Residual(one.name, one.errors / wider, one.weight))
    return Misfit(tuple(residuals))


def _ratio(simulated: float, measured: float, error: float) -> float:
    """How far apart in errors of the logarithm."""
    return math.log(max(simulated, 1e-6) / max(measured, 1e-6)) / error


def rtt_error_ms(measured: Features) -> float:
    """The error of the simulator's queue: a constant part, and one of the queue's length."""
    return 0.4 + 0.04 * (measured.most_rtt_ms - measured.least_rtt_ms)


def _goodput(flows: Sequence[Features], simulated_flows: Sequence[Features]) -> Residual:
    """Of all flows: how they share it among themselves is chance, what others leave them is not."""
    there, here = (sum(one.goodput_mbps for one in each) for each in (simulated_flows, flows))
    return Residual("goodput", _ratio(there, here, 0.02), 2.0)


def _rates(measured: Features, simulated: Features) -> Iterator[Residual]:
    # The mode is the bottleneck's where a queue stood and its rate stayed, and one rate of many elsewhere.
    mode_error = 0.004 if measured.is_steady else 0.03
    yield Residual("rate mode", _ratio(simulated.rate_mode_mbps, measured.rate_mode_mbps, mode_error), 1.5)
    yield Residual(
        "rate p95", _ratio(simulated.rate_shares_mbps[3], measured.rate_shares_mbps[3], 0.015), 0.5
    )
    yield Residual("rate p50", _ratio(simulated.rate_shares_mbps[1], measured.rate_shares_mbps[1], 0.03), 0.5)
    spread = simulated.rate_spread_mbps - measured.rate_spread_mbps
    yield Residual("rate spread", spread / (0.05 * measured.rate_shares_mbps[3]), 0.7)
    if measured.is_steady and simulated.is_steady:
        # Some packets come together on any path.
        least = FEW_PACKETS * measured.flow.mss_bytes
        there, here = (one.first_saving[0] + least for one in (simulated, measured))
        yield Residual("first burst", _ratio(there, here, 0.25), 1.0)


FEW_PACKETS = 4


def _round_trips(measured: Features, simulated: Features) -> Iterator[Residual]:
    error_ms = rtt_error_ms(measured)
    for share, there, here in zip(RTT_SHARES, simulated.rtt_shares_ms, measured.rtt_shares_ms, strict=True):
        yield Residual(f"RTT p{share}", (there - here) / error_ms, 0.5)
    least = measured.least_rtt_ms
    yield Residual("RTT min", (simulated.least_rtt_ms - least) / (0.2 + 0.005 * least), 1.0)
    yield Residual("RTT max", (simulated.most_rtt_ms - measured.most_rtt_ms) / error_ms, 1.0)
    quiet, loud = measured.jitter_ms
    is_steady = quiet < STEADY_MS and measured.handshake_ms < 1.02 * least + 1
    if is_steady:
        yield Residual("handshake", (simulated.handshake_ms - measured.handshake_ms) / 0.15, 1.5)
    other_quiet, other_loud = simulated.jitter_ms
    yield Residual("RTT step p50", math.log((other_quiet + 0.2) / (quiet + 0.2)) / 0.3, 0.5)
    yield Residual("RTT step p90", math.log((other_loud + 0.3) / (loud + 0.3)) / 0.3, 0.7)


STEADY_MS = 0.7
"""Half of the samples differ by less from the one before where nothing delays packets at random."""


def _losses(measured: Features, simulated: Features) -> Iterator[Residual]:
    def roots(there: float, here: float) -> float:
        return (math.sqrt(there) - math.sqrt(here)) / 0.8

    yield Residual("retransmissions", roots(simulated.retransmissions, measured.retransmissions), 1.0)
    yield Residual("loss events", roots(len(simulated.loss_runs), len(measured.loss_runs)), 1.0)
    if len(measured.loss_runs) >= 4 and len(simulated.loss_runs) >= 2:
        yield Residual("losses in a row", math.log(simulated.mean_run / measured.mean_run) / 0.3, 0.7)
    here, there = measured.rtt_at_losses_ms, simulated.rtt_at_losses_ms
    if here.size >= 3 and there.size >= 2:
        apart = float(np.median(there) - np.median(here)) / (2 * rtt_error_ms(measured))
        yield Residual("RTT at losses", apart, 1.0)
        yield Residual("early losses", (simulated.early_share - measured.early_share) / 0.2, 1.0)
    late = math.sqrt(simulated.reordered_share) - math.sqrt(measured.reordered_share)
    yield Residual("reordering", late / 0.03, 1.0)


def _gaps(measured: Features, simulated: Features) -> Iterator[Residual]:
    yield Residual("ACK ratio", _ratio(simulated.ack_ratio, measured.ack_ratio, 0.08), 0.7)
    for share, there, here in zip(
        GAP_SHARES, simulated.pair_shares_mbps, measured.pair_shares_mbps, strict=True
    ):
        if math.isfinite(there) and math.isfinite(here):
            yield Residual(f"pair rate p{share}", _ratio(there, here, 0.08), 0.4)


def _series(measured: Features, simulated: Features, over_time: bool) -> Iterator[Residual]:
    rows = min(measured.second_mbps.size, simulated.second_mbps.size)
    apart = measured.second_mbps[:rows] - simulated.second_mbps[:rows]
    root = float(np.sqrt(np.mean(apart**2))) if rows else float("nan")
    weight = 1.0 if over_time else 0.4
    yield Residual("second by second", root / (0.08 * measured.goodput_mbps + 0.1), weight)
    if over_time:
        rows = min(measured.quarter_rtt_ms.size, simulated.quarter_rtt_ms.size)
        steps = np.abs(measured.quarter_rtt_ms[:rows] - simulated.quarter_rtt_ms[:rows])
        if np.isfinite(steps).any():
            yield Residual("RTT over time", float(np.nanmedian(steps)) / (2 * rtt_error_ms(measured)), 1.0)
