"""The section of docs/speed.md that has the engine's bench: speed and memory, with date, machine and pairs.

    python checks/benches/speed_page.py --out docs/speed.md [--htsim CSG_HTSIM/sim] [--profiled] [--pairs 3]

Runs of the scenarios are made in turn, each in a process of its own. Where htsim is named (htsim_ratio.py), a
run of it precedes each of ours, and the table has the ratio of both. With --profiled a run of the bench that
is compiled as wheels are (profiled_bench.py) follows. Other pages quote this section.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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
from profiled_bench import profiled_bench

BEGIN = "<!-- Written by make bench, from here -->"
END = "<!-- to here -->"


@dataclass(frozen=True, slots=True)
class Programs:
    """What is run.

    Attributes:
        bench: the engine's bench, compiled.
        peer: htsim_peer, compiled; none where htsim is not named.
        profiled: the engine's bench compiled as wheels are; none where it is not asked for.
    """

    bench: Path
    peer: Path | None = None
    profiled: Path | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """The runs of one scenario, in order.

    Attributes:
        scenario: which one.
        ours: runs of the engine.
        theirs: the run of htsim before each; empty without htsim.
        as_wheels: the run of the profiled bench behind each; empty without it.
    """

    scenario: Scenario
    ours: list[Run] = field(default_factory=list)
    theirs: list[Run] = field(default_factory=list)
    as_wheels: list[Run] = field(default_factory=list)


def measured(programs: Programs, scenarios: Sequence[Scenario], pairs: int) -> list[Row]:
    """Runs all scenarios in turn, so often.

    Raises:
        PeerError: if a program fails.
    """
    ours = [(programs.bench, "ours")]
    ours += [(programs.profiled, "as_wheels")] if programs.profiled else []
    rows = [Row(each) for each in scenarios]
    peaks = {(bench, row.scenario): _peak(bench, row.scenario) for bench, _ in ours for row in rows}
    for _ in range(pairs):
        for row in rows:
            if programs.peer is not None:
                row.theirs.append(peer_run(output([str(programs.peer), *row.scenario.peer.split()])))
            for bench, column in ours:
                text = output([str(bench), row.scenario.name, "--runs=1"])
                run = bench_run(text, row.scenario.name, peaks[bench, row.scenario])
                getattr(row, column).append(run)
    return rows


def _peak(bench: Path, scenario: Scenario) -> float:
    """The most memory of a run, in bytes: measured in a process that does nothing else, and printed last."""
    return float(output([str(bench), scenario.name], REPORT_PEAK="1").splitlines()[-1])


def _spread(values: Sequence[float], digits: int) -> str:
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def columns(row: Row) -> dict[str, str]:
    """The cells of a row of the table, by the heads of their columns."""
    ours, theirs, wheels = row.ours, row.theirs, row.as_wheels
    cells = {
        "scenario": row.scenario.name,
        "CPU s": _spread([run.cpu_s for run in ours], 2),
        "M packet-hops per CPU s": _spread([run.speed for run in ours], 2),
        "peak MB": f"{ours[0].peak_bytes / 1e6:.1f}",
    }
    if wheels:
        cells["M packet-hops per CPU s, as wheels are built"] = _spread([run.speed for run in wheels], 2)
    if theirs:
        cells["speed over htsim's"] = _spread(_ratios(ours, theirs), 2)
    if theirs and wheels:
        cells["as wheels are built"] = _spread(_ratios(wheels, theirs), 2)
    if theirs:
        memory = ours[0].peak_bytes / median(run.peak_bytes for run in theirs)
        cells["memory over htsim's"] = f"{memory:.2f}"
    if theirs and wheels:
        memory = wheels[0].peak_bytes / median(run.peak_bytes for run in theirs)
        cells["memory as wheels are built"] = f"{memory:.2f}"
    return cells


def _ratios(ours: Sequence[Run], theirs: Sequence[Run]) -> list[float]:
    return [our.speed / their.speed for our, their in zip(ours, theirs, strict=True)]


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
    head = list(columns(rows[0]))
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(columns(row).values())} |"
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
    parser.add_argument("--profiled", action="store_true", help="the bench as wheels are built, too")
    parser.add_argument("--pairs", type=int, default=3, help="runs of each scenario (3)")
    given = parser.parse_args()
    try:
        page = given.out.read_text(encoding="utf-8")
        replaced(page, [])
        with tempfile.TemporaryDirectory(prefix="htsim-peer-") as folder:
            peer = Path(folder) / "htsim_peer" if given.htsim else None
            if peer is not None:
                compile_peer(Path(given.htsim), peer)
            profiled = profiled_bench() if given.profiled else None
            programs, before = Programs(engine_bench(), peer, profiled), os.getloadavg()[0]
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
