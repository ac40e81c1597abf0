"""The comparison as one page for a browser."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from anabranch.media.page.sections import save_page
from anabranch.media.pieces import Card, DataTable, Section
from anabranch.report.style import picture
from anabranch_publications.comparison.measures import MEASURES
from anabranch_publications.comparison.paired import ratio
from anabranch_publications.comparison.runs import Comparison
from anabranch_publications.comparison.subjects import Subject
from anabranch_publications.comparison.tables import GROUPS, SYSTEM, meaning_table, system_table
from anabranch_publications.comparison.workload import described


def save_comparison_page(comparison: Comparison, drawn: Mapping[str, Figure], folder: Path) -> Path:
    """Writes ``report.html``.

    Args:
        comparison: what came out.
        drawn: its figures by name.
        folder: where the page goes; figures are below it.

    Raises:
        ResultError: if it cannot be written.
    """
    result = comparison.result
    lead = [
        "Every system carries the same traffic over the same network, replication by "
        "replication; only routes, "
        "transport and controller differ. Tables have means; their intervals are in README.md and "
        "comparison.csv beside this page, and in the figures.",
    ]
    cards = [
        Card("networks", str(len(comparison.subjects))),
        Card("systems", str(len(comparison.systems))),
        Card("replications", str(result.replications), result.interval_note),
        *_best(comparison),
    ]
    sections = [Section("systems", "Systems", tables=[system_table(comparison)])]
    sections += [_network(comparison, subject, drawn) for subject in comparison.subjects]
    sections.append(
        Section(
            "price",
            "What it costs",
            ["State in the network and the worst case, beside what the long flows get."],
            figures=[
                picture(
                    "Goodput over entries of the fullest router", drawn["state"], href="figures/state.svg"
                ),
                picture("Goodput over worst-case load", drawn["load"], href="figures/load.svg"),
            ],
        )
    )
    sections.append(Section("measures", "Measures", tables=[meaning_table()]))
    if any(subject.standard for subject in comparison.subjects):
        sections.append(Section("workload", "Standard workload", list(described())))
    return save_page(folder, "Systems compared", lead, cards, sections)


def _best(comparison: Comparison) -> list[Card]:
    """For each network, which system has the highest goodput, and how many may have as much."""
    cards = []
    for subject in comparison.subjects:
        found = [(comparison.row(subject, system)["goodput_mbps"], system) for system in comparison.systems]
        known = [(value, system) for value, system in found if value is not None]
        if known:
            value, system = max(known, key=lambda entry: entry[0])
            beside = [
                ratio(comparison, subject, system, "goodput_mbps", other)
                for _, other in known
                if other is not system
            ]
            equal = sum(found is None or not found.tells for found in beside)
            told = f"{system.label}; {equal} of {len(beside)} others not told from it"
            cards.append(Card(f"{subject.name}: most goodput", f"{value:.0f} Mbps", told))
    return cards


def _network(comparison: Comparison, subject: Subject, drawn: Mapping[str, Figure]) -> Section:
    tables = []
    for group, names in GROUPS.items():
        columns = (SYSTEM, *(MEASURES[name].column for name in names))
        rows = [
            (system.label, *(comparison.row(subject, system)[name] for name in names))
            for system in comparison.systems
        ]
        tables.append(DataTable.of_rows("measures", group, columns, rows))
    reasons: dict[str, dict[str, list[str]]] = {}
    for (network, system, name), reason in comparison.missing.items():
        if network == subject.name and name in MEASURES:
            reasons.setdefault(reason, {}).setdefault(system, []).append(MEASURES[name].label)
    paragraphs = [f"{subject.size}. Failure: {subject.failed}."]
    for reason, where in reasons.items():
        told = "; ".join(f"{system}: {', '.join(labels)}" for system, labels in where.items())
        paragraphs.append(f"No value ({told}): {reason}.")
    figure = picture(subject.title, drawn[subject.slug], href=f"figures/{subject.slug}.svg",
                           note="Bars are confidence intervals of the mean.")  # fmt: skip
    return Section(subject.slug, subject.name, paragraphs, tables, [figure])
