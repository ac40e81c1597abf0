"""The state of a link from real switches: its loss by the counters of its ends, its delay by probes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anabranch import _core

_SILENT_PACKETS = 10
"""So many packets, and none arrives in a whole round: the link loses all."""


_MOST_BETWEEN = 1.0
"""So many packets may have been sent between the two readings of a round, beyond those on their way."""
_MOST_SHARE_BETWEEN = 5e-4
"""The same as a share of the round's packets."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A counter of packets, and when it was read."""

    at_ns: int
    packets: int


class LinkMeter:
    """Loss and delay of one link.

    Both ends are read in one round: the end that receives so much later as the link is long. What was
    sent in between, beyond that, is taken from the rate of the round; a round in which this is much does not
    count. Samples of loss add up: a packet that one counts too few, the next one counts too many. A queue's
    drops are losses here: switches do not know the queue of a link.
    """

    def __init__(self, estimator: Mapping[str, Any], least_packets: int) -> None:
        """With an estimator of a setup for both.

        Args:
            estimator: as in ``[controller]``.
            least_packets: that make a sample of loss; with fewer it goes on to the next round.
        """
        text = json.dumps(dict(estimator))
        self._loss, self._delay = _core.LinkEstimator(text), _core.LinkEstimator(text)
        self._least = least_packets
        self._last_sent: Reading | None = None
        self._start: tuple[float, int] | None = None
        self._counted = (0.0, 0)
        self._window: tuple[int, int] | None = None
        self._last: tuple[float, int] | None = None
        self._silent = False
        self._waits_for_up = False

    def on_counters(self, sent: Reading, received: Reading, delay_ns: int) -> None:
        """Takes the counters of both ends, which have been read once more.

        Args:
            sent: what went into the link, by the switch at its beginning.
            received: what came out of it, by the switch at its end.
            delay_ns: of the link, as it is known.
        """
        before, self._last_sent = self._last_sent, sent
        if before is None or sent.at_ns <= before.at_ns:
            return
        rate = (sent.packets - before.packets) / (sent.at_ns - before.at_ns)
        between = rate * (received.at_ns - delay_ns - sent.at_ns)
        if abs(between) > max(_MOST_BETWEEN, _MOST_SHARE_BETWEEN * (sent.packets - before.packets)):
            # The rate of the round is not that of a moment.
            return
        # Of what was sent until then, all that is not lost has arrived when the other end was read.
        due = sent.packets + between
        due_ns = received.at_ns - delay_ns
        if self._waits_for_up or self._start is None or self._last is None:
            self._begin(due, received.packets)
            if self._window is None:
                self._window = (due_ns, due_ns)
            return
        self._silent = due - self._last[0] >= _SILENT_PACKETS and received.packets == self._last[1]
        self._last = (due, received.packets)
        packets = round(due - self._start[0])
        lost = round(due - self._start[0] - (received.packets - self._start[1]))
        if packets < self._least or lost < 0:
            return
        self._loss.add_share(min(lost, packets), packets)
        self._counted = (self._counted[0] + packets, self._counted[1] + lost)
        if self._window is not None:
            self._window = (self._window[0], due_ns)
        # As many as were counted, and not those of the reading: so that rounding does not add up.
        self._start = (self._start[0] + packets, self._start[1] + packets - lost)

    def _begin(self, due: float, received: int) -> None:
        self._start = self._last = (due, received)
        self._waits_for_up = self._silent = False

    def on_delay(self, seconds: float) -> None:
        """Probes have measured the link once more."""
        self._delay.add_value(max(seconds, 0.0))

    def on_down(self) -> None:
        """The link has failed: what is lost until it is back says nothing."""
        self._waits_for_up, self._silent = True, False

    @property
    def loss(self) -> float | None:
        """0 to 1: the estimate, or 1 while nothing comes through; None before the first sample."""
        return 1.0 if self._silent else self._loss.estimate()

    @property
    def delay_s(self) -> float | None:
        """The estimate; None before the first sample."""
        return self._delay.estimate()

    @property
    def counted(self) -> tuple[int, int]:
        """Packets in samples so far, and how many of them were lost."""
        return round(self._counted[0]), self._counted[1]

    @property
    def window_ns(self) -> tuple[int, int] | None:
        """From when to when these packets were sent; None before the first reading.

        While the link had failed they were not counted.
        """
        return self._window
