"""NewReno as ns-2 has it, over paths with fixed delays: a second opinion that shares nothing with the engine.

The paper simulated with ns-2. Where its numbers differ from the engine's, this says whether TCP's rules are
why: no SACK; a window in whole segments that grows by 1 / cwnd with each ACK that is new, whether the
application fills it or not; after three duplicate ACKs half of that window, not of what is in flight,
inflated by further ones until all that was sent before is acknowledged. Paths have a delay and no queue, and
nothing is lost, so that there are no timeouts.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

_WINDOW = 1000.0
"""Largest window, and first ssthresh, in segments: ns-2's ``window_``, large enough for all."""
_DATA, _ACK, _APPLICATION = 0, 1, 2


@dataclass(frozen=True)
class Paths:
    """Delays in ms with their probabilities."""

    delay_ms: Sequence[float]
    probability: Sequence[float]


@dataclass
class Connection:
    """One connection, from its first segment to an end in time; all times in ms."""

    there: Paths
    back: Paths
    gap_ms: float
    """Mean time between the application's segments, exponential."""
    spacing_ms: float
    """Time that the source's line takes for a segment."""
    access_ms: float = 0.0
    """Propagation delay of both access links together."""
    seed: int = 0
    delivered: int = field(default=0, init=False)
    """Segments that the receiver has in order."""
    recoveries: int = field(default=0, init=False)

    def run(self, until_ms: float) -> None:
        """Play it."""
        self._random = random.Random(self.seed)  # noqa: S311 - no secret
        self._queue: list[tuple[float, int, int, int]] = []
        self._count = 0
        self._line_free = 0.0
        self._cwnd, self._ssthresh, self._inflated = 2.0, _WINDOW, 0
        self._acked, self._next, self._written = -1, 0, 0
        self._duplicates, self._recover, self._recovering = 0, -1, False
        self._early: set[int] = set()
        self._push(self._random.expovariate(1 / self.gap_ms), _APPLICATION, 0)
        while self._queue:
            now, _, kind, number = heapq.heappop(self._queue)
            if now > until_ms:
                return
            if kind == _APPLICATION:
                self._written += 1
                self._send_what_fits(now)
                self._push(now + self._random.expovariate(1 / self.gap_ms), _APPLICATION, 0)
            elif kind == _DATA:
                self._receive(number)
                self._push(now + self.access_ms + self._delay(self.back), _ACK, self.delivered - 1)
            else:
                self._on_ack(number, now)

    def _push(self, at: float, kind: int, number: int) -> None:
        self._count += 1
        heapq.heappush(self._queue, (at, self._count, kind, number))

    def _delay(self, paths: Paths) -> float:
        left = self._random.random()
        for delay, probability in zip(paths.delay_ms, paths.probability, strict=True):
            left -= probability
            if left < 0:
                return delay
        return paths.delay_ms[-1]

    def _send(self, number: int, now: float) -> None:
        self._line_free = max(self._line_free, now) + self.spacing_ms
        self._push(self._line_free + self.access_ms + self._delay(self.there), _DATA, number)

    def _send_what_fits(self, now: float) -> None:
        end = self._acked + int(min(self._cwnd, _WINDOW) + self._inflated)
        while self._next < self._written and self._next <= end:
            self._send(self._next, now)
            self._next += 1

    def _receive(self, number: int) -> None:
        if number > self.delivered:
            self._early.add(number)
        elif number == self.delivered:
            self.delivered += 1
            while self.delivered in self._early:
                self._early.discard(self.delivered)
                self.delivered += 1

    def _on_ack(self, number: int, now: float) -> None:
        if number > self._acked:
            self._on_new_ack(number, now)
        elif number == self._acked and self._next - 1 > self._acked:
            self._duplicates += 1
            if self._recovering:
                self._inflated += 1
            # RFC 6582 section 3.2, step 2: not again for what was out at the last one.
            elif self._duplicates == 3 and self._acked >= self._recover:
                self.recoveries += 1
                self._recovering, self._recover = True, self._next - 1
                self._ssthresh = self._cwnd = max(min(self._cwnd, _WINDOW) / 2, 2.0)
                self._send(self._acked + 1, now)
                self._inflated = 3
            self._send_what_fits(now)

    def _on_new_ack(self, number: int, now: float) -> None:
        if self._recovering and number < self._recover:
            # A partial acknowledgment: the next hole is sent again (RFC 6582 section 3.2, step 3).
            self._inflated = max(self._inflated - (number - self._acked), 0)
            self._acked = number
            self._send(number + 1, now)
        else:
            self._recovering, self._inflated, self._acked = False, 0, number
            self._cwnd += 1.0 if self._cwnd < self._ssthresh else 1.0 / self._cwnd
        self._duplicates = 0
        self._next = max(self._next, number + 1)
        self._send_what_fits(now)
