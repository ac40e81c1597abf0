"""A rate control after BBR (draft-cardwell-iccrg-bbr-congestion-control-00), cut down to its two filters."""

from collections import deque
from dataclasses import dataclass

from anabranch.own import CongestionControl, LossEpisode, Report

GAINS = (1.25, 0.75, 1, 1, 1, 1, 1, 1)


@dataclass
class RateModel(CongestionControl):
    startup_gain: float = 2.89
    window_gain: float = 2.0

    measures_rate = True
    governs_recovery = True

    def start(self) -> None:
        self.rates_bps: deque[float] = deque(maxlen=10)
        self.best_bps, self.stalled_rounds = 0.0, 0
        self.starting, self.draining = True, False
        self.phase = self.random.randrange(len(GAINS))

    def on_report(self, report: Report) -> None:
        if report.best_rate_bps is None:
            return
        self.rates_bps.append(report.best_rate_bps)
        bandwidth_bps = max(self.rates_bps)
        product_bytes = bandwidth_bps * report.min_rtt_s / 8
        if self.starting:
            grows = bandwidth_bps > 1.25 * self.best_bps
            self.best_bps = max(self.best_bps, bandwidth_bps)
            self.stalled_rounds = 0 if grows else self.stalled_rounds + 1
            self.starting, self.draining = self.stalled_rounds < 3, self.stalled_rounds >= 3
        elif self.draining:
            self.draining = report.in_flight_bytes > product_bytes
        else:
            self.phase = (self.phase + 1) % len(GAINS)
        steady = 1 / self.startup_gain if self.draining else GAINS[self.phase]
        self.pacing_bps = bandwidth_bps * (self.startup_gain if self.starting else steady)
        gain = self.startup_gain if self.starting or self.draining else self.window_gain
        self.cwnd_bytes = max(gain * product_bytes, 4 * self.mss_bytes)

    def on_loss(self, episode: LossEpisode) -> None:
        """The model answers for losses: what they say of the rate, the samples say."""
