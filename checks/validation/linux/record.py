"""Runs points of recorded.csv anew, between hosts of the kernel that runs here (Linux, root).

    python checks/validation/linux/record.py [--write] POINT...

Each has a run for each seed, one after another; one that is not valid by its self-check is made again. The
values stand beside those of the file, and with --write in place of them: on a machine without other work.
"""

from __future__ import annotations

import argparse
import csv
import sys
from statistics import mean

from recorded import HERE, METRICS, SEEDS, Recorded, recorded

from anabranch import Scenario
from anabranch.live import run

FILE = HERE / "recorded.csv"
TRIES = 3
"""Runs of a seed until one is valid."""


class NotValidError(Exception):
    """No run of a seed was valid."""


def main() -> int:
    """Runs the points that are named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("points", nargs="+", metavar="POINT")
    parser.add_argument("--write", action="store_true", help="put the values in place of those of the file")
    given = parser.parse_args()
    by_name = {point.name: point for point in recorded()}
    if unknown := set(given.points) - by_name.keys():
        parser.error(f"no point {', '.join(sorted(unknown))}; there are {', '.join(by_name)}")
    chosen = [by_name[name] for name in given.points]
    if messages := [point.name for point in chosen if point.metric == "msg_mean"]:
        parser.error(f"{', '.join(messages)}: messages are told apart by samples of 1 ms, as no live run has")
    for point in chosen:
        values = [value_of(point, seed) for seed in SEEDS]
        before, now = mean(point.kernel), mean(values)
        change = 100 * (now / before - 1)
        words = " ".join(f"{value:.6g}" for value in values)
        words = f"{before:.6g} {point.unit}, now {words}: {now:.6g} ({change:+.2f} %)"
        print(f"{point.name}: {words}", flush=True)  # noqa: T201
        if given.write:
            write(point.name, values)
    return 0


def value_of(point: Recorded, seed: int) -> float:
    """The metric of a valid run of this seed.

    Raises:
        NotValidError: if none was.
    """
    document = point.document()
    scenario = Scenario.from_data(document).replace({"run.seed": seed})
    for _ in range(TRIES):
        result = run(scenario, page=False)
        if result.summary["live"]["valid"]:
            return METRICS[point.metric](document, result)
    raise NotValidError(f"{point.name}, seed {seed}: {result.summary['warnings']}")


def write(name: str, values: list[float]) -> None:
    """Puts the values of a point into the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    place = header.index("kernel")
    for row in rows:
        if row[0] == name:
            row[place] = ";".join(f"{value:.5g}" for value in values)
    with FILE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    sys.exit(main())
