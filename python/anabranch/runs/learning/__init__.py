"""Agents that learn congestion control: an environment of gymnasium, and what its agents see.

The extra ``anabranch[learning]`` brings gymnasium, which the environment alone needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anabranch.runs.learning.observation import FEATURES, Interval, LinearPolicy, observe

if TYPE_CHECKING:
    from anabranch.runs.learning.environment import CongestionEnv

__all__ = ["FEATURES", "CongestionEnv", "Interval", "LinearPolicy", "observe"]


def __getattr__(name: str) -> Any:
    """The environment, when it is asked for: a study with a policy runs without gymnasium."""
    if name != "CongestionEnv":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from anabranch.runs.learning.environment import CongestionEnv  # noqa: PLC0415 - the point of this function

    return CongestionEnv
