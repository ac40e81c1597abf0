"""Studies, whose results a notebook shows as figures."""

from __future__ import annotations

from anabranch.study import Factor, Level, Metric, Range, Study, StudyResult

__all__ = ["Factor", "Level", "Metric", "Range", "Study", "StudyResult"]


def _html(result: StudyResult) -> str:
    """The table of the cells, and the first metric over the factors."""
    from anabranch.media.notebook import pieces_html  # noqa: PLC0415 - only notebooks ask
    from anabranch.report.views.study import study_pieces  # noqa: PLC0415 - as above

    figure = result.plot.metric(result.metrics[0].name).drawing()
    return pieces_html(study_pieces(result.title, result), [figure], result.warnings)


def _design_html(study: Study) -> str:
    """What the study sets, as TOML; defaults are left out."""
    import tomli_w  # noqa: PLC0415 - only notebooks ask

    from anabranch.media.notebook import code_html  # noqa: PLC0415 - as above

    return code_html(tomli_w.dumps(study.data(given_only=True)))


setattr(Study, "_repr_html_", _design_html)  # noqa: B010 - a type checker need not know
# Results know nothing of what draws them.
setattr(StudyResult, "_repr_html_", _html)  # noqa: B010 - a type checker need not know
