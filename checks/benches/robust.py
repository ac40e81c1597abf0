"""Speed of robust routing: solvers and evaluator on NSFNET, germany50 and all networks of SNDlib.

    python checks/benches/robust.py [--full] [--out FILE]

Prints a table of medians; with --full also what takes minutes and every SNDlib network; with --out
writes them as a document, too.
CPU time is that of the whole process, with the building of the programs; candidate paths are given.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/routing/robust"))

import numpy as np
from robust_networks import nsfnet, shortest_candidates, sndlib, uniform_bounds

from anabranch.routing.robust import (
    DemandBounds,
    FlowNetwork,
    Solution,
    all_paths,
    single_lp,
    worst_case,
)
from anabranch.topology import names
from anabranch_publications.papers.robust.solvers import exchange, link_flow

SPLITS = "## Split pairs, and what TCP has of them"
"""Where the section of checks/benches/robust_splits.py begins."""
PARTS = "## What each part gains over HiGHS alone"
"""Where that of checks/benches/robust_parts.py begins, behind it."""
REPEATS = 3
LIMIT_S = 210.0

Row = tuple[str, ...]
HEAD = ("what", "load", "bound", "gap", "status", "programs", "CPU s", "wanted, s")
SWEEP_HEAD = ("network", "nodes", "arcs", "pairs", "paths", "load", "bound", "gap", "status", "CPU s")


def row(what: str, wanted: str, runs: list[Solution]) -> Row:
    """The last solution and the median time."""
    last = runs[-1]
    cpu_s = statistics.median(run.cpu_s for run in runs)
    return (what, *result(last), str(last.iterations), f"{cpu_s:.2f}", wanted)


def repeated(solve: Callable[[], Solution]) -> list[Solution]:
    """Solve several times."""
    return [solve() for _ in range(REPEATS)]


def result(solution: Solution) -> Row:
    """Load, bound, gap and status as text."""
    return (
        f"{solution.load:.6f}", f"{solution.lower_bound:.6f}",
        f"{max(solution.gap, 0.0):.1e}", solution.status,
    )  # fmt: skip


def evaluator_row(network: FlowNetwork, bounds: DemandBounds, solution: Solution) -> Row:
    """Worst matrices of all links."""
    times = []
    for _ in range(REPEATS):
        start = process_time()
        worst = worst_case(network, bounds, solution.routing)
        times.append(process_time() - start)
    what = f"germany50: worst matrices of {network.arc_count} links"
    return (what, f"{worst.max_load:.6f}", "", "", "", "", f"{statistics.median(times):.2f}", "0.3")


def speed_rows() -> list[Row]:
    """The required figures and those beside them."""
    net, bounds = nsfnet(), uniform_bounds(14)
    rows = [
        row("NSFNET, all paths: link-flow", "0.5", repeated(lambda: link_flow(net, bounds))),
        row("NSFNET, all paths: all-paths", "0.5", repeated(lambda: all_paths(net, bounds))),
    ]
    for count in (1, 2, 4, 8):
        few = shortest_candidates(net, bounds, count)
        runs = repeated(partial(single_lp, net, bounds, few))
        rows.append(row(f"NSFNET, K = {count}: single-lp", "", runs))
    net50, bounds50 = sndlib("germany50"), uniform_bounds(50)
    four = shortest_candidates(net50, bounds50, 4)
    solution = single_lp(net50, bounds50, four)
    rows.append(row("germany50, K = 4: single-lp", "12", repeated(partial(single_lp, net50, bounds50, four))))
    rows.append(evaluator_row(net50, bounds50, solution))
    every = repeated(lambda: all_paths(net50, bounds50, time_limit_s=LIMIT_S))
    rows.append(row("germany50, all paths: all-paths", "120", every))
    return rows


def slow_rows() -> list[Row]:
    """What takes minutes: once each."""
    net, bounds = nsfnet(), uniform_bounds(14)
    rows = []
    for count in (1, 2, 4, 8):
        few = shortest_candidates(net, bounds, count)
        solution = exchange(net, bounds, few, time_limit_s=LIMIT_S)
        rows.append(row(f"NSFNET, K = {count}: exchange", "", [solution]))
    net50, bounds50 = sndlib("germany50"), uniform_bounds(50)
    four = shortest_candidates(net50, bounds50, 4)
    whole = single_lp(net50, bounds50, four, rows="all", time_limit_s=LIMIT_S)
    rows.append(row("germany50, K = 4: single-lp, all rows", "", [whole]))
    return rows


def sweep_rows() -> tuple[list[Row], list[Row]]:
    """Every network of SNDlib with four paths a pair, and with all; what is not solved says why."""
    four, every = [], []
    for name in [entry.spec.removeprefix("sndlib/") for entry in names() if entry.source == "sndlib"]:
        net = sndlib(name)
        bounds = uniform_bounds(len(net.nodes))
        candidates = shortest_candidates(net, bounds, 4)
        size = (name, str(len(net.nodes)), str(net.arc_count), str(candidates.pair_count))
        solution = single_lp(net, bounds, candidates, time_limit_s=LIMIT_S)
        four.append((*size, str(candidates.path_count), *result(solution), f"{solution.cpu_s:.2f}"))
        solution = all_paths(net, bounds, time_limit_s=LIMIT_S)
        used = solution.routing.candidates
        paths = "" if used is None else str(used.path_count)
        every.append((*size, paths, *result(solution), f"{solution.cpu_s:.2f}"))
    return four, every


def table(head: Row, rows: list[Row]) -> list[str]:
    """A table for people and for Markdown."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (head, *rows)
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def document(speed: list[Row], four: list[Row], every: list[Row]) -> str:
    """The tables with what they were measured on."""
    today = datetime.now(UTC).date().isoformat()
    lines = [
        "# Speed of robust routing",
        "",
        "Written by checks/benches/robust.py; do not edit.",
        "",
        f"Run on {today} on {platform.machine()}, {platform.system()}, Python {platform.python_version()}, "
        f"HiGHS {version('highspy')}, numpy {np.__version__}, Anabranch {version('anabranch')}, one thread.",
        "",
        "Bounds: R = C = 130 Mbps, w = 50 Mbps; links of 500 Mbps. The K shortest paths are by hops,",
        "ties by node numbers. CPU times are medians, with the building of the programs, without the",
        "search for paths. Traffic matrices prove the bound, the evaluator the load. `time-limit` marks what",
        f"was stopped after work of {LIMIT_S:.0f} s.",
        "",
        *table(HEAD, speed),
    ]
    if four:
        lines += ["", "## Every network of SNDlib, K = 4, single-lp", "", *table(SWEEP_HEAD, four)]
        lines += ["", "## Every network of SNDlib, all paths, all-paths", "", *table(SWEEP_HEAD, every)]
        lines += ["", "The paths are those that the answer knows, used or not."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description="Speed of robust routing")
    parser.add_argument("--full", action="store_true", help="what takes minutes, and every network of SNDlib")
    parser.add_argument("--out", type=Path, help="write a document here")
    arguments = parser.parse_args()
    speed = speed_rows() + (slow_rows() if arguments.full else [])
    four, every = sweep_rows() if arguments.full else ([], [])
    text = document(speed, four, every)
    sys.stdout.write(text)
    if arguments.out:
        before = arguments.out.read_text(encoding="utf-8") if arguments.out.exists() else ""
        _, heading, splits = before.partition(SPLITS)  # What checks/benches/robust_splits.py wrote stays.
        arguments.out.write_text(f"{text}\n{heading}{splits}" if heading else text, encoding="utf-8")


if __name__ == "__main__":
    main()
