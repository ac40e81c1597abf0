"""Section 4 of Fukushima et al. 2016 in ns-2, which they simulated with, and in Anabranch.

    python checks/validation/ns2_claims.py [--ns2 PROGRAM]

Runs ns2/parallel_paths.tcl with ns-2 (Debian: `apt install ns2`); without it, it says so and takes the
results that are stored. They go to the publications' folder, whose verdicts read them, and the page has the
claims of figure 4 with both simulators. Runs that are stored already are not repeated, unless the version is
another.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anabranch import Scenario
from anabranch_publications.papers.robust.network import WINDOW_SEGMENTS, parallel
from anabranch_publications.papers.robust.ns2 import FILE, LINE_MBPS, Lines, Ns2Run, Ns2Runs
from anabranch_publications.papers.robust.parallel_paths import AT_MS, EDGES_MS, RECOVERIES, TOTALS
from anabranch_publications.papers.robust.studies import DURATION_S, EDGE_OFFSETS_MS

SCRIPT = Path(__file__).parent / "ns2" / "parallel_paths.tcl"
PAGE = Path(__file__).parents[2] / "docs" / "reproductions" / "ns2.md"
SEEDS = (1, 2, 3)
SETUPS: list[tuple[str, float, Lines]] = [
    *((combination, AT_MS + further, "printed") for combination in TOTALS for further in (-0.2, 0.0)),
    *(
        (combination, edge + offset, "spaced")
        for combination, edge in EDGES_MS.items()
        for offset in EDGE_OFFSETS_MS
    ),
]
"""What is printed of figure 4; with the lines of section 4.1 only what tells them from the others."""


def simulate(program: str, combination: str, d_ms: float, lines: Lines, seed: int) -> dict[str, Any]:
    """One run of ns-2.

    Raises:
        RuntimeError: ns-2 says something else than numbers.
    """
    words = [combination, d_ms, LINE_MBPS[lines], seed, DURATION_S, WINDOW_SEGMENTS]
    answer = subprocess.run(  # noqa: S603 - a program that the user names, and fixed words
        [program, str(SCRIPT), *map(str, words)], capture_output=True, text=True, check=False
    )
    try:
        return dict(json.loads(answer.stdout))
    except ValueError:
        raise RuntimeError(f"{program} {SCRIPT.name}: {(answer.stderr or answer.stdout)[:300]}") from None


def in_ns2(program: str, jobs: int) -> None:
    """Runs what is missing."""
    stored = Ns2Runs.load() if FILE.exists() else None
    fresh = simulate(program, *SETUPS[0], SEEDS[0])
    settings = (fresh["version"], DURATION_S, WINDOW_SEGMENTS)
    if stored is not None and (stored.version, stored.seconds, stored.window_segments) != settings:
        stored = None
    runs = (
        {} if stored is None else {(r.combination, round(r.d_ms, 3), r.lines, r.seed): r for r in stored.runs}
    )
    keys = [(name, round(d_ms, 3), lines, seed) for seed in SEEDS for name, d_ms, lines in SETUPS]
    missing = [key for key in keys if key not in runs]
    with ThreadPoolExecutor(jobs) as pool:
        for key, outcome in zip(missing, pool.map(lambda key: simulate(program, *key), missing), strict=True):
            runs[key] = Ns2Run(
                *key, **{name: number for name, number in outcome.items() if name != "version"}
            )
            Ns2Runs(
                fresh["version"], "Debian ns2", datetime.now(UTC).date().isoformat(), DURATION_S,
                WINDOW_SEGMENTS, tuple(runs[key] for key in keys if key in runs),
            ).save()  # fmt: skip


def in_anabranch(combination: str, d_ms: float, lines: Lines) -> tuple[list[float], list[int]]:
    """Total throughput in Mbps and fast recoveries of each seed."""
    totals, recoveries = list[float](), list[int]()
    for seed in SEEDS:
        scenario = parallel(combination, d_ms, spaced=lines == "spaced", duration_s=DURATION_S)
        scenario["run"]["seed"] = seed
        flows = Scenario.from_data(scenario).run().flows
        totals.append(float(flows["goodput_mbps"].sum()))
        recoveries.append(int(flows["fast_recoveries"].sum()))
    return totals, recoveries


def page(stored: Ns2Runs) -> str:
    """The table of all set-ups, ns-2 beside Anabranch."""
    lines = [
        "# Figure 4 of robust routing in ns-2 itself",
        "",
        "`make validate-ns2` runs section 4 of Fukushima et al. 2016 in ns-2, which they simulated with, and",
        f"in Anabranch: four paths, five NewReno connections, {stored.seconds:g} s, mean and range of "
        f"{len(SEEDS)} seeds.",
        f"`window_` is {stored.window_segments} segments, ns-2's default, and everything that the paper does",
        "not say has its default, too.",
        "",
        f"- ns-2 {stored.version} ({stored.source}), {stored.date}. Anabranch: the preset `ns2-newreno`.",
        f"- Lines: a source's access line has {LINE_MBPS['printed']:g} Mbps as printed, or "
        f"{LINE_MBPS['spaced']:g}, which spaces segments by the",
        "  0.4 ms that the text reckons with.",
        "",
        "| paths | d in ms | lines | printed | ns-2, Mbps | Anabranch, Mbps | ratio | recoveries printed | "
        "ns-2 | Anabranch |",
        "| --- | ---: | --- | --- | --- | --- | ---: | ---: | --- | --- |",
    ]
    for combination, d_ms, spacing in sorted(SETUPS):
        there = list(stored.of(combination, d_ms, spacing))
        totals, recoveries = in_anabranch(combination, d_ms, spacing)
        theirs = [run.mbps for run in there]
        at_printed = abs(d_ms - AT_MS) < 1e-9 and combination in TOTALS
        below = d_ms < EDGES_MS[combination]
        printed = f"{TOTALS[combination]:g} Mbps" if at_printed else "almost 100 Mbps" if below else ""
        lines.append(
            f"| {combination} | {d_ms:g} | {spacing} | {printed} | {_shown(theirs, 1)} | "
            f"{_shown(totals, 1)} | "
            f"{statistics.fmean(totals) / statistics.fmean(theirs):.3f} | "
            f"{RECOVERIES[combination] if at_printed else ''} | "
            f"{_shown([run.recoveries for run in there], 0)} | {_shown(recoveries, 0)} |"
        )
    return "\n".join(lines) + "\n"


def _shown(numbers: list[float] | list[int], digits: int) -> str:
    low, high = min(numbers), max(numbers)
    return f"{statistics.fmean(numbers):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def main() -> int:
    """Runs what is missing, and writes the page; 1 if ns-2 fails, or nothing is stored."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ns2", default="ns", help="ns-2's program")
    parser.add_argument("--jobs", type=int, default=2, help="runs of ns-2 at a time")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the table goes")
    options = parser.parse_args()
    program = shutil.which(options.ns2)
    if program is None:
        sys.stdout.write(f"skipped: no ns-2 under the name {options.ns2} (Debian: apt install ns2)\n")
    else:
        try:
            in_ns2(program, options.jobs)
        except RuntimeError as error:
            sys.stderr.write(f"failed: {error}\n")
            return 1
    if not FILE.exists():
        sys.stderr.write("failed: nothing is stored of ns-2\n")
        return 1
    options.page.write_text(page(Ns2Runs.load()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
