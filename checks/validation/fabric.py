"""Runs of uet-htsim, and ours of the same scenarios.

FOLDER has ``golden_open.csv``, one run a row, and ``matrices``, the flow lists. A run of ours has the same
network, flows, queues and constants; entropy values, hashes and draws are its own, so that there are several
runs of ours for each of theirs. Times are those of the sender, as there. ``fabric_page.py`` sets them side
by side.
"""

import csv
import math
import re
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


RUNS = {64: 20, 1000: 4}
"""Runs of ours for each of theirs, up to so many flows; above one will do, whose flows say what more would.

Sixteen flows that keep to a path each are a matter of a few hashes: over 220 draws the median of a run
scatters by 40 us around 308, and twelve draws once had a mean of 350.
"""


@dataclass
class Numbers:
    """Of the runs of a configuration: completion times in microseconds, and packets."""

    medians: list[float] = field(default_factory=list)
    maxima: list[float] = field(default_factory=list)
    makespans: list[float] = field(default_factory=list)
    runs: int = 0
    retransmissions: list[float] = field(default_factory=list)
    trims: list[float] = field(default_factory=list)
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
    rows = []
    for line in path.read_text().splitlines():
        match = re.match(r"(\d+)->(\d+) (.*)", line)
        if match:
            words = match[3].split()
            rows.append(
                {"from": int(match[1]), "to": int(match[2])} | dict(zip(words[::2], words[1::2], strict=True))
            )
    return rows


def hops(topology: str, a: int, b: int) -> int:
    """Links between two hosts."""
    if topology.startswith("fat-tree"):
        half = int(topology.split("=")[1]) // 2
        groups: tuple[int, ...] = (half, half**2)
    else:
        groups = (LEAF_SPINES[topology][1],)
    return 2 + 2 * sum(a // size != b // size for size in groups)


def earlier_us(row: dict[str, str], listed: list[dict[str, Any]]) -> list[float]:
    """By how much sooner than there each flow of ours begins.

    There a flow begins with the last acknowledgment of the one it waits for, here with its last byte; the
    acknowledgment needs the way of a header back.
    """
    header_us = 64 * 8 / float(row["gbps"]) / 1e3 + float(row["link_delay_us"])
    firing = [(flow.get("send_done_trigger"), index) for index, flow in enumerate(listed)]
    done = {trigger: index for trigger, index in firing if trigger is not None}
    sooner: list[float] = []
    for flow in listed:
        before = done.get(flow.get("trigger"))
        if before is None:
            sooner.append(0.0)
            continue
        ends = (listed[before][end] for end in ("from", "to"))
        sooner.append(sooner[before] + hops(row["topology"], *ends) * header_us)
    return sooner


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


def events(row: dict[str, str]) -> str:
    """What becomes of links in the run of a row.

    Raises:
        ValueError: if it is not known.
    """
    change = row["change"]
    if not change:
        return ""
    if re.match(r"link agg 0 - core 0, both directions, loses everything from 20 us on, silently", change):
        return '[[event]]\nat = "20 us"\nlink = ["core1.1", "aggregation1.1"]\nstate = "silent"\n'
    slow = re.match(
        r"(?:the link core 0|all (\d+) links from cores down) to aggregation 0 at half rate", change
    )
    if slow is None:
        raise ValueError(f"what is changed is not known: {change}")
    cores = range(1, int(slow[1] or 1) + 1)
    return "".join(
        f"""[[event]]
at = "0 s"
link = ["core1.{core}", "aggregation1.1"]
direction = "forward"
capacity = "{float(row["gbps"]) / 2} Gbps"
queue = {queue(row, 0.5)}
"""
        for core in cores
    )


def scenario(row: dict[str, str], folder: Path, seed: int) -> str:
    """A run of ours as that of a row."""
    selector = SELECTORS[row["lb"]].format(values=row["evs"] or 64)
    listed = flows(folder / "matrices" / f"{row['matrix']}.cm")
    names = {flow["send_done_trigger"]: f"flow{flow['id']}" for flow in listed if "send_done_trigger" in flow}
    entries = []
    for flow in listed:
        ends = [host(row["topology"], flow[end]) for end in ("from", "to")]
        after = f'after = "{names[flow["trigger"]]}"\n' if "trigger" in flow else ""
        entries.append(
            f'[[traffic]]\nname = "flow{flow["id"]}"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\n'
            f'size = "{flow["size"]} B"\ntransport = "x"\n{after}'
        )
    in_turn = '{ algorithm = "packet-round-robin", shared = true }'
    balancing = in_turn if row["lb"] == "switch-rr" else '"flow"'
    return f"""title = "{row["group"]}"
{network(row)}
[routing]
scheme = "ecmp"
load_balancing = {balancing}
[transport.x]
preset = "uet"
payload = "{row["payload"]} B"
ack_after = "{row["sack_bytes"]} B"
trimming = {"true" if row["trimming"] == "1" else "false"}
base_rtt = "{row["base_rtt_us"]} us"
rto = "{row["rto_us"]} us"
window = {WINDOWS[row["cc"]]}
path_selector = {selector}
{"".join(entries)}{events(row)}
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
    numbers.runs += 1
    spray, flow_table = result.tables["spray_flows"], result.tables["flows"]
    sooner = earlier_us(row, flows(folder / "matrices" / f"{row['matrix']}.cm"))
    both = zip(flow_table["start_s"], spray["acknowledged_s"], sooner, strict=True)
    ended = [(1e6 * start, 1e6 * took, wait) for start, took, wait in both if took is not None]
    times = sorted(took for _, took, _ in ended)
    numbers.unfinished += len(spray) - len(times)
    if times:
        numbers.medians.append(times[math.ceil(len(times) / 2) - 1])
        numbers.maxima.append(times[-1])
        numbers.makespans.append(max(map(sum, ended)))
    numbers.retransmissions.append(float(flow_table["retransmissions"].sum()))
    numbers.trims.append(float(spray["trims"].sum()))


def configurations(
    folder: Path, only: str = "", seeds: int | None = None
) -> Iterator[tuple[tuple[str, ...], tuple[Numbers, Numbers]]]:
    """The configurations of a folder by their names, with what uet-htsim has measured, and what we have.

    Args:
        folder: of ``golden_open.csv`` and ``matrices``.
        only: a text that their names have.
        seeds: runs of ours for each of theirs, with other draws; none: as ``RUNS`` says.
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
        theirs, ours = chosen.setdefault(name, (Numbers(), Numbers()))
        theirs.medians.append(float(row["fct_p50_us"]))
        theirs.maxima.append(float(row["fct_max_us"]))
        theirs.makespans.append(float(row["makespan_us"]))
        theirs.retransmissions.append(float(row["retransmissions"]))
        theirs.trims.append(float(row["trims"]))
        theirs.unfinished += int(float(row["unfinished"]))
        theirs.seconds += float(row["cpu_s"])
        theirs.runs += 1
        usual = next((runs for most, runs in RUNS.items() if int(row["flows"]) <= most), 1)
        for times in range(seeds or usual):
            measure(row, folder, int(row["seed"]) + 3 * times, ours)
    yield from chosen.items()
