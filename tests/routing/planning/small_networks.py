"""Random networks with weights, and what brute force says of them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import networkx as nx
import numpy as np
from scipy.optimize import linprog

from anabranch import Scenario

Arc = tuple[str, str]


@dataclass
class Network:
    """A random network of 5 to 7 nodes, each link with a weight, and a matrix that fills it."""

    mbps: dict[Arc, float]
    weight: dict[Arc, int]
    matrix: dict[Arc, float]

    @classmethod
    def random(cls, seed: int) -> Network:
        rng = random.Random(seed)  # noqa: S311 - the same networks each time
        nodes = [f"n{number}" for number in range(5 + seed % 3)]
        ring = list(zip(nodes, nodes[1:] + nodes[:1], strict=True))
        chords = [pair for pair in combinations(nodes, 2) if pair not in ring and pair[::-1] not in ring]
        mbps, weight = dict[Arc, float](), dict[Arc, int]()
        for a, b in ring + rng.sample(chords, 2 + seed % 2):
            mbps[a, b] = mbps[b, a] = rng.choice((10.0, 20.0, 40.0))
            weight[a, b] = weight[b, a] = rng.randint(1, 5)
        matrix = {pair: float(rng.randint(1, 5)) for pair in product(nodes, nodes) if pair[0] != pair[1]}
        return cls(mbps, weight, matrix)

    def scenario(self, folder: Path, demand: dict[str, object] | None = None, **network: object) -> Scenario:
        rows = [f"{a},{b},{mbps}" for (a, b), mbps in self.matrix.items()]
        (folder / "tm.csv").write_text("\n".join(["from,to,rate_mbps", *rows]))
        weights = [f"{a},{b},{weight}" for (a, b), weight in self.weight.items()]
        (folder / "w.csv").write_text("\n".join(["from,to,weight", *weights]))
        nodes = dict.fromkeys(a for a, _ in self.mbps)
        links = [
            {"between": [a, b], "new": True, "capacity": f"{mbps} Mbps", "delay": "1 ms"}
            for (a, b), mbps in self.mbps.items()
            if a < b
        ]
        data = {
            "network": {
                "node": [{"name": name} for name in nodes], "link": links, "weights": "file:w.csv", **network
            },
            "routing": {
                "scheme": "ecmp", "metric": "weight",
                "demand": demand or {"matrix": {"from": "file:tm.csv"}},
            },
        }  # fmt: skip
        return Scenario.from_data(data, base=folder)

    def loads(self, weight: dict[Arc, int], down: Arc | None = None) -> dict[Arc, float]:
        """By hand: every node sends equal parts over all links of a shortest path."""
        graph = nx.DiGraph()
        graph.add_nodes_from(node for node, _ in self.mbps)
        for (a, b), one in weight.items():
            if down not in {(a, b), (b, a)}:
                graph.add_edge(a, b, weight=one)
        carried = dict.fromkeys(self.mbps, 0.0)
        for target in graph:
            distance = nx.single_source_dijkstra_path_length(graph.reverse(), target)
            waiting = {node: self.matrix.get((node, target), 0.0) for node in graph}
            for node in sorted(distance, key=lambda one: -distance[one]):
                if node == target:
                    continue
                ways = [
                    to for to in graph[node]
                    if to in distance and distance[node] == graph[node][to]["weight"] + distance[to]
                ]  # fmt: skip
                for to in ways:
                    carried[node, to] += waiting[node] / len(ways)
                    waiting[to] += waiting[node] / len(ways)
        return {arc: carried[arc] / self.mbps[arc] for arc in self.mbps}

    def highest(self, weight: dict[Arc, int], down: Arc | None = None) -> float:
        return max(self.loads(weight, down).values())

    def least_load(self, down: Arc | None = None) -> float:
        """The linear program over all routings: flow of each destination on each arc, and the load."""
        arcs = [arc for arc in self.mbps if down not in {arc, arc[::-1]}]
        nodes = sorted({node for node, _ in self.mbps})
        count = len(arcs) * len(nodes) + 1
        equal, right = [], []
        for place, target in enumerate(nodes):
            for node in nodes:
                if node == target:
                    continue
                row = np.zeros(count)
                for number, (a, b) in enumerate(arcs):
                    row[place * len(arcs) + number] = (a == node) - (b == node)
                equal.append(row)
                right.append(self.matrix.get((node, target), 0.0))
        upper = np.zeros((len(arcs), count))
        for number, arc in enumerate(arcs):
            upper[number, number : count - 1 : len(arcs)] = 1
            upper[number, -1] = -self.mbps[arc]
        cost = np.zeros(count)
        cost[-1] = 1
        solution = linprog(
            cost, A_ub=upper, b_ub=np.zeros(len(arcs)), A_eq=np.array(equal), b_eq=right, method="highs"
        )
        assert solution.success
        return float(solution.fun)
