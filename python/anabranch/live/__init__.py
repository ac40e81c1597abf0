"""Live runs: a scenario between real hosts of Linux, over links of the engine."""

from anabranch.live.programs import Asked, HostProgram
from anabranch.live.run import Live, run

__all__ = ["Asked", "HostProgram", "Live", "run"]
