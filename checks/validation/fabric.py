"""Runs of uet-htsim beside ours: ``python checks/validation/fabric.py FOLDER [--only TEXT]``.

FOLDER has ``golden_open.csv``, one run a row, and ``matrices``, the flow lists. A run of ours has the same
network, flows, queues and constants; entropy values, hashes and draws are its own. Times are those of the
sender, as there. The means over seeds of median and maximum stand beside each other, and retransmissions and
trims of all seeds together.
"""

import argparse
import csv
import math
import re
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anabranch

SELECTORS = {
    "flow": '"flow"',
    "random": '{{ algorithm = "random", values = {values} }}',
    "oblivious": '{{ algorithm = "oblivious", values = {values} }}',
    "bitmap": '{{ algorithm = "bitmap", values = {values} }}',
    "mixed": '{{ algorithm = "mixed", values = {values} }}',
    "reps": '{{ algorithm = "reps", values = {values} }}',
    "reps-sack4": '{{ algorithm = "reps", values = {values} }}',
    "mrc": '{{ algorithm = "mrc", values = {values} }}',
    "mrc-sack1": '{{ algorithm = "mrc", values = {values} }}',
    "switch-rr": '"flow"',
}
WINDOWS = {"nscc": '{ algorithm = "nscc", as_htsim = true }', "constant": '"constant"'}
LEAF_SPINES = {
    "leaf-spine ls32_4os": (4, 8, 2),
    "leaf-spine ls32_1os": (4, 8, 8),
    "leaf-spine ls128_4os": (8, 16, 4),
}
"""Leaves, hosts of each, spines."""


@dataclass
class Numbers:
    """Of the runs of a configuration: completion times in microseconds, and packets."""

    medians: list[float] = field(default_factory=list)
    maxima: list[float] = field(default_factory=list)
    makespans: list[float] = field(default_factory=list)
    retransmissions: int = 0
    trims: int = 0
    unfinished: int = 0
    seconds: float = 0.0


def host(topology: str, index: int) -> str:
    """The name of a host by its number along the tree."""
    if topology.startswith("fat-tree"):
        half = int(topology.split("=")[1]) // 2
        return f"host{index // half**2 + 1}.{index // half % half + 1}.{index % half + 1}"
    per_leaf = LEAF_SPINES[topology][1]
    return f"host{index // per_leaf + 1}.{index % per_leaf + 1}"


def flows(path: Path) -> list[dict[str, Any]]:
    """The flows of a list."""
    found = []
    for line in path.read_text().splitlines():
        match = re.match(r"(\d+)->(\d+) (.*)", line)
        if match:
            words = match[3].split()
            found.append(
                {"from": int(match[1]), "to": int(match[2])} | dict(zip(words[::2], words[1::2], strict=True))
            )
    return found


def network(row: dict[str, str]) -> str:
    """The table of the network, and its queues."""
    topology, rate = row["topology"], float(row["gbps"])
    if topology.startswith("fat-tree"):
        made = f'topology = "fat-tree"\nparameters = {{ k = {topology.split("=")[1]} }}'
    else:
        leaves, per_leaf, spines = LEAF_SPINES[topology]
        made = (
            f'topology = "leaf-spine"\n'
            f"parameters = {{ leaves = {leaves}, hosts_per_leaf = {per_leaf}, spines = {spines} }}"
        )
    return f"""[network]
{made}
[network.links]
capacity = "{rate} Gbps"
delay = "{row["link_delay_us"]} us"
queue = {queue(row, 1.0)}
"""


def queue(row: dict[str, str], share: float) -> str:
    """The queue: there the packet that is being sent counts."""
    mtu = int(row["mtu"])
    room = math.ceil(float(row["queue_bytes"]) * share / mtu) * mtu - mtu
    low, high = (float(row[f"ecn_{edge}_bytes"]) * share / room for edge in ("low", "high"))
    cut = "true" if row["trimming"] == "1" else "false"
    marks = f"mark_from = {low}, mark_all_from = {high}"
    return f'{{ algorithm = "trim", limit = "{room} B", cut = {cut}, {marks} }}'


def scenario(row: dict[str, str], folder: Path, seed: int) -> str:
    """A run of ours as that of a row."""
    selector = SELECTORS[row["lb"]].format(values=row["evs"] or 64)
    entries = []
    for flow in flows(folder / "matrices" / f"{row['matrix']}.cm"):
        ends = [host(row["topology"], flow[end]) for end in ("from", "to")]
        entries.append(
            f'[[traffic]]\nfrom = "{ends[0]}"\nto = "{ends[1]}"\nsize = "{flow["size"]} B"\ntransport = "x"\n'
        )
    events = ""
    if "half rate" in row["change"]:
        events = f"""[[event]]
at = "0 s"
link = ["core1.1", "aggregation1.1"]
direction = "forward"
capacity = "{float(row["gbps"]) / 2} Gbps"
queue = {queue(row, 0.5)}
"""
    if "silently" in row["change"]:
        events = '[[event]]\nat = "20 us"\nlink = ["core1.1", "aggregation1.1"]\nstate = "silent"\n'
    balancing = "packet-round-robin" if row["lb"] == "switch-rr" else "flow"
    return f"""title = "{row["group"]}"
{network(row)}
[routing]
scheme = "ecmp"
load_balancing = "{balancing}"
[transport.x]
preset = "uet"
payload = "{row["payload"]} B"
ack_after = "{row["sack_bytes"]} B"
trimming = {"true" if row["trimming"] == "1" else "false"}
base_rtt = "{row["base_rtt_us"]} us"
rto = "{row["rto_us"]} us"
window = {WINDOWS[row["cc"]]}
path_selector = {selector}
{"".join(entries)}{events}
[run]
duration = "20 ms"
until = "done"
seed = {seed}
"""


def measure(row: dict[str, str], folder: Path, seed: int, numbers: Numbers) -> None:
    """Run the scenario of a row."""
    before = time.process_time()
    result = anabranch.Scenario.loads(scenario(row, folder, seed)).run()
    numbers.seconds += time.process_time() - before
    spray, flow_table = result.tables["spray_flows"], result.tables["flows"]
    times = [time_s * 1e6 for time_s in spray["acknowledged_s"] if time_s is not None]
    times.sort()
    numbers.unfinished += len(spray) - len(times)
    if times:
        numbers.medians.append(times[math.ceil(len(times) / 2) - 1])
        numbers.maxima.append(times[-1])
        numbers.makespans.append(times[-1])
    numbers.retransmissions += int(flow_table["retransmissions"].sum())
    numbers.trims += int(spray["trims"].sum())


def configurations(
    folder: Path, only: str = "", seeds: int = 1
) -> Iterator[tuple[tuple[str, ...], tuple[Numbers, Numbers]]]:
    """The configurations of a folder by their names, with what uet-htsim has measured, and what we have.

    Args:
        folder: of ``golden_open.csv`` and ``matrices``.
        only: a text that their names have.
        seeds: runs of ours for each of theirs, with other draws.
    """
    with (folder / "golden_open.csv").open() as file:
        rows = list(csv.DictReader(file))
    chosen: dict[tuple[str, ...], tuple[Numbers, Numbers]] = {}
    names = ("group", "topology", "gbps", "lb", "evs", "cc", "trimming", "change", "matrix")
    for row in rows:
        matrix = re.sub(r"_s\d$", "", row["matrix"])
        name = (*(row[part] for part in names[:-1]), matrix)
        if only not in " ".join(name) or row["lb"] not in SELECTORS or row["cc"] not in WINDOWS:
            continue
        if any("trigger" in flow for flow in flows(folder / "matrices" / f"{row['matrix']}.cm")):
            continue
        theirs, ours = chosen.setdefault(name, (Numbers(), Numbers()))
        theirs.medians.append(float(row["fct_p50_us"]))
        theirs.maxima.append(float(row["fct_max_us"]))
        theirs.retransmissions += int(float(row["retransmissions"]))
        theirs.trims += int(float(row["trims"]))
        theirs.unfinished += int(float(row["unfinished"]))
        theirs.seconds += float(row["cpu_s"])
        for times in range(seeds):
            measure(row, folder, int(row["seed"]) + 3 * times, ours)
    yield from chosen.items()


def main() -> None:
    """Run all, and print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="configurations whose name has this text")
    parser.add_argument(
        "--seeds", type=int, default=1, help="runs of ours for each of theirs, with other draws"
    )
    given = parser.parse_args()
    counts = ("trims", "retransmissions", "unfinished")
    title = "configuration | p50 us: theirs, ours, % | max us: theirs, ours, %"
    sys.stdout.write(" | ".join([title, *counts, "cpu s"]) + "\n")
    for name, (theirs, ours) in configurations(given.folder, given.only, given.seeds):
        cells = [" ".join(part[:24] for part in name if part)]
        for what in ("medians", "maxima"):
            a, b = (statistics.fmean(getattr(numbers, what) or [math.nan]) for numbers in (theirs, ours))
            cells.append(f"{a:.3f} {b:.3f} {100 * (b / a - 1):+.1f}")
        cells += [f"{getattr(theirs, what)} {getattr(ours, what) / given.seeds:.0f}" for what in counts]
        cells.append(f"{theirs.seconds:.2f} {ours.seconds / given.seeds:.2f}")
        sys.stdout.write(" | ".join(cells) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
