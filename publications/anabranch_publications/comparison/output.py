"""The folder of a comparison: tables as CSV and Parquet, a page of text, a page for a browser, figures."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from matplotlib.figure import Figure

from anabranch import __version__
from anabranch.folders import write_whole
from anabranch.media.markdown import table_lines
from anabranch.report.style import save_figure
from anabranch.result import csv_bytes, json_ready
from anabranch_publications.comparison.figures import load_figure, network_figure, state_figure
from anabranch_publications.comparison.page import save_comparison_page
from anabranch_publications.comparison.runs import Comparison
from anabranch_publications.comparison.subjects import Subject
from anabranch_publications.comparison.tables import (
    GROUPS,
    Notes,
    meaning_table,
    measure_table,
    ratio_table,
    system_table,
)
from anabranch_publications.comparison.workload import described

FOLDER_KIND = "comparison"
"""What the manifest of its folder calls it."""
FILES = (
    *("comparison.csv", "comparison.json", "comparison.parquet", "runs.csv"),
    *("README.md", "report.html", "figures/"),
)
"""What is written into the folder, besides the runs."""


def write_comparison(comparison: Comparison, folder: Path) -> None:
    """Writes everything but the runs, each file whole.

    Raises:
        ResultError: if a file cannot be written.
    """
    cells = comparison.result.cells.drop("cell", "failed")
    write_whole(folder / "comparison.csv", csv_bytes(cells))
    runs = comparison.result.runs.drop("run", "cell", "status", "reason")
    write_whole(folder / "runs.csv", csv_bytes(runs))
    buffer = io.BytesIO()
    cells.write_parquet(buffer)
    write_whole(folder / "comparison.parquet", buffer.getvalue())
    text = json.dumps(json_ready(comparison.data()), indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / "comparison.json", f"{text}\n".encode())
    drawn = figures(comparison)
    for name, figure in drawn.items():
        for form in ("png", "svg"):
            save_figure(figure, folder / "figures" / f"{name}.{form}")
    write_whole(folder / "README.md", markdown(comparison).encode())
    save_comparison_page(comparison, drawn, folder)


def figures(comparison: Comparison) -> Mapping[str, Figure]:
    """All figures by name: one for each network, named after it, then ``state`` and ``load``."""
    own = {subject.slug: network_figure(comparison, subject) for subject in comparison.subjects}
    return {**own, "state": state_figure(comparison), "load": load_figure(comparison)}


def markdown(comparison: Comparison) -> str:
    """The comparison as a page of text: a table for each network and kind of measure, and what they mean."""
    result = comparison.result
    kind = ", quick" if comparison.quick else ""
    lines = [
        "# Systems compared",
        "",
        f"Made by Anabranch {__version__}, {datetime.now(UTC).date().isoformat()}{kind}; "
        f"{result.interval_note}; those of ratios are of pairs, "
        "replication by replication. A dash has its reason below the tables of its network.",
        "",
        *table_lines(system_table(comparison).without("label")),
    ]
    for subject in comparison.subjects:
        lines += _network(comparison, subject)
    lines += ["", "## Cost over state and worst case", "", "![Goodput over entries](figures/state.png)"]
    lines += ["", "![Goodput over worst-case load](figures/load.png)", "", "## Measures", ""]
    lines += table_lines(meaning_table())
    if any(subject.standard for subject in comparison.subjects):
        lines += ["", "## Standard workload", "", "\n\n".join(described())]
    return "\n".join(lines) + "\n"


def _network(comparison: Comparison, subject: Subject) -> list[str]:
    notes = Notes()
    count = comparison.row(subject, comparison.systems[0])["runs"]
    lines = [
        "",
        f"## {subject.name}",
        "",
        f"{subject.size}. {count} {'replication' if count == 1 else 'replications'}. "
        f"Failure: {subject.failed}.",
    ]
    for group, names in GROUPS.items():
        table = measure_table(group, comparison, subject, names, notes)
        lines += ["", f"{group}:", "", *table_lines(table)]
    first, *others = comparison.systems
    if others:
        table = ratio_table(comparison, subject)
        lines += ["", f"Over {first.name}, replication by replication:", "", *table_lines(table)]
    if notes.lines():
        lines += ["", *(f"({number}) {reason}  " for number, reason in notes.lines())]
    return [*lines, "", f"![{subject.title}](figures/{subject.slug}.png)"]
