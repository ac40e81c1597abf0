"""How many times faster than networkx and rustworkx: shortest routes of all pairs by delay.

    python checks/benches/routing_ratio.py

All three find the paths themselves, not only their lengths, on the same random networks; here setup and
answer go through JSON as well. Each pair's delay is compared. rustworkx is no dependency: where it is missing
its column stays empty. To have it: python -m pip install rustworkx
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import networkx as nx
from columns import aligned

from anabranch import Scenario, _core
from anabranch.setup import Setup, resolve

SIZES = ((10, 20), (25, 50), (50, 100), (100, 200), (100, 1000), (300, 600))
"""Nodes and edges."""
RUNS = 3
"""Runs of which the quickest counts."""
HEAD = ("nodes", "edges", "ours, CPU ms", "networkx, CPU ms", "ratio", "rustworkx, CPU ms", "ratio")

Delays = dict[tuple[int, int], int]
"""Microseconds of the route of each pair."""


@dataclass(frozen=True)
class Timed:
    """What a library needed, and what it found."""

    seconds: float
    """Of CPU, all threads together."""
    delays: Delays


def timed(routes: Callable[[], Any], delays: Callable[[Any], Delays]) -> Timed:
    """The quickest of some runs."""
    best, answer = float("inf"), None
    for _ in range(RUNS):
        start = time.process_time()
        answer = routes()
        best = min(best, time.process_time() - start)
    return Timed(best, delays(answer))


def random_graph(nodes: int, edges: int) -> nx.Graph:
    """A ring, so that it hangs together, and edges drawn at random; delays of up to 10 ms."""
    draw = random.Random(1)  # noqa: S311 - a network, not a secret
    graph = nx.cycle_graph(nodes)
    while graph.number_of_edges() < edges:
        graph.add_edge(*draw.sample(range(nodes), 2))
    for edge in graph.edges.values():
        edge["delay_us"] = draw.randrange(10, 10_000)
    return graph


def setup_of(graph: nx.Graph) -> Setup:
    """The graph as a scenario, in numbers."""
    nodes = "".join(f'[[network.node]]\nname = "{node}"\n' for node in graph)
    links = "".join(
        f'[[network.link]]\nbetween = ["{a}", "{b}"]\nnew = true\ncapacity = "1 Gbps"\ndelay = "{delay} us"\n'
        for a, b, delay in graph.edges(data="delay_us")
    )
    text = f'[network]\n{nodes}{links}[[traffic]]\nfrom = "0"\nto = "1"\n[run]\nduration = "1 s"\n'
    return resolve(Scenario.loads(text))


def ours(graph: nx.Graph) -> Timed:
    """Anabranch, from the setup as JSON to the paths as lists."""
    setup = setup_of(graph)
    setup_json = setup.json()
    names = [int(node.name) for node in setup.nodes]
    picoseconds_per_us = 1_000_000

    def delays(routes: list[_core.PairPaths]) -> Delays:
        return {
            (names[origin], names[to]): sum(
                setup.links[link].delay // picoseconds_per_us for link in paths[0]
            )
            for origin, to, paths in routes
        }

    return timed(lambda: _core.Setup(setup_json).candidate_paths(1, "delay"), delays)


def along(graph: nx.Graph, nodes: list[int]) -> int:
    """Delay of a path in microseconds."""
    return sum(graph.edges[pair]["delay_us"] for pair in pairwise(nodes))


def by_networkx(graph: nx.Graph) -> Timed:
    """networkx, Dijkstra from every node."""

    def delays(paths: dict[int, dict[int, list[int]]]) -> Delays:
        return {(a, b): along(graph, paths[a][b]) for a in paths for b in paths[a] if a != b}

    return timed(lambda: dict(nx.all_pairs_dijkstra_path(graph, weight="delay_us")), delays)


def by_rustworkx(graph: nx.Graph) -> Timed | None:
    """rustworkx, Dijkstra from every node; None where it is not installed."""
    if find_spec("rustworkx") is None:
        return None
    import rustworkx as rx  # noqa: PLC0415 - optional

    copy = rx.PyGraph()
    copy.add_nodes_from(list(graph))
    copy.add_edges_from([(a, b, float(delay)) for a, b, delay in graph.edges(data="delay_us")])

    def delays(paths: Any) -> Delays:
        return {(a, b): along(graph, list(paths[a][b])) for a in paths for b in paths[a] if a != b}

    return timed(lambda: rx.all_pairs_dijkstra_shortest_paths(copy, lambda delay: delay), delays)


def row(nodes: int, edges: int) -> list[str]:
    """A row of the table; stops if somebody found another delay for a pair."""
    graph = random_graph(nodes, edges)
    us = ours(graph)
    cells = [str(nodes), str(edges), f"{us.seconds * 1e3:.2f}"]
    for name, theirs in (("networkx", by_networkx(graph)), ("rustworkx", by_rustworkx(graph))):
        if theirs is None:
            cells += ["not installed", "-"]
            continue
        if theirs.delays != us.delays:
            raise SystemExit(f"{name} finds other delays in {nodes} nodes and {edges} edges")
        cells += [f"{theirs.seconds * 1e3:.2f}", f"{theirs.seconds / us.seconds:.1f}"]
    return cells


def main() -> None:
    """Prints the table."""
    sys.stdout.write(aligned([list(HEAD), *(row(nodes, edges) for nodes, edges in SIZES)]))


if __name__ == "__main__":
    main()
