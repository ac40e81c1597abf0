"""Figures of a run or a study from Python: ``result.plot.goodput()``, ``study_result.plot.metric(name)``."""
