"""NewReno (RFC 5681, RFC 3465), with the arithmetic of the built-in one: results are the same to the byte."""

from anabranch.own import Ack, CongestionControl, LossEpisode


class NewReno(CongestionControl):
    def start(self) -> None:
        self.counted_bytes, self.hold_until, self.recovering = 0, 0, False
        self.before: tuple[float, float] | None = None

    def on_ack(self, ack: Ack) -> None:
        if ack.recovery == "fast" or ack.snd_una < self.hold_until:
            return
        left = delivered = ack.delivered_bytes
        if self.cwnd_bytes < self.ssthresh_bytes:
            counted = min(delivered, self.mss_bytes) if ack.recovery == "loss" else delivered
            if not ack.cwnd_limited:
                return
            increase = min(counted, self.ssthresh_bytes - self.cwnd_bytes)
            self.cwnd_bytes += increase
            left = counted - increase
        if ack.cwnd_limited and left > 0:
            self.counted_bytes += left
            if self.counted_bytes >= self.cwnd_bytes:
                self.counted_bytes = min(self.counted_bytes - self.cwnd_bytes, self.cwnd_bytes)
                self.cwnd_bytes += self.mss_bytes

    def halve(self, episode: LossEpisode) -> None:
        self.before = (self.cwnd_bytes, self.ssthresh_bytes)
        in_flight = min(self.cwnd_bytes, episode.flight_size_bytes)
        self.ssthresh_bytes = max(in_flight // 2, 2 * self.mss_bytes)
        self.counted_bytes = 0

    def on_loss(self, episode: LossEpisode) -> None:
        self.halve(episode)
        self.cwnd_bytes = self.ssthresh_bytes
        self.recovering = True

    def on_recovered(self, now_s: float, recovery: str) -> None:
        if recovery == "fast" and self.recovering:
            self.cwnd_bytes = self.ssthresh_bytes
        self.recovering = False

    def on_timeout(self, episode: LossEpisode, first: bool) -> None:
        if first:
            self.halve(episode)
        self.cwnd_bytes, self.counted_bytes, self.hold_until = self.mss_bytes, 0, 0
        self.recovering = False

    def on_ecn(self, episode: LossEpisode) -> None:
        self.halve(episode)
        self.cwnd_bytes, self.before = self.ssthresh_bytes, None
        self.hold_until = episode.snd_nxt

    def on_undo(self, now_s: float) -> None:
        if self.before is not None:
            self.cwnd_bytes = max(self.cwnd_bytes, self.before[0])
            self.ssthresh_bytes = max(self.ssthresh_bytes, self.before[1])
            self.before, self.recovering = None, False
