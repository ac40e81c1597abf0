"""Studies, whose results a notebook shows as figures."""

from __future__ import annotations

from anabranch.study import Factor, Level, Metric, Range, Study, StudyResult

__all__ = ["Factor", "Level", "Metric", "Range", "Study", "StudyResult"]


def _html(result: StudyResult) -> str:
    from anabranch import notebook  # noqa: PLC0415 - only notebooks ask

    return notebook.study_html(result)


def _design_html(study: Study) -> str:
    from anabranch import notebook  # noqa: PLC0415 - only notebooks ask

    return notebook.design_html(study)


setattr(Study, "_repr_html_", _design_html)  # noqa: B010 - a type checker need not know
# Results know nothing of what draws them.
setattr(StudyResult, "_repr_html_", _html)  # noqa: B010 - a type checker need not know
