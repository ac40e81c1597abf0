"""Live runs: a scenario between real hosts of Linux, over links of the engine."""

from anabranch.live.run import Live, run

__all__ = ["Live", "run"]
