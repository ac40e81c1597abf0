"""What is made of a run for people, in its folder: the page, a figure, and plots of watched flows."""

from __future__ import annotations

from pathlib import Path

from anabranch.report.figures import goodput_over_time, save_figure
from anabranch.report.html import save_run_report
from anabranch.report.sequence import save_sequences
from anabranch.result import Result


def write_run_folder(result: Result, folder: Path) -> None:
    """Writes ``goodput.png``, ``report.html`` and ``sequences/``, each if the run has the tables for it.

    Args:
        result: the run.
        folder: where; the page shows the ``scenario.toml`` in it, if there is one.

    Raises:
        ResultError: if a file cannot be written.
    """
    if "flow_series" in result.tables and not result.tables["flow_series"].is_empty():
        save_figure(goodput_over_time(result), folder / "goodput.png")
    if {"flows", "links"} <= result.tables.keys():
        scenario = folder / "scenario.toml"
        save_run_report(result, folder, scenario.read_text(encoding="utf-8") if scenario.is_file() else None)
    if "sequence" in result.tables:
        names = dict(result.flows.select("flow", "name").iter_rows())
        save_sequences(result.sequence, names, folder / "sequences")
