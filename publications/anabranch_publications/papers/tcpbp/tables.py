"""Tables 2, 4 and 6 of Vilela 2022, as far as they need no packets: routes, their metrics, running times."""

from __future__ import annotations

import math
import time
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anabranch import Scenario, _core
from anabranch.setup import resolve
from anabranch_publications.papers.findings import Finding, Prediction, Tolerance, number, predicts
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.tcpbp.network import LINKS, PAIRS, ROUTINGS, scenario

Path = tuple[str, ...]
Pair = tuple[str, str]

PUBLISHED_SAME: Final = {"hop count": 26, "delay": 39}
"""Table 2: pairs whose TCPBP route is that of the other metric."""

PUBLISHED_INVERSE: Final = {"TCPBP": 324.09, "hop count": 265.18, "delay": 321.99}
"""Table 4: 1 / (RTT sqrt(p)) of 1 => 10, as measured."""

PUBLISHED_ROUTE: Final = {
    "TCPBP": ("1", "3", "4", "10"),
    "hop count": ("1", "5", "10"),
    "delay": ("1", "5", "4", "10"),
}

PUBLISHED_SECONDS: Final = {10: 0.0026, 25: 0.0362, 50: 0.1906, 100: 2.2241}
"""Table 6: modified Dijkstra, by the number of nodes."""

PUBLISHED_STANDARD_SECONDS: Final = {10: 0.0022, 25: 0.0304, 50: 0.1716, 100: 2.18564}
"""Table 6: standard Dijkstra."""


LINKS_VARY: Final = "the thesis's delays and losses vary by 5 % each (section 4.3)"


@cache
def routes(routing: str) -> dict[Pair, Path]:
    """The route of every pair under a routing."""
    plan = Scenario.from_data(scenario(routing, pairs=PAIRS, flows=1)).routes()
    return {
        (pair.source, pair.destination): pair.paths[0].nodes for pair in plan.pairs if pair.carries == "data"
    }


def quality(path: Path) -> tuple[float, float]:
    """One-way delay in seconds and loss of a path, nominal values."""
    links = [LINKS[min(ends, key=int), max(ends, key=int)] for ends in pairwise(path)]
    delivery = math.prod(1 - loss for _, loss in links)
    return sum(delay_ms for delay_ms, _ in links) / 1000, 1 - delivery


def inverse(path: Path) -> float:
    """1 / (RTT sqrt(p)) with the loss of the round trip (table 4), nominal values."""
    delay_s, loss = quality(path)
    return 1 / (2 * delay_s * math.sqrt(1 - (1 - loss) ** 2))


def relaxed(source: str) -> dict[str, Path]:
    """The paths that Algorithm 1 finds from a node: Dijkstra's search, relaxed by d sqrt(p).

    A third reading of the thesis's text, beside the core's two searches, which it has nothing in common with.
    """
    label: dict[str, tuple[float, float, float, Path]] = {source: (0.0, 0.0, 1.0, (source,))}
    done: set[str] = set()
    while open_nodes := label.keys() - done:
        node = min(open_nodes, key=lambda name: label[name][0])
        done.add(node)
        _, delay, delivery, path = label[node]
        for ends, (delay_ms, loss) in LINKS.items():
            if node not in ends:
                continue
            (other,) = set(ends) - {node}
            further, delivered = delay + delay_ms, delivery * (1 - loss)
            cost = further * math.sqrt(1 - delivered)
            if other not in done and (other not in label or cost < label[other][0]):
                label[other] = (cost, further, delivered, (*path, other))
    return {node: path for node, (_, _, _, path) in label.items()}


@predicts
def by_algorithm_1(other: str) -> Prediction:
    """How many routes Algorithm 1 as printed shares with another metric."""
    relaxed_routes = {(a, b): relaxed(a)[b] for a, b in PAIRS}
    same = sum(relaxed_routes[pair] == routes(other)[pair] for pair in PAIRS)
    missed = [f"{a}-{b}" for a, b in PAIRS if relaxed_routes[a, b] != routes("TCPBP exact")[a, b]]
    return Prediction(
        same,
        0,
        f"Algorithm 1 misses the best path of {' and '.join(missed)}, because d sqrt(p) is not isotonic; the "
        "printed number is that of the best paths",
    )


def route_summary(_: Context) -> FigureResult:
    """Table 2: how many of the 45 routes are the same."""
    findings = []
    for other, published in PUBLISHED_SAME.items():
        for routing in ("TCPBP exact", "TCPBP"):
            same = sum(routes(routing)[pair] == routes(other)[pair] for pair in PAIRS)
            name = "exact search" if routing == "TCPBP exact" else "published search"
            findings.append(
                number(
                    f"TCPBP = {other}, {name}",
                    published,
                    same,
                    unit="routes",
                    digits=0,
                    prediction=by_algorithm_1(other) if routing == "TCPBP" else None,
                )
            )
    missed = [pair for pair in PAIRS if routes("TCPBP")[pair] != routes("TCPBP exact")[pair]]
    rows = [
        {"pair": f"{a}-{b}", **{routing: "-".join(routes(routing)[a, b]) for routing in ROUTINGS}}
        for a, b in PAIRS
        if len({routes(routing)[a, b] for routing in ROUTINGS}) > 1
    ]
    note = (
        "TCPBP shares 26 routes with hop count if ties in hops go to the lower delay, which also gives the "
        "printed 1-5-10; by node numbers it would be 24 and 1-3-10. The published search misses "
        + ", ".join(f"{a}-{b}" for a, b in missed)
        + "."
    )
    table = pl.DataFrame(rows)
    return FigureResult(
        "table-2",
        "Table 2: route summary",
        tuple(findings),
        {"routes": table},
        shown={"Routes that differ": table},
        note=note,
    )


def formula(_: Context) -> list[Finding]:
    """Table 4, first rows: routes of 1 => 10 and the formula for them."""
    findings = []
    for routing, published in PUBLISHED_INVERSE.items():
        path = routes(routing)["1", "10"]
        expected = PUBLISHED_ROUTE[routing]
        findings.append(Finding(f"{routing}: route", "-".join(expected), "-".join(path), path == expected))
        findings.append(
            number(
                f"{routing}: 1 / (RTT sqrt(p)), round-trip loss",
                published,
                inverse(path),
                unit="",
                digits=2,
                tolerance=Tolerance(0.05 * published, LINKS_VARY),
            )
        )
    return findings


def running_time(context: Context) -> FigureResult:
    """Table 6: all-pairs routes by the published search and by the exact one."""
    repetitions = 3 if context.quick else 100
    rows = []
    findings = []
    ratios = {n: PUBLISHED_SECONDS[n] / PUBLISHED_STANDARD_SECONDS[n] for n in PUBLISHED_SECONDS}
    spread = max(ratios.values()) - min(ratios.values())
    for nodes, published in PUBLISHED_SECONDS.items():
        taken = _all_pairs_s(nodes, repetitions)
        seconds = {name: min(times_s) for name, times_s in taken.items()}
        ratio, scatter = ratio_and_error(np.divide(taken["published"], taken["standard"]))
        rows.append({"nodes": nodes, **{f"{name}_ms": value * 1e3 for name, value in seconds.items()}})
        findings += [
            number(
                f"n = {nodes}: modified Dijkstra over standard Dijkstra",
                ratios[nodes],
                ratio,
                unit="",
                digits=2,
                tolerance=Tolerance(
                    spread + scatter,
                    f"the printed ratios differ by {spread:.2f} from each other, and the median of our "
                    f"repetitions may be off by {scatter:.2f}, two standard errors",
                ),
            ),
            Finding(
                f"n = {nodes}: modified Dijkstra",
                f"{published:g} s",
                f"{seconds['published']:.4f} s",
                seconds["published"] <= published,
                "no slower: other machines, other languages",
                "bound",
                ratio=seconds["published"] / published,
            ),
        ]
    table = pl.DataFrame(rows)
    return FigureResult(
        "table-6",
        "Table 6: running time of all-pairs routes",
        tuple(findings),
        {"running-time": table},
        shown={f"Best of {repetitions} runs on one core, in ms": table},
        note=(
            "Random networks with 2.1 links for each node, as the thesis's, delays uniform below 10 ms and "
            "losses uniform below 2 %. The times include reading the network and handing over all routes. "
            "Standard Dijkstra goes by delay."
        ),
    )


def ratio_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """The median and two standard errors of it, by quartiles: a few times are far off on any machine."""
    low, middle, high = (float(value) for value in np.quantile(values, (0.25, 0.5, 0.75)))
    # Of normal values: quartiles are 1.349 standard deviations apart, a median scatters by 1.253 / sqrt(n).
    return middle, 2 * 1.253 * (high - low) / 1.349 / math.sqrt(len(values))


_SEARCHES: Final = {
    "standard": ("delay", "exact"),
    "published": ("tcpbp", "published"),
    "exact": ("tcpbp", "exact"),
}
"""Metric and search of the core."""


def _all_pairs_s(nodes: int, repetitions: int) -> dict[str, list[float]]:
    """Processor time in which the core finds the routes of all pairs, input and output included.

    Args:
        nodes: of the network.
        repetitions: how often each search is timed, in turn with the others.

    Returns:
        Seconds by search.
    """
    setup_json = _random_network(nodes)
    taken: dict[str, list[float]] = {name: [] for name in _SEARCHES}
    for _ in range(repetitions):
        for name, (metric, search) in _SEARCHES.items():
            begin = time.process_time()
            paths = _core.Setup(setup_json).candidate_paths(1, metric, None, search)
            taken[name].append(time.process_time() - begin)
            if len(paths) != nodes * (nodes - 1):
                raise AssertionError(f"{len(paths)} routes between {nodes} nodes")
    return taken


def _random_network(nodes: int) -> str:
    """A connected random network with as many links for each node as the thesis's, as the core reads it."""
    draw = np.random.default_rng(nodes)
    edges = {(int(draw.integers(node)), node) for node in range(1, nodes)}
    while len(edges) < len(LINKS) * nodes // 10:
        a, b = sorted(int(end) for end in draw.choice(nodes, 2, replace=False))
        edges.add((a, b))
    links = [
        {
            "between": [str(a), str(b)],
            "new": True,
            "delay": f"{draw.uniform(0, 10):.4f} ms",
            "loss": float(draw.uniform(0, 0.02)),
        }
        for a, b in sorted(edges)
    ]
    scenario = {
        "network": {
            "node": [{"name": str(node)} for node in range(nodes)],
            "links": {"capacity": "1 Gbps"},
            "link": links,
        },
        "traffic": [{"from": "0", "to": "1"}],
        "run": {"duration": "1 s"},
    }
    return resolve(Scenario.from_data(scenario)).json()
