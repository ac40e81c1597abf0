"""Measures the numbers of the section "Measured" of docs/live.md: live runs beside what was set or recorded.

    python checks/validation/linux/live_numbers.py [--runs N] [--out FILE] [CASE ...]

Linux, root; about 20 minutes for all cases. Each run is simulated as well. It writes
live_numbers.csv and the section; with another file behind --out, the file alone. A run that is not valid by
its self-check is made again, up to three times. The exit status is 1 if a bound is not kept.
"""

from __future__ import annotations

import argparse
import csv
import math
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean

from live_cases import Case, cases
from live_page import measured_on

from anabranch import Scenario
from anabranch.errors import LiveError
from anabranch.live import Asked
from anabranch.live import run as run_live

FILE = Path(__file__).parent / "live_numbers.csv"
PAGE = Path(__file__).parents[3] / "docs" / "live.md"
HEADING = "## Measured"
MOST_TRIES = 3

WORDS = """`python checks/validation/linux/live_numbers.py` (root) measures these cases and writes this
table; with names behind it, as they stand in brackets, only those. The runs are in
`checks/validation/linux/live_numbers.csv`. A number is the mean of the valid runs, with the least
and the most of them. Simulated is the same scenario with the same seeds. The last columns are how
late the latest 1 % of packets came, and the share of a core that the network's thread took, both
in the worst run, and the load of the machine before the busiest one."""


@dataclass(frozen=True, slots=True)
class Row:
    """A value of a run, live and simulated, as live_numbers.csv has it."""

    case: str
    value: str
    """Unit and what it is."""
    run: int
    live: float
    simulated: float
    """NaN where a case has no simulation."""
    tries: int
    not_valid: str
    """Why the last try is not valid; empty if it is."""
    lateness_p99_us: float
    lateness_max_us: float
    cpu_share: float
    """Of a core, by the network's thread."""
    load: float
    """Of the machine over the last minute, when the run began."""
    kernel: str
    machine: str
    cpus: int
    day: str


def measure(case: Case, run: int) -> Iterator[Row]:
    """A run of a case, again while it is not valid, and its simulation."""
    scenario = Scenario.from_data(case.document).replace({"run.seed": run + 1})
    simulated = {} if case.program else case.values(scenario.run(), Path())
    asked = Asked((case.program,)) if case.program else None
    with tempfile.TemporaryDirectory() as folder:
        tries = 0
        while True:
            tries += 1
            result = run_live(
                scenario,
                asked=asked,
                kernel_receivers=case.kernel_receivers,
                out=Path(folder) / "run",
                page=False,
                replace=True,
            )
            live = result.summary["live"]
            if live["valid"] or tries == MOST_TRIES:
                break
        values = case.values(result, Path(folder) / "run")
    for value, number in values.items():
        yield Row(
            case=case.name,
            value=value,
            run=run,
            live=number,
            simulated=simulated.get(value, math.nan),
            tries=tries,
            not_valid=live["not_valid"] or "",
            lateness_p99_us=live["check"]["lateness_p99_us"],
            lateness_max_us=live["check"]["lateness_max_us"],
            cpu_share=live["check"]["cpu_share"],
            load=live["load_before"][0],
            kernel=live["kernel"],
            machine=live["machine"],
            cpus=live["cpus"],
            day=datetime.now(UTC).strftime("%Y-%m-%d"),
        )


def rows(name: Path = FILE) -> list[dict[str, str]]:
    """What the file has."""
    with name.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def told(numbers: Sequence[float]) -> str:
    """Their mean, and where they differ the least and the most."""
    numbers_there = [number for number in numbers if not math.isnan(number)]
    if not numbers_there:
        return ""
    texts = [f"{number:.4g}" for number in (mean(numbers_there), min(numbers_there), max(numbers_there))]
    return texts[0] if texts[1] == texts[2] else f"{texts[0]} ({texts[1]} to {texts[2]})"


def kept(case: Case, value: str, numbers: Sequence[float]) -> str:
    """Whether the mean of the valid runs keeps the bounds; empty without bounds."""
    if value not in case.bounds:
        return ""
    if not numbers:
        return "**not valid**"
    least, most = case.bounds[value]
    number = mean(numbers)
    good = (least is None or number >= least) and (most is None or number <= most)
    return "kept" if good else "**not kept**"


def lines(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """A line for each value of each case."""
    yield "| what | | wanted | live | simulated | runs | late (us) | of a core | load | |"
    yield "|---" * 10 + "|"
    for case in cases():
        rows_of_case = [row for row in rows if row["case"] == case.name]
        for value in dict.fromkeys(row["value"] for row in rows_of_case):
            these = [row for row in rows_of_case if row["value"] == value]
            valid = [row for row in these if not row["not_valid"]]
            count = f"{len(these)}" + (f", {len(these) - len(valid)} not valid" if valid != these else "")
            loads = [float(row["load"]) for row in these]
            wanted = case.reference if value in case.bounds else ""
            yield (
                f"| {case.what} (`{case.name}`) | {value} | {wanted} | "
                f"{told([float(row['live']) for row in valid or these])} | "
                f"{told([float(row['simulated']) for row in these])} | {count} | "
                f"{max(float(row['lateness_p99_us']) for row in these):.0f} | "
                f"{100 * max(float(row['cpu_share']) for row in these):.0f} % | {max(loads):.1f} | "
                f"{kept(case, value, [float(row['live']) for row in valid])} |"
            )


def section() -> str:
    """The whole section."""
    rows_of_file = rows()
    return "\n".join([HEADING, "", WORDS, "", measured_on(rows_of_file), "", *lines(rows_of_file), "", ""])


def write_section() -> None:
    """Puts the section in the place of the one before."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    _, _, after = rest.partition("\n## ")
    PAGE.write_text(f"{before}{section()}## {after}", encoding="utf-8")


def main() -> int:
    """Measures the cases, keeps every run as it comes, and writes the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names; without any, all")
    parser.add_argument("--runs", type=int, help="of each case (1 to 5, as the case says)")
    parser.add_argument("--out", type=Path, default=FILE, help="file of the runs (live_numbers.csv)")
    given = parser.parse_args()
    by_name = {case.name: case for case in cases()}
    unknown = sorted(set(given.cases) - set(by_name))
    if unknown:
        parser.error(f"no such cases: {', '.join(unknown)}; there are {', '.join(by_name)}")
    if platform.system() != "Linux":
        parser.error("live runs need Linux")
    chosen = [case for name, case in by_name.items() if not given.cases or name in given.cases]
    try:
        with given.out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
            writer.writeheader()
            for case in chosen:
                for run in range(given.runs or case.runs):
                    for row in measure(case, run):
                        print(row, flush=True)  # noqa: T201
                        writer.writerow(asdict(row))
                        file.flush()
    except LiveError as error:
        parser.error(str(error))
    if given.out == FILE:
        write_section()
    return 1 if any("**" in line for line in lines(rows(given.out))) else 0


if __name__ == "__main__":
    sys.exit(main())
