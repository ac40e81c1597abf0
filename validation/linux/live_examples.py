"""Runs ten scenarios of examples/ live and simulated, and writes how far they are apart into docs/live.md.

    python validation/linux/live_examples.py

Linux, root, about five minutes. Transports of ns-3's kind are replaced by those of Linux. A run that is not
valid is made again, up to three times. The exit status is 1 if the median of the ten is above 5 %.
"""

from __future__ import annotations

import csv
import os
import sys
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from anabranch import Scenario
from anabranch.live import run

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "live_examples.csv"
PAGE = ROOT / "docs" / "live.md"
HEADING = "## Ten scenarios"
MOST_TRIES = 3
MOST = 0.05

SCENARIOS: dict[str, dict[str, Any]] = {
    "abilene": {"traffic[0].transport": "linux-cubic"},
    "attmpls": {"traffic[0].transport": "linux-cubic"},
    "cell": {},
    "dumbbell": {"traffic[0].transport": "linux-reno"},
    "ecn": {},
    "failure": {},
    "first": {},
    "lossy": {"traffic[0].transport": "linux-reno", "traffic[1].transport": "linux-bbr"},
    "ring": {},
    "switches": {},
}
"""Files of examples/, with what is set in them."""

WORDS = """`python validation/linux/live_examples.py` (root) runs these files of `examples/` live and
simulated. Where a file has `cubic`, `newreno` or `bbr`, it gets the transport of Linux. The difference of a
flow is simulated over live goodput, less 1; of all flows, the same of what they delivered together. Flows
that share a queue share it by chance, live and simulated."""


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario, live and simulated."""

    scenario: str
    flows: int
    """Real ones."""
    median_difference: float
    """Of the flows' goodputs, without signs."""
    largest_difference: float
    total_mbps: float
    """Of the real flows, live."""
    total_difference: float
    tries: int
    not_valid: str
    lateness_p99_us: float
    load: float
    kernel: str
    day: str


def measure(name: str, changes: dict[str, Any]) -> Row:
    """Runs a scenario live, until it is valid or has been made three times, and simulated."""
    scenario = Scenario.load(ROOT / "examples" / f"{name}.toml").replace(changes)
    tries = 0
    while True:
        tries += 1
        result = run(scenario, against_simulation=True)
        live = result.summary["live"]
        if live["valid"] or tries == MOST_TRIES:
            break
    table = result.tables["against"]
    differences = (table["difference_percent"].drop_nulls().abs() / 100).to_list()
    ended_s = float(result.summary["ended_s"])
    flows = result.flows.filter(result.flows["hosts"] == "kernel")
    delivered = float(flows["delivered_bytes"].sum())
    simulated = float(table["simulated_delivered_bytes"].sum())
    return Row(
        scenario=name,
        flows=table.height,
        median_difference=median(differences),
        largest_difference=max(differences),
        total_mbps=delivered * 8e-6 / ended_s,
        total_difference=simulated / delivered - 1,
        tries=tries,
        not_valid=live["not_valid"] or "",
        lateness_p99_us=live["check"]["lateness_p99_us"],
        load=os.getloadavg()[0],
        kernel=live["kernel"],
        day=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def section(rows: list[dict[str, str]]) -> str:
    """The section of the page."""
    loads = sorted(float(row["load"]) for row in rows)
    valid = [float(row["median_difference"]) for row in rows if not row["not_valid"]]
    kernel = f"Linux {rows[0]['kernel'].split('-')[0]}, {os.cpu_count()} cores, {rows[0]['day']}"
    load = f"load of the machine {loads[0]:.0f} to {loads[-1]:.0f}"
    told = f"{kernel}, {load}. Median of the {len(valid)} valid runs: {100 * median(valid):.1f} %."
    lines = [
        "| scenario | real flows | difference of a flow, median | largest | all flows, live | difference | |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        sizes = [f"{100 * float(row[f'{which}_difference']):.1f} %" for which in ("median", "largest")]
        total = f"{float(row['total_mbps']):.4g} Mbps | {100 * float(row['total_difference']):+.1f} %"
        late = "not valid" if row["not_valid"] else ""
        lines.append(
            f"| `{row['scenario']}.toml` | {row['flows']} | {' | '.join(sizes)} | {total} | {late} |"
        )
    return "\n".join([HEADING, "", WORDS, "", told, "", *lines, "", ""])


def write_section() -> None:
    """Puts the section in the place of the one before."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    _, _, after = rest.partition("\n## ")
    PAGE.write_text(f"{before}{section(rows)}## {after}", encoding="utf-8")


def main() -> int:
    """Runs all of them."""
    found = []
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for name, changes in SCENARIOS.items():
            row = measure(name, changes)
            print(row, flush=True)  # noqa: T201
            writer.writerow(asdict(row))
            file.flush()
            found.append(row)
    write_section()
    valid = [row.median_difference for row in found if not row.not_valid]
    return 0 if valid and median(valid) <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
