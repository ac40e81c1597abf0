"""What processing delays and segmentation offload of the hosts do to the errors against the kernel.

    python checks/validation/linux/host_noise.py

It runs every point of docs/linux.md with each choice of hosts (some minutes) and writes host_noise.csv, of
which linux_page.py makes a table.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

from linux_page import GROUPS, bounds
from measure import simulate
from points import points

FILE = Path(__file__).parent / "host_noise.csv"


def exponential(mean: str) -> dict[str, Any]:
    """A processing delay of each packet."""
    return {"processing_delay": {"distribution": "exponential", "mean": mean}}


CHOICES: dict[str, dict[str, Any]] = {
    "neither": {},
    "0.1 ms": {"processing_delay": "0.1 ms"},
    "exponential, 10 us": exponential("10 us"),
    "exponential, 50 us": exponential("50 us"),
    "exponential, 0.2 ms": exponential("0.2 ms"),
    "trains of 2": {"offload": "2 segments"},
    "trains of 6": {"offload": "6 segments"},
}
"""Settings of all hosts, by their name on the page."""


def main() -> int:
    """Runs every choice and writes the file."""
    files = ("measured.csv", "told.csv", "slow_start.csv")
    chosen = [point for file in files for point in points(file) if point.group in GROUPS]
    columns: dict[str, dict[str, float | None]] = {}
    for name, hosts in CHOICES.items():
        outcomes = simulate(chosen, hosts=hosts)
        columns[name] = {bound.name: bound.error(outcomes) for bound in bounds()}
        print(name, columns[name], flush=True)  # noqa: T201
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", *CHOICES])
        for bound in bounds():
            errors = [columns[name][bound.name] for name in CHOICES]
            writer.writerow([bound.name, *("" if error is None else f"{error:.5f}" for error in errors)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
