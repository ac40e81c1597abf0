"""A congestion control over the scenarios of RFC 9743, measured as RFC 5166 says, beside CUBIC."""

from __future__ import annotations

from anabranch.study.evaluation.control import Control, control_of
from anabranch.study.evaluation.evaluate import REPLICATIONS, Evaluation, Extent, Performance, Row, evaluate

__all__ = ["REPLICATIONS", "Control", "Evaluation", "Extent", "Performance", "Row", "control_of", "evaluate"]
