"""What shares of all pairs together bring: `concurrent-flow` against ECMP and each pair's own maximum flow.

    python checks/benches/spraying.py --out docs/spraying.md

Simulates permutations of greedy flows on fabrics with a slow link and on wide-area networks.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from anabranch import Scenario
from anabranch.results.result import Result

SEEDS = (1, 2, 3)
TRANSPORTS = ("mprc", "linux-cubic")
ROUTES: Mapping[str, Mapping[str, Any]] = {
    "ECMP by flow": {"scheme": "ecmp", "load_balancing": "flow"},
    "ECMP, packets at random": {"scheme": "ecmp", "load_balancing": "packet"},
    "`max-flow`, packets at random": {"scheme": "max-flow", "load_balancing": "packet"},
    "`concurrent-flow`": {"scheme": "concurrent-flow"},
}
FABRIC_LINKS = {"capacity": "10 Gbps", "delay": "1 us", "queue": "200 packets"}
WAN_LINKS = {"capacity": "20 Mbps", "queue": "100 packets"}
PERMUTATION = {"from": "*", "pairs": "permutation", "size": "unlimited"}
HEAD = (
    "network", "routes", "flows", "least by theory", "bound", "sum by theory",
    *(f"{what}, {transport}" for transport in TRANSPORTS for what in ("least", "sum")),
)  # fmt: skip


def fabric(leaves: int, hosts: int, slow: str, traffic: Mapping[str, Any]) -> dict[str, Any]:
    """A leaf-spine network of four spines, with one slow link between a leaf and a spine."""
    return {
        "network": {
            "topology": "leaf-spine",
            "parameters": {"spines": 4, "leaves": leaves, "hosts_per_leaf": hosts},
            "links": FABRIC_LINKS,
            "link": [{"between": ["leaf1", "spine1"], "capacity": slow}],
        },
        "traffic": [dict(traffic)],
        "run": {"duration": "20 ms"},
    }


def across() -> dict[str, Any]:
    """Four hosts of one leaf send to four of the other."""
    hosts = [[f"host{leaf}.{number}" for number in range(1, 5)] for leaf in (1, 2)]
    return {"from": hosts[0], "to": hosts[1], "pairs": "in-order", "size": "unlimited"}


def wan(topology: str) -> dict[str, Any]:
    """A network of an archive, with links of one capacity and the delays of their lengths."""
    return {
        "network": {"topology": topology, "links": WAN_LINKS},
        "traffic": [PERMUTATION],
        "run": {"duration": "10 s"},
    }


NETWORKS: Mapping[str, dict[str, Any]] = {
    "2 leaves, a link of 5 Gbps": fabric(2, 4, "5 Gbps", across()),
    "2 leaves, a link of 1 Gbps": fabric(2, 4, "1 Gbps", across()),
    "8 leaves, a link of 1 Gbps": fabric(8, 4, "1 Gbps", PERMUTATION),
    "Abilene": wan("zoo/Abilene"),
    "AttMpls": wan("zoo/AttMpls"),
    "nobel-us": wan("sndlib/nobel-us"),
    "nobel-germany": wan("sndlib/nobel-germany"),
    "geant": wan("sndlib/geant"),
}


def scenario(network: Mapping[str, Any], routes: Mapping[str, Any], transport: str, seed: int) -> Scenario:
    """One of the runs."""
    traffic = [{**entry, "transport": transport} for entry in network["traffic"]]
    run = {**network["run"], "seed": seed, "flow_series": False, "link_series": False}
    return Scenario.from_data({**network, "routing": routes, "traffic": traffic, "run": run})


def carried(result: Result) -> tuple[float, float]:
    """Goodput of the flow that has least, and of all together, in Mbps."""
    goodput = result.flows["goodput_mbps"]
    return min(goodput.to_list()), sum(goodput.to_list())


def rows() -> list[tuple[str, ...]]:
    """A row for each network and routes: means over the seeds."""
    made = []
    for name, network in NETWORKS.items():
        for label, routes in ROUTES.items():
            facts = [
                scenario(network, routes, TRANSPORTS[0], seed).routes().facts if "`conc" in label else {}
                for seed in SEEDS
            ]
            theory = [
                f"{statistics.fmean(float(str(fact[key])) for fact in facts):,.2f}" if all(facts) else ""
                for key in ("least_flow_mbps", "least_flow_bound_mbps", "total_mbps")
            ]
            cells, flows = [], 0
            for transport in TRANSPORTS:
                runs = [scenario(network, routes, transport, seed).run() for seed in SEEDS]
                flows = runs[0].flows.height
                least, total = zip(*map(carried, runs), strict=True)
                cells += [f"{statistics.fmean(least):,.2f}", f"{statistics.fmean(total):,.1f}"]
            made.append((name, label, f"{flows}", *theory, *cells))
            sys.stderr.write(" | ".join(made[-1]) + "\n")
    return made


def table(lines: list[tuple[str, ...]]) -> list[str]:
    """A table of Markdown, numbers to the right."""
    return [
        "| " + " | ".join(HEAD) + " |",
        "|---|---|" + "---:|" * (len(HEAD) - 2),
        *("| " + " | ".join(line) + " |" for line in lines),
    ]


def document(lines: list[tuple[str, ...]]) -> str:
    """The page."""
    today = datetime.now(UTC).date().isoformat()
    return "\n".join(
        [
            "# Shares of all pairs together",
            "",
            "Written by checks/benches/spraying.py (`make spraying`); do not edit.",
            "",
            f"Run on {today} on {platform.machine()}, {platform.system()}, "
            f"Python {platform.python_version()}, HiGHS {version('highspy')}, "
            f"Anabranch {version('anabranch')}.",
            "",
            "Greedy flows in a random permutation of all hosts or nodes; with two leaves from each host",
            f"of one to a host of the other. Means of {len(SEEDS)} seeds, which draw other permutations.",
            "Fabrics have four spines and links of 10 Gbps with 1 us, one between a leaf and a spine slower,",
            "and run for 20 ms; wide-area networks have links of 20 Mbps with the delays of their lengths,",
            "and run for 10 s. Least and sum are of the flows' goodput in Mbps; those by theory are of",
            "packets on the wire, with a bound of the least that no shares exceed",
            "([routing.md](routing.md#shares-of-all-pairs-together)).",
            "",
            *table(lines),
            "",
        ]
    )


def main() -> None:
    """Simulate, print and write."""
    parser = argparse.ArgumentParser(description="Shares of all pairs together")
    parser.add_argument("--out", type=Path, help="write a page here")
    out = parser.parse_args().out
    text = document(rows())
    sys.stdout.write(text)
    if out:
        out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
