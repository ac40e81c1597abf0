"""The square-root law.

Mathis, Semke, Mahdavi, Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", ACM CCR
27(3), 1997.
"""

from __future__ import annotations

import math
from typing import Final

from anabranch.models.model import Model, ValidRange, predicted
from anabranch.models.path import PathConditions, Prediction

NAME: Final = "mathis"
VALID: Final = ValidRange(1e-5, 0.05, least_window=4)
"""Loss: where Vilela 2022 (TCPBP) takes the law to hold. Window: below 4 segments there are no three
duplicate ACKs, and the timeouts that the law leaves out decide.
"""


def mathis(path: PathConditions) -> Prediction:
    """MSS / RTT * C / sqrt(p) with C = sqrt(3 / (2 b)) (equation 3, and section 2 for delayed ACKs)."""
    return predicted(path, NAME, VALID, _window)


def _window(path: PathConditions) -> float:
    return math.sqrt(3 / (2 * path.segments_per_increase * path.loss))


MODEL: Final = Model(NAME, "Mathis et al. 1997, equation 3", VALID, mathis)
