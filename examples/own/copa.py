"""Copa (Arun and Balakrishnan, NSDI 2018), default mode: each flow aims at 1/delta packets in the queue."""

from collections import deque
from dataclasses import dataclass

from anabranch.own import Ack, CongestionControl, LossEpisode


@dataclass
class Copa(CongestionControl):
    delta: float = 0.5

    def start(self) -> None:
        self.standing: deque[tuple[float, float]] = deque()
        self.velocity, self.rising = 1.0, True
        self.round_ends, self.round_window = 0, self.cwnd_bytes
        self.same_direction = 0

    def standing_rtt_s(self, now_s: float, rtt_s: float, srtt_s: float) -> float:
        """The smallest RTT of the last half of a smoothed one: ACKs that were held back do not count."""
        while self.standing and self.standing[-1][1] >= rtt_s:
            self.standing.pop()
        self.standing.append((now_s, rtt_s))
        while self.standing[0][0] < now_s - srtt_s / 2:
            self.standing.popleft()
        return self.standing[0][1]

    def on_ack(self, ack: Ack) -> None:
        if ack.rtt_s is None:
            return
        standing_s = self.standing_rtt_s(ack.now_s, ack.rtt_s, ack.srtt_s)
        queueing_s = standing_s - ack.min_rtt_s
        window = self.cwnd_bytes / self.mss_bytes
        rises = queueing_s <= 0 or window / standing_s <= 1 / (self.delta * queueing_s)
        if self.cwnd_bytes < self.ssthresh_bytes and rises:
            self.cwnd_bytes += ack.delivered_bytes
        else:
            self.ssthresh_bytes = min(self.ssthresh_bytes, self.cwnd_bytes)
            step = self.velocity * ack.delivered_bytes / (self.delta * window)
            self.cwnd_bytes = max(self.cwnd_bytes + (step if rises else -step), 2 * self.mss_bytes)
        self.pacing_bps = 2 * 8 * self.cwnd_bytes / standing_s
        if ack.snd_una >= self.round_ends:
            self.end_round(ack.snd_nxt)

    def end_round(self, snd_nxt: int) -> None:
        """The step doubles after three round trips in one direction, and is 1 again after a turn."""
        rising = self.cwnd_bytes > self.round_window
        self.same_direction = self.same_direction + 1 if rising == self.rising else 0
        self.velocity = self.velocity * 2 if self.same_direction >= 3 else 1.0
        self.rising, self.round_window, self.round_ends = rising, self.cwnd_bytes, snd_nxt

    def on_loss(self, episode: LossEpisode) -> None:
        self.reduce(episode)
