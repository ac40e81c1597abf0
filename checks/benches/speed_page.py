"""The section of docs/speed.md that has the engine's bench: speed and memory, with date, machine and pairs.

    python checks/benches/speed_page.py --out docs/speed.md [--htsim CSG_HTSIM/sim] [--pairs 3]

Runs of the scenarios are made in turn, each in a process of its own. Where htsim is named (htsim_ratio.py), a
run of it precedes each of ours, and the table has the ratio of both. Other pages quote this section.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from htsim_ratio import (
    ROOT,
    SCENARIOS,
    PeerError,
    Run,
    Scenario,
    bench_run,
    compile_peer,
    engine_bench,
    output,
    peer_run,
)

BEGIN = "<!-- Written by make bench, from here -->"
END = "<!-- to here -->"


@dataclass(frozen=True, slots=True)
class Programs:
    """What is run.

    Attributes:
        bench: the engine's bench, compiled.
        peer: htsim_peer, compiled; none where htsim is not named.
    """

    bench: Path
    peer: Path | None


@dataclass(frozen=True, slots=True)
class Row:
    """The runs of one scenario, in order.

    Attributes:
        scenario: which one.
        ours: runs of the engine.
        theirs: the run of htsim before each; empty without htsim.
    """

    scenario: Scenario
    ours: list[Run]
    theirs: list[Run]


def measured(programs: Programs, scenarios: Sequence[Scenario], pairs: int) -> list[Row]:
    """Runs all scenarios in turn, so often.

    Raises:
        PeerError: if a program fails.
    """
    # The bench measures its memory in a process that does nothing else, and prints it last.
    peaks = [
        float(output([str(programs.bench), each.name], REPORT_PEAK="1").splitlines()[-1])
        for each in scenarios
    ]
    rows = [Row(each, [], []) for each in scenarios]
    for _ in range(pairs):
        for row, peak in zip(rows, peaks, strict=True):
            if programs.peer is not None:
                row.theirs.append(peer_run(output([str(programs.peer), *row.scenario.peer.split()])))
            text = output([str(programs.bench), row.scenario.name, "--runs=1"])
            row.ours.append(bench_run(text, row.scenario.name, peak))
    return rows


def _spread(values: Sequence[float], digits: int) -> str:
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def cells(row: Row) -> list[str]:
    """A row of the table."""
    ours = [
        _spread([run.cpu_s for run in row.ours], 2),
        _spread([run.speed for run in row.ours], 2),
        f"{row.ours[0].peak_bytes / 1e6:.1f}",
    ]
    if not row.theirs:
        return [row.scenario.name, *ours]
    ratios = [our.speed / their.speed for our, their in zip(row.ours, row.theirs, strict=True)]
    memory = row.ours[0].peak_bytes / median(run.peak_bytes for run in row.theirs)
    return [row.scenario.name, *ours, _spread(ratios, 2), f"{memory:.2f}"]


def machine() -> str:
    """The processor, its cores, and what else the machine does."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    pairs = (line.partition(":") for line in reversed(lines))
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    name = fields.get("model name", platform.processor() or platform.machine())
    family = f" (family {fields['cpu family']}, model {fields['model']})" if "cpu family" in fields else ""
    return f"{os.cpu_count()} cores of {name}{family}"


def commit() -> str:
    """The commit of the sources, and whether they have been changed since."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603, S607
        return done.stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "--", "crates", "Cargo.lock") else ""
    return (git("rev-parse", "--short=8", "HEAD") or "unknown") + changed


def section(rows: Sequence[Row], loads: tuple[float, float]) -> Iterator[str]:
    """The lines of the section; ``loads`` are those of the machine before and after."""
    pairs = len(rows[0].ours)
    yield (
        f"{datetime.now(UTC):%d %B %Y}, commit {commit()}, {machine()}; load {loads[0]:.1f} before and "
        f"{loads[1]:.1f} after. {pairs} runs of each scenario, in turn: medians, and the least and the most."
    )
    yield ""
    head = ["scenario", "CPU s", "M packet-hops per CPU s", "peak MB"]
    if rows[0].theirs:
        head += ["speed over htsim's", "memory over htsim's"]
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(cells(row))} |"
    if not rows[0].theirs:
        yield ""
        yield "htsim was not there: `make bench HTSIM=csg-htsim/sim` has it beside each run."


def replaced(page: str, lines: Sequence[str]) -> str:
    """The page with other lines between the two marks.

    Raises:
        PeerError: if it has not each of them once.
    """
    before, begins, rest = page.partition(f"{BEGIN}\n")
    _, ends, after = rest.partition(END)
    if not begins or not ends or BEGIN in after:
        raise PeerError(f"the page must have the lines {BEGIN!r} and {END!r}, in this order and once")
    text = "\n".join(lines)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main() -> int:
    """Writes the section; 0 if it is there, 1 with a line that says what failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the page with the section")
    parser.add_argument("--htsim", default="", help="folder sim of csg-htsim; empty: without it")
    parser.add_argument("--pairs", type=int, default=3, help="runs of each scenario (3)")
    given = parser.parse_args()
    try:
        page = given.out.read_text(encoding="utf-8")
        replaced(page, [])
        with tempfile.TemporaryDirectory(prefix="htsim-peer-") as folder:
            peer = Path(folder) / "htsim_peer" if given.htsim else None
            if peer is not None:
                compile_peer(Path(given.htsim), peer)
            programs, before = Programs(engine_bench(), peer), os.getloadavg()[0]
            rows = measured(programs, SCENARIOS, max(given.pairs, 1))
        given.out.write_text(
            replaced(page, list(section(rows, (before, os.getloadavg()[0])))), encoding="utf-8"
        )
    except (PeerError, OSError) as error:
        sys.stderr.write(f"bench: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
