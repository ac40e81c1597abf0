"""A fixed window without congestion control: a window in each round trip, by definition."""

from __future__ import annotations

import math
from typing import Final

from anabranch.models.model import Model, ValidRange
from anabranch.models.path import PathConditions, Prediction

NAME: Final = "window"
VALID: Final = ValidRange(0.0, 0.0)
"""Without loss it is exact. With loss nothing is sent behind a hole until the sender's timer ends, so that
the throughput depends on that timer and not on the path alone.
"""


def window(path: PathConditions) -> Prediction:
    """``window_bytes`` in each round trip, or the share of the capacity if that is less.

    A window that is full waits for its first acknowledgment, and that takes the round trip without queues
    where the capacity is not the limit. With loss the answer is 1 - p times that, which is an upper bound.
    """
    if path.loss >= 1:
        return Prediction(0.0, NAME, (f"{NAME}: loss 1 is outside its range ({VALID})",))
    bound = min(path.share_mbps, path.mbps_of(path.largest_window))
    warnings = []
    if path.loss > VALID.most_loss:
        warnings.append(f"{NAME}: loss {path.loss:g} is outside its range ({VALID}): an upper bound")
    elif math.isinf(bound):
        warnings.append(f"{NAME}: nothing bounds it ({VALID}); give window_bytes or capacity_mbps")
    return Prediction(bound * (1 - path.loss), NAME, tuple(warnings))


MODEL: Final = Model(NAME, "definition: window / RTT", VALID, window)
