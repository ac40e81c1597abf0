"""A comparison as tables: groups of measures, ratios, and the notes behind dashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anabranch.columns import Column
from anabranch.media.pieces import DataTable
from anabranch_publications.comparison.measures import MEASURES
from anabranch_publications.comparison.paired import RATIOS, ratio
from anabranch_publications.comparison.runs import Comparison
from anabranch_publications.comparison.subjects import Subject
from anabranch_publications.comparison.systems import System

GROUPS: Mapping[str, Sequence[str]] = {
    "Long flows": (
        "goodput_mbps",
        "flow_goodput_mbps",
        "flow_goodput_p5_mbps",
        "jain_index",
        "queue_mean_ms",
        "queue_p95_ms",
        "drops_percent",
        "retransmitted_percent",
        "spurious_percent",
        "crossings",
        "reordered_percent",
    ),
    "Transfers": ("completion_median_ms", "completion_p95_ms", "unfinished_percent"),
    "Failure": ("failure_lost_percent", "failure_lasting_percent", "failure_back_s"),
    "Routes and state": (
        "worst_load",
        "worst_failure_load",
        "stranded_percent",
        "entries_mean",
        "entries_max",
        "control_messages_per_s",
    ),
}
"""Measures by what they are about, in the order of tables."""
SYSTEM = Column("system", "system", priority=9)
NOTHING = "-"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"


class Notes:
    """Reasons of dashes, numbered as they come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, reason: str) -> int:
        """The number of a reason."""
        return self._numbers.setdefault(reason, len(self._numbers) + 1)

    def lines(self) -> list[tuple[int, str]]:
        """All reasons with their numbers."""
        return [(number, reason) for reason, number in self._numbers.items()]


def cell(comparison: Comparison, subject: Subject, system: System, name: str, notes: Notes) -> str:
    """A value with half the width of its confidence interval, or a dash with the number of its reason."""
    row = comparison.row(subject, system)
    value, half = row[name], row[f"{name}_ci"]
    if value is None:
        reason = comparison.missing[subject.name, system.name, name]
        return f"{NOTHING} ({notes.number(reason)})"
    digits = MEASURES[name].digits
    text = f"{value:,.{digits}f}"
    # What is computed, not measured, has no spread but that of rounding.
    return text if not half or half < 1e-9 * abs(value) else f"{text} {PLUS_MINUS} {half:,.{digits}f}"


def ratio_cell(comparison: Comparison, subject: Subject, system: System, name: str) -> str:
    """A measure over that of the first system, with half the width of its interval; a dash for none."""
    found = ratio(comparison, subject, system, name)
    if found is None:
        return NOTHING
    return f"{found.mean:.2f}" + ("" if not found.half else f" {PLUS_MINUS} {found.half:.2f}")


def measure_table(
    caption: str, comparison: Comparison, subject: Subject, names: Sequence[str], notes: Notes
) -> DataTable:
    """The systems with some measures, in words with their intervals."""
    systems = comparison.systems
    values = [[cell(comparison, subject, system, name, notes) for system in systems] for name in names]
    named = [system.name for system in systems]
    columns = (SYSTEM, *(MEASURES[name].column for name in names))
    return DataTable(subject.slug, caption, columns, (named, *values))


def ratio_table(comparison: Comparison, subject: Subject) -> DataTable:
    """The systems beside the first one, replication by replication."""
    others = comparison.systems[1:]
    values = [[ratio_cell(comparison, subject, system, name) for system in others] for name in RATIOS]
    labels = [MEASURES[name].label.rpartition(" ")[0] for name in RATIOS]
    columns = (SYSTEM, *(Column(name, label, digits=3) for name, label in zip(RATIOS, labels, strict=True)))
    return DataTable("ratios", "Ratios", columns, ([system.name for system in others], *values))


def system_table(comparison: Comparison) -> DataTable:
    """The systems that are compared."""
    columns = (SYSTEM, Column("label", "label"), Column("what", "what it is"), Column("source", "source"))
    rows = [(system.name, system.label, system.what, system.source) for system in comparison.systems]
    return DataTable.of_rows("systems", "What is compared", columns, rows)


def meaning_table() -> DataTable:
    """The measures with their meaning."""
    columns = (Column("column", "column"), Column("heading", "heading"), Column("meaning", "meaning"))
    rows = [(measure.name, measure.label, measure.meaning) for measure in MEASURES.values()]
    return DataTable.of_rows("measures", "What is measured", columns, rows)
