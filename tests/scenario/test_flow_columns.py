"""Entries that stand for many flows stay columns from the scenario to the core."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from anabranch import Scenario, _core
from anabranch.plans.named import PathRow
from anabranch.plans.routes import routes
from anabranch.results.result import frame
from anabranch.scenario.leaves import UnlimitedSource
from anabranch.setup import resolve
from anabranch.setup.flow_columns import FlowColumns, FlowSetup

MANY = """
[network]
topology = "grid"
[network.parameters]
rows = 5
columns = 5
[network.links]
capacity = "1 Gbps"
delay = "1 ms"
[[traffic]]
name = "web"
from = "*"
to = "*"
flows = 10
size = { distribution = "pareto", scale = "1 kB", shape = 1.5 }
start = { distribution = "uniform", low = "0 s", high = "1 s" }
[[traffic]]
name = "bulk"
from = "*"
pairs = "permutation"
transport = "newreno"
stop = "500 ms"
[[traffic]]
name = "calls"
from = "*"
pairs = "permutation"
application = { kind = "udp", rate = "1 Mbps", packet = "200 B" }
[run]
duration = "1 ms"
"""
FLOWS = 25 * 24 * 10


def test_no_flow_and_no_pair_is_an_object_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    for kind in (FlowSetup, PathRow):
        original = kind.__init__
        monkeypatch.setattr(
            kind, "__init__", lambda self, *a, _o=original, **k: (made.append(self), _o(self, *a, **k))[1]
        )
    scenario = Scenario.loads(MANY)
    setup = resolve(scenario)
    assert len(setup.flows) == FLOWS + 25
    pair_routes = routes(scenario)
    assert len(pair_routes.pairs) == 25 * 24
    assert made == []
    setup.core().simulate(setup.core().plan())
    assert made == []
    # The test can tell.
    assert setup.flows[-1].name == "bulk.24"
    assert pair_routes.pairs[0].paths[0].hops >= 1
    assert {type(one) for one in made} == {FlowSetup, PathRow}


def test_a_flow_of_the_columns_is_the_flow_that_the_core_gets() -> None:
    setup = resolve(Scenario.loads(MANY))
    table = frame(setup.core().simulate(setup.core().plan())["tables"]["flows"])
    assert table["name"].to_list() == [flow.name for flow in setup.flows]
    assert table["from"].to_list() == [setup.nodes[flow.origin].name for flow in setup.flows]
    assert table["to"].to_list() == [setup.nodes[flow.to].name for flow in setup.flows]
    sizes = [flow.source.core().get("bytes") for flow in setup.flows]
    assert all(size >= 1000 for size in sizes[:FLOWS])
    assert sizes[FLOWS:] == [None] * 25
    assert {flow.stop for flow in setup.flows[FLOWS:]} == {500_000_000_000}


def test_columns_answer_for_pairs() -> None:
    flows = resolve(Scenario.loads(MANY)).flows
    pair = next((flow.origin, flow.to) for flow in flows[FLOWS:])
    assert flows.between(*pair) == {0: 10, 1: 1}
    assert flows.between(0, 0) == {}
    assert flows.connect(flows.pairs[:3]).tolist() == [True] * 3
    assert flows.connect(np.array([0], dtype=np.uint64)).tolist() == [False]
    unlimited = flows.pairs_with(UnlimitedSource)
    assert [(a, b) for a, b, _ in unlimited] == [(flow.origin, flow.to) for flow in flows[FLOWS:]]
    assert {count for *_, count in unlimited} == {1}
    assert flows == list(flows) == flows[:]
    assert flows != flows[1:]
    assert FlowColumns.joined([]) == []


def test_a_part_of_all_pairs_is_made_of_the_same_routes() -> None:
    pair_routes = routes(Scenario.loads(MANY))
    assert [pair.carries for pair in pair_routes.pairs] == ["data"] * (25 * 24)
    part = pair_routes.pairs[3:5]
    assert len(part) == 2
    assert list(part) == [pair_routes.pairs[3], pair_routes.pairs[4]] == part
    assert len(pair_routes.pairs.where(~pair_routes.pairs.by_path)) == 0
    assert pair_routes.data()["pairs"][4]["source"] == pair_routes.pairs[4].source


@pytest.mark.parametrize(
    ("column", "value", "place"),
    [
        ("number", np.zeros(2, dtype=np.uint32), "flows"),
        ("entry", np.full(FLOWS + 25, 7, dtype=np.uint32), "flows.entry"),
        ("to", np.full(FLOWS + 25, 99, dtype=np.uint32), "flows[0].to"),
        ("entries", "[]", "flows.entry"),
        ("entries", "{", "flows.entries"),
    ],
)
def test_columns_that_do_not_hold_are_refused(column: str, value: object, place: str) -> None:
    setup = resolve(Scenario.loads(MANY))
    wrong = SimpleNamespace(core=lambda: setup.flows.core() | {column: value})
    with pytest.raises(_core.SetupError) as refused:
        setup.replace(flows=wrong).core()
    assert refused.value.args[0] == place
