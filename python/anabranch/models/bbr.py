"""BBR version 1: an upper bound, for there is no accepted formula of its throughput under random loss."""

from __future__ import annotations

import math
from typing import Final

from anabranch.models.errors import ModelError
from anabranch.models.model import Model, ValidRange
from anabranch.models.path import PathConditions, Prediction

NAME: Final = "bbr"
PROBE_GAIN: Final = 1.25
"""Pacing gain of the phase that probes for bandwidth (Cardwell et al. 2016)."""
MIN_PIPE_SEGMENTS: Final = 4.0
"""Smallest window (BBRMinPipeCwnd, draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.3.1)."""


def bbr(path: PathConditions, probe_gain: float = PROBE_GAIN) -> Prediction:
    """The share of the capacity that loss leaves, up to the loss that probing makes good.

    The bandwidth estimate is a maximum of delivery rates. It lasts as long as a probe delivers as much,
    ``probe_gain`` (1 - p) >= 1, which is a loss of at most 0.2; of what is sent at the full rate, 1 - p
    arrives (Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue
    14(5), 2016, "Behavior at loss"). With more loss each probe lowers the estimate: the answer
    is then what the smallest window sends, which is no bound and gives no more than the order of magnitude.

    Args:
        path: the path. The largest window bounds the answer, too, as it does for every sender.
        probe_gain: pacing gain while probing.

    Raises:
        ModelError: if ``probe_gain`` is not above 1.
    """
    if not (math.isfinite(probe_gain) and probe_gain > 1):
        raise ModelError("probe_gain", f"{probe_gain!r} is not a number above 1 (BBR has {PROBE_GAIN})")
    valid = ValidRange(0.0, (probe_gain - 1) / probe_gain, least_window=MIN_PIPE_SEGMENTS)
    window_mbps = path.mbps_of(min(path.largest_window, MIN_PIPE_SEGMENTS))
    reached = min(path.share_mbps, path.mbps_of(path.largest_window))
    warnings = []
    if path.loss > valid.most_loss:
        warnings.append(f"{NAME}: loss {path.loss:g} is outside its range ({valid})")
        reached = min(reached, window_mbps)
    elif math.isinf(reached):
        warnings.append(f"{NAME}: without a capacity nothing bounds it ({valid}); give capacity_mbps")
    mbps = reached * (1 - path.loss)
    if mbps > 0 and path.loss <= valid.most_loss and path.window_at(reached) < valid.least_window:
        warnings.append(
            f"{NAME}: a mean window of {path.window_at(reached):.2g} segments is outside its range ({valid})"
        )
    return Prediction(mbps, NAME, tuple(warnings))


MODEL: Final = Model(
    NAME,
    "Cardwell et al. 2016 (a bound)",
    ValidRange(0.0, (PROBE_GAIN - 1) / PROBE_GAIN, MIN_PIPE_SEGMENTS),
    bbr,
)
