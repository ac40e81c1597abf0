"""The comparison on a terminal: a table for each network."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from anabranch.console import FULL, TextColumn, load_cell, print_columns, print_overload
from anabranch_publications.comparison.runs import Comparison
from anabranch_publications.comparison.subjects import Subject
from anabranch_publications.comparison.tables import Notes, cell, heading

_SHOWN = (
    "goodput_mbps", "flow_goodput_p5_mbps", "jain_index", "completion_median_ms", "completion_p95_ms",
    "unfinished_percent", "queue_mean_ms", "retransmitted_percent", "worst_load", "failure_lost_percent",
    "failure_lasting_percent", "entries_max", "control_messages_per_s",
)  # fmt: skip
_DISPENSABLE = (
    "failure_lasting_percent", "unfinished_percent", "flow_goodput_p5_mbps", "retransmitted_percent",
    "control_messages_per_s", "completion_median_ms", "jain_index", "queue_mean_ms",
)  # fmt: skip
"""What is left out first where there is no room."""


def show_comparison(console: Console, comparison: Comparison, folder: Path) -> None:
    """A table for each network with what tells systems apart; the folder has all measures."""
    for subject in comparison.subjects:
        notes = Notes()
        columns = [TextColumn("system", [system.name for system in comparison.systems])]
        columns += [_column(comparison, subject, name, notes) for name in _SHOWN]
        spare = [heading(name) for name in _DISPENSABLE]
        print_columns(console, subject.title, columns, spare=spare, rest=str(folder))
        loads = (comparison.row(subject, system)["worst_load"] for system in comparison.systems)
        if any(load > FULL for load in loads if load is not None):
            print_overload(console)
        for number, reason in notes.lines():
            console.print(Text(f"({number}) {reason}"))
        console.print(Text(f"failure: {subject.failed}\n"))
    result = comparison.result
    count = f"{result.replications} {'replication' if result.replications == 1 else 'replications'}"
    console.print(Text(f"{count}; {result.interval_note}"))
    console.print(Text(f"tables, figures and report.html in {folder}"))


def _column(comparison: Comparison, subject: Subject, name: str, notes: Notes) -> TextColumn:
    cells: list[Text] = []
    for system in comparison.systems:
        text = cell(comparison, subject, system, name, notes).replace(" ", "")
        load = comparison.row(subject, system)[name] if name == "worst_load" else None
        cells.append(load_cell(load or 0.0, text))
    return TextColumn(heading(name).replace(" ", "\n"), cells, "right")
