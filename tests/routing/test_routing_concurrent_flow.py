"""``concurrent-flow``: shares by hand, an independent program and evaluator, and what a fabric has of it."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.routing.concurrent_flow import plan
from anabranch.routing.planned import Pair
from anabranch.setup import resolve
from anabranch.setup.model import Setup

Data = dict[str, Any]
ALL: Data = {"algorithm": "concurrent-flow"}


def network(edges: list[tuple[str, str, float]], *, two_way: bool = True) -> Data:
    """Links of so many Mbps between nodes."""
    key = "between" if two_way else "from"
    names = dict.fromkeys(name for a, b, _ in edges for name in (a, b))
    links: list[Data] = []
    for a, b, mbps in edges:
        ends: Data = {"between": [a, b]} if key == "between" else {"from": a, "to": b}
        links.append({**ends, "new": True, "capacity": f"{round(mbps * 1e6)} bps", "delay": "1 ms"})
    return {"node": [{"name": name} for name in names], "link": links}


def scenario(net: Data, pairs: list[tuple[str, str]], scheme: Any = ALL, **more: Any) -> Scenario:
    traffic = [{"from": a, "to": b, "size": "unlimited"} for a, b in pairs]
    data = {"network": net, "routing": {"scheme": scheme}, "traffic": traffic, "run": {"duration": "1 s"}}
    return Scenario.from_data(data | more)


def planned(of: Scenario) -> tuple[Setup, dict[Pair, list[tuple[list[int], float]]], dict[str, Any]]:
    """Setup, paths of each pair that sends data, and facts."""
    setup = resolve(of)
    assert setup.planner is not None
    made = plan(setup, setup.planner)
    pairs = {(flow.origin, flow.to) for flow in setup.flows}
    return setup, {pair: made.plan.paths(*pair) for pair in sorted(pairs)}, dict(made.facts)


def shares(of: Scenario, origin: str, to: str) -> dict[str, float]:
    """Shares of a pair's paths by their nodes."""
    (pair,) = (pair for pair in of.routes().pairs if (pair.source, pair.destination) == (origin, to))
    return {"-".join(path.nodes): path.weight for path in pair.paths}


def fabric(scheme: Any, slow: str = "5 Gbps", **run: Any) -> Scenario:
    """Two leaves, four spines of 10 Gbps with one slow link, and four pairs across."""
    hosts = [[f"host{leaf}.{number}" for number in range(1, 5)] for leaf in (1, 2)]
    return Scenario.from_data(
        {
            "network": {
                "topology": "leaf-spine",
                "parameters": {"spines": 4, "leaves": 2, "hosts_per_leaf": 4},
                "links": {"capacity": "10 Gbps", "delay": "1 us", "queue": "200 packets"},
                "link": [{"between": ["leaf1", "spine1"], "capacity": slow}],
            },
            "routing": {"scheme": scheme, "load_balancing": "packet"},
            "traffic": [{"from": hosts[0], "to": hosts[1], "pairs": "in-order", "transport": "mprc"}],
            "run": {"duration": "10 ms", "seed": 1, **run},
        }
    )


@pytest.mark.parametrize("scheme", [ALL, {**ALL, "k": 4}])
@pytest.mark.parametrize("slow_gbps", [1, 5])
def test_a_slow_link_of_a_fabric_gets_its_part(scheme: Data, slow_gbps: int) -> None:
    """Three spines of 10 Gbps and one of s carry 30 + s: the slow one has s of it, each other 10."""
    outcome = fabric(scheme, f"{slow_gbps} Gbps")
    routes = outcome.routes()
    total = 30 + slow_gbps
    assert routes.facts["least_flow_mbps"] == pytest.approx(1000 * total / 4, rel=2e-6)
    assert routes.facts["least_flow_bound_mbps"] == pytest.approx(1000 * total / 4, rel=2e-6)
    assert routes.facts["total_mbps"] == pytest.approx(1000 * total, rel=2e-6)
    assert routes.facts["status"] == "optimal"
    for number in range(1, 5):
        of_pair = shares(outcome, f"host1.{number}", f"host2.{number}")
        by_spine = {path.split("-")[2]: share for path, share in of_pair.items()}
        assert by_spine.pop("spine1") == pytest.approx(slow_gbps / total, abs=1e-5)
        assert list(by_spine.values()) == pytest.approx([10 / total] * 3, abs=1e-5)
        back = shares(outcome, f"host2.{number}", f"host1.{number}")
        assert {"-".join(reversed(path.split("-"))): share for path, share in back.items()} == of_pair


def test_a_parking_lot_is_shared_evenly() -> None:
    """a to c meets a to b on one link and b to c on the other: 5 of 10 Mbps each; alone each has 10."""
    net = network([("a", "b", 10.0), ("b", "c", 10.0)])
    facts = scenario(net, [("a", "c"), ("a", "b"), ("b", "c")]).routes().facts
    assert facts["least_flow_mbps"] == pytest.approx(5, rel=2e-6)
    assert facts["total_mbps"] == pytest.approx(15, rel=2e-6)


def test_the_sum_comes_after_the_least() -> None:
    """a to b has 2 Mbps whatever others do; c to d has 10 over its link and 4 around it."""
    net = network([("a", "b", 2.0), ("c", "d", 10.0), ("c", "e", 4.0), ("e", "d", 4.0), ("b", "c", 1.0)])
    scenario_read = scenario(net, [("a", "b"), ("c", "d")])
    facts = scenario_read.routes().facts
    assert facts["least_flow_mbps"] == pytest.approx(2, rel=2e-6)
    assert facts["total_mbps"] == pytest.approx(16, rel=3e-6)
    assert facts["total_bound_mbps"] == pytest.approx(16, rel=3e-6)
    assert shares(scenario_read, "c", "d") == pytest.approx({"c-d": 10 / 14, "c-e-d": 4 / 14}, abs=1e-5)


def test_of_equal_rates_those_over_short_paths() -> None:
    """One flow of 4 Mbps has its link; both ways together would have 14."""
    net = network([("c", "d", 10.0), ("c", "e", 10.0), ("e", "d", 10.0)])
    offered = {"kind": "constant-rate", "message": "1000 B", "rate": "4 Mbps"}
    traffic = [{"from": "c", "to": "d", "application": offered}]
    scenario_read = scenario(net, [], traffic=traffic)
    assert shares(scenario_read, "c", "d") == {"c-d": 1.0}
    facts = scenario_read.routes().facts
    assert "least_flow_mbps" not in facts  # It has what it offers.
    assert facts["total_mbps"] == pytest.approx(4, rel=3e-6)


def test_what_is_offered_is_not_exceeded() -> None:
    """Who offers 1 of 10 Mbps leaves 9 to the other flow; beside three flows without a rate it has 2.5."""
    net = network([("a", "b", 10.0)])
    offered = {"kind": "constant-rate", "message": "1000 B", "rate": "1 Mbps"}
    others = [{"from": "a", "to": "b", "size": "unlimited"}]
    facts = (
        scenario(net, [], traffic=[{"from": "b", "to": "a", "application": offered}, *others]).routes().facts
    )
    assert facts["least_flow_mbps"] == pytest.approx(10, rel=2e-6)
    net = network([("a", "m", 20.0), ("b", "m", 20.0), ("m", "c", 10.0)])
    traffic = [
        {"from": "a", "to": "c", "application": offered},
        {"from": "b", "to": "c", "size": "unlimited"},
    ]
    facts = scenario(net, [], traffic=traffic).routes().facts
    assert facts["least_flow_mbps"] == pytest.approx(9, rel=2e-6)
    counted = [{"from": "a", "to": "c", "flows": 3}, {"from": "b", "to": "c", "size": "unlimited"}]
    facts = scenario(net, [], traffic=counted).routes().facts
    assert facts["least_flow_mbps"] == pytest.approx(2.5, rel=2e-6)


def random_case(seed: int) -> tuple[Data, list[tuple[str, str]]]:
    """A connected network of six to nine nodes with links of all sizes, and three to ten pairs."""
    draw = random.Random(seed)  # noqa: S311 - a test
    names = [f"n{number}" for number in range(draw.randint(6, 9))]
    ends = {(names[draw.randrange(at)], name) for at, name in enumerate(names) if at}
    while len(ends) < 2 * len(names):
        a, b = draw.sample(names, 2)
        ends |= set() if (b, a) in ends else {(a, b)}
    edges = [(a, b, float(draw.choice([1, 2, 5, 10, 40]))) for a, b in sorted(ends)]
    pairs = sorted({tuple(draw.sample(names, 2)) for _ in range(draw.randint(3, 10))})
    return network(edges), [(a, b) for a, b in pairs]


def largest_least(setup: Setup, pairs: list[Pair]) -> float:
    """The maximum concurrent flow, by flows of each source on links in place of paths (linprog's HiGHS)."""
    links, nodes = setup.links, len(setup.nodes)
    sources = sorted({origin for origin, _ in pairs})
    columns = len(sources) * len(links) + 1
    balance = np.zeros((len(sources) * nodes, columns))
    for row, source in enumerate(sources):
        for number, link in enumerate(links):
            balance[row * nodes + link.to, row * len(links) + number] += 1
            balance[row * nodes + link.origin, row * len(links) + number] -= 1
        for origin, to in pairs:
            if origin == source:
                balance[row * nodes + to, -1] -= 1
                balance[row * nodes + source, -1] += 1
    shared = np.hstack([np.eye(len(links))] * len(sources) + [np.zeros((len(links), 1))])
    capacity = np.array([link.capacity / 1e6 for link in links])
    cost = np.zeros(columns)
    cost[-1] = -1.0
    answer = linprog(cost, shared, capacity, balance, np.zeros(len(balance)))
    assert answer.success
    return float(answer.x[-1])


@pytest.mark.parametrize("seed", range(12))
def test_the_least_rate_is_that_of_another_program(seed: int) -> None:
    """The plan's shares carry it, by loads added up here; the bound is no lower, fewer paths no better."""
    net, ends = random_case(seed)
    setup, paths, facts = planned(scenario(net, ends))
    best = largest_least(setup, list(paths))
    assert facts["least_flow_mbps"] == pytest.approx(best, rel=3e-6)
    assert best * (1 - 1e-9) <= facts["least_flow_bound_mbps"] <= best * (1 + 2e-6)
    load: dict[int, float] = defaultdict(float)
    for pair, entry in paths.items():
        assert sum(share for _, share in entry) == pytest.approx(1)
        for links, share in entry:
            nodes = [setup.links[links[0]].origin, *(setup.links[link].to for link in links)]
            assert (nodes[0], nodes[-1]) == pair
            assert len(set(nodes)) == len(nodes)
            for link in links:
                load[link] += share
    carried = min(setup.links[link].capacity / 1e6 / of_unit for link, of_unit in load.items())
    assert best * (1 - 1e-5) <= carried <= best * (1 + 1e-5)
    fewer = [planned(scenario(net, ends, {**ALL, "k": k}))[2]["least_flow_mbps"] for k in (1, 2, 4)]
    assert all(a <= b * (1 + 3e-6) for a, b in zip(fewer, [*fewer[1:], best], strict=True))


def test_a_fabric_with_a_slow_link_carries_more_than_with_other_shares() -> None:
    """Equal shares carry four times the slow link, 20 Gbps; the pairs' own maximum flows take two spines."""
    carried = {}
    for name in ("concurrent-flow", "ecmp", "max-flow"):
        run = fabric(name).run()
        carried[name] = float(run.flows["goodput_mbps"].sum()) / 1000
        up = run.links.filter(pl.col("name").str.starts_with("leaf1->spine"))
        assert (up["bytes"] > 0).sum() == (2 if name == "max-flow" else 4)
    assert carried["ecmp"] <= 20 < 1.4 * carried["ecmp"] < carried["concurrent-flow"] <= 35
    assert carried["max-flow"] <= 15


def test_equal_shares_by_hash_are_refused() -> None:
    routing = {"scheme": ALL, "load_balancing": "hash"}
    with pytest.raises(ScenarioError, match='take "weighted-hash" or "resilient-hash"'):
        resolve(scenario(network([("a", "b", 1.0)]), [("a", "b")], routing=routing))


def test_limits_need_candidates_and_hold() -> None:
    net = network([("a", "b", 10.0), ("b", "d", 10.0), ("a", "d", 5.0)])
    with pytest.raises(ScenarioError, match="give concurrent-flow a k"):
        resolve(scenario(net, [("a", "d")], routing={"scheme": ALL, "max_delay": "1 ms"}))
    routing = {"scheme": {**ALL, "k": 4}, "max_delay": "1 ms"}
    assert shares(scenario(net, [("a", "d")], routing=routing), "a", "d") == {"a-d": 1.0}
    assert len(shares(scenario(net, [("a", "d")]), "a", "d")) == 2


def test_a_time_limit_is_told_with_the_bound() -> None:
    net, ends = random_case(3)
    with pytest.raises(ScenarioError, match=r"routing.scheme.time_limit: concurrent-flow: no rates before"):
        scenario(net, ends, {**ALL, "time_limit": "1 ns"}).routes()
    first = scenario(net, ends, {**ALL, "time_limit": "5 ms"}).routes()
    assert first.facts["status"] == "time-limit"
    assert first.facts["least_flow_mbps"] <= first.facts["least_flow_bound_mbps"]
    assert any("were over before the optimum was proved" in warning for warning in first.warnings)


@pytest.mark.parametrize(
    "routing",
    [{"scheme": ALL}, {"scheme": ALL | {"k": 4}}, {"scheme": ALL, "metric": "hops-then-delay"}],
    ids=["all", "k", "hops-then-delay"],
)
@pytest.mark.parametrize(
    "idle",
    [
        [("b", "idle", 99.0)],
        [("b", "first", 99.0), ("first", "second", 1.0), ("second", "third", 7.0), ("third", "first", 7.0)],
        [("apart", "beside", 99.0)],
    ],
    ids=["host", "ring", "island"],
)
def test_links_that_no_pair_can_cross_change_nothing(
    routing: Data, idle: list[tuple[str, str, float]]
) -> None:
    grid = [
        ("a", "b", 9.0),
        ("b", "c", 9.0),
        ("a", "d", 7.0),
        ("d", "c", 8.0),
        ("b", "d", 5.0),
        ("c", "e", 20),
    ]
    pairs = [("a", "c"), ("d", "e"), ("a", "e"), ("e", "b")]
    alone, beside = (
        planned(scenario(network(edges), pairs, routing=routing)) for edges in (grid, grid + idle)
    )
    assert list(beside[1].values()) == list(alone[1].values())
    clocks = {"seconds": 0.0}
    assert beside[2] | clocks == alone[2] | clocks


def test_where_no_link_on_the_way_loses_fewest_hops_decide_whatever_an_idle_link_loses() -> None:
    edges = [
        ("h", "a", 1.0),
        ("a", "d", 9.0),
        ("d", "e", 9.0),
        ("e", "c", 9.0),
        ("a", "b", 1.0),
        ("b", "c", 1.0),
    ]
    beside = network([*edges, ("b", "idle", 9.0)])
    beside["link"][-1]["loss"] = 0.01
    for net in (network(edges), beside):
        made = scenario(net, [("h", "c")], routing={"scheme": ALL | {"k": 3}, "metric": "loss"})
        assert shares(made, "h", "c") == {"h-a-b-c": 1.0}
