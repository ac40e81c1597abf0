"""``study_result.plot``: the figures of a study."""

from __future__ import annotations

from anabranch.report.plots.plot import Layout, Plot, Width
from anabranch.report.study_figures import study_figure
from anabranch.report.views.outcome import StudyOutcome


class StudyPlots:
    """Figures of a study for print: one for each metric."""

    def __init__(self, result: StudyOutcome) -> None:
        self._result = result

    def names(self) -> list[str]:
        """The metrics that there are figures of."""
        return [metric.name for metric in self._result.metrics]

    def metric(self, name: str, *, width: Width | None = None, title: bool | str = False) -> Plot:
        """A metric over the first factor, a series for each level of the second, panels for all others.

        Args:
            name: the metric's column.
            width: of the figure, as for the figures of a run; None for what its panels need.
            title: a line above the figure, the study's own if True.

        Raises:
            ResultError: if the study has no such metric.
        """
        inches = None if width is None else Layout(width).inches
        shown = Layout(title=title).title_of(self._result.title)
        return Plot(study_figure(self._result, name, width=inches, title=shown), name)

    def __repr__(self) -> str:
        return f"figures of a study: {', '.join(self.names())}"
