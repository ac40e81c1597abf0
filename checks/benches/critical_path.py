"""What one run would take on 2 to 64 cores, measured on one (docs/parallel.md).

A part of the network waits for its neighbours alone. Parts take turns first, and what each takes in is noted;
then each runs alone with that, and each of its strides is measured by the processor time of the thread. The
longest chain of strides that wait for each other is what the run would take if each part had a core. It
leaves out what cores take from each other, such as shared caches and the time to wake up. Other programs
count only where they take caches.

    python checks/benches/critical_path.py [--only WORD] [--cores N ...]
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from anabranch import Scenario, _core
from anabranch.plans.routes import plan
from anabranch.setup import Needed, resolve
from anabranch.topology.load import load

CORES = (2, 4, 8, 16, 32, 64)


def wide_area(name: str, flows: int, duration: str) -> Scenario:
    """A network of the Topology Zoo at 1 Gbps, with CUBIC flows between random routers by the least delay."""
    links = {"capacity": "1 Gbps", "delay": {"from": "distance", "speed": "200 km/ms"}}
    network = {"topology": f"zoo/{name}", "links": links}
    nodes = [node.name for node in load(f"zoo/{name}").nodes]
    draw = random.Random(50)  # noqa: S311 - no secret
    pairs = [draw.sample(nodes, 2) for _ in range(min(flows, 10_000))]
    traffic: list[dict[str, Any]] = [
        {"from": a, "to": b, "flows": flows // len(pairs), "start": f"{100_000 * number // len(pairs)} us"}
        for number, (a, b) in enumerate(pairs)
    ]
    return _scenario(network, {"metric": "delay"}, traffic, duration)


def mixed(name: str, duration: str) -> Scenario:
    """A network of SNDlib at 1 Gbps with CUBIC, Multipath TCP and pings; a link fails and comes back."""
    links = {"capacity": "1 Gbps", "delay": {"from": "distance", "speed": "200 km/ms"}}
    loaded = load(name)
    nodes = [node.name for node in loaded.nodes]
    draw = random.Random(50)  # noqa: S311 - no secret
    tcp = [draw.sample(nodes, 2) for _ in range(400)]
    traffic: list[dict[str, Any]] = [
        {"from": a, "to": b, "start": f"{200 * number} us"} for number, (a, b) in enumerate(tcp)
    ]
    # Both ends of a connection of Multipath TCP are in one part: between all nodes they leave nothing to cut.
    a, b = loaded.links[0].a, loaded.links[0].b
    traffic.append({"from": a, "to": b, "flows": 10, "transport": "mptcp"})
    ping = {"kind": "ping", "interval": "10 ms"}
    traffic += [{"from": a, "to": b, "application": ping} for a, b in tcp[:50]]
    events = [
        {"at": "150 ms", "link": [a, b], "state": "down"},
        {"at": "300 ms", "link": [a, b], "state": "up"},
    ]
    network = {"topology": name, "links": links}
    return _scenario(network, {"metric": "delay", "reaction": "20 ms"}, traffic, duration, events)


def fat_tree(ports: int, duration: str, delay: str = "1 us") -> Scenario:
    """A fat tree at 10 Gbps in which each host sends to one that is drawn."""
    links = {"capacity": "10 Gbps", "delay": delay}
    network = {"topology": "fat-tree", "parameters": {"k": ports}, "links": links}
    return _scenario(network, {"scheme": "ecmp"}, [{"from": "*", "pairs": "permutation"}], duration)


def _scenario(
    network: dict[str, Any],
    routing: dict[str, Any],
    traffic: list[dict[str, Any]],
    duration: str,
    events: Sequence[dict[str, Any]] = (),
) -> Scenario:
    data = {"network": network, "routing": routing, "traffic": traffic, "event": list(events)}
    return Scenario.from_data({**data, "run": {"duration": duration, "seed": 1}})


NETWORKS: dict[str, Callable[[], Scenario]] = {
    "Cogentco (197 nodes), 1,000 flows": lambda: wide_area("Cogentco", 1_000, "500 ms"),
    "Cogentco, 100,000 flows": lambda: wide_area("Cogentco", 100_000, "300 ms"),
    "Kdl (754 nodes), 1,000 flows": lambda: wide_area("Kdl", 1_000, "500 ms"),
    "Kdl, 100,000 flows": lambda: wide_area("Kdl", 100_000, "300 ms"),
    "germany50 (50 nodes), 410 flows, pings, a failure": lambda: mixed("sndlib/germany50", "500 ms"),
    "fat tree k = 8 (208 nodes), 128 flows": lambda: fat_tree(8, "20 ms"),
    "fat tree k = 16 (1,344 nodes), 1,024 flows": lambda: fat_tree(16, "5 ms"),
    # With longer links a stride has more events: what it costs to hand over and to wait weighs less.
    "fat tree k = 8, links of 3 us": lambda: fat_tree(8, "20 ms", "3 us"),
    "fat tree k = 8, links of 10 us": lambda: fat_tree(8, "20 ms", "10 us"),
    "fat tree k = 8, links of 30 us": lambda: fat_tree(8, "20 ms", "30 us"),
}
"""Networks, and how long they are simulated."""


HEAD = (
    "| network | cores | parts | lookahead, us | one core, s | longest chain, s | largest part, s "
    "| all parts, s | speed | efficiency |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def tell(line: str) -> None:
    """Writes a line at once: the next one may take minutes."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def rows(name: str, scenario: Scenario, cores: Sequence[int]) -> Iterator[str]:
    """One network's lines of the table."""
    setup = resolve(scenario, Needed.ALL)
    planned = plan(setup, None, None)
    core = setup.core()
    for count in cores:
        # Beside each: a shared machine is twice as fast at one time as at another.
        one = core.critical_path(planned.plan, 1, time.thread_time)
        path = core.critical_path(planned.plan, count, time.thread_time)
        if "one_core" in path:
            yield f"| {name} | {count} | {path['one_core']} |"
            continue
        speed = one["longest_s"] / path["longest_s"]
        cells = (
            name,
            f"{count}",
            f"{path['cores']}",
            f"{path['lookahead_s'] * 1e6:,.0f}",
            f"{one['longest_s']:.2f}",
            f"{path['longest_s']:.3f}",
            f"{path['largest_s']:.3f}",
            f"{path['work_s']:.2f}",
            f"{speed:.1f}",
            f"{speed / count:.2f}",
        )
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Measures the networks that are asked for."""
    parser = argparse.ArgumentParser(description="What one run would take on several cores.")
    parser.add_argument("--only", default="", help="networks with this word alone")
    parser.add_argument("--cores", type=int, nargs="+", default=CORES)
    given = parser.parse_args()
    tell(f"{datetime.now(UTC):%d %B %Y}, {platform.machine()}, {_core.version()}\n")
    tell(HEAD)
    for name, network in NETWORKS.items():
        if given.only in name:
            for line in rows(name, network(), given.cores):
                tell(line)


if __name__ == "__main__":
    main()
