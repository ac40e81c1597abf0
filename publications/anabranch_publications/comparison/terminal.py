"""A comparison as pieces, for a terminal: a table for each network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from anabranch.media.pieces import Piece, Text, counted
from anabranch_publications.comparison.measures import MEASURES
from anabranch_publications.comparison.runs import Comparison
from anabranch_publications.comparison.subjects import Subject
from anabranch_publications.comparison.tables import Notes, measure_table


def comparison_pieces(comparison: Comparison, folder: Path) -> list[Piece]:
    """A table for each network with what tells systems apart; the folder has all measures."""
    pieces = [piece for subject in comparison.subjects for piece in _network(comparison, subject, folder)]
    result = comparison.result
    return [
        *pieces,
        Text(f"{counted(result.replications, 'replication')}; {result.interval_note}"),
        Text(f"tables, figures and report.html in {folder}"),
    ]


def _network(comparison: Comparison, subject: Subject, folder: Path) -> Iterator[Piece]:
    notes = Notes()
    names = [name for name, measure in MEASURES.items() if measure.column.priority]
    table = measure_table(subject.title, comparison, subject, names, notes)
    # Loads as numbers, so that those above the capacity are marked.
    place = next(i for i, about in enumerate(table.columns) if about.limit is not None)
    loads = [
        text if (load := comparison.row(subject, system)["worst_load"]) is None else load
        for system, text in zip(comparison.systems, table.values[place], strict=True)
    ]
    values = (*table.values[:place], loads, *table.values[place + 1 :])
    yield replace(table, values=values, elsewhere=str(folder), most=table.height)
    for number, reason in notes.lines():
        yield Text(f"({number}) {reason}")
    yield Text(f"failure: {subject.failed}")
