"""Mine: a congestion control of your own. Every hook is explained in docs/own.md of Anabranch."""

from dataclasses import dataclass

from anabranch.own import Ack, CongestionControl, LossEpisode


@dataclass
class Mine(CongestionControl):
    """A congestion control: write down what it does, and after which paper."""

    increase_segments: float = 1.0
    """Segments that the window gains in a round trip. Fields are parameters: a scenario may set them."""
    beta: float = 0.5
    """What a loss leaves of the window."""

    def start(self) -> None:
        """The connection begins: make here what the control keeps."""
        self.losses = 0

    def on_ack(self, ack: Ack) -> None:
        """Each ACK: sets the window. For a call once in a round trip write on_report."""
        if ack.recovery == "fast" or not ack.cwnd_limited:
            return
        if self.cwnd_bytes < self.ssthresh_bytes:
            self.cwnd_bytes += ack.delivered_bytes
        else:
            self.cwnd_bytes += self.increase_segments * self.mss_bytes * ack.delivered_bytes / self.cwnd_bytes

    def on_loss(self, episode: LossEpisode) -> None:
        """Fast recovery begins, once for a window of data."""
        self.losses += 1
        self.reduce(episode, self.beta)
