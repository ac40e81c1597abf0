"""Everything that a study leaves for people: its spreadsheet and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anabranch.report.looks import check_forms, file_stem
from anabranch.report.study_figures import study_figure
from anabranch.report.style import save_figure
from anabranch.report.views.outcome import StudyOutcome

__all__ = ["study_figure", "write_outputs"]


def write_outputs(
    result: StudyOutcome,
    folder: Path | str,
    *,
    spreadsheet: bool = True,
    figures: Sequence[str] = ("png",),
    width: float | None = None,
) -> list[Path]:
    """Writes ``study.xlsx`` and ``figures/METRIC.ENDING`` into a folder.

    Each file appears complete or not at all, and replaces an earlier one of its name.

    Args:
        result: the study's result.
        folder: where; made if it is not there.
        spreadsheet: whether to write the spreadsheet, which takes XlsxWriter (``anabranch[spreadsheet]``).
        figures: forms of the figures, of ``png``, ``pdf`` and ``svg``; none for no figures.
        width: of the figures in inches; None for what their panels need.

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
        figure = study_figure(result, metric.name, width=width, title=None if width is None else "")
        stem = file_stem(metric.name)
        files += [
            save_figure(figure, folder / "figures" / f"{stem}.{form}") for form in dict.fromkeys(figures)
        ]
    return files
