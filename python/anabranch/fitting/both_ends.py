"""A transfer captured at both ends: one-way delays tell which direction queues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anabranch.fitting.exchange import HEADER_BYTES, Counts, Exchange, Numbers
from anabranch.fitting.hypotheses import Candidate, Hypothesis
from anabranch.fitting.path import PathModel

_LEAST_PAIRS = 100
_BARE_SHARE = 0.65
_UPLINK = "slow-uplink"
_SEARCHED = ("rate_mbps", "rtt_ms", "uplink_packets")
"""Beside queues that were seen."""


@dataclass(frozen=True)
class BothEnds:
    """The words of both captures together. Their clocks need not agree: delays count from the least one."""

    forward_ms: Numbers
    """Delay of each packet with data above the least."""
    backward_ms: Numbers
    """The same of the acknowledgments."""

    @property
    def forward_queue_ms(self) -> float:
        """Nearly the longest wait of data."""
        return float(np.percentile(self.forward_ms, 99.8))

    @property
    def backward_queue_ms(self) -> float:
        """Nearly the longest wait of acknowledgments."""
        return float(np.percentile(self.backward_ms, 99.8))

    def applied(self, proposed: Sequence[tuple[Hypothesis, Candidate]]) -> list[tuple[Hypothesis, Candidate]]:
        """Candidates whose queues are those that were seen; of a slow way back both are known."""
        pairs = []
        for hypothesis, candidate in proposed:
            if hypothesis.name != _UPLINK:
                pairs.append((hypothesis, candidate))
                continue
            model = self._with_queues(candidate.model)
            free = tuple(name for name in candidate.free if name in _SEARCHED)
            starts = tuple(self._starts(model, candidate))
            pairs.append((hypothesis, replace(candidate, model=model, free=free, starts=starts)))
        return pairs

    def _starts(self, model: PathModel, candidate: Candidate) -> Iterator[dict[str, float]]:
        """Other beginnings: rates with the queue that was seen, and fewer acknowledgments on the way back.

        The longest queue there is one of acknowledgments with SACK blocks, half as long again as others.
        """
        for rate_mbps in (model.rate_mbps, *(start["rate_mbps"] for start in candidate.starts)):
            buffer_bytes = max(3000.0, self.forward_queue_ms * rate_mbps * 1e3 / 8)
            for share in (1.0, _BARE_SHARE):
                yield {
                    "rate_mbps": rate_mbps,
                    "buffer_bytes": buffer_bytes,
                    "uplink_packets": max(1.0, share * (model.uplink_packets or 1.0)),
                }

    def _with_queues(self, model: PathModel) -> PathModel:
        uplink_mbps = model.uplink_mbps or 0.0
        return replace(
            model,
            buffer_bytes=max(3000.0, self.forward_queue_ms * model.rate_mbps * 1e3 / 8),
            uplink_packets=max(1.0, self.backward_queue_ms * uplink_mbps * 1e3 / 8 / HEADER_BYTES),
        )


def both_ends(sender: Exchange, receivers: Sequence[Exchange]) -> BothEnds | None:
    """Joins the captures of one flow; None if none of the receiver's flows is this one."""
    for receiver in receivers:
        if (receiver.sender, receiver.receiver) != (sender.sender, sender.receiver) and (
            receiver.mss_bytes != sender.mss_bytes
        ):
            continue
        forward = _above_least(
            (sender.position, sender.timestamp, sender.sent_s),
            (receiver.position, receiver.timestamp, receiver.sent_s),
        )
        backward = _above_least(
            (receiver.ack_position, receiver.window_bytes, receiver.ack_s),
            (sender.ack_position, sender.window_bytes, sender.ack_s),
        )
        if min(forward.size, backward.size) >= _LEAST_PAIRS:
            return BothEnds(forward, backward)
    return None


def _above_least(left: tuple[Counts, Counts, Numbers], came: tuple[Counts, Counts, Numbers]) -> Numbers:
    """Delays above the least, in milliseconds, of what has the same two numbers once at either place."""
    keys = [_once(first, second) for first, second, _ in (left, came)]
    both, here, there = np.intersect1d(keys[0][0], keys[1][0], assume_unique=True, return_indices=True)
    if not both.size:
        return np.array([])
    delays = came[2][keys[1][1][there]] - left[2][keys[0][1][here]]
    return np.asarray((delays - delays.min()) * 1e3)


def _once(first: Counts, second: Counts) -> tuple[Counts, Counts]:
    """Keys that occur once, and where."""
    keys = (first.astype(np.int64) << 24) ^ (second.astype(np.int64) & 0xFFFFFF)
    values, places, counts = np.unique(keys, return_index=True, return_counts=True)
    return values[counts == 1], places[counts == 1]
