"""What an operator's questions take, and how good weights are: the section "Measured" of docs/operator.md.

    python checks/benches/operator_numbers.py [--out FILE] [--parts PART ...] [--time-limit SECONDS]

Gravity is in proportion to the links of both ends. Weights of one matrix stand beside the bound by linear
programs; weights for any traffic within the hose model
beside the load of `robust`, which splits as it likes, and what it proves that no routing goes below. Times
are CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from time import process_time
from typing import Any

from anabranch import Scenario
from anabranch.plans.weight_search import WeightLimits, WeightSearch, search_weights
from anabranch.plans.worst_loads import worst_loads
from anabranch.setup import Needed, resolve
from anabranch.text.csv_cells import csv_text

HEADING = "## Measured"
MATRIX = {"from": "topology", "unit": "1 Mbps"}
GRAVITY = {"from": "file:gravity.csv"}
TOTAL_GBPS = 100.0
HOSE = {"ingress": "130 Mbps", "egress": "130 Mbps", "pair": "50 Mbps"}
WEIGHTS = (
    ("sndlib/abilene", "100 Gbps", MATRIX, None),
    ("zoo/Geant2012", "100 Gbps", GRAVITY, None),
    ("sndlib/germany50", "100 Gbps", MATRIX, None),
    ("sndlib/nobel-eu", "100 Gbps", MATRIX, None),
    ("sndlib/nobel-eu", "100 Gbps", MATRIX, "links"),
)
"""Network, capacity of its links, matrix, failures."""
HOSES = ("sndlib/abilene", "sndlib/nobel-eu", "zoo/Geant2012", "sndlib/germany50")
ROBUST_S = 60.0
FAILURES = (
    ("zoo/Cogentco", "gravity, all single links and nodes", GRAVITY, "links,nodes"),
    ("sndlib/germany50", "its matrix, all pairs of links", MATRIX, "pairs"),
    ("zoo/Kdl", "gravity, nothing down", GRAVITY, None),
)


def network(name: str, capacity: str, demand: dict[str, Any], scheme: object = "ecmp") -> Scenario:
    """A network with equal weights, or paths of fewest hops."""
    data: dict[str, Any] = {
        "network": {"topology": name, "links": {"capacity": capacity, "delay": "1 ms"}},
        "routing": {"scheme": scheme, "metric": "hops", "demand": demand},
    }
    if demand.get("matrix") is not GRAVITY:
        return Scenario.from_data(data)
    folder = Path(tempfile.mkdtemp(prefix="anabranch-gravity-"))
    bounds = {**data, "routing": {**data["routing"], "demand": {"pair": "1 Mbps"}}}
    setup = resolve(Scenario.from_data(bounds), Needed.ROUTES)
    degree = Counter(link.origin for link in setup.links)
    total = sum(degree.values()) ** 2 - sum(count**2 for count in degree.values())
    rows = (
        (a.name, b.name, f"{TOTAL_GBPS * degree[one] * degree[other] / total:.9g}")
        for (one, a), (other, b) in permutations(enumerate(setup.nodes), 2)
    )
    (folder / "gravity.csv").write_text(csv_text(("from", "to", "rate_gbps"), rows), encoding="utf-8")
    return Scenario.from_data(data, base=folder)


def searched(scenario: Scenario, failures: str | None, limit_s: float) -> tuple[WeightSearch, float]:
    """The weights, and the CPU time that they took."""
    begin = process_time()
    search = search_weights(scenario, WeightLimits(time_limit_s=limit_s), failures=failures)
    return search, process_time() - begin


def weight_rows(limit_s: float) -> Iterator[tuple[str, ...]]:
    """One matrix each."""
    for name, capacity, matrix, failures in WEIGHTS:
        found, cpu_s = searched(network(name, capacity, {"matrix": matrix}), failures, limit_s)
        words = "its matrix" if matrix is MATRIX else "gravity"
        down = "" if failures is None else ", each link down"
        loads = (found.load_before, found.load, found.lower_bound)
        above = f"{100 * found.gap:.1f} %"
        yield name, words + down, *map(number, loads), above, str(len(found.changes)), f"{cpu_s:.0f}"


def hose_rows(limit_s: float) -> Iterator[tuple[str, ...]]:
    """The hose model each."""
    for name in HOSES:
        found, cpu_s = searched(network(name, "100 Mbps", HOSE), None, limit_s)
        scheme = {"algorithm": "robust", "time_limit": f"{ROBUST_S:g} s"}
        robust = worst_loads(network(name, "100 Mbps", HOSE, scheme))
        bound = float(robust.facts["lower_bound"])
        loads = (found.load_before, found.load, robust.max_load, max(bound, found.lower_bound))
        yield name, *map(number, loads), str(len(found.changes)), f"{cpu_s:.0f}"


def failure_rows(_: float) -> Iterator[tuple[str, ...]]:
    """Loads by ECMP of fewest hops, with failures or without."""
    for name, words, matrix, failures in FAILURES:
        scenario = network(name, "100 Gbps", {"matrix": matrix})
        begin = process_time()
        loads = worst_loads(scenario, failures=failures, jobs=1)
        count = f"{len(loads.failures or ()):,}"
        yield name, words, count, number(loads.max_load), f"{process_time() - begin:.1f}"


def number(value: float) -> str:
    """Four digits."""
    return f"{value:.4g}"


PARTS: dict[str, tuple[str, tuple[str, ...], Callable[[float], Iterator[tuple[str, ...]]]]] = {
    "weights": (
        "Weights for one matrix, from equal ones; highest loads. The bound holds for any routing.",
        ("network", "traffic", "before", "weights", "bound", "above it", "changes", "CPU, s"),
        weight_rows,
    ),
    "hoses": (
        "Weights for any traffic within a hose of 130 Mbps a router and 50 a pair over links of 100 Mbps. "
        f"`robust` splits as it likes, with {ROBUST_S:g} s of work; no routing has less than the bound.",
        ("network", "before", "weights", "`robust`", "bound", "changes", "CPU, s"),
        hose_rows,
    ),
    "failures": (
        "`anabranch load` by ECMP on one core; the highest load is that with nothing down.",
        ("network", "traffic", "failures", "highest load", "CPU, s"),
        failure_rows,
    ),
}


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """A table in Markdown, whose rows are told as they come."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        sys.stderr.write(f"{'  '.join(row)}\n")
        yield f"| {' | '.join(row)} |"


def main() -> None:
    """Measures, and writes the section."""
    parser = argparse.ArgumentParser(description="Numbers of docs/operator.md.")
    parser.add_argument("--out", type=Path, help="take the place of the section in this page")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="tables to make")
    parser.add_argument("--time-limit", type=float, default=4.0, help="work of each search, in seconds")
    given = parser.parse_args()
    today = datetime.now(UTC).date().isoformat()
    lines = [
        HEADING, "",
        "Written by checks/benches/operator_numbers.py (`make operator-numbers`); do not edit this section.",
        f"Searches have {given.time_limit:g} s of work, and bounds as much.",
        "",
        f"Run on {today} on {platform.machine()}, {platform.system()}, {os.cpu_count()} cores.", "",
    ]  # fmt: skip
    for name in given.parts:
        words, head, rows = PARTS[name]
        lines += [words, "", *table(head, rows(given.time_limit)), ""]
    section = "\n".join(lines)
    sys.stdout.write(section)
    if given.out:
        page = given.out.read_text(encoding="utf-8")
        begin = page.index(f"{HEADING}\n")
        end = page.find("\n## ", begin)
        rest = page[end + 1 :] if end >= 0 else ""
        given.out.write_text(page[:begin] + section + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
