"""A trained policy as a congestion control: the window times two to the policy's action, every 20 ms."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from anabranch.own import CongestionControl, LossEpisode, Report
from anabranch.runs.learning import Interval, LinearPolicy, observe


@dataclass
class Learned(CongestionControl):
    """What the environment does with an action, done by the sender itself."""

    queueing: float
    delivered: float
    lost: float
    in_flight: float
    window: float
    constant: float

    governs_recovery: ClassVar[bool] = True
    report_interval_s: ClassVar[float] = 0.02

    def __post_init__(self) -> None:
        self.policy = LinearPolicy(dataclasses.astuple(self))

    def on_report(self, report: Report) -> None:
        """Looks at the last 20 ms, and changes the window."""
        seen = Interval(
            report.interval_s,
            self.mss_bytes,
            report.delivered_bytes,
            report.lost_bytes,
            self.cwnd_bytes,
            report.in_flight_bytes,
            report.srtt_s,
            report.min_rtt_s,
        )
        # An ACK may come late: as many doublings a second as in the environment.
        steps = min(report.interval_s / self.report_interval_s, 1)
        self.cwnd_bytes = max(self.cwnd_bytes * 2 ** (steps * self.policy.act(observe(seen))), self.mss_bytes)

    def on_loss(self, episode: LossEpisode) -> None:
        """A random loss says nothing about the window; what a loss says is in the next report."""
