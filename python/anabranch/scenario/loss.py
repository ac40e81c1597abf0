"""Random loss of a link."""

from __future__ import annotations

import json

from anabranch import _core
from anabranch.scenario.choice import Algorithm, configuration


def long_run_loss(loss: float | str | Algorithm) -> float:
    """Share of packets that a link loses in the long run."""
    if isinstance(loss, int | float):
        return float(loss)
    return _core.mean_loss(json.dumps(configuration(loss)))
