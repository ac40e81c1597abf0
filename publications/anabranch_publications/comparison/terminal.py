"""The comparison on a terminal: a table for each network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.console import natural_width, plain_table, print_table
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
    left_out = False
    for subject in comparison.subjects:
        names = list(_SHOWN)
        notes = Notes()
        table = _table(comparison, subject, names, notes)
        for name in _DISPENSABLE:
            if natural_width(console, table) <= console.width:
                break
            names.remove(name)
            left_out = True
            notes = Notes()
            table = _table(comparison, subject, names, notes)
        print_table(console, table)
        for number, reason in notes.lines():
            console.print(Text(f"({number}) {reason}"))
        console.print(Text(f"failure: {subject.failed}\n"))
    result = comparison.result
    told = (
        f"{result.replications} replications; intervals hold the mean with probability {result.confidence:g}"
    )
    console.print(Text(told if result.replications > 1 else "one replication, and so no intervals"))
    more = "; what had no room here is there, too" if left_out else ""
    console.print(Text(f"tables, figures and report.html in {folder}{more}"))


def _table(comparison: Comparison, subject: Subject, names: Sequence[str], notes: Notes) -> Table:
    table = plain_table(subject.title)
    table.add_column("system", vertical="bottom", no_wrap=True)
    for name in names:
        table.add_column(
            Text("\n".join(heading(name).split(" "))), justify="right", vertical="bottom", no_wrap=True
        )
    for system in comparison.systems:
        cells = (cell(comparison, subject, system, name, notes).replace(" ", "") for name in names)
        table.add_row(Text(system.name), *(Text(text) for text in cells))
    return table
