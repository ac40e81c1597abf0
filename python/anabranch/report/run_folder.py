"""The output of a run for people, in its folder: the page, plots of watched flows, figures if asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from anabranch.report.looks import check_forms
from anabranch.results.result import Result


def page_writer(*, page: bool = True, figures: Sequence[str] = ()) -> Callable[[Result, Path], None] | None:
    """A function that writes the page of a run into its folder, and figures; None where there is neither.

    Args:
        page: as of :func:`write_run_folder`.
        figures: forms (``pdf``, ``svg``, ``png``) of every figure for print, which take longer than a small
            run.

    Raises:
        ResultError: if a form of figures does not exist.
    """
    check_forms(figures)
    return partial(write_run_folder, page=page, figures=figures) if page or figures else None


def write_run_folder(result: Result, folder: Path, *, page: bool = True, figures: Sequence[str] = ()) -> None:
    """Writes ``report.html``, ``sequences/`` and ``figures/``.

    Args:
        result: the run.
        folder: where; the page shows the ``scenario.toml`` in it, if there is one.
        page: whether to write the page, if the run has flows and links, and plots of the flows that it
            watched.
        figures: forms of every figure for print, as :func:`anabranch.report.plots.every.save_run_figures`
            takes them; none for no figure.

    Raises:
        ResultError: if a file cannot be written.
    """
    if page and {"flows", "links"} <= result.tables.keys():
        # A run without a page need not wait for what draws it.
        from anabranch.report.html import save_run_report  # noqa: PLC0415

        scenario = folder / "scenario.toml"
        save_run_report(result, folder, scenario.read_text(encoding="utf-8") if scenario.is_file() else None)
    # Matplotlib takes longer to import than a small run with its page.
    if page and "sequence" in result.tables:
        from anabranch.report.sequence import save_sequences  # noqa: PLC0415

        names = dict(result.flows.select("flow", "name").iter_rows())
        save_sequences(result.sequence, names, folder / "sequences")
    if figures:
        from anabranch.report.plots.every import save_run_figures  # noqa: PLC0415

        save_run_figures(result, folder, figures)
