"""The numbers of a transfer that predictions are held against, over all of its flows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anabranch.fitting.features import Features


def _goodput_mbps(flows: Sequence[Features]) -> float:
    return sum(one.goodput_mbps for one in flows)


def _rtt_ms(flows: Sequence[Features]) -> float:
    means = [one.rtt_ms.mean() for one in flows if one.rtt_ms.size]
    return float(np.mean(means)) if means else float("nan")


def _retransmissions(flows: Sequence[Features]) -> float:
    return float(sum(one.retransmissions for one in flows))


MEASURES: dict[str, Callable[[Sequence[Features]], float]] = {
    "goodput_mbps": _goodput_mbps, "rtt_mean_ms": _rtt_ms, "retransmissions": _retransmissions,
}  # fmt: skip
"""By the names of result columns."""
