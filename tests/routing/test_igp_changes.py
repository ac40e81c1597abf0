"""Costs of links that change: every mix of old and new routes by brute force, and orders that are safe."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import networkx
import numpy as np
import pytest

from anabranch import Scenario
from anabranch.export.cost_changes import change_words
from anabranch.plans.cost_changes import CostChanges, CostStep, ordered_changes
from anabranch.plans.igp import CostLoads, IgpGraph
from anabranch.plans.worst_loads import worst_loads
from anabranch.routing.robust import DemandBounds
from anabranch.routing.router_network import RouterNetwork
from anabranch.setup import Needed, resolve

Hops = dict[str, list[str]]


def scenario_of(graph: networkx.DiGraph, demand: str) -> Scenario:
    """A scenario of a graph with the costs of its links, each of 100 Mbps; both directions are there."""
    text = "".join(f'[[network.node]]\nname = "{name}"\n' for name in graph)
    for a, b in graph.edges:
        if a < b:
            text += f'[[network.link]]\nbetween = ["{a}", "{b}"]\nnew = true\n'
    for a, b, cost in graph.edges(data="weight"):
        text += f'[[network.link]]\nbetween = ["{a}", "{b}"]\ndirection = "forward"\nweight = {cost}\n'
    text += '[network.links]\ncapacity = "100 Mbps"\ndelay = "1 ms"\n'
    return Scenario.loads(
        f'{text}[routing]\nscheme = "ecmp"\nmetric = "weight"\n[routing.demand]\n{demand}\n'
    )


def random_graph(draw: random.Random, nodes: int) -> networkx.DiGraph:
    """A ring with chords, with a cost of each direction."""
    names = "abcdefgh"[:nodes]
    pairs = {(names[i], names[(i + 1) % nodes]) for i in range(nodes)}
    pairs |= {(a, b) for a, b in (draw.sample(names, 2) for _ in range(nodes // 2))}
    graph = networkx.DiGraph()
    graph.add_nodes_from(names)
    for a, b in sorted(pairs):
        graph.add_edge(a, b, weight=draw.randint(1, 6))
        graph.add_edge(b, a, weight=draw.randint(1, 6))
    return graph


def next_hops(graph: networkx.DiGraph, to: str) -> Hops:
    """By Dijkstra of networkx: all neighbours on a shortest path."""
    far = networkx.shortest_path_length(graph.reverse(copy=False), to, weight="weight")
    return {
        node: [n for n in graph[node] if graph[node][n]["weight"] + far[n] == far[node]]
        for node in graph
        if node != to
    }


def mixes(before: Hops, after: Hops) -> Iterator[Hops]:
    """Each router with its old next hops or its new ones."""
    changed = [node for node in before if before[node] != after[node]]
    for choice in itertools.product((before, after), repeat=len(changed)):
        yield before | {node: of[node] for node, of in zip(changed, choice, strict=True)}


def has_circle(hops: Hops) -> bool:
    graph = networkx.DiGraph((node, n) for node, others in hops.items() for n in others)
    return not networkx.is_directed_acyclic_graph(graph)


def link_shares(hops: Hops, origin: str, to: str) -> dict[tuple[str, str], Fraction]:
    """The share of a pair's packets on each link, hop by hop."""
    shares: dict[tuple[str, str], Fraction] = {}
    waiting = {origin: Fraction(1)}
    order = networkx.DiGraph((node, n) for node, others in hops.items() for n in others)
    for node in networkx.topological_sort(order):
        if node == to or not (amount := waiting.pop(node, Fraction(0))):
            continue
        for n in hops[node]:
            part = amount / len(hops[node])
            shares[node, n] = shares.get((node, n), Fraction(0)) + part
            waiting[n] = waiting.get(n, Fraction(0)) + part
    return shares


@pytest.mark.parametrize("seed", range(12))
def test_transitions_are_those_of_every_mix(seed: int) -> None:
    """Loops, and the highest load of each link by traffic 1 of each pair, on small random networks."""
    draw = random.Random(seed)  # noqa: S311 - the same networks each time
    graph = random_graph(draw, 5)
    setup = resolve(scenario_of(graph, 'pair = "1 Mbps"'), Needed.ROUTES)
    routers = RouterNetwork.of(setup)
    loads = CostLoads(routers, has_matrix=True)
    links = [
        (setup.nodes[setup.links[link].origin].name, setup.nodes[setup.links[link].to].name)
        for link in routers.links
    ]
    before = np.array([graph.edges[link]["weight"] for link in links], np.int64)
    after, changed = before.copy(), graph.copy()
    for place in draw.sample(range(len(links)), 3):
        after[place] = draw.randint(1, 6)
        changed.edges[links[place]]["weight"] = int(after[place])
    outcome = loads.transition(loads.state(before), loads.state(after))
    highest = dict.fromkeys(links, Fraction(0))
    loops = set()
    for to in graph:
        cases = list(mixes(next_hops(graph, to), next_hops(changed, to)))
        if any(has_circle(hops) for hops in cases):
            loops.add(to)
            continue
        of_cases = [
            {
                link: sum(
                    (link_shares(hops, a, to).get(link, Fraction(0)) for a in graph if a != to), Fraction(0)
                )
                for link in links
            }
            for hops in cases
        ]
        for link in links:
            highest[link] += max(case[link] for case in of_cases)
    assert {setup.nodes[routers.routers[to]].name for to in outcome.loops} == loops
    if not loops:
        assert outcome.load is not None
        assert outcome.load * 100 == pytest.approx([float(highest[link]) for link in links])


@pytest.mark.parametrize("seed", range(6))
def test_states_are_those_of_the_core(seed: int) -> None:
    """For bounds and for costs that differ by direction, against ECMP of the core and its evaluator."""
    graph = random_graph(random.Random(100 + seed), 7)  # noqa: S311 - the same networks each time
    for demand in ('pair = "3 Mbps"', 'ingress = "20 Mbps"\negress = "30 Mbps"'):
        scenario = scenario_of(graph, demand)
        routers = RouterNetwork.of(resolve(scenario, Needed.ROUTES))
        cost = np.array([routers.setup.links[link].weight for link in routers.links], np.int64)
        state = CostLoads(routers, has_matrix=False).state(cost)
        assert state.load == pytest.approx([link.load for link in worst_loads(scenario).links], abs=1e-9)


def test_hosts_pass_nothing_on() -> None:
    """From 0 to 2 the short way would be over the host 1; it still sends and receives."""
    origin, to = np.array([0, 1, 1, 2, 0, 2]), np.array([1, 0, 2, 1, 2, 0])
    graph = IgpGraph(origin, to, 3, np.array([True, False, True]))
    hops = graph.next_hops(np.array([1, 1, 1, 1, 9, 9]))
    assert np.flatnonzero(hops[:, 2]).tolist() == [2, 4]
    assert np.flatnonzero(hops[:, 1]).tolist() == [0, 3]


def ring(costs: list[int]) -> networkx.DiGraph:
    graph = networkx.DiGraph()
    for place, cost in enumerate(costs):
        a, b = "abcdefgh"[place], "abcdefgh"[(place + 1) % len(costs)]
        graph.add_edge(a, b, weight=cost)
        graph.add_edge(b, a, weight=cost)
    return graph


def searched(
    graph: networkx.DiGraph,
    changes: dict[tuple[str, str], int],
    rates: dict[tuple[str, str], float] | None = None,
) -> tuple[CostChanges, list[tuple[str, str]]]:
    """The changes and the ends of each link; traffic of each pair in Mbps, 1 if it is left out."""
    setup = resolve(scenario_of(graph, 'pair = "1 Mbps"'), Needed.ROUTES)
    routers = RouterNetwork.of(setup)
    if rates is not None:
        place = {name: number for number, name in enumerate(routers.network.nodes)}
        matrix = np.zeros((len(place), len(place)))
        for (a, b), rate in rates.items():
            matrix[place[a], place[b]] = rate
        bounds = DemandBounds(matrix.sum(axis=1), matrix.sum(axis=0), matrix)
        routers = dataclasses.replace(routers, bounds=bounds)
    names = ends(routers)
    present = np.array([graph.edges[name]["weight"] for name in names], np.int64)
    planned = np.array([changes.get(name, graph.edges[name]["weight"]) for name in names], np.int64)
    return ordered_changes(CostLoads(routers, has_matrix=True), present, planned), names


def ends(routers: RouterNetwork) -> list[tuple[str, str]]:
    """The nodes at both ends of each link."""
    nodes, links = routers.setup.nodes, (routers.setup.links[link] for link in routers.links)
    return [(nodes[link.origin].name, nodes[link.to].name) for link in links]


def walk(
    graph: networkx.DiGraph, steps: Sequence[CostStep], names: Sequence[tuple[str, str]]
) -> Iterator[bool]:
    """Whether each step may loop, by every mix."""
    current = graph.copy()
    for step in steps:
        after = current.copy()
        assert current.edges[names[step.arc]]["weight"] == step.before
        after.edges[names[step.arc]]["weight"] = step.after
        yield any(
            has_circle(hops) for to in graph for hops in mixes(next_hops(current, to), next_hops(after, to))
        )
        current = after


def test_a_link_of_a_ring_is_taken_out_in_increments() -> None:
    """On a ring of 5 the link a-b gets a cost that nobody uses; in one step a sends back what still comes."""
    graph = ring([1, 1, 1, 1, 1])
    solution, names = searched(graph, {("a", "b"): 100, ("b", "a"): 100})
    assert solution.changed == 2
    assert solution.uses_increments
    assert solution.tried_all
    assert not solution.overloads
    assert len(solution.steps) <= 12
    assert not any(walk(graph, solution.steps, names))
    one_step = [step for step in solution.steps if step.after == 100]
    assert len(one_step) == 2


def test_an_order_is_found_where_only_some_are_safe() -> None:
    """Of all orders of random changes some loop; the one that is found does not, and leads to the plan."""
    with_both = 0
    for seed in range(40):
        draw = random.Random(seed)  # noqa: S311 - the same networks each time
        graph = random_graph(draw, 6)
        edges = list(graph.edges)
        changes = {edge: draw.randint(1, 6) for edge in draw.sample(edges, 4)}
        changes = {edge: cost for edge, cost in changes.items() if cost != graph.edges[edge]["weight"]}
        solution, names = searched(graph, changes)
        place = {name: number for number, name in enumerate(names)}
        orders = []
        for order in itertools.permutations(changes):
            steps = [CostStep(place[e], graph.edges[e]["weight"], changes[e], 0, 0, 0) for e in order]
            orders.append(not any(walk(graph, steps, names)))
        assert not any(walk(graph, solution.steps, names))
        assert solution.uses_increments == (not any(orders))
        with_both += any(orders) and not all(orders)
    assert with_both >= 3


def swap() -> networkx.DiGraph:
    """a sends by x to d and b by y; they are to change places."""
    graph = networkx.DiGraph()
    for a, b, cost in (
        ("a", "x", 1),
        ("a", "y", 2),
        ("b", "y", 1),
        ("b", "x", 2),
        ("d", "x", 1),
        ("d", "y", 1),
    ):
        graph.add_edge(a, b, weight=cost)
        graph.add_edge(b, a, weight=cost)
    return graph


_SWAPPED = {("a", "x"): 3, ("b", "y"): 3}


def test_increments_keep_loads_down() -> None:
    """With 60 Mbps each a link of 100 Mbps to d would carry 120; a half of one first makes it 90."""
    solution, names = searched(swap(), _SWAPPED, {("a", "d"): 60, ("b", "d"): 60})
    assert {names[step.arc] for step in solution.steps} == set(_SWAPPED)
    assert solution.tried_all
    assert not solution.overloads
    # Half of a's by y, all of b's by x, the other half of a's: fewer steps have 120 somewhere.
    assert len(solution.steps) == 3
    assert max(step.load_meanwhile for step in solution.steps) == pytest.approx(0.9)


def test_an_overload_that_nothing_avoids_is_told() -> None:
    """With 90 Mbps each even a half of one beside the other is 135."""
    solution, names = searched(swap(), _SWAPPED, {("a", "d"): 90, ("b", "d"): 90})
    assert solution.allowed_load == 1
    assert solution.overloads
    assert max(step.load_meanwhile for step in solution.steps) == pytest.approx(1.35)
    words = change_words(solution, "now.csv", ["->".join(name) for name in names])
    assert "NOT SAFE" in words[-1]
    assert "135 %" in words[-1]


def test_increments_of_one_never_loop() -> None:
    """The theorem behind the increments, on 60 random changes by 1, against every mix."""
    for seed in range(60):
        draw = random.Random(1000 + seed)  # noqa: S311 - the same networks each time
        graph = random_graph(draw, 5)
        edge = draw.choice(list(graph.edges))
        changed = graph.copy()
        changed.edges[edge]["weight"] += 1
        for to in graph:
            assert not any(has_circle(hops) for hops in mixes(next_hops(graph, to), next_hops(changed, to)))
