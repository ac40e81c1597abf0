"""A gentle NewReno: the example of docs/own.md."""

from dataclasses import dataclass

from anabranch.own import Ack, CongestionControl, LossEpisode


@dataclass
class Gentle(CongestionControl):
    """Additive increase, and a decrease of one's choice."""

    beta: float = 0.7

    def on_ack(self, ack: Ack) -> None:
        if ack.recovery != "fast" and ack.cwnd_limited:
            starts = self.cwnd_bytes < self.ssthresh_bytes
            share = 1 if starts else self.mss_bytes / self.cwnd_bytes
            self.cwnd_bytes += share * ack.delivered_bytes

    def on_loss(self, episode: LossEpisode) -> None:
        self.reduce(episode, self.beta)
