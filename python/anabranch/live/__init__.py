"""Live runs: a scenario between real hosts of Linux, over links of the engine."""

from anabranch.live.programs import Asked, HostProgram
from anabranch.live.repeats import LIVE_RUNS
from anabranch.live.run import Live, run

__all__ = ["LIVE_RUNS", "Asked", "HostProgram", "Live", "run"]
