"""NSFNET of Fukushima et al. 2016 with the delays of its figure 8, small random networks, and their paths."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

from anabranch.routing.robust import Candidates, DemandBounds, FlowNetwork

# Delays in ms that match the five printed for the pairs 1-2 to 1-6.
NSFNET = {
    (1, 2): 4.7, (1, 3): 7.0, (1, 8): 11.2, (2, 3): 2.8, (2, 4): 3.5, (3, 6): 8.4, (4, 5): 2.8,
    (4, 11): 9.1, (5, 6): 5.6, (5, 7): 2.8, (6, 10): 4.9, (6, 14): 8.4, (7, 8): 3.5, (8, 9): 3.5,
    (9, 10): 3.5, (9, 12): 1.4, (9, 13): 1.4, (11, 12): 2.8, (11, 13): 3.5, (12, 14): 1.4, (13, 14): 0.7,
}  # fmt: skip

Case = tuple[FlowNetwork, DemandBounds]
Shortest = Callable[[FlowNetwork, DemandBounds, int, Literal["hops", "delay"]], Candidates]


def network_of(nodes: int, edges: dict[tuple[int, int], float], capacity_mbps: list[float]) -> FlowNetwork:
    """Both directions of each edge, one after the other; nodes count from 0."""
    ends = [end for a, b in edges for end in ((a, b), (b, a))]
    return FlowNetwork(
        tuple(str(node + 1) for node in range(nodes)), np.array([a for a, _ in ends]),
        np.array([b for _, b in ends]), np.repeat(capacity_mbps, 2), np.repeat(list(edges.values()), 2),
    )  # fmt: skip


@pytest.fixture(scope="session")
def nsfnet() -> Case:
    """Table 1 of the paper."""
    edges = {(a - 1, b - 1): delay for (a, b), delay in NSFNET.items()}
    bounds = DemandBounds(np.full(14, 130.0), np.full(14, 130.0), np.full((14, 14), 50.0))
    return network_of(14, edges, [500.0] * len(edges)), bounds


def simple_paths(network: FlowNetwork, source: int, target: int) -> list[list[int]]:
    """Every path, as arcs."""
    outcome, waiting = [], [(source, [source], [])]
    while waiting:
        at, nodes, arcs = waiting.pop()
        if at == target:
            outcome.append(arcs)
            continue
        for arc in np.flatnonzero(network.tail == at).tolist():
            head = int(network.head[arc])
            if head not in nodes:
                waiting.append((head, [*nodes, head], [*arcs, arc]))
    return outcome


@pytest.fixture(scope="session")
def shortest() -> Shortest:
    """The K shortest of all paths, sorted by metric, hops, then node numbers, the lowest first."""
    entries: dict[tuple[int, int, int], list[list[int]]] = {}
    alive: list[FlowNetwork] = []  # An id may not come back for another network.

    def candidates(
        network: FlowNetwork, bounds: DemandBounds, k: int, metric: Literal["hops", "delay"]
    ) -> Candidates:
        paths = {}
        alive.append(network)
        for pair in zip(*(ends.tolist() for ends in bounds.pairs()), strict=True):
            key = (id(network), *pair)
            if key not in entries:
                entries[key] = simple_paths(network, *pair)

            def rank(arcs: list[int]) -> tuple[float, int, list[int]]:
                delay = round(sum(network.delay_ms[arcs].tolist()), 9) if metric == "delay" else 0.0
                return delay, len(arcs), network.head[arcs].tolist()

            paths[pair] = sorted(entries[key], key=rank)[:k]
        return Candidates.from_paths(network, paths)

    return candidates


@pytest.fixture(scope="session")
def small() -> Callable[[int, int], Case]:
    """A connected random network of five nodes with some pairs, unequal bounds and capacities, by seed."""
    made: dict[tuple[int, int], Case] = {}

    def case(seed: int, pairs: int) -> Case:
        if (seed, pairs) in made:
            return made[seed, pairs]
        draw = random.Random(seed)  # noqa: S311 - a case, no secret.
        ring = {(a, (a + 1) % 5): draw.randint(1, 9) * 1.0 for a in range(5)}
        chord = draw.choice([(0, 2), (1, 3), (2, 4), (0, 3), (1, 4)])
        edges = {**ring, chord: 2.0}
        network = network_of(5, edges, [draw.choice([40.0, 50.0, 100.0]) for _ in edges])
        pair = np.zeros((5, 5))
        ends = [(a, b) for a in range(5) for b in range(5) if a != b]
        for a, b in draw.sample(ends, pairs):
            pair[a, b] = draw.choice([10.0, 15.0, 30.0, np.inf])
        hose = [[draw.choice([20.0, 25.0, 40.0]) for _ in range(5)] for _ in range(2)]
        made[seed, pairs] = (network, DemandBounds(np.array(hose[0]), np.array(hose[1]), pair))
        return made[seed, pairs]

    return case
