"""Everything that a study leaves for people: its spreadsheet and its figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from anabranch.report.looks import check_forms
from anabranch.report.study_figures import study_figure
from anabranch.report.style import save_figure
from anabranch.report.views.outcome import StudyOutcome

__all__ = ["study_figure", "write_outputs"]


def write_outputs(
    result: StudyOutcome, folder: Path | str, *, spreadsheet: bool = True, figures: Sequence[str] = ("png",)
) -> list[Path]:
    """Writes ``study.xlsx`` and ``figures/METRIC.ENDING`` into a folder.

    Each file appears complete or not at all, and replaces an earlier one of its name.

    Args:
        result: the study's result.
        folder: where; made if it is not there.
        spreadsheet: whether to write the spreadsheet, which takes XlsxWriter (``anabranch[spreadsheet]``).
        figures: forms of the figures, of ``png``, ``pdf`` and ``svg``; none for no figures.

    Returns:
        The files, in the order in which they were written.

    Raises:
        ResultError: for a form that does not exist, or if a file cannot be written.
    """
    folder = Path(folder)
    check_forms(figures)
    files = []
    if spreadsheet:
        from anabranch.report.spreadsheet import save_spreadsheet  # noqa: PLC0415 - stands on an optional package

        files.append(save_spreadsheet(result, folder / "study.xlsx"))
    for metric in result.metrics if figures else ():
        figure = study_figure(result, metric.name)
        # A metric is named by a user's column, a file by what every system accepts.
        name = re.sub(r"[^\w.-]", "-", metric.name).lstrip(".") or "metric"
        files += [
            save_figure(figure, folder / "figures" / f"{name}.{form}") for form in dict.fromkeys(figures)
        ]
    return files
