"""TCP Vegas (Brakmo and Peterson 1995): alpha to beta packets of each flow wait at the bottleneck."""

from dataclasses import dataclass

from anabranch.own import CongestionControl, LossEpisode, Report


@dataclass
class Vegas(CongestionControl):
    alpha_packets: float = 2.0
    beta_packets: float = 4.0
    gamma_packets: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.alpha_packets <= self.beta_packets:
            raise ValueError("alpha_packets must be above 0, and not above beta_packets")

    def on_report(self, report: Report) -> None:
        """Once per round trip: expected less actual rate, times the smallest RTT, is what waits."""
        if report.least_rtt_s is None or report.recovery != "open":
            return
        waiting = self.cwnd_bytes * (1 - report.min_rtt_s / report.least_rtt_s) / self.mss_bytes
        if self.cwnd_bytes < self.ssthresh_bytes:
            if waiting > self.gamma_packets:
                self.ssthresh_bytes = self.cwnd_bytes
            elif report.cwnd_limited:
                # The paper doubles every other round trip.
                self.cwnd_bytes *= 2**0.5
        elif waiting < self.alpha_packets and report.cwnd_limited:
            self.cwnd_bytes += self.mss_bytes
        elif waiting > self.beta_packets:
            self.cwnd_bytes -= self.mss_bytes

    def on_loss(self, episode: LossEpisode) -> None:
        self.reduce(episode, 0.75)
