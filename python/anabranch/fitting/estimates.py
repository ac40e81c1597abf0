"""Estimates in closed form, before anything is simulated (docs/fit.md, "Estimates")."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anabranch.fitting.exchange import BARE_BYTES, HEADER_BYTES, Numbers
from anabranch.fitting.features import BUSY_SHARE, QUARTER_S, TOGETHER, Features
from anabranch.fitting.misfit import STEADY_MS

_FULL = 0.8
"""A loss beside which the queue was this full is the queue's."""
_SMALL_QUEUE_MS = 1.5
_SET_WITHIN = 2
"""Lost packets this near in order are of one burst."""
_COMB_GAPS = 200
_COMB_STEP = 0.004
_COMB_GAIN = 0.01


@dataclass(frozen=True)
class Estimates:
    """Of a measurement's largest flow."""

    features: Features

    @cached_property
    def rate_mbps(self) -> float:
        """Of the bottleneck, headers included: the mode of the delivery rate where a queue stood."""
        features = self.features
        data_mbps = features.rate_mode_mbps if features.is_steady else features.rate_shares_mbps[3]
        return data_mbps * self.wire

    @property
    def wire(self) -> float:
        """Bytes of packets for each byte of data."""
        return self.features.flow.wire_factor

    @cached_property
    def rtt_ms(self) -> float:
        """Propagation there and back: the handshake's, or the least sample less what its packets take."""
        features = self.features
        flow = features.flow
        sending_ms = (flow.packet_bytes + HEADER_BYTES) * 8 / self.rate_mbps / 1e3
        least_ms = features.least_rtt_ms - sending_ms
        handshake_ms = features.handshake_ms - 2 * BARE_BYTES * 8 / self.rate_mbps / 1e3
        measures = [value for value in (handshake_ms, least_ms) if math.isfinite(value)]
        if math.isfinite(handshake_ms) and features.handshake_ms <= features.least_rtt_ms:
            return max(_LEAST_RTT_MS, handshake_ms)
        return max(_LEAST_RTT_MS, min(measures))

    @cached_property
    def full_rtt_ms(self) -> float:
        """The round-trip time through the queue at its fullest."""
        values = self.features.rtt_at_losses_ms
        at_losses = float(np.percentile(values, 98)) if values.size else 0.0
        return max(self.features.most_rtt_ms, at_losses)

    @cached_property
    def buffer_bytes(self) -> float:
        """The bytes that waited when the queue was fullest."""
        waiting_ms = max(self.full_rtt_ms - self.features.least_rtt_ms, 0.3)
        return max(3000.0, waiting_ms * self.rate_mbps * 1e3 / 8)

    @cached_property
    def losses(self) -> Losses:
        """The lost packets, by what the queue was like beside them."""
        return _told_apart(self)

    @cached_property
    def comb_mbps(self) -> tuple[float, float] | None:
        """The rate of a link whose packet time divides the gaps of acknowledgments, and how far they miss it.

        Own packets alternate with those of others of the same size: the time between two segments is a whole
        number of packet times, whatever share is ours. None with too few gaps.
        """
        features = self.features
        gaps = features.pair_gaps_s
        gaps = gaps[gaps > 1e-5]
        if gaps.size < _COMB_GAPS:
            return None
        low, high = np.percentile(gaps, (5, 95))
        gaps = gaps[(gaps >= 0.95 * low) & (gaps <= 1.05 * high)]
        own_mbps = features.rate_shares_mbps[1]
        rates = np.exp(np.arange(math.log(own_mbps * 1.12), math.log(own_mbps * 4), _COMB_STEP))
        packets = gaps[None, :] * rates[:, None] * 1e6 / (features.flow.packet_bytes * 8)
        misses = np.mean(np.abs(packets - np.round(packets)), axis=1)
        best = 0
        for place in range(1, rates.size):
            # A finer comb fits better by chance alone: it must do so by more.
            if misses[place] < misses[best] - _COMB_GAIN:
                best = place
        return float(rates[best]), float(misses[best])

    @cached_property
    def top_mbps(self) -> float:
        """The highest rate at which anything came: of the link, where others have a part of it."""
        features = self.features
        usual = features.rate_shares_mbps[3]
        bound = TOGETHER * features.goodput_mbps
        pair = features.pair_top_mbps
        middle = features.pair_shares_mbps[1]
        pair = pair if math.isfinite(pair) and pair < bound else 0.0
        middle = middle if math.isfinite(middle) and middle < bound else 0.0
        if max(pair, middle) < 1.12 * usual:
            return usual * self.wire
        return (middle if middle > 1.12 * usual else pair) * self.wire

    @cached_property
    def pair_spread(self) -> float:
        """How far the rates of pairs lie apart: their 90th over their 10th percentile; 1 if unknown."""
        low, _, high = self.features.pair_shares_mbps
        return high / low if math.isfinite(high) and low > 0 else 1.0

    @cached_property
    def is_chaotic(self) -> bool:
        """Whether others have much of the link, so that chance decides what the flow gets."""
        own_mbps = self.features.goodput_mbps * self.wire
        # Jitter makes pairs of any rate, and no others are behind them.
        is_quiet = self.features.jitter_ms[0] < STEADY_MS
        return is_quiet and self.top_mbps > 1.5 * own_mbps and self.features.queue_share > BUSY_SHARE

    @cached_property
    def uplink_mbps(self) -> float:
        """The rate of a way back that is full: one bare acknowledgment in each usual gap."""
        gaps = np.diff(self.features.flow.ack_s)
        gaps = gaps[gaps > 1e-6]
        return max(0.02, HEADER_BYTES * 8 / float(np.median(gaps)) / 1e6)

    def own_mbps(self) -> tuple[Numbers, Numbers]:
        """Own packets in each quarter of a second, and whether a queue stood then."""
        features = self.features
        rates_mbps = features.series_mbps(QUARTER_S) * self.wire
        edges = np.arange(0.0, features.duration_s + 1e-9, QUARTER_S)
        least_ms = features.least_rtt_ms + max(_SMALL_QUEUE_MS, 14.4 / self.rate_mbps)
        steps = np.digitize(features.rtt_at_s, edges) - 1
        busy = np.zeros(rates_mbps.size, bool)
        for step in range(rates_mbps.size):
            samples = features.rtt_ms[steps == step]
            busy[step] = samples.size > 0 and float(np.percentile(samples, 30)) > least_ms
        return rates_mbps, busy


_LEAST_RTT_MS = 0.05


@dataclass(frozen=True)
class Losses:
    """Lost packets of a measurement."""

    by_chance: tuple[int, ...]
    """Numbers, from 1 on, of the packets with data that were lost though the queue was not full."""
    by_queue: int
    """How many were lost beside a full queue."""
    packets: int
    """Packets with data."""

    @property
    def share(self) -> float:
        """Of packets that are lost by chance."""
        return len(self.by_chance) / max(1, self.packets)

    @cached_property
    def bursts(self) -> int:
        """Runs of packets that were lost together."""
        return int(np.sum(np.diff(self.by_chance) > _SET_WITHIN)) + 1 if self.by_chance else 0

    @property
    def mean_burst(self) -> float:
        """Packets lost in a row, in the mean."""
        return len(self.by_chance) / self.bursts if self.bursts else 1.0

    @property
    def regularity(self) -> float:
        """Variation of the distances between losses: 1 of chance, 0 of a law; 1 if there are few."""
        distances = np.diff(self.by_chance)
        return float(np.std(distances) / np.mean(distances)) if distances.size > 5 else 1.0


def _told_apart(estimates: Estimates) -> Losses:
    features, flow = estimates.features, estimates.features.flow
    low, top = features.least_rtt_ms, estimates.full_rtt_ms
    chance: list[int] = []
    queue = 0
    for place in np.flatnonzero(flow.is_lost):
        beside_ms = features.rtt_beside_ms(float(flow.sent_s[place]))
        if not math.isfinite(beside_ms):
            beside_ms = low
        if beside_ms < low + _FULL * (top - low) or top - low < _SMALL_QUEUE_MS:
            chance.append(int(place) + 1)
        else:
            queue += 1
    return Losses(tuple(chance), queue, int(flow.sent_s.size))
