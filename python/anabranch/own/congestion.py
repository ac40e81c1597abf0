"""The class that congestion controls in Python derive from."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from anabranch._core import EcnFeedback, LossEpisode, LostSegment


class CongestionControl:
    """A congestion control: one object for each connection, told what its ACKs say.

    A class defines ``on_ack`` or ``on_report``, and ``on_loss``. The other hooks have the defaults below.
    Each of them sets ``cwnd_bytes``, ``ssthresh_bytes`` and ``pacing_bps``, which are read after every call.
    Parameters are the fields of a dataclass; a scenario sets them.
    """

    measures_rate: ClassVar[bool] = False
    """ACKs have delivery rate samples, which cost the simulation some memory and time."""
    governs_recovery: ClassVar[bool] = False
    """The window in fast recovery is ``cwnd_bytes``; otherwise proportional rate reduction (RFC 6937) leads
    it to ``ssthresh_bytes``."""
    report_interval_s: float | None = None
    """Time between two calls of ``on_report``; None for the smoothed round-trip time."""

    mss_bytes: int
    """Payload of a full segment."""
    initial_window_bytes: int
    """What the window is at the start."""
    cwnd_bytes: float
    """The congestion window; less than a segment counts as one."""
    ssthresh_bytes: float
    """The slow-start threshold; infinite before the first loss."""
    pacing_bps: float | None
    """The rate at which packets leave; None: as the window allows."""
    random: random.Random
    """Random numbers of this connection: the same in every run of the same seed."""

    on_ack: Any = None
    """``on_ack(ack: Ack)``: each ACK. Leave it out for ``on_report(report: Report)``."""
    on_report: Any = None
    """``on_report(report: Report)``: what the ACKs of an interval said together."""

    def start(self) -> None:
        """The connection begins: before the handshake, and once more after it, in a new object."""

    def on_established(self, now_s: float, rtt_s: float | None) -> None:
        """The handshake is over; None where a lost SYN leaves no RTT."""

    def on_loss(self, episode: LossEpisode) -> None:
        """Fast recovery begins, once for a window of data: reduces the window."""
        raise NotImplementedError

    def on_recovered(self, now_s: float, recovery: str) -> None:  # noqa: ARG002 - a hook
        """``"fast"`` recovery, or the state of ``"loss"`` after a timeout, is over."""
        if recovery == "fast" and not self.governs_recovery:
            self.cwnd_bytes = min(self.cwnd_bytes, self.ssthresh_bytes)

    def on_timeout(self, episode: LossEpisode, first: bool) -> None:
        """The retransmission timer has expired; not ``first``: for data that have been answered for."""
        if first:
            self.reduce(episode)
        self.cwnd_bytes = self.mss_bytes

    def on_ecn(self, episode: LossEpisode) -> None:
        """A mark of ECN, once for a window of data; no recovery follows."""
        self.on_loss(episode)

    def on_restart_after_idle(self, now_s: float, idle_s: float, rto_s: float) -> None:  # noqa: ARG002 - a hook
        """Nothing was in flight for longer than the retransmission timeout (RFC 5681 section 4.1)."""
        if self.cwnd_bytes > self.initial_window_bytes:
            self.ssthresh_bytes = max(self.ssthresh_bytes, self.cwnd_bytes // 4 * 3)
            self.cwnd_bytes = self.initial_window_bytes

    def on_undo(self, now_s: float) -> None:
        """The last loss episode was spurious (RFC 3522, DSACK)."""

    def on_segment_lost(self, lost: LostSegment) -> None:
        """A segment was judged lost; called only where a class defines it."""

    def on_ecn_feedback(self, feedback: EcnFeedback) -> None:
        """Takes an ACK's marks; called only where a class defines it. The transport then needs ECN."""

    def forget_growth(self, cwnd_bytes: int) -> None:
        """Undoes growth: a loss now was sent with this window, long ago; comes before ``on_loss``."""
        self.cwnd_bytes = min(self.cwnd_bytes, max(cwnd_bytes, self.mss_bytes))

    def penalise(self) -> None:
        """The subflow holds up a multipath connection, whose receive window is full."""
        self.cwnd_bytes = max(self.cwnd_bytes // 2, self.mss_bytes)

    def reduce(self, episode: LossEpisode, factor: float = 0.5) -> None:
        """Window and threshold become a share of what was in flight, two segments at least (RFC 5681)."""
        in_flight = min(self.cwnd_bytes, episode.flight_size_bytes)
        self.ssthresh_bytes = max(in_flight * factor, 2 * self.mss_bytes)
        self.cwnd_bytes = self.ssthresh_bytes
