"""Routing schemes in Python: the paths of the built-in ones, shortest-widest paths, and mistakes."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from anabranch import Scenario, ScenarioError, Study
from anabranch.errors import OwnCodeError

OWN = Path(__file__).parents[2] / "examples" / "own"


DIAMOND = """
[[network.node]]
name = "a"
kind = "host"
[[network.node]]
name = "b"
kind = "host"
[[network.node]]
name = "up"
[[network.node]]
name = "down"
[[network.link]]
between = ["a", "up"]
new = true
[[network.link]]
between = ["up", "b"]
new = true
[[network.link]]
between = ["a", "down"]
new = true
[[network.link]]
between = ["down", "b"]
new = true
delay = "3 ms"
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[routing]
scheme = {scheme}
{routing}
[[traffic]]
from = "a"
to = "b"
[run]
duration = "4 s"
"""

SHORTEST = """
    from dataclasses import dataclass
    import networkx as nx
    from anabranch.own import RoutingScheme

    @dataclass
    class Shortest(RoutingScheme):
        weights: str = "one"

        def paths(self, network, source, target):
            nodes = nx.shortest_path(network.graph, source, target, weight="delay_s")
            return [(network.links_of(nodes), 1.0)]
"""

BOTH = """
    from anabranch.own import RoutingScheme

    class Both(RoutingScheme):
        def routes(self, network):
            named = network.nodes.index
            way = lambda *names: network.links_of([named(name) for name in names])
            a, b = named("a"), named("b")
            return {
                (a, b): [(way("a", "up", "b"), 3), (way("a", "down", "b"), 1)],
                (b, a): [(way("b", "up", "a"), 1)],
            }
"""


def diamond(scheme: str, base: Path, routing: str = "", more: str = "") -> Scenario:
    return Scenario.loads(DIAMOND.format(scheme=scheme, routing=routing) + more, origin="s.toml", base=base)


def paths_of(scenario: Scenario) -> dict[tuple[str, str], list[tuple[tuple[str, ...], float]]]:
    return {
        (pair.source, pair.destination): [(tuple(path.nodes), path.weight) for path in pair.paths]
        for pair in scenario.routes().pairs
    }


def test_weights_share_the_packets(module: Callable[[str], Path]) -> None:
    scenario = diamond('{ python = "mine:Both" }', module(BOTH), 'load_balancing = "packet"')
    assert paths_of(scenario)["a", "b"] == [(("a", "up", "b"), 0.75), (("a", "down", "b"), 0.25)]
    links = {row["name"]: row["packets"] for row in scenario.run().links.to_dicts()}
    assert links["a->up"] / (links["a->up"] + links["a->down"]) == pytest.approx(0.75, abs=0.01)
    assert links["b->down"] == 0


def test_a_scheme_of_shortest_paths_has_the_tables_of_the_built_in_one(module: Callable[[str], Path]) -> None:
    result = diamond('{ python = "mine:Shortest" }', module(SHORTEST)).run()
    built_in = diamond('"shortest"', Path(), 'metric = "delay"').run()
    for name in ("flows", "links", "routes"):
        assert result.tables[name].equals(built_in.tables[name]), name


def test_after_a_failure_dead_paths_are_left_out(module: Callable[[str], Path]) -> None:
    event = '[[event]]\nat = "1 s"\nlink = ["a", "up"]\nstate = "down"\n'
    reaction = 'load_balancing = "packet"\nreaction = "100 ms"'
    result = diamond('{ python = "mine:Both" }', module(BOTH), reaction, event).run()
    assert result.flows["goodput_mbps"][0] > 0.1


def test_shortest_widest_by_looking_at_every_path() -> None:
    text = (OWN.parent / "abilene.toml").read_text(encoding="utf-8")
    scenario = Scenario.loads(text, base=OWN.parent).replace(
        {"routing": {"scheme": {"python": "own/shortest_widest.py:ShortestWidest"}}, "run.duration": "1 s"}
    )
    links = scenario.run().links
    graph = nx.DiGraph()
    for row in links.to_dicts():
        graph.add_edge(row["from"], row["to"], width=row["capacity_mbps"], delay=row["delay_ms"])
    for (source, target), entry in paths_of(scenario).items():
        (nodes, weight) = entry[0]
        assert weight == 1

        def rank(path: Any) -> tuple[float, float]:
            edges = [graph.edges[edge] for edge in pairwise(path)]
            return -min(edge["width"] for edge in edges), sum(edge["delay"] for edge in edges)

        best = min(map(rank, nx.all_simple_paths(graph, source, target)))
        assert rank(nodes) == pytest.approx(best)


WRONG = {
    "no path": ("return []", "gives no path from a to b"),
    "a gap": ("return [([network.links_of([source, 2])[0]], 1)]", "that are no path without a loop: a, up"),
    "no link": ("return [([99], 1)]", "gives links from a to b that are none: [99]"),
    "a weight": (
        "return [(network.links_of([source, 2, target]), 0)]",
        "gives a path from a to b the weight 0; it must be above 0",
    ),
    "no such link": ("return [(network.links_of([source, target]), 1)]", "there is no link from a to b"),
    "an exception": ("return 1 / 0", "ZeroDivisionError: division by zero"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_answer_is_told_with_its_pair(case: str, module: Callable[[str], Path]) -> None:
    statement, message = WRONG[case]
    base = module(f"""
        from anabranch.own import RoutingScheme

        class Wrong(RoutingScheme):
            def paths(self, network, source, target):
                {statement}
    """)
    with pytest.raises(OwnCodeError) as failed:
        diamond('{ python = "mine:Wrong" }', base).run()
    text = str(failed.value)
    assert text.startswith("Wrong.paths: ")
    assert message in text
    assert "python/anabranch" not in text


REFUSED = {
    '{ python = "mine:Both", k = 2 }': 'routing.scheme: Both has no parameter "k"',
    '{ python = "mine:Neither" }': "routing.scheme: Neither must have paths(network, source, target) or",
    '{ python = "mine:Short" }': "routing.scheme: Short.paths must take network, source and target",
    '{ python = "mine:Other" }': "routing.scheme: Other is no routing scheme; write class Other(",
    '{ algorithm = "mine" }': 'routing.scheme: algorithm "mine" is not known; there are "shortest"',
}


@pytest.mark.parametrize("scheme", REFUSED)
def test_a_mistake_is_refused_before_the_run(scheme: str, module: Callable[[str], Path]) -> None:
    base = module(
        BOTH
        + """
    class Neither(RoutingScheme):
        pass

    class Short(RoutingScheme):
        def paths(self, source, target): ...

    class Other:
        pass
    """
    )
    with pytest.raises(ScenarioError) as refused:
        diamond(scheme, base).run()
    assert str(refused.value).startswith(f"s.toml: {REFUSED[scheme]}")


def test_hashes_without_weights_are_refused(module: Callable[[str], Path]) -> None:
    with pytest.raises(ScenarioError, match='"hash" gives every path the same share'):
        diamond('{ python = "mine:Both" }', module(BOTH), 'load_balancing = "hash"')


def test_a_study_and_a_kept_result_have_the_scheme(module: Callable[[str], Path], tmp_path: Path) -> None:
    scenario = diamond('{ python = "mine:Both" }', module(BOTH))
    result = scenario.run(out=tmp_path / "kept", page=False)
    again = Scenario.load(tmp_path / "kept" / "scenario.toml")
    assert again.data()["routing"]["scheme"] == {"python": "code/mine.py:Both"}
    assert again.run().flows.equals(result.flows)
    study = Study(
        title="",
        scenario=scenario,
        metrics=[{"name": "goodput", "table": "flows", "column": "goodput_mbps"}],
    )
    runs = study.run(1).runs
    assert runs["goodput"].to_list() == pytest.approx([result.flows["goodput_mbps"][0]])
