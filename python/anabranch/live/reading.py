"""Programs that do not read at once, as a scenario says it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from anabranch.scenario.leaves import ReadingSetup

_PS_PER_S = 1e12


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """How a program reads: the engine's reading of the same flow, in seconds of the run."""

    start_s: float
    block_bytes: int | None
    """What it reads in each interval; None for whatever comes."""
    interval_s: float
    pause_s: float
    """From here on it reads nothing; infinite for never."""
    resume_s: float
    """Until here; infinite for never."""

    @classmethod
    def of(cls, reads: ReadingSetup | None, start: int) -> Self | None:
        """From a flow's setup and its start in picoseconds; None where it reads at once."""
        if reads is None:
            return None
        blocks = reads.blocks
        pause, resume = (
            math.inf if time is None else time / _PS_PER_S for time in (reads.pause, reads.resume)
        )
        return cls(
            start_s=start / _PS_PER_S,
            block_bytes=None if blocks is None else blocks.bytes,
            interval_s=math.inf if blocks is None else blocks.interval / _PS_PER_S,
            pause_s=pause,
            resume_s=resume,
        )

    def pauses_at(self, time_s: float) -> bool:
        """Whether it reads nothing at this time."""
        return self.pause_s <= time_s < self.resume_s


class Reader:
    """The progress of a program that reads at intervals."""

    def __init__(self, reading: ReadingPlan) -> None:
        self._reading = reading
        self._block = 0
        self._left = reading.block_bytes
        self._now_s = reading.start_s
        self._again_s: float | None = None
        """When it was to read again."""

    def may_read(self, now_s: float) -> int:
        """Bytes that it reads now, at most."""
        reading = self._reading
        self._now_s = now_s
        if reading.pauses_at(now_s):
            return 0
        if reading.block_bytes is None or self._left is None:
            return 1 << 30
        due = int((now_s - reading.start_s) / reading.interval_s)
        if due > self._block:
            # It waited for this time, and the loop may have come late: a program reads each block at its own.
            late_s = 0.0 if self._again_s is None else now_s - self._again_s
            self._left = (1 + int(late_s / reading.interval_s)) * reading.block_bytes
            self._block = due
        self._again_s = None
        return self._left

    def on_read(self, length: int) -> None:
        """Notes that so many bytes have been read."""
        if self._left is not None:
            self._left -= length

    def next_s(self) -> float | None:
        """When it reads again, after it could not; None for never."""
        reading = self._reading
        time_s = self._now_s
        if not reading.pauses_at(time_s) and self._left == 0:
            time_s = reading.start_s + reading.interval_s * (self._block + 1)
        if reading.pauses_at(time_s):
            time_s = reading.resume_s
        self._again_s = time_s
        return None if time_s == math.inf else time_s
