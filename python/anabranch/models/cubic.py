"""CUBIC's response function: RFC 9438 section 5."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from anabranch.models.errors import ModelError
from anabranch.models.model import Model, ValidRange, predicted
from anabranch.models.path import PathConditions, Prediction

NAME: Final = "cubic"
VALID: Final = ValidRange(1e-8, 0.05, least_window=4)
"""Loss: from the smallest of the RFC's tables 1 and 2 to that of the square-root law, which CUBIC follows
there. Window: three duplicate ACKs, as with the square-root law.
"""


def cubic(path: PathConditions, c: float = 0.4, beta: float = 0.7) -> Prediction:
    """The larger of the mean window of the cubic curve and that of AIMD with CUBIC's beta.

    Args:
        path: the path. Its ``segments_per_increase`` is of no account: the RFC counts bytes.
        c: the constant C in segments per cubic second (section 4.1).
        beta: what the window is multiplied by at a loss, beta_cubic (section 4.6).

    Raises:
        ModelError: if ``c`` is not above 0 or ``beta`` not between 0 and 1.
    """
    if not (math.isfinite(c) and c > 0):
        raise ModelError("c", f"{c!r} is not a number above 0 (RFC 9438 section 4.1 has 0.4)")
    if not 0 < beta < 1:
        raise ModelError("beta", f"{beta!r} is not between 0 and 1 (RFC 9438 section 4.6 has 0.7)")
    return predicted(path, NAME, VALID, partial(_window, c=c, beta=beta))


def _window(path: PathConditions, c: float, beta: float) -> float:
    # Section 5, figure 8.
    curve = math.pow(c * (3 + beta) / (4 * (1 - beta)), 0.25) * math.pow(path.rtt_s / path.loss, 0.75)
    # Section 4.3, figure 3: AIMD(alpha, beta), with the alpha that makes its mean window that of Reno.
    alpha = 3 * (1 - beta) / (1 + beta)
    friendly = math.sqrt(alpha * (1 + beta) / (2 * (1 - beta) * path.loss))
    return max(curve, friendly)


MODEL: Final = Model(NAME, "RFC 9438 section 5", VALID, cubic)
