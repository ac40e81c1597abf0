"""Split pairs of robust plans and what TCP has of them: every network of SNDlib, before and after.

    python checks/benches/robust_splits.py [--out FILE] [--only NAME ...]

Prints a table; with --out it takes the place of its section at the end of the document that
checks/benches/robust.py writes. Before: the split that the solver ends with; after: the fewest split pairs.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import random
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

from robust import PARTS, SPLITS, Row, table

from anabranch import Scenario
from anabranch.topology import load, names

CANDIDATES = 4
CONNECTIONS = 60
DURATION_S = 3.0
TITLES = (
    "network", "pairs", "load", "split before", "after", "at least", "difference in ms", "Mbps before",
    "after", "CPU s before", "after",
)  # fmt: skip


def scenario(name: str, splits: str) -> Scenario:
    """A network of SNDlib with a TCP connection for some pairs, drawn at random."""
    nodes = [node.name for node in load(f"sndlib/{name}").nodes]
    pairs = list(itertools.permutations(nodes, 2))
    chosen = sorted(random.Random(name).sample(pairs, min(CONNECTIONS, len(pairs))))  # noqa: S311
    application = {"kind": "poisson", "message": "1 kB", "gap": "0.8 ms"}
    data: dict[str, Any] = {
        "network": {
            "topology": f"sndlib/{name}",
            "links": {"capacity": "500 Mbps", "queue": "1000 packets"},
        },
        "routing": {
            "scheme": {"algorithm": "robust", "k": CANDIDATES, "splits": splits},
            "demand": {"ingress": "130 Mbps", "egress": "130 Mbps", "pair": "50 Mbps"},
        },
        "traffic": [
            {"from": a, "to": b, "application": application, "transport": "newreno"} for a, b in chosen
        ],
        "run": {"duration": f"{DURATION_S:g} s", "flow_series": False, "link_series": False},
    }
    return Scenario.from_data(data)


def measured(name: str, splits: str) -> tuple[dict[str, Any], float, float]:
    """Facts of the plan, CPU time of planning in seconds, and mean goodput of a connection in Mbps."""
    asked = scenario(name, splits)
    begin = process_time()
    facts = dict(asked.routes().facts)
    cpu_s = process_time() - begin
    return facts, cpu_s, float(asked.run().flows["goodput_mbps"].to_numpy().mean())


def row(name: str) -> Row:
    """A network before and after."""
    (solver, solver_s, solver_mbps), (fewest, fewest_s, fewest_mbps) = (
        measured(name, splits) for splits in ("solver", "fewest")
    )
    before = solver["pairs"] - solver["pairs_on_one_path"]
    return (
        name, f"{solver['pairs']:,}", f"{fewest['worst_case_load']:.5f}", f"{before:,}",
        f"{fewest['split_pairs']:,}", f"{fewest['split_pairs_bound']:,}",
        f"{fewest['delay_difference_ms']:.2f}", f"{solver_mbps:.2f}", f"{fewest_mbps:.2f}",
        f"{solver_s:.2f}", f"{fewest_s:.2f}",
    )  # fmt: skip


def section(rows: list[Row], left_out: list[str]) -> str:
    """The table with what it was measured on."""
    lines = [
        SPLITS,
        "",
        "Written by checks/benches/robust_splits.py; do not edit.",
        "",
        f"Run on {datetime.now(UTC).date().isoformat()} on {platform.machine()}, {platform.system()}, "
        f"Python {platform.python_version()}, HiGHS {version('highspy')}, Anabranch {version('anabranch')}.",
        "",
        f"`robust` over K = {CANDIDATES} paths by hops, with the bounds and capacities above and the default",
        "`time_limit`. Before: `splits` as the solver leaves them, after: the default. The load is the same",
        "in both to a millionth. At least: no plan over the same paths with this load has fewer split pairs.",
        "Difference: of delay between the paths of a pair, mean of the pairs that stay split. Mbps: goodput",
        f"of a NewReno connection whose application has 10 Mbps, mean of {CONNECTIONS} random pairs,",
        f"{DURATION_S:g} s, one seed. CPU: of planning, with the search for paths, on a shared machine.",
        "",
        *table(TITLES, rows),
    ]
    if left_out:
        lines += ["", f"Not run: {', '.join(left_out)}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and write after each network, the smallest first."""
    parser = argparse.ArgumentParser(description="Split pairs of robust plans, and TCP over them")
    parser.add_argument("--out", type=Path, help="put the section into this document")
    parser.add_argument("--only", nargs="+", help="these networks; the rows of the others stay as they are")
    arguments = parser.parse_args()
    every = [entry.spec.removeprefix("sndlib/") for entry in names() if entry.source == "sndlib"]
    every.sort(key=lambda name: (len(load(f"sndlib/{name}").nodes), name))
    text, parts, rows = "", "", dict[str, Row]()
    if arguments.out:
        text, _, old = arguments.out.read_text(encoding="utf-8").partition(SPLITS)
        old, heading, parts = old.partition(PARTS)
        parts = f"\n{heading}{parts}" if heading else ""
        if arguments.only:
            cells = [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in old.splitlines()]
            rows = {line[0]: line for line in cells if line and line[0] in every}
    for name in every if arguments.only is None else arguments.only:
        rows[name] = row(name)
        sys.stdout.write(" | ".join(rows[name]) + "\n")
        sys.stdout.flush()
        if arguments.out:
            done, left_out = [name for name in every if name in rows], [n for n in every if n not in rows]
            made = section([rows[name] for name in done], left_out)
            arguments.out.write_text(f"{text.rstrip()}\n\n{made}{parts}", encoding="utf-8")


if __name__ == "__main__":
    main()
