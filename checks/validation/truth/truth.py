"""Every score of this version beside earlier ones and beside what others publish: writes docs/truth.md.

    python checks/validation/truth/truth.py [--corpus NAME=FOLDER]... [--fabric FOLDER]

The points of Linux and our own scripts are run anew, and so are corpora and fabrics that are given: they are
no part of the repository. Others keep the score that this version had when they were last run. `history.json`
keeps the scores of each version. The exit status is 1 if a bound is broken.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scores import ROOT, Held, Score, fabric, linux, scripts

import anabranch

HERE = Path(__file__).parent
HISTORY, PUBLISHED = HERE / "history.json", HERE / "published.json"
PAGE = ROOT / "docs" / "truth.md"
OWN = "of this project, one for each rule"
TABLES = {
    "linux": (
        "Linux, points of the first measurements",
        "Stock TCP of Linux 6.18 over emulated links. [linux.md](linux.md) has every point.",
    ),
    "recorded": (
        "Linux, scenarios recorded between hosts",
        "36 scenarios, three runs each; nothing was fitted to them. Where the runs of the kernel scatter by "
        "more than any bound, the score is how many points are within the spread of runs, of how many.",
    ),
    "fabric": (
        "Fabrics that spray, beside uet-htsim",
        "Completion times of the same flows over the same fabric, by path selector, and apart where a link "
        "is slow or dies, or nothing is trimmed ([fabric.md](fabric.md)). Hashes are those of each side, and "
        "decide alone where a flow has one path (`flow`). Where a link dies, uet-htsim blames value 0 for "
        "each timeout, so that its `bitmap` and `mixed` end late. The runs are no part of the repository.",
    ),
}
"""Headings and words of tables, by the name that scores have; those of scripts follow."""
INTRODUCTION = """# Scores

Every number by which this version can be judged, with the versions before it. `make truth` writes this page:
it runs the points of Linux and our scripts, and keeps the scores of each version in
`checks/validation/truth/history.json`. An error is simulated over measured, less 1, without its sign.
[trust.md](trust.md) says what else is compared, and [linux.md](linux.md) has each point.
"""


def main() -> int:
    """Measures, notes the scores, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--fabric", type=Path)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--history", type=Path, default=HISTORY)
    given = parser.parse_args()
    history = read_history(given.history)
    measured, held = linux()
    measured += scripts(ROOT / "crates" / "scripts" / "scripts", OWN)
    for corpus in given.corpus:
        name, _, folder = corpus.partition("=")
        measured += scripts(Path(folder), name)
    if given.fabric is not None:
        measured += fabric(given.fabric)
    history = noted(history, anabranch.__version__, measured)
    given.history.write_text(f"{json.dumps(history, indent=1)}\n", encoding="utf-8")
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    given.out.write_text(page(history, held, published), encoding="utf-8")
    broken = [bound.name for bound in held if not bound.is_kept]
    print("\n".join(broken) or "every bound is kept")  # noqa: T201
    return 1 if broken else 0


def read_history(file: Path) -> list[dict[str, Any]]:
    """The versions with their scores, the oldest first."""
    entries: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return entries


def noted(history: Sequence[dict[str, Any]], version: str, measured: Sequence[Score]) -> list[dict[str, Any]]:
    """The history with the scores of a version; tables that were not measured keep their last scores."""
    before = next((entry for entry in history if entry["state"] == version), {"scores": []})
    tables = {score.table for score in measured}
    kept = [score for score in before["scores"] if score["table"] not in tables]
    entry = {"state": version, "scores": [*kept, *(score.data() for score in measured)]}
    return [*(one for one in history if one["state"] != version), entry]


def page(history: Sequence[dict[str, Any]], held: Sequence[Held], published: Sequence[dict[str, str]]) -> str:
    """The page as Markdown."""
    latest = [Score.read(score) for score in history[-1]["scores"]]
    parts = [INTRODUCTION, *_bounds(held)]
    for name in dict.fromkeys(score.table for score in latest):
        title, words = TABLES.get(name, (f"packetdrill: scripts {name.removeprefix('scripts: ')}", _SCRIPTS))
        rows = [score for score in latest if score.table == name]
        parts += [f"\n## {title}\n", f"{words}\n", *_scores(rows, history)]
    earlier = [score for entry in history[:-1] for score in map(Score.read, entry["scores"])]
    gone = {score.table for score in earlier} - {score.table for score in latest}
    if gone:
        parts += ["\n## Measured of an earlier state alone\n", _EARLIER, *_last(history, gone)]
    parts += ["\n## Beside others\n", _OTHERS, *_published(published)]
    return "\n".join(parts) + "\n"


_SCRIPTS = (
    "By folder. A script passes, fails, or is not applicable to a model of the transport; "
    "[scripts.md](scripts.md) says why some of ours fail."
)
_EARLIER = (
    "These corpora are no part of the repository, and were not run with this version: the last scores.\n"
)
_OTHERS = (
    "What other simulators publish of their TCP beside a kernel, as far as we know. None publishes errors of "
    "single points, so that no column here stands beside another; corrections are welcome.\n"
)


def _bounds(held: Sequence[Held]) -> list[str]:
    lines = ["| bound | error | most | |", "|---|---|---|---|"]
    for bound in held:
        verdict = "kept" if bound.is_kept else "**not kept**"
        lines.append(f"| {bound.name} | {100 * bound.error:.2f} % | {100 * bound.most:.1f} % | {verdict} |")
    return lines


def _scores(rows: Sequence[Score], history: Sequence[dict[str, Any]]) -> list[str]:
    """A table of scores with those of the states before that have one of the same subject."""
    table = rows[0].table
    states = [entry for entry in history[:-1] if any(score["table"] == table for score in entry["scores"])]
    header = ["", "count", history[-1]["state"], *(entry["state"] for entry in states)]
    lines = [_line(header), _line(["---"] * len(header))]
    for row in rows:
        before = [_of(entry, row.table, row.subject) for entry in states]
        cells = [
            row.subject,
            str(row.count),
            _cell(row),
            *("" if one is None else _cell(one) for one in before),
        ]
        lines.append(_line(cells))
    return lines


def _last(history: Sequence[dict[str, Any]], tables: Iterable[str]) -> list[str]:
    lines = [_line(["corpus", "", "count", "score", "state"]), _line(["---"] * 5)]
    for table in sorted(tables):
        entry = next(one for one in reversed(history) if any(s["table"] == table for s in one["scores"]))
        for score in map(Score.read, entry["scores"]):
            if score.table == table:
                name = table.removeprefix("scripts: ")
                lines.append(_line([name, score.subject, str(score.count), _cell(score), entry["state"]]))
    return lines


def _published(published: Sequence[dict[str, str]]) -> list[str]:
    lines = [_line(["simulator", "published", "source"]), _line(["---"] * 3)]
    return lines + [_line([one["simulator"], one["score"], one["source"]]) for one in published]


def _of(entry: dict[str, Any], table: str, subject: str) -> Score | None:
    return next(
        (
            Score.read(score)
            for score in entry["scores"]
            if (score["table"], score["subject"]) == (table, subject)
        ),
        None,
    )


def _cell(score: Score) -> str:
    """A score in words: errors, or how many of how many."""
    if score.median_percent is not None and score.worst_percent is not None:
        return f"median {score.median_percent:.2f} %, worst {score.worst_percent:.2f} %"
    words = f"{score.passed} of {score.count}"
    return words if not score.not_applicable else f"{words}, {score.not_applicable} not applicable"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
