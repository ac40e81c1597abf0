"""What becomes of the comparison's answers when a system or the workload is set up otherwise.

    comparison_variants.py FOLDER PAGE.md

Each table holds one question that the conclusions of docs/comparison.md raise. Runs that are in the folder
already are not repeated.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anabranch.media.columns import Column
from anabranch.media.markdown import table_lines
from anabranch.media.pieces import DataTable
from anabranch_publications.comparison import SYSTEMS, Subject, System, compare, subjects
from anabranch_publications.comparison.measures import MEASURES
from anabranch_publications.comparison.view import Notes, cell, ratio_cell

NOTE = "<!-- Written by make compare. What follows from it is in comparison.md. -->"
REPLICATIONS = 5
THESIS_LOSSES = 20
"""Losses of 1e-5 to 1e-3 times this are 2e-4 to 2e-2, as the links of Vilela 2022, DataTable 1, have them."""


@dataclass(frozen=True, slots=True)
class Question:
    """Some systems on some networks; the first one is what the others are put beside."""

    title: str
    told: str
    networks: Sequence[str]
    systems: Sequence[System]
    parts: Sequence[str] = ("flows",)
    losses: float = 1.0
    """Factor of all random losses."""
    capacity: str | None = None
    """Of all links between routers, where it is not that of the standard workload."""


def _as(system: str, name: str, **fields: Any) -> System:
    return replace(SYSTEMS[system], name=name, **fields)


def _semper(subflows: int) -> System:
    transport = {
        **SYSTEMS["semper-mptcp"].transport,
        "path_manager": {"algorithm": "ndiffports", "subflows": subflows},
    }
    return _as("semper-mptcp", f"semper-mptcp, K = {subflows}", transport=transport)


def _paced(gamma: float) -> System:
    paced = SYSTEMS["sdn-paced"].controller or {}
    controller: Mapping[str, Any] = {**paced, "application": {**paced["application"], "gamma": gamma}}
    return _as("sdn-paced", f"sdn-paced, gamma = {gamma:g}", controller=controller)


ECMP = _as("hops", "ecmp", routing={"scheme": "ecmp", "metric": "hops", "load_balancing": "flow"})
HOPS, DELAY, TCPBP = (SYSTEMS[name] for name in ("hops", "delay", "tcpbp"))
QUESTIONS = (
    Question(
        "TCPBP with the losses of its thesis",
        f"Random losses of 2e-4 to 2e-2, {THESIS_LOSSES} times those of the standard workload.",
        ("NSFNET", "zoo/Abilene", "zoo/AttMpls"),
        (HOPS, DELAY, TCPBP),
        losses=THESIS_LOSSES,
    ),
    Question(
        "TCPBP with the losses and the capacity of its thesis",
        "The same losses, and links of 1 Gbps.",
        ("NSFNET", "zoo/Abilene", "zoo/AttMpls"),
        (HOPS, DELAY, TCPBP),
        losses=THESIS_LOSSES,
        capacity="1 Gbps",
    ),
    Question(
        "The cycle of the paced SDN",
        "A cycle takes gamma round trips at least; the thesis has 1 to 2, and 1.5 is the default.",
        ("sndlib/germany50",),
        (DELAY, _paced(1.5), _paced(40), _paced(200)),
    ),
    Question(
        "Subflows of SEMPER",
        "The thesis has K = 32.",
        ("NSFNET", "zoo/AttMpls"),
        (HOPS, _semper(4), _semper(16), _semper(32)),
        ("flows", "transfers"),
    ),
    Question(
        "One path of fewest hops, or all of them",
        "Routers of today take each flow along one of all paths of fewest hops, by a hash.",
        ("NSFNET", "zoo/Abilene", "zoo/AttMpls"),
        (HOPS, ECMP),
    ),
)
SHOWN = {
    "flows": ("goodput_mbps", "flow_goodput_p5_mbps", "jain_index", "retransmitted_percent"),
    "transfers": ("completion_median_ms", "completion_p95_ms", "unfinished_percent"),
}


def _otherwise(subject: Subject, question: Question) -> Subject:
    """The subject with the question's losses, capacity and parts."""
    network = subject.data["network"]
    links = [
        {**link, "loss": float(f"{link['loss'] * question.losses:.3g}")} if "loss" in link else link
        for link in network["link"]
    ]
    general = {**network["links"], **({"capacity": question.capacity} if question.capacity else {})}
    return replace(
        subject,
        data={**subject.data, "network": {**network, "link": links, "links": general}},
        parts=tuple(part for part in subject.parts if part.name in question.parts),
    )


def _answer(question: Question, folder: Path) -> tuple[list[str], list[str]]:
    """The lines of the page, and why cells are empty."""
    kept = [_otherwise(subject, question) for subject in subjects([*question.networks], quick=False)]
    sys.stderr.write(f"{question.title}\n")
    # Worst-case loads under failures are not asked for here: quick leaves most of them out.
    outcome = compare(kept, question.systems, folder, replications=REPLICATIONS, quick=True)
    names = [name for part in question.parts for name in SHOWN[part]]
    ratios = ["goodput_mbps", *(["completion_median_ms"] if "transfers" in question.parts else [])]
    first = question.systems[0]
    headings = ["network", "system", *(MEASURES[name].label for name in names)]
    headings += [f"{MEASURES[name].label.rpartition(' ')[0]} over {first.name}" for name in ratios]
    notes, rows = Notes(), []
    for subject in kept:
        for system in question.systems:
            cells = [cell(outcome, subject, system, name, notes) for name in names]
            cells += [
                "1" if system is first else ratio_cell(outcome, subject, system, name) for name in ratios
            ]
            rows.append((subject.name, system.name, *cells))
    lines = ["", f"## {question.title}", "", question.told, ""]
    columns = [Column(name, name, digits=5 if place >= 2 else 0) for place, name in enumerate(headings)]
    lines += table_lines(DataTable.of_rows("variants", question.title, columns, rows))
    reasons = [f"{line}  " for line in notes.lines()]
    return [*lines, *(["", *reasons] if reasons else [])], reasons


def main(folder: Path, page: Path) -> int:
    """Runs all questions and writes the page; 1 if a question has no answer for a system."""
    lines = [NOTE, "", "# Systems compared: set up otherwise", ""]
    lines += [
        "The standard workload of [comparison_tables.md](comparison_tables.md) where nothing else is said; "
        f"means over {REPLICATIONS} replications with half widths of 95 % intervals."
    ]
    missing = []
    for question in QUESTIONS:
        answer, reasons = _answer(question, folder)
        lines += answer
        missing += reasons
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stderr.writelines(f"no value: {reason.strip()}\n" for reason in missing)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
