"""A comparison as an article, which pages and texts render, and as pieces for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from matplotlib.figure import Figure

from anabranch import __version__
from anabranch.media.columns import Column
from anabranch.media.pieces import Article, Card, DataTable, Piece, Section, Text, Worded, counted
from anabranch.report.style import picture
from anabranch_publications.comparison.measures import MEASURES
from anabranch_publications.comparison.paired import RATIOS, ratio
from anabranch_publications.comparison.runs import Comparison
from anabranch_publications.comparison.subjects import Subject
from anabranch_publications.comparison.systems import System
from anabranch_publications.comparison.workload import described

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

    def lines(self) -> list[str]:
        """All reasons with their numbers."""
        return [f"({number}) {reason}" for reason, number in self._numbers.items()]


def cell(comparison: Comparison, subject: Subject, system: System, name: str, notes: Notes) -> Worded:
    """A value with half the width of its confidence interval, or a dash with the number of its reason."""
    row = comparison.row(subject, system)
    value, half = row[name], row[f"{name}_ci"]
    if value is None:
        reason = comparison.missing[subject.name, system.name, name]
        return Worded(f"{NOTHING} ({notes.number(reason)})", None)
    digits = MEASURES[name].digits
    text = f"{value:,.{digits}f}"
    # What is computed, not measured, has no spread but that of rounding.
    spread = "" if not half or half < 1e-9 * abs(value) else f" {PLUS_MINUS} {half:,.{digits}f}"
    return Worded(f"{text}{spread}", value)


def ratio_cell(comparison: Comparison, subject: Subject, system: System, name: str) -> Worded:
    """A measure over that of the first system, with half the width of its interval; a dash for none."""
    mean_ratio = ratio(comparison, subject, system, name)
    if mean_ratio is None:
        return Worded(NOTHING, None)
    spread = f" {PLUS_MINUS} {mean_ratio.half:.2f}" if mean_ratio.half else ""
    return Worded(f"{mean_ratio.mean:.2f}{spread}", mean_ratio.mean)


def measure_table(
    caption: str, comparison: Comparison, subject: Subject, names: Sequence[str], notes: Notes
) -> DataTable:
    """The systems with some measures and their intervals."""
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
    caption = f"Over {comparison.systems[0].name}, replication by replication"
    return DataTable("ratios", caption, columns, ([system.name for system in others], *values))


def system_table(comparison: Comparison) -> DataTable:
    """The systems that are compared."""
    columns = (SYSTEM, Column("label", "label"), Column("what", "what it is"), Column("source", "source"))
    rows = [(system.name, system.label, system.what, system.source) for system in comparison.systems]
    return DataTable.of_rows("systems", "What is compared", columns, rows)


def meaning_table() -> DataTable:
    """The measures and their meanings."""
    columns = (Column("column", "column"), Column("heading", "heading"), Column("meaning", "meaning"))
    rows = [(measure.name, measure.label, measure.meaning) for measure in MEASURES.values()]
    return DataTable.of_rows("measures", "What is measured", columns, rows)


def comparison_article(comparison: Comparison, drawn: Mapping[str, Figure]) -> Article:
    """A section for each network with a table for each kind of measure, what it costs, and what is measured.

    Args:
        comparison: what came out.
        drawn: its figures by name, whose files are in ``figures/``.
    """
    result = comparison.result
    extent = ", quick" if comparison.quick else ""
    lead = [
        "Every system carries the same traffic over the same network, replication by replication; only "
        "routes, transport and controller differ.",
        f"Made by Anabranch {__version__}, {datetime.now(UTC).date().isoformat()}{extent}; "
        f"{result.interval_note}; those of ratios are of pairs, replication by replication. A dash has its "
        "reason below the tables of its network.",
    ]
    cards = [
        Card("networks", str(len(comparison.subjects))),
        Card("systems", str(len(comparison.systems))),
        Card("replications", str(result.replications), result.interval_note),
        *_best(comparison),
    ]
    costs = [
        picture("Goodput over entries of the fullest router", drawn["state"], href="figures/state.svg"),
        picture("Goodput over worst-case load", drawn["load"], href="figures/load.svg"),
    ]
    price = "State in the network and the worst case, beside what the long flows get."
    sections = [
        Section("systems", "Systems", tables=[system_table(comparison)]),
        *(_section(comparison, subject, drawn) for subject in comparison.subjects),
        Section("price", "What it costs", [price], figures=costs),
        Section("measures", "Measures", tables=[meaning_table()]),
    ]
    if any(subject.standard for subject in comparison.subjects):
        sections.append(Section("workload", "Standard workload", list(described())))
    return Article("Systems compared", lead, cards, sections)


def _best(comparison: Comparison) -> list[Card]:
    """For each network, which system has the highest goodput, and how many may have as much."""
    cards = []
    for subject in comparison.subjects:
        goodputs = [
            (comparison.row(subject, system)["goodput_mbps"], system) for system in comparison.systems
        ]
        measured = [(value, system) for value, system in goodputs if value is not None]
        if measured:
            value, system = max(measured, key=lambda entry: entry[0])
            beside = [
                ratio(comparison, subject, system, "goodput_mbps", other)
                for _, other in measured
                if other is not system
            ]
            equal = sum(goodputs is None or not goodputs.tells for goodputs in beside)
            text = f"{system.label}; {equal} of {len(beside)} others not told from it"
            cards.append(Card(f"{subject.name}: most goodput", f"{value:.0f} Mbps", text))
    return cards


def _section(comparison: Comparison, subject: Subject, drawn: Mapping[str, Figure]) -> Section:
    notes = Notes()
    tables = [measure_table(group, comparison, subject, names, notes) for group, names in GROUPS.items()]
    if len(comparison.systems) > 1:
        tables.append(ratio_table(comparison, subject))
    count = counted(comparison.row(subject, comparison.systems[0])["runs"], "replication")
    figure = picture(
        subject.title, drawn[subject.slug], href=f"figures/{subject.slug}.svg",
        note="Bars are confidence intervals of the mean.",
    )  # fmt: skip
    words = f"{subject.size}. {count}. Failure: {subject.failed}."
    return Section(subject.slug, subject.name, [words], tables, [figure], notes=notes.lines())


def comparison_pieces(comparison: Comparison, folder: Path) -> list[Piece]:
    """A table for each network with what tells systems apart; the folder has all measures."""
    pieces = [piece for subject in comparison.subjects for piece in _pieces(comparison, subject, folder)]
    result = comparison.result
    return [
        *pieces,
        Text(f"{counted(result.replications, 'replication')}; {result.interval_note}"),
        Text(f"tables, figures and report.html in {folder}"),
    ]


def _pieces(comparison: Comparison, subject: Subject, folder: Path) -> Iterator[Piece]:
    notes = Notes()
    names = [name for name, measure in MEASURES.items() if measure.column.priority]
    table = measure_table(subject.title, comparison, subject, names, notes)
    yield replace(table, elsewhere=str(folder), most=table.height)
    yield from map(Text, notes.lines())
    yield Text(f"failure: {subject.failed}")
