"""The parts that all throughput models share: their range, and bounds that hold whatever the formula says."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from anabranch.models.path import PathConditions, Prediction

NO_LOSS = 1e-15
"""Loss below this counts as none: 1 - loss has no digits left for it, and no flow is so long."""


@dataclass(frozen=True, slots=True)
class ValidRange:
    """The range in which a model holds."""

    least_loss: float
    most_loss: float
    least_window: float = 0.0
    """Smallest mean window in segments."""

    def __str__(self) -> str:
        if self.most_loss == 0:
            return "no loss"
        losses = f"loss from {self.least_loss:g} to {self.most_loss:g}"
        return f"{losses}, mean window of at least {self.least_window:g} segments"


@dataclass(frozen=True, slots=True)
class Model:
    """A throughput model: a pure function of the path, and what is known about it."""

    name: str
    source: str
    """Publication, with section or equation."""
    valid: ValidRange
    predict: Callable[[PathConditions], Prediction]
    """The model with its parameters at their published values."""


def predicted(
    path: PathConditions, name: str, valid: ValidRange, window_of: Callable[[PathConditions], float]
) -> Prediction:
    """The prediction of a response function, bounded by what the path and the largest window allow.

    Args:
        path: the path.
        name: name of the model.
        valid: where the response function holds.
        window_of: the response function: mean window in segments at a loss between 0 and 1, both excluded.
    """
    if path.loss >= 1:
        return Prediction(0.0, name, (f"{name}: loss 1 is outside its range ({valid})",))
    bound = min(path.share_mbps, path.mbps_of(path.largest_window))
    if path.loss < NO_LOSS:
        if math.isfinite(bound):
            return Prediction(bound, name)
        remedy = "give capacity_mbps or window_bytes"
        return Prediction(bound, name, (f"{name}: without loss nothing bounds it ({valid}); {remedy}",))
    formula = path.mbps_of(window_of(path))
    mbps = min(formula, bound)
    return Prediction(mbps, name, _outside(path, name, valid, mbps, bounded=bound <= formula))


def _outside(
    path: PathConditions, name: str, valid: ValidRange, mbps: float, *, bounded: bool
) -> tuple[str, ...]:
    """One warning for each way in which the path is outside a model's range."""
    warnings = []
    # Where the bound is below what the formula says, little loss does not put the answer in doubt.
    if path.loss > valid.most_loss or (path.loss < valid.least_loss and not bounded):
        warnings.append(f"{name}: loss {path.loss:g} is outside its range ({valid})")
    if (window := path.window_at(mbps)) < valid.least_window:
        warnings.append(f"{name}: a mean window of {window:.2g} segments is outside its range ({valid})")
    return tuple(warnings)
