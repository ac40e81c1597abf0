"""An evaluation as an article, which pages and texts render, and as pieces for a terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from anabranch import _core
from anabranch.media.markdown import article_text
from anabranch.media.page.sections import save_page
from anabranch.media.pieces import (
    Article,
    Badge,
    Card,
    Cell,
    DataTable,
    Piece,
    Section,
    Text,
    Tone,
    Worded,
    columns,
    counted,
)
from anabranch.results.folders import write_whole
from anabranch.results.result import json_ready
from anabranch.study.evaluation.cases import NOT_RUN
from anabranch.study.evaluation.control import MULTIPATH, Control
from anabranch.study.evaluation.evaluate import CONFIDENCE, STUDY, Evaluation, Performance, Row

FOLDER_KIND = "evaluation"
"""What the manifest of its folder calls it."""
MARKDOWN, JSON = "README.md", "evaluation.json"
FILES = (MARKDOWN, JSON, "report.html")
"""What is written into the folder, besides the runs."""

_PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
_TONES: dict[str, Tone] = {"better": "good", "worse": "bad"}
_GROUPS = {
    "5.1": "One control alone (5.1)",
    "5.2": "Beside other controls (5.2)",
    "6": "General use (6)",
    "7.1": "Active queue management (7.1)",
    "7": "Special cases (7.3 to 7.11)",
}
"""Headings by the beginning of their sections of RFC 9743."""
_COLUMNS = columns(
    "rfc9743", "scenario", "measure", "rfc5166", "value", "cubic", "verdict", table="evaluation"
)


class _Reasons:
    """Reasons of dashes, numbered as they come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def cell(self, answer: Performance, digits: int) -> Worded:
        """A mean with half the width of its interval, or a dash with the number of its reason."""
        if answer.mean is None:
            number = self._numbers.setdefault(answer.reason or "", len(self._numbers) + 1)
            return Worded(f"- ({number})", None)
        half = answer.half_width
        spread = "" if half is None else f" {_PLUS_MINUS} {half:,.{digits}f}"
        return Worded(f"{answer.mean:,.{digits}f}{spread}", answer.mean)

    def lines(self) -> list[str]:
        """All reasons with their numbers."""
        return [f"({number}) {reason}" for reason, number in self._numbers.items()]


def _table(name: str, caption: str, rows: list[Row], reasons: _Reasons) -> DataTable:
    cells: list[tuple[Cell, ...]] = [
        (
            row.case.section,
            row.case.title,
            row.measure.name,
            row.measure.section,
            reasons.cell(row.control, row.measure.digits),
            reasons.cell(row.cubic, row.measure.digits),
            Badge(row.verdict, _TONES.get(row.verdict, "plain")),
        )
        for row in rows
    ]
    return DataTable.of_rows(name, caption, _COLUMNS, cells, most=len(cells), grouped=2)


def _grouped(evaluation: Evaluation) -> Iterator[tuple[str, str, list[Row]]]:
    left = list(evaluation.rows)
    for start, title in _GROUPS.items():
        rows = [row for row in left if row.case.section == start or row.case.section.startswith(f"{start}.")]
        left = [row for row in left if row not in rows]
        if rows:
            yield start, title, rows


def _with_several_paths(control: Control) -> str:
    """What the control is in the scenarios of several paths."""
    table = control.tables([MULTIPATH])[MULTIPATH]
    if table == control.transport:
        return "It is one of several paths itself, and has one where there is no other."
    return (
        f"Over several paths its congestion control is that of each subflow of {table['preset']}, which has "
        "a loss detection of its own."
    )


def _verdicts(evaluation: Evaluation) -> str:
    counts = Counter(row.verdict for row in evaluation.rows)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("better", "alike", "worse", "unknown"))


def article(evaluation: Evaluation) -> Article:
    """The report that an author attaches to his draft."""
    control = evaluation.control
    beside = control.cubic().name
    lead = [
        f"{control.name} in the scenarios of RFC 9743 (BCP 133), measured as RFC 5166 says, by Anabranch "
        f"{_core.version()}: packets are simulated, nothing is measured on a network.",
        f"CUBIC is {beside} in the place of the control, under the same draws; the others beside it are "
        f"{', '.join(sorted(set(control.rivals.values())))}. Round-trip times are drawn within 5 %, begins "
        "of flows within half a second.",
        "RFC 9743 names no thresholds. Where it says better or worse, the interval of the paired differences "
        f"of the runs, of a probability of {CONFIDENCE:g}, does not hold 0; where it says alike, it does, or "
        "both are the same as printed. One row in twenty may differ by chance, and there are "
        f"{len(evaluation.rows)}. Of one or two runs that differ nothing is known.",
        f"The transport: {json.dumps(control.transport)}. {_with_several_paths(control)}",
    ]
    cards = [
        Card("scenarios", str(len({row.case.key for row in evaluation.rows}))),
        Card("runs of each", str(evaluation.replications)),
        Card("beside CUBIC", _verdicts(evaluation)),
        Card("failed", str(len(evaluation.failed)), "rows, each with its reason below its table"),
    ]
    sections = []
    for start, title, rows in _grouped(evaluation):
        reasons = _Reasons()
        table = _table(f"section-{start}", "Measures, and CUBIC in the place of the control", rows, reasons)
        sections.append(Section(start, title, tables=[table], notes=reasons.lines()))
    lacks = DataTable.of_rows(
        "not-measured", "Sections that are not measured", columns("rfc9743", "why"), NOT_RUN
    )
    return Article(
        f"{control.name} by RFC 9743",
        lead,
        cards,
        [*sections, Section("lacks", "Not measured", tables=[lacks])],
    )


def pieces(evaluation: Evaluation, folder: Path) -> list[Piece]:
    """The tables for a terminal."""
    shown: list[Piece] = []
    for start, title, rows in _grouped(evaluation):
        reasons = _Reasons()
        shown.append(_table(f"section-{start}", title, rows, reasons))
        shown += map(Text, reasons.lines())
    sections = ", ".join(section for section, _ in NOT_RUN)
    return [
        *shown,
        Text(f"beside CUBIC: {_verdicts(evaluation)}; {counted(evaluation.replications, 'run')} of each"),
        Text(f"not measured: sections {sections}; {MARKDOWN} says why"),
        Text(f"{', '.join(FILES)} and the runs ({STUDY}/) in {folder}"),
    ]


def write(evaluation: Evaluation, folder: Path) -> None:
    """Writes the report in all of its forms.

    Raises:
        ResultError: if a file cannot be written.
    """
    report = article(evaluation)
    write_whole(folder / MARKDOWN, article_text(report).encode())
    text = json.dumps(json_ready(evaluation.data()), indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / JSON, f"{text}\n".encode())
    save_page(folder, report)
