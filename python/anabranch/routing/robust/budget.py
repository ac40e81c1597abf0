"""Time limits that count work and not the clock, so that the same call stops at the same place every time.

HiGHS says how many iterations it made, and takes a limit of them; loops here count their rounds. Each has a
stated cost in seconds, which is about what it took on one core of a server of 2023: a limit of so many
seconds is about so long there, longer on a slower machine and shorter on a faster one, and the plan is the
same on both. The clock only ends what takes many times its limit, and then the status says so.
"""

from __future__ import annotations

import time
from typing import Final, Literal

Status = Literal["optimal", "time-limit", "wall-limit"]
"""`optimal`: the gap is within the tolerance. `time-limit`: the work allowed was done before; bound and gap
say how far it came. `wall-limit`: the clock ended it, so that another call may stop elsewhere."""

INTERIOR_S: Final = 7e-7
"""Seconds for an iteration of the interior point method and an entry of the matrix, 4 to 9e-7 measured up to
`_FILL` entries; beyond, factors fill up, and it rises in proportion."""
_FILL: Final = 1e5
SIMPLEX_S: Final = 8e-9
"""The same for simplex: 6 to 11e-9 measured."""
AGAIN_S: Final = 1.5e-4
"""The most seconds for an iteration of simplex where one program is solved again and again with other costs
and bounds, which touches few entries: 1.2 to 1.6e-4 measured from 68,000 to 87,000 of them."""
ROOT_CHECK_S: Final = 2e-5
"""The same for a check of branch and bound whether to go on, before it branches: 1.9 to 2e-5 measured."""
CHECK_S: Final = 2.5e-6
"""The same after that, about two to a node: 0.6 to 4.4e-6 measured."""
ARC_S: Final = 2e-4
"""Seconds of the evaluator for an arc."""
SHARE_S: Final = 3e-6
"""Seconds of the evaluator for a pair's share on an arc."""
SEARCH_S: Final = 2e-4
"""Seconds for the cheapest path of a pair."""
FLOW_PATH_S: Final = 4e-5
"""Seconds for a path of a flow."""
_CLOCK: Final = 10.0
"""What the clock allows, in times the limit."""
_CLOCK_LEAST_S: Final = 30.0
"""What the clock allows at least, in seconds."""


def interior_s(entries: int) -> float:
    """Seconds for an iteration of the interior point method with so many entries of the matrix.

    Measured: 0.17 s at 121,000 entries, 0.5 at 201,000, 0.4 to 1.4 at 300,000 and 3.3 at 820,000.
    """
    return INTERIOR_S * entries * max(1.0, entries / _FILL)


class Budget:
    """Work left, in seconds of the rates above, and CPU time spent since it was made."""

    def __init__(self, time_limit_s: float) -> None:
        self._cpu_start = time.process_time()
        self._left_s = time_limit_s
        self._end = time.monotonic() + max(_CLOCK * time_limit_s, _CLOCK_LEAST_S)
        self._late = False

    @classmethod
    def of(cls, limit: float | Budget) -> Budget:
        """A budget of so many seconds, or the one of a caller, who goes on with what is left."""
        return limit if isinstance(limit, Budget) else cls(limit)

    @property
    def cpu_s(self) -> float:
        """CPU time of this process since the start, in seconds."""
        return time.process_time() - self._cpu_start

    @property
    def left_s(self) -> float:
        """Work left, in seconds; not positive when over, or when the clock is."""
        return 0.0 if self.is_late else self._left_s

    @property
    def is_late(self) -> bool:
        """Whether the clock has ended it."""
        self._late = self._late or time.monotonic() > self._end
        return self._late

    @property
    def clock_left_s(self) -> float:
        """The time that the clock leaves, in seconds: for the solver's own limit."""
        return max(self._end - time.monotonic(), 1e-3)

    @property
    def stopped(self) -> Status:
        """The status of what ends because nothing is left."""
        return "wall-limit" if self._late else "time-limit"

    def spend(self, work_s: float) -> None:
        """Count work that was done."""
        self._left_s -= work_s

    def spend_evaluation(self, arcs: int, shares: int) -> None:
        """Count one look of the evaluator at all links."""
        self.spend(arcs * ARC_S + shares * SHARE_S)

    def late(self) -> None:
        """The clock ended a solver."""
        self._late = True
