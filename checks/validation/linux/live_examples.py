"""Runs ten scenarios of examples/ live and simulated, and writes how far they are apart into docs/live.md.

    python checks/validation/linux/live_examples.py [--runs N] [SCENARIO ...]

Linux, root, about five minutes a run. Transports of ns-3's kind are replaced by those of Linux. A run that is
not valid is made again, up to three times. Each scenario is simulated 20 times more with other processing
delays of its hosts, which shows what is chance. The exit status is 1 if the median of the ten is above 5 %.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

from anabranch import Scenario
from anabranch.live import run

ROOT = Path(__file__).parents[3]
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

WORDS = """`python checks/validation/linux/live_examples.py` (root) runs these files of `examples/` live and
simulated. Where a file has `cubic`, `newreno` or `bbr`, it gets the transport of Linux. The difference of a
flow is simulated over live goodput, less 1; a run has the median of its flows, and the table the mean of the
runs. Flows that share a queue share it by chance. What chance alone does is seen in 20 more simulations, the
same but for exponential processing delays of the hosts with means of 5 to 24 us. In `first.toml`, which draws
a path for each packet, they have other seeds, too, and in `switches.toml`, whose flows start at one instant,
starts within 5 to 24 ms. The table has how far apart from the first one they are in the same measure ("by
chance"), and how many flows of the live runs lie between the least and the most of them, or within 1 % of
these ("inside"). Of 21 runs that differ by chance alone, one is the least or the most in two of 21 cases."""
MEANS_US = range(5, 25)
"""Processing delays of hosts: the 99th percentile is 4.6 times as much, as late as live packets are."""
NEAR = 0.01
MORE_CHANCE: dict[str, Callable[[int], dict[str, Any]]] = {
    # It draws a path for each packet, and nothing of its traffic.
    "first": lambda number: {"run.seed": number},
    # All flows start at one instant; programs open theirs one after the other, within some milliseconds.
    "switches": lambda number: {
        "traffic[0].start": {"distribution": "uniform", "low": "0 ms", "high": f"{4 + number} ms"}
    },
}
"""What else is chance in a scenario, by the number of a simulation, from 1 on."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run of a scenario, live and simulated."""

    scenario: str
    run: int
    flows: int
    """Real ones."""
    median_difference: float
    """Of the flows' goodputs, without signs."""
    largest_difference: float
    total_mbps: float
    """Of the real flows, live."""
    total_difference: float
    chance_difference: float
    """What `median_difference` is between simulations, in the median."""
    inside: int
    """Flows whose live goodput lies among those simulated."""
    least_total_mbps: float
    most_total_mbps: float
    """Of the real flows, simulated."""
    tries: int
    not_valid: str
    lateness_p99_us: float
    load: float
    kernel: str
    day: str


def chance(name: str, scenario: Scenario, flows: list[int]) -> list[list[tuple[float, float]]]:
    """Goodput and delivered bytes of these flows in each simulation with noise."""
    columns = []
    for number, mean_us in enumerate(MEANS_US, 1):
        delay = {"distribution": "exponential", "mean": f"{mean_us} us"}
        more = MORE_CHANCE[name](number) if name in MORE_CHANCE else {}
        table = scenario.replace({"network.hosts.processing_delay": delay, **more}).run().flows
        wanted = table.filter(table["flow"].is_in(flows)).sort("flow")
        columns.append(list(wanted.select("goodput_mbps", "delivered_bytes").iter_rows()))
    return columns


def measure(name: str, changes: dict[str, Any], number: int) -> Row:
    """Runs a scenario live, until it is valid or has been made three times, and simulated."""
    scenario = Scenario.load(ROOT / "examples" / f"{name}.toml").replace({**changes, "capture": []})
    tries = 0
    while True:
        tries += 1
        result = run(scenario, against_simulation=True)
        live = result.summary["live"]
        if live["valid"] or tries == MOST_TRIES:
            break
    table = result.tables["against"].sort("flow")
    differences = (table["difference_percent"].drop_nulls().abs() / 100).to_list()
    ended_s = float(result.summary["ended_s"])
    delivered, simulated = (
        float(table[column].sum()) for column in ("delivered_bytes", "simulated_delivered_bytes")
    )
    others = chance(name, scenario, table["flow"].to_list())
    rates, first = table["goodput_mbps"].to_list(), table["simulated_goodput_mbps"].to_list()
    spreads = [sorted(other[flow][0] for other in others) for flow in range(table.height)]
    totals = [sum(each for _, each in other) * 8e-6 / ended_s for other in others]
    apart = [
        median(abs(goodput / rate - 1) for (goodput, _), rate in zip(other, first, strict=True) if rate)
        for other in others
    ]
    return Row(
        scenario=name,
        run=number,
        flows=table.height,
        median_difference=median(differences),
        largest_difference=max(differences),
        total_mbps=delivered * 8e-6 / ended_s,
        total_difference=simulated / delivered - 1,
        chance_difference=median(apart),
        inside=sum(
            low * (1 - NEAR) <= rate <= high * (1 + NEAR)
            for rate, (low, *_, high) in zip(rates, spreads, strict=True)
        ),
        least_total_mbps=min(totals),
        most_total_mbps=max(totals),
        tries=tries,
        not_valid=live["not_valid"] or "",
        lateness_p99_us=live["check"]["lateness_p99_us"],
        load=live["load_before"][0],
        kernel=live["kernel"],
        day=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def line(name: str, rows: list[dict[str, str]]) -> str:
    """The runs of a scenario."""

    def numbers(column: str) -> list[float]:
        return [float(row[column]) for row in rows]

    shares = (f"{100 * mean(numbers(f'{which}_difference')):.1f} %" for which in ("median", "chance"))
    late = sum(bool(row["not_valid"]) for row in rows)
    totals = " to ".join(dict.fromkeys(f"{size(numbers('total_mbps')):.4g}" for size in (min, max)))
    simulated = f"{min(numbers('least_total_mbps')):.4g} to {max(numbers('most_total_mbps')):.4g}"
    return (
        f"| `{name}.toml` | {rows[0]['flows']} | {' | '.join(shares)} | "
        f"{100 * max(numbers('largest_difference')):.1f} % | "
        f"{sum(numbers('inside')):.0f} of {sum(numbers('flows')):.0f} | {totals} | {simulated} | "
        f"{f'{late} not valid' if late else ''} |"
    )


def section(rows: list[dict[str, str]]) -> str:
    """The section of the page."""
    loads = sorted(float(row["load"]) for row in rows)
    valid = [float(row["median_difference"]) for row in rows if not row["not_valid"]]
    kernel = f"Linux {rows[0]['kernel'].split('-')[0]}, {os.cpu_count()} cores, {rows[0]['day']}"
    load = f"load of the machine {loads[0]:.1f} to {loads[-1]:.1f}"
    summary = f"{kernel}, {load}. Median of the {len(valid)} valid runs: {100 * median(valid):.1f} %."
    lines = [
        "| scenario | real flows | difference of a flow, median | by chance | largest | flows inside "
        "| all flows, live (Mbps) | simulated | |",
        "|---" * 9 + "|",
    ]
    names = dict.fromkeys(row["scenario"] for row in rows)
    lines += [line(name, [row for row in rows if row["scenario"] == name]) for name in names]
    return "\n".join([HEADING, "", WORDS, "", summary, "", *lines, "", ""])


def write_section() -> None:
    """Puts the section in the place of the one before."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    _, _, after = rest.partition("\n## ")
    PAGE.write_text(f"{before}{section(rows)}## {after}", encoding="utf-8")


def main() -> int:
    """Runs all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="names; without any, all ten")
    parser.add_argument("--runs", type=int, default=1, help="live runs of each (1)")
    parser.add_argument("--out", type=Path, default=FILE, help="file of the runs (live_examples.csv)")
    given = parser.parse_args()
    unknown = sorted(set(given.scenarios) - set(SCENARIOS))
    if unknown:
        parser.error(f"no such scenarios: {', '.join(unknown)}; there are {', '.join(SCENARIOS)}")
    rows = []
    with given.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for name in given.scenarios or SCENARIOS:
            for number in range(given.runs):
                row = measure(name, SCENARIOS[name], number)
                print(row, flush=True)  # noqa: T201
                writer.writerow(asdict(row))
                file.flush()
                rows.append(row)
    if given.out == FILE:
        write_section()
    valid = [row.median_difference for row in rows if not row.not_valid]
    return 0 if valid and median(valid) <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
