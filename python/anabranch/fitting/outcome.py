"""The outcome of a fit: the path, how sure each value is, and what the measurement cannot tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from scipy.stats import chi2, qmc

from anabranch.fitting.estimates import Estimates, Losses
from anabranch.fitting.features import Features
from anabranch.fitting.path import BY_SUBFLOW, PathModel
from anabranch.fitting.search import Explanation

EXPLAINED = 1.5
"""Up to this misfit a model explains a measurement (docs/fit.md)."""
CONFIDENCE = 0.90
"""Of printed ranges."""
LEAST_ERRORS = {
    "rate_mbps": 0.005, "buffer_bytes": 0.04, "udp_mbps": 0.05, "jitter_ms": 0.1, "uplink_packets": 0.05,
    "policer_mbps": 0.03, "policer_bytes": 0.3, "bucket_bytes": 0.15,
}  # fmt: skip
"""Relative errors of the estimates over recorded truths, below which no range goes."""
LEAST_RTT_ERROR_MS = 0.2
HELD_MS = 1.1
"""So long a receiver of Linux holds ACKs beside a hole, which is where a full queue is seen."""
_JOINT_MEMBERS = 20
"""So many, that their 5th and 95th percentiles are not their extremes."""
_SAME = 3.0
"""An estimate that is this many least errors away is one of the same."""
_EXACT = 5.0
"""In the middle of recorded truths estimates miss by a fifth of the least errors."""


@dataclass(frozen=True)
class InferredRange:
    """An inferred value."""

    name: str
    """The parameter, as :meth:`PathModel.with_values` has it."""
    value: float
    low: float
    high: float | None
    """None where there is a lower bound only."""
    source: str
    """What it was inferred from."""

    @property
    def is_bound(self) -> bool:
        """Whether the measurement gives a lower bound only."""
        return self.high is None


@dataclass(frozen=True)
class HeldOut:
    """One number of a transfer that was predicted from the others."""

    transfer: str
    measure: str
    measured: float
    predicted: float

    @property
    def error_percent(self) -> float:
        """Of the prediction."""
        return 100 * (self.predicted / self.measured - 1) if self.measured else math.nan


@dataclass(frozen=True)
class HeldLive:
    """One number of the measured transfer beside those of the kernel over the fitted path."""

    measure: str
    measured: float
    simulated: float
    kernel: float

    @property
    def difference_percent(self) -> float:
        """By how much the kernel has more over the fitted path than was measured."""
        return 100 * (self.kernel / self.measured - 1) if self.measured else math.nan


@dataclass(frozen=True)
class Rival:
    """A model that was tried, and its misfit."""

    name: str
    title: str
    score: float
    total: float
    is_refined: bool
    caution: str
    model: PathModel


@dataclass
class Fit:
    """The outcome of :func:`anabranch.fit`."""

    names: tuple[str, ...]
    """Of the measurements."""
    transport: str
    duration_s: float
    kind: str
    """The hypothesis that was chosen."""
    title: str
    model: PathModel
    score: float | None
    """The misfit; None of logs without packets, which no simulation is compared with."""
    ranges: tuple[InferredRange, ...]
    rivals: tuple[Rival, ...]
    """Every model that was tried, the chosen one first."""
    residuals: tuple[tuple[str, float], ...]
    verdict: str
    unknown: tuple[str, ...]
    """What the measurement cannot tell, each with the further measurement that would."""
    notes: tuple[str, ...]
    held_out: tuple[HeldOut, ...]
    runs: int
    """Simulations that it took."""
    wall_s: float
    losses: Losses | None = None
    measured: Features | None = None
    simulated: Features | None = None
    traffic: tuple[dict[str, Any], ...] = field(default=())
    live: tuple[HeldLive, ...] = field(default=())
    """The measured transfer by the kernel over the fitted path; empty if that was not run."""

    @property
    def is_explained(self) -> bool:
        """Whether the model explains the measurement."""
        return self.score is not None and self.score <= EXPLAINED

    def members(self) -> list[PathModel]:
        """Models that span what the measurement leaves open, the best one first."""
        best = self.model
        members = [best]
        for one in self.ranges:
            if one.high is None:
                bdp = best.bdp_bytes
                members += [best.with_values({one.name: max(one.low, factor * bdp)}) for factor in (1, 4)]
                continue
            members += [best.with_values({one.name: value}) for value in (one.low, one.high)]
        if best.elastic_flows:
            members += self._joint()
        members += [rival.model for rival in self.rivals[1:] if self._is_near(rival)]
        if best.balancing == BY_SUBFLOW:
            # Plain TCP may go over another path than that of the first subflow.
            members.append(replace(best, paths=best.paths[::-1]))
        if best.discipline == "codel" and any(one.startswith(FAIR_OR_NOT) for one in self.unknown):
            members.append(replace(best, discipline="fq-codel"))
        return members

    def _joint(self) -> list[PathModel]:
        """Models whose values all lie within their ranges, spread evenly by Halton's sequence (1960).

        Beside TCP across, the least change of any value decides who loses when: ends of ranges, one by one,
        are a few draws of that chance.
        """
        ranges = [one for one in self.ranges if one.high is not None and one.low > 0]
        points = qmc.Halton(max(1, len(ranges)), scramble=False).random(_JOINT_MEMBERS + 1)[1:]
        return [
            self.model.with_values(
                {
                    one.name: one.low * (float(one.high or one.low) / one.low) ** float(share)
                    for one, share in zip(ranges, point, strict=False)
                }
            )
            for point in points
        ]

    def _is_near(self, rival: Rival) -> bool:
        return rival.is_refined and is_near(rival.total, self.rivals[0].total) and not rival.caution

    def data(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        return {
            "measurements": list(self.names),
            "transport": self.transport,
            "duration_s": self.duration_s,
            "model": self.kind,
            "title": self.title,
            "score": self.score,
            "explained": self.is_explained,
            "verdict": self.verdict,
            "path": asdict(self.model),
            "ranges": [asdict(one) for one in self.ranges],
            "models": [
                {**{name: getattr(one, name) for name in ("name", "title", "score", "total", "caution")},
                 "path": asdict(one.model)}
                for one in self.rivals
            ],
            "residuals": [{"of": name, "errors": errors} for name, errors in self.residuals],
            "cannot_tell": list(self.unknown),
            "held_out": [{**asdict(one), "error_percent": one.error_percent} for one in self.held_out],
            "live": [{**asdict(one), "difference_percent": one.difference_percent} for one in self.live],
            "notes": list(self.notes),
            "members": [asdict(member) for member in self.members()],
            "simulations": self.runs,
            "wall_s": self.wall_s,
        }  # fmt: skip


def is_near(total: float, least: float) -> bool:
    """Whether a model explains a measurement nearly as well as the best one, by misfit and penalty."""
    return total <= 1.6 * least + 0.3


def poisson_range(count: int) -> tuple[float, float]:
    """The expected counts that an observed one leaves open at 90 % (Garwood 1936)."""
    tail = (1 - CONFIDENCE) / 2
    low = float(chi2.ppf(tail, 2 * count)) / 2 if count else 0.0
    return low, float(chi2.ppf(1 - tail, 2 * count + 2)) / 2


def ranges_of(
    one: Explanation, profile: dict[str, tuple[float, float]], estimates: Estimates
) -> tuple[InferredRange, ...]:
    """The range of each value of a model, with what it comes from."""
    model, losses = one.model, estimates.losses
    ranges = []
    for name, (low, high) in profile.items():
        value = model.value(name)
        key = name.partition(".")[0]
        least = LEAST_RTT_ERROR_MS if key == "rtt_ms" else LEAST_ERRORS.get(key, 0.0) * value
        if key == "buffer_bytes":
            least = max(least, HELD_MS * model.rate_mbps * 1e3 / 8)
        # What the search began with is another estimate of the same: chance in the misfit moves the search.
        begun = one.candidate.model.value(name)
        precision = least / _EXACT
        also = [begun - precision, begun + precision] if abs(begun - value) < _SAME * least else []
        bounds = max(0.0, min(low, value - least, *also)), max(high, value + least, *also)
        is_bound = name == "buffer_bytes" and model.loss is not None and losses.by_queue == 0
        source = _source(name, estimates, is_bound=is_bound)
        ranges.append(InferredRange(name, value, bounds[0], None if is_bound else bounds[1], source))
    if "rate_mbps" not in profile and model.udp_mbps:
        error = LEAST_ERRORS["rate_mbps"] * model.rate_mbps
        source = "the comb of acknowledgments' gaps, which are whole packet times of the link"
        ranges.insert(
            0,
            InferredRange(
                "rate_mbps", model.rate_mbps, model.rate_mbps - error, model.rate_mbps + error, source
            ),
        )
    if model.loss is not None:
        ranges.append(_loss_range(model, losses))
    return tuple(ranges)


def _loss_range(model: PathModel, losses: Losses) -> InferredRange:
    low, high = poisson_range(losses.bursts)
    share = model.loss or 0.0
    per_burst = share / max(1, losses.bursts)
    source = (
        f"{len(losses.by_chance)} of {losses.packets} packets were lost while the queue was not full, in "
        f"{losses.bursts} events; {losses.by_queue} met a full queue"
    )
    return InferredRange("loss", share, low * per_burst, min(0.5, high * per_burst), source)


def _source(name: str, estimates: Estimates, *, is_bound: bool) -> str:
    features, losses = estimates.features, estimates.losses
    shake = features.handshake_ms
    seen = f"handshake {shake:.2f} ms, " if math.isfinite(shake) else ""
    waited_ms = estimates.full_rtt_ms - features.least_rtt_ms
    full = f"{losses.by_queue} losses met a full queue of {waited_ms:.1f} ms"
    sources = {
        "rate_mbps": f"deliveries over 32 ACKs, most often {features.rate_mode_mbps:.3g} Mbps of data",
        "rtt_ms": f"{seen}least sample {features.least_rtt_ms:.2f} ms",
        "buffer_bytes": "the longest queue that was seen; no loss met a full one" if is_bound else full,
        "jitter_ms": f"steps of the RTT, median {features.jitter_ms[0]:.2f} ms",
        "uplink_packets": "the queue of ACKs, beside that of data",
        "policer_mbps": "what passed between losses, at each of which the bucket is empty",
        "policer_bytes": "what passed until the first loss",
        "bucket_bytes": "what came beyond the rate before a queue stood",
        "udp_mbps": "what the flow did not get of the link",
    }
    return sources[name.partition(".")[0]]


def unknown_of(
    model: PathModel,
    ranges: Sequence[InferredRange],
    estimates: Estimates,
    *,
    has_ping: bool,
    has_receiver: bool,
    has_parallel: bool,
) -> list[str]:
    """The things that a measurement cannot tell, with the measurement that would."""
    losses = estimates.losses
    low, high = poisson_range(losses.bursts)
    cases = (
        (model.discipline == "codel" and not has_ping,
         f"{FAIR_OR_NOT}: one flow meets the same queue in both; give a ping beside it (--ping)"),
        (any(one.is_bound for one in ranges),
         "the buffer: no loss met a full queue, so that its size is a lower bound; measure BBR or two flows, "
         "too"),
        (bool(model.loss) and losses.bursts < _FEW_LOSSES,
         f"the probability of loss: {losses.bursts} events of chance are {low:.1f} to {high:.1f} expected "
         "ones; measure longer"),
        (model.elastic_flows > 0,
         "what single flows get beside TCP across, but for a range: who loses when is chance"
         if has_parallel
         else "the number of TCP flows across: measure two parallel flows, too"),
        (model.uplink_mbps is not None and not has_receiver,
         "which direction queues: both buffers trade off; give the receiver's capture (--receiver)"),
        (model.jitter_ms is not None and not has_receiver,
         "jitter apart from queues of hosts: packets in order merge; give the receiver's capture"),
        (bool(model.udp_mbps or model.udp_spans), "whether cross traffic yields to others: measure BBR, too"),
        (bool(model.capacity_steps),
         "what the capacity will be: this is that of the measured seconds; measure again at other times"),
        (model.policer_mbps is not None,
         "the rate of the line before the policer, of which it shows a lower bound; measure its access"),
        (model.bucket_bytes is not None,
         "the rate of the line behind the token bucket: acknowledgments of what was saved come as fast as "
         "hosts send them; measure pings of many packets at once"),
    )  # fmt: skip
    return [words for holds, words in cases if holds]


FAIR_OR_NOT = "CoDel or FQ-CoDel"
_FEW_LOSSES = 30
