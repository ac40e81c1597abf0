"""Studies: factors, replications, execution on many processes, and a store to go on from.

A study file or :class:`Study` (``model.py``) becomes a ``Design`` (``design.py``) after every level has been
looked at (``check.py``). Its runs have numbers; ``work.py`` does one, ``local.py`` and ``cluster.py`` hand
them out, ``store.py`` keeps what comes back, and ``result.py`` is what a reader gets.
"""

from anabranch.study.model import Factor, Level, Metric, Range, Study
from anabranch.study.result import FactorInfo, MetricInfo, StudyResult

__all__ = [
    "Factor",
    "FactorInfo",
    "Level",
    "Metric",
    "MetricInfo",
    "Range",
    "Study",
    "StudyResult",
]
