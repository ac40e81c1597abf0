"""Paths to choose among and the check of forwarding, from Python: the thesis's network of ten nodes."""

import time
from itertools import pairwise, permutations
from math import prod, sqrt

import networkx as nx
import pytest

from anabranch import Scenario, _core
from anabranch.setup import Setup, resolve

# Vilela 2022: ends, delay in seconds, loss.
EDGES = """
1-3 .0085 .003; 1-5 .004 .0181; 1-6 .0015 .009; 1-9 .0032 .0012; 2-3 .004 .004; 2-5 .0055 .0079;
2-8 .0019 .0116; 2-9 .007 .0196; 3-4 .0018 .0002; 3-6 .0096 .0116; 3-7 .0082 .0144; 3-10 .0044 .0192;
4-5 .0005 .0005; 4-7 .0073 .013; 4-10 .003 .0037; 5-6 .0094 .0137; 5-8 1e-5 .0023; 5-9 .0063 .0057;
5-10 .005 .0039; 7-9 .0054 .0119; 7-10 .0076 .0068
"""


def ten_nodes() -> nx.Graph:
    graph = nx.Graph()
    for edge in EDGES.split(";"):
        ends, delay_s, loss = edge.split()
        graph.add_edge(*ends.split("-"), delay_s=float(delay_s), loss=float(loss))
    return graph


def scenario(graph: nx.Graph, routing: str, lossless: bool = False) -> Scenario:
    nodes = "".join(f'[[network.node]]\nname = "{node}"\n' for node in sorted(graph, key=int))
    links = "".join(
        f'[[network.link]]\nbetween = ["{a}", "{b}"]\nnew = true\ncapacity = "1 Gbps"\n'
        f'delay = "{edge["delay_s"] * 1e6:.0f} us"\nloss = {0.0 if lossless else edge["loss"]}\n'
        for a, b, edge in graph.edges(data=True)
    )
    traffic = "".join(
        f'[[traffic]]\nfrom = "{a}"\nto = "{b}"\n' for a, b in permutations(sorted(graph, key=int), 2)
    )
    return Scenario.loads(
        f'[network]\n{nodes}{links}[routing]\n{routing}\n{traffic}[run]\nduration = "1 s"\n'
    )


def spelled(setup: Setup, links: list[int]) -> str:
    nodes = [setup.links[links[0]].origin, *(setup.links[link].to for link in links)]
    return "-".join(setup.nodes[node].name for node in nodes)


def paths_of(routing: str) -> dict[tuple[str, str], str]:
    setup = resolve(scenario(ten_nodes(), routing))
    plan = setup.core().plan().data()
    assert plan["tables"] == [], "a metric of whole paths is not forwarded hop by hop"
    name = [node.name for node in setup.nodes]
    return {
        (name[route["from"]], name[route["to"]]): spelled(setup, route["paths"][0]["links"])
        for route in plan["routes"]
    }


def test_schemes_give_the_routes_of_the_specification() -> None:
    by_delay = paths_of('metric = "delay"')
    published, exact = paths_of('scheme = "tcpbp"'), paths_of('scheme = "tcpbp-exact"')
    assert exact == paths_of('metric = "tcpbp"')
    pairs = [(str(a), str(b)) for a in range(1, 11) for b in range(a + 1, 11)]
    assert sum(exact[pair] == by_delay[pair] for pair in pairs) == 39  # table 2 of the thesis
    assert sum(published[pair] == by_delay[pair] for pair in pairs) == 37
    assert (exact["2", "6"], published["2", "6"]) == ("2-8-5-1-6", "2-3-6")
    assert (exact["4", "6"], published["4", "6"]) == ("4-5-1-6", "4-5-6")
    assert published["1", "10"] == exact["1", "10"] == "1-3-4-10"


def quality(graph: nx.Graph, nodes: tuple[str, ...]) -> tuple[float, float]:
    edges = [graph.edges[pair] for pair in pairwise(nodes)]
    return sum(edge["delay_s"] for edge in edges), 1 - prod(1 - edge["loss"] for edge in edges)


def test_candidates_are_the_best_of_all_paths_that_networkx_finds() -> None:
    graph = ten_nodes()
    setup = resolve(scenario(graph, ""))
    number = {node.name: index for index, node in enumerate(setup.nodes)}
    pairs = [("2", "6"), ("10", "8")]
    numbers = [(number[a], number[b]) for a, b in pairs]
    outcome = setup.core().candidate_paths(5, "tcpbp", numbers)
    assert [(origin, to) for origin, to, _ in outcome] == numbers
    pareto = setup.core().pareto_paths(numbers)
    for (a, b), (_, _, best), (_, _, front) in zip(pairs, outcome, pareto, strict=True):
        every = [tuple(path) for path in nx.all_simple_paths(graph, a, b)]

        def metric(path: tuple[str, ...]) -> float:
            delay_s, loss = quality(graph, path)
            return delay_s * sqrt(loss)

        expected = ["-".join(path) for path in sorted(every, key=metric)[:5]]
        assert [spelled(setup, links) for links in best] == expected
        points = {path: quality(graph, path) for path in every}
        undominated = {
            "-".join(path)
            for path, (delay_s, loss) in points.items()
            if not any(d <= delay_s and p <= loss and (d, p) != (delay_s, loss) for d, p in points.values())
        }
        assert {spelled(setup, links) for links in front} == undominated


def test_candidates_of_all_pairs_of_germany50_take_well_under_a_second() -> None:
    text = '[network]\ntopology = "sndlib/germany50"\n[network.links]\ncapacity = "1 Gbps"\n'
    text += '[[traffic]]\nfrom = "Berlin"\nto = "Bremen"\n[run]\nduration = "1 s"\n'
    setup = resolve(Scenario.loads(text)).core()
    for metric in ("hops", "delay"):
        start = time.process_time()
        outcome = setup.candidate_paths(4, metric)
        assert time.process_time() - start < 1.0
        assert len(outcome) == 50 * 49
        assert all(len(paths) == 4 for _, _, paths in outcome)


def test_a_metric_of_loss_says_where_it_falls_back() -> None:
    lossy, lossless = (resolve(scenario(ten_nodes(), "", flag)).core() for flag in (False, True))
    assert [lossless.metric_fallback(name) for name in ("tcpbp", "b-over-dl", "loss", "argaq")] == [
        "delay",
        "delay",
        "hops",
        None,
    ]
    assert not any(lossy.metric_fallback(name) for name, _ in _core.metrics())
    assert lossless.candidate_paths(1, "tcpbp") == lossless.candidate_paths(1, "delay")


def test_forwarding_hop_by_hop_agrees_where_metrics_are_sums() -> None:
    setup = resolve(scenario(ten_nodes(), ""))
    for name, additive in _core.metrics():
        outcome = setup.core().check_hop_by_hop(name)
        if additive:
            assert outcome == []
    outcome = setup.core().check_hop_by_hop("tcpbp", "published")
    rows = [(spelled(setup, wanted), spelled(setup, walked)) for _, _, wanted, walked, _ in outcome]
    # Node 4 finds 4-5-6 where 5 finds 5-1-6: the pair that the published algorithm misses.
    assert ("4-5-6", "4-5-1-6") in rows
    assert all(loop is None for *_, loop in outcome)


def test_mistakes_say_what_would_be_right() -> None:
    setup = resolve(scenario(ten_nodes(), "")).core()
    with pytest.raises(ValueError, match='no metric "miles"; there are hops, hops-then-delay, delay, '):
        setup.candidate_paths(1, "miles")
    with pytest.raises(ValueError, match="k is 0"):
        setup.candidate_paths(0, "hops")
    with pytest.raises(ValueError, match='no search "best"; there are exact, published'):
        setup.check_hop_by_hop("hops", "best")
    with pytest.raises(_core.SetupError, match="no node number 10; there are 10"):
        setup.candidate_paths(1, "hops", [(0, 1), (0, 10)])
    with pytest.raises(_core.SetupError, match="both ends are the same node"):
        setup.pareto_paths([(3, 3)])
    with pytest.raises(ValueError, match='more than 1 Pareto-optimal paths from "1" to "10"'):
        setup.pareto_paths([(0, 9)], 1)
