"""Nodes that a path between ends can cross, beside all paths of a graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anabranch.routing.nodes_between import nodes_between

NODES = 9


@given(
    st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=14),
    st.sets(st.integers(0, NODES - 1), min_size=1, max_size=3),
)
def test_they_are_those_of_all_paths_between_ends(edges: list[tuple[int, int]], ends: set[int]) -> None:
    edges = [(tail, head) for tail, head in edges if tail != head]
    tail, head = (np.array([edge[side] for edge in edges], np.int64) for side in (0, 1))
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(NODES))
    on_paths = set(ends)
    for origin in ends:
        for to in ends - {origin}:
            on_paths.update(*nx.all_simple_paths(graph, origin, to))
    assert set(np.flatnonzero(nodes_between(tail, head, ends, NODES)).tolist()) == on_paths


def test_a_long_chain_needs_no_deep_stack() -> None:
    tail = np.arange(20_000)
    assert nodes_between(tail, tail + 1, {0, 20_000}, 20_001).all()
    assert nodes_between(tail, tail + 1, {0, 10_000}, 20_001).sum() == 10_001
