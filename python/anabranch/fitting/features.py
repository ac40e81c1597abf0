"""The numbers of a capture that depend on its path: the same of a measurement and of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anabranch.fitting.exchange import Exchange, Numbers, Places

RTT_SHARES = (5, 25, 50, 75, 95, 99)
"""Percentiles of the round-trip times that are compared."""
GAP_SHARES = (10, 50, 90)
SETTLED_S = 1.0
"""After the start, whose few samples stand for nothing else."""
_WINDOW_ACKS = 32
"""Acknowledgments over which a delivery rate is taken."""
_NEAR_LOSS_S = 0.01
BUSY_SHARE = 0.3
"""From so many samples with a queue on, the mode of the delivery rate is the bottleneck's."""
_STEADY = 0.1
_FIRST_S = 3.0
_ABOVE = 1.003
SECOND_S = 1.0
QUARTER_S = 0.25
TENTH_S = 0.1


def _share(values: Numbers, percent: float) -> float:
    return float(np.percentile(values, percent)) if values.size else float("nan")


@dataclass(frozen=True)
class Features:
    """Of one flow over a duration."""

    flow: Exchange
    duration_s: float

    @cached_property
    def _sample_places(self) -> Places:
        return np.flatnonzero(np.isfinite(self.flow.rtt_s))

    @cached_property
    def rtt_ms(self) -> Numbers:
        """Every sample."""
        return np.asarray(self.flow.rtt_s[self._sample_places] * 1e3)

    @cached_property
    def rtt_at_s(self) -> Numbers:
        """When each sample was taken."""
        return np.asarray(self.flow.ack_s[self._sample_places])

    @cached_property
    def rtt_sent_s(self) -> Numbers:
        """When the segment of each sample left."""
        return np.asarray(self.flow.rtt_sent_s[self._sample_places])

    @cached_property
    def _delivering(self) -> Places:
        return np.flatnonzero(self.flow.delivered_bytes > 0)

    @cached_property
    def delivery_s(self) -> Numbers:
        """When data were acknowledged first."""
        return np.asarray(self.flow.ack_s[self._delivering])

    @cached_property
    def delivery_bytes(self) -> Numbers:
        """How much then."""
        return np.asarray(self.flow.delivered_bytes[self._delivering].astype(float))

    @cached_property
    def goodput_mbps(self) -> float:
        """Of all that was acknowledged."""
        return float(self.delivery_bytes.sum() * 8 / self.duration_s / 1e6)

    @cached_property
    def least_rtt_ms(self) -> float:
        """Nearly the least sample: one in 500 may be an accident."""
        return _share(self.rtt_ms, 0.2)

    @cached_property
    def most_rtt_ms(self) -> float:
        """Nearly the greatest."""
        return _share(self.rtt_ms, 99.9)

    @cached_property
    def rtt_shares_ms(self) -> tuple[float, ...]:
        """Percentiles of the samples after the start, as :data:`RTT_SHARES`."""
        late = self.rtt_ms[self.rtt_at_s > SETTLED_S]
        samples = late if late.size > 20 else self.rtt_ms
        return tuple(float(value) for value in np.percentile(samples, RTT_SHARES))

    @cached_property
    def queue_share(self) -> float:
        """Share of the samples that met a queue of a quarter of its greatest length."""
        bound = self.least_rtt_ms + 0.25 * (self.most_rtt_ms - self.least_rtt_ms)
        return float(np.mean(self.rtt_ms > bound))

    @cached_property
    def jitter_ms(self) -> tuple[float, float]:
        """Median and 90th percentile of the difference from one sample to the next."""
        steps = np.abs(np.diff(self.rtt_ms))
        return _share(steps, 50), _share(steps, 90)

    @cached_property
    def retransmissions(self) -> int:
        """Segments that were sent again."""
        return int(self.flow.is_repeated.sum())

    @cached_property
    def loss_runs(self) -> list[tuple[float, int]]:
        """Runs of lost segments that follow one another in the stream: when the first was sent, how many."""
        places = np.flatnonzero(self.flow.is_lost)
        if not places.size:
            return []
        places = places[np.argsort(self.flow.position[places], kind="stable")]
        ahead = np.diff(self.flow.position[places])
        begins = np.concatenate([[0], np.flatnonzero(ahead > self.flow.mss_bytes + 1) + 1])
        lengths = np.diff(np.concatenate([begins, [places.size]]))
        return [
            (float(self.flow.sent_s[places[begin]]), int(length))
            for begin, length in zip(begins, lengths, strict=True)
        ]

    @cached_property
    def mean_run(self) -> float:
        """Mean length of the runs of lost segments; 0 without any."""
        return float(np.mean([length for _, length in self.loss_runs])) if self.loss_runs else 0.0

    def rtt_beside_ms(self, sent_s: float, width: int = 4) -> float:
        """The greatest round-trip time of packets sent just before and after an instant."""
        order, times = self._by_sending
        place = int(np.searchsorted(times, sent_s))
        beside = order[max(0, place - width) : place + width]
        return float(self.rtt_ms[beside].max()) if beside.size else float("nan")

    @cached_property
    def _by_sending(self) -> tuple[Places, Numbers]:
        order = np.argsort(self.rtt_sent_s, kind="stable")
        return order, self.rtt_sent_s[order]

    @cached_property
    def rtt_at_losses_ms(self) -> Numbers:
        """For each run of losses, the median round-trip time of packets sent beside it."""
        order, times = self._by_sending
        values = []
        for sent_s, _ in self.loss_runs:
            first, last = np.searchsorted(times, (sent_s - _NEAR_LOSS_S, sent_s + _NEAR_LOSS_S))
            if last > first:
                values.append(float(np.median(self.rtt_ms[order[first:last]])))
        return np.array(values)

    @cached_property
    def early_share(self) -> float:
        """Share of the runs of losses beside which the queue was below 70 % of its greatest length."""
        values = self.rtt_at_losses_ms
        if not values.size:
            return 0.0
        bound = self.least_rtt_ms + 0.7 * (self.most_rtt_ms - self.least_rtt_ms)
        return float(np.mean(values < bound))

    @cached_property
    def windowed_mbps(self) -> Numbers:
        """Delivery rate of data over 32 acknowledgments each."""
        times, sizes = self.delivery_s, self.delivery_bytes
        if times.size <= _WINDOW_ACKS + 10:
            return np.array([self.goodput_mbps])
        total = np.concatenate([[0.0], np.cumsum(sizes)])
        passed = times[_WINDOW_ACKS:] - times[:-_WINDOW_ACKS]
        rates = (total[_WINDOW_ACKS + 1 :] - total[1:-_WINDOW_ACKS]) * 8 / np.maximum(passed, 1e-9) / 1e6
        return rates[passed > 0] if (passed > 0).any() else np.array([self.goodput_mbps])

    @cached_property
    def rate_mode_mbps(self) -> float:
        """The rate around which a quarter of the windows lie closest together."""
        rates = np.sort(self.windowed_mbps)
        width = max(5, rates.size // 4)
        if rates.size <= width:
            return float(np.median(rates))
        place = int(np.argmin(rates[width:] - rates[:-width]))
        return float(np.median(rates[place : place + width]))

    @cached_property
    def rate_shares_mbps(self) -> tuple[float, float, float, float]:
        """Of the windows: 25th, 50th, 75th and 95th percentile."""
        low, middle, high, top = np.percentile(self.windowed_mbps, (25, 50, 75, 95))
        return float(low), float(middle), float(high), float(top)

    @property
    def rate_spread_mbps(self) -> float:
        """Between the quartiles of the windows."""
        low, _, high, _ = self.rate_shares_mbps
        return high - low

    @cached_property
    def is_steady(self) -> bool:
        """Whether the mode of the delivery rate is a bottleneck's: windows agree, and a queue stood."""
        return self.rate_spread_mbps < _STEADY * self.rate_shares_mbps[1] and self.queue_share > BUSY_SHARE

    @cached_property
    def first_saving(self) -> tuple[float, float]:
        """Most data that came beyond the usual rate before a queue dropped any, and how fast (Mbps).

        What a token bucket has saved, it lets pass at once: the first window that fills it empties it.
        """
        lost_s = self.flow.sent_s[self.flow.is_lost]
        # What left before it is acknowledged a round trip later.
        first_lost_s = float(lost_s.min()) + self.most_rtt_ms / 1e3 if lost_s.size else _FIRST_S
        until_s = min(_FIRST_S, first_lost_s)
        last = int(np.searchsorted(self.delivery_s, until_s))
        if last < _WINDOW_ACKS:
            return 0.0, 0.0
        times, sizes = self.delivery_s[:last], self.delivery_bytes[:last]
        # A little more than the usual rate, so that a rate that is a little wrong saves nothing up.
        beyond = np.cumsum(sizes) - _ABOVE * self.rate_mode_mbps * 1e6 / 8 * times
        since_least = beyond - np.minimum.accumulate(beyond)
        end = int(np.argmax(since_least))
        begin = int(np.argmin(beyond[: end + 1]))
        gaps = np.diff(times[begin : end + 1])
        if not gaps.size:
            return 0.0, 0.0
        speeds = sizes[begin + 1 : end + 1] * 8 / np.maximum(gaps, 1e-7) / 1e6
        return float(since_least[end]), float(np.median(speeds))

    @cached_property
    def pair_gaps_s(self) -> Numbers:
        """Times between acknowledgments of which the second delivers two segments."""
        gaps = np.diff(self.delivery_s)
        is_pair = np.abs(self.delivery_bytes[1:] - 2 * self.flow.mss_bytes) < _ALIKE_BYTES
        return gaps[is_pair & (gaps > 1e-6)]

    @cached_property
    def pair_shares_mbps(self) -> tuple[float, float, float]:
        """Percentiles of the rate of data in those pairs, as :data:`GAP_SHARES`; NaN with few."""
        if self.pair_gaps_s.size <= 30:
            return (float("nan"),) * 3
        rates = 2 * self.flow.mss_bytes * 8 / self.pair_gaps_s / 1e6
        # What comes together was held up together; how near is a matter of the hosts' clocks.
        low, middle, high = np.percentile(np.minimum(rates, TOGETHER * self.goodput_mbps), GAP_SHARES)
        return float(low), float(middle), float(high)

    @cached_property
    def pair_top_mbps(self) -> float:
        """The highest rate of pairs at which more than 3 % of them lie within 2 %; NaN with few."""
        if self.pair_gaps_s.size <= 100:
            return float("nan")
        rates = np.log(2 * self.flow.mss_bytes * 8 / self.pair_gaps_s / 1e6)
        edges = np.arange(-3, 9, 0.02)
        counts, _ = np.histogram(rates, edges)
        often = np.flatnonzero(counts > 0.03 * rates.size)
        return float(np.exp(edges[often[-1]] + 0.01)) if often.size else float("nan")

    def series_mbps(self, step_s: float) -> Numbers:
        """Goodput of each step from the beginning."""
        edges = np.arange(0.0, self.duration_s + 1e-9, step_s)
        counts, _ = np.histogram(self.delivery_s, edges, weights=self.delivery_bytes)
        return np.asarray(counts * 8 / step_s / 1e6)

    @cached_property
    def second_mbps(self) -> Numbers:
        """Goodput of each second."""
        return self.series_mbps(SECOND_S)

    @cached_property
    def quarter_rtt_ms(self) -> Numbers:
        """Mean round-trip time of each quarter of a second; NaN without samples."""
        return self.rtt_series_ms(QUARTER_S)

    def rtt_series_ms(self, step_s: float) -> Numbers:
        """Mean round-trip time of each step; NaN without samples."""
        edges = np.arange(0.0, self.duration_s + 1e-9, step_s)
        counts, _ = np.histogram(self.rtt_at_s, edges)
        sums, _ = np.histogram(self.rtt_at_s, edges, weights=self.rtt_ms)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def loss_series(self, step_s: float) -> Numbers:
        """Retransmissions of each step."""
        edges = np.arange(0.0, self.duration_s + 1e-9, step_s)
        return np.histogram(self.flow.sent_s[self.flow.is_repeated], edges)[0].astype(float)

    @cached_property
    def reordered_share(self) -> float:
        """Of the packets with data."""
        return self.flow.reordered / max(1, self.flow.sent_s.size)

    @cached_property
    def ack_ratio(self) -> float:
        """Acknowledgments for each packet with data."""
        return self.flow.ack_s.size / max(1, self.flow.sent_s.size)

    @cached_property
    def handshake_ms(self) -> float:
        """From SYN to SYN/ACK at the sender; NaN if not seen."""
        handshake = self.flow.handshake_s if self.flow.is_from_client else self.flow.completion_s
        return handshake * 1e3 if handshake > 0 else float("nan")


_ALIKE_BYTES = 10
TOGETHER = 8.0
"""Pairs of acknowledgments this many times faster than the flow tell nothing of a link."""
