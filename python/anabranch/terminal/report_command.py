"""``anabranch report``: the page of a result, and its figures, tables and workbook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.errors import ResultError
from anabranch.process.console import ReplaceOption, console
from anabranch.process.real_path import real_path
from anabranch.report.looks import TABLE_FORMATS, WIDTHS, check_forms, check_table_forms, figure_inches
from anabranch.terminal import values
from anabranch.terminal.command_options import FiguresOption, XlsxOption
from anabranch.terminal.given_files import RESULT, other_kinds_told
from anabranch.text.suggest import listed

SizeOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help=f"Width of the figures: {listed(WIDTHS)}, or inches, such as 3.25.",
        autocompletion=values.figure_sizes,
    ),
]
TableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="FORM",
        help=f"Write the metrics of a study as tables for a paper: {listed(TABLE_FORMATS)}, into tables/; "
        "may be repeated.",
        autocompletion=values.table_forms,
    ),
]
MetricOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only tables of this metric; may be repeated."),
]


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run, a study or captures.")],
    figures: FiguresOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to write to; that of the result if left out.")
    ] = None,
    replace: ReplaceOption = False,
    xlsx: XlsxOption = None,
    size: SizeOption = None,
    tables: TableOption = None,
    metric: MetricOption = None,
) -> None:
    """Write the page of a result anew, and its figures and tables for print, if asked for."""
    from anabranch.media.page import REPORT  # noqa: PLC0415
    from anabranch.report.damage import damage_told  # noqa: PLC0415
    from anabranch.report.html import save_capture_report, save_run_report, save_study_report  # noqa: PLC0415
    from anabranch.report.paper_tables import save_paper_tables  # noqa: PLC0415
    from anabranch.report.plots.every import save_run_figures  # noqa: PLC0415
    from anabranch.report.run_workbook import save_run_workbook  # noqa: PLC0415
    from anabranch.report.study import write_outputs  # noqa: PLC0415
    from anabranch.results.folders import adding, read_inside, read_manifest, regular_files  # noqa: PLC0415 - as every command, when it is used
    from anabranch.results.result import Result  # noqa: PLC0415
    from anabranch.runs.capture import CaptureResult  # noqa: PLC0415
    from anabranch.study import StudyResult  # noqa: PLC0415

    forms = figures or []
    # Before the work, not after it.
    check_forms(forms)
    check_table_forms(tables or [])
    width = None if size is None else figure_inches(size)
    _check_of_use("--size", size is None or bool(forms), "--figures pdf")
    _check_of_use("--metric", not metric or bool(tables), "--table tex")
    with damage_told(folder), other_kinds_told(folder, RESULT):
        study_result = StudyResult.load(folder) if (folder / "study.json").exists() else None
        result = Result.load(folder) if study_result is None else None
        in_place = out is None or real_path(out) == real_path(folder)
        target = folder if out is None else out
        manifest = read_manifest(folder)
        kind = manifest.kind if manifest is not None else ("run" if study_result is None else "study")
        if forms and kind == CaptureResult.kind:
            raise ResultError(
                f"{folder}: captures have no figures for print, only the page; leave out --figures"
            )
        if tables and study_result is None:
            raise ResultError(f"{folder}: tables for papers are those of a study; leave out --table")
        if xlsx is not None:
            save_run_workbook(result, xlsx)
        with adding(
            target, kind if in_place else "report", [REPORT], replace=replace, is_of_kind=in_place
        ) as place:
            if study_result is not None:
                save_study_report(study_result, place.partial)
                write_outputs(study_result, place.partial, spreadsheet=False, figures=forms, width=width)
                if tables:
                    save_paper_tables(study_result, place.partial, tables, metric or [])
            if result is not None and kind == CaptureResult.kind:
                save_capture_report(result, place.partial)
            elif result is not None:
                kept = regular_files(folder)
                text = read_inside(folder, "scenario.toml").decode() if "scenario.toml" in kept else None
                save_run_report(result, place.partial, text)
                if forms:
                    save_run_figures(result, place.partial, forms, width or "double")
            files = [*place.put(), *([] if xlsx is None else [xlsx])]
    # The page first, then what lies in folders.
    for file in sorted(files, key=lambda file: (len(file.parts), file)):
        console().print(str(file), markup=False, highlight=False)


def _check_of_use(option: str, is_of_use: bool, base: str) -> None:
    """Refuses an option that changes nothing.

    Raises:
        ResultError: with the option that it belongs to.
    """
    if not is_of_use:
        raise ResultError(f"{option}: changes nothing without {base}; give that, too")
