"""Capacity to buy against brute force: ECMP over networkx, every purchase of a small network."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from small_networks import Arc, Network

from anabranch.errors import ScenarioError
from anabranch.plans import capacity
from anabranch.plans.capacity import Purchase, capacity_to_buy


def needed(network: Network, module: float, most: float = 1.0) -> dict[Arc, int]:
    """Modules by hand: the highest traffic of both directions in any failure of a link."""
    edges = [arc for arc in network.mbps if arc[0] < arc[1]]
    cases = [network.loads(network.weight, down) for down in (None, *edges)]
    modules = dict[Arc, int]()
    for a, b in edges:
        traffic = max(case[arc] * network.mbps[arc] for case in cases for arc in ((a, b), (b, a)))
        modules[a, b] = max(0, math.ceil((traffic / most - network.mbps[a, b]) / module - 1e-7))
    return modules


@pytest.mark.parametrize("seed", range(10))
def test_modules_by_the_routes_there_are(seed: int, tmp_path: Path) -> None:
    network = Network.random(seed)
    for module, most in ((5.0, 1.0), (7.0, 0.8)):
        plan = capacity_to_buy(network.scenario(tmp_path), Purchase(module, most))
        by_hand = needed(network, module, most)
        bought = {one.link: one.modules for one in plan.links}
        assert bought == {f"{a}->{b}": count for (a, b), count in by_hand.items()}
        assert plan.cost == sum(by_hand.values())
        # Any routing may be that of the scenario; the hose model allows the matrix.
        assert plan.least_cost is not None
        assert plan.hose_cost is not None
        assert plan.least_cost <= plan.cost <= plan.hose_cost


@pytest.mark.parametrize("seed", range(10))
def test_the_least_cost_carries_all_failures_and_no_module_less_does(seed: int, tmp_path: Path) -> None:
    """With the purchase each failure's linear program has a load of 1; without one module it has not."""
    network = Network.random(seed)
    plan = capacity_to_buy(network.scenario(tmp_path), Purchase(5.0))
    edges = [arc for arc in network.mbps if arc[0] < arc[1]]
    bought = {tuple(one.link.split("->")): one.least_modules or 0 for one in plan.links}
    assert plan.least_cost == sum(bought.values()) == pytest.approx(plan.least_bound)

    def worst(modules: dict[tuple[str, ...], int]) -> float:
        larger = {(a, b): mbps + 5.0 * modules[min(a, b), max(a, b)] for (a, b), mbps in network.mbps.items()}
        bigger = Network(larger, network.weight, network.matrix)
        return max(bigger.least_load(down) for down in (None, *edges))

    assert worst(bought) <= 1 + 1e-6
    for edge, count in bought.items():
        if count:
            assert worst({**bought, edge: count - 1}) > 1 + 1e-6


def test_no_purchase_of_a_small_network_is_cheaper(tmp_path: Path) -> None:
    """All purchases of up to two modules for each of four links, with prices."""
    arcs = [("n0", "n1"), ("n1", "n2"), ("n2", "n3"), ("n0", "n3")]
    mbps = {arc: 10.0 for a, b in arcs for arc in ((a, b), (b, a))}
    network = Network(
        mbps, dict.fromkeys(mbps, 1), {("n0", "n2"): 12.0, ("n1", "n3"): 6.0, ("n3", "n0"): 2.0}
    )
    price = {frozenset(arc): float(cost) for arc, cost in zip(arcs, (3, 1, 2, 5), strict=True)}
    plan = capacity_to_buy(network.scenario(tmp_path), Purchase(8.0, price=price))
    cheapest = math.inf
    for choice in product(range(3), repeat=4):
        cost = sum(count * price[frozenset(arc)] for count, arc in zip(choice, arcs, strict=True))
        if cost >= cheapest:
            continue
        larger = {
            arc: 10.0 + 8.0 * count
            for count, (a, b) in zip(choice, arcs, strict=True)
            for arc in ((a, b), (b, a))
        }
        bigger = Network(larger, network.weight, network.matrix)
        if all(bigger.least_load(down) <= 1 + 1e-9 for down in (None, *arcs)):
            cheapest = cost
    assert plan.least_cost == pytest.approx(cheapest)


def test_bounds_have_no_least_cost_and_say_so(tmp_path: Path) -> None:
    network = Network.random(1)
    plan = capacity_to_buy(
        network.scenario(tmp_path, {"ingress": "30 Mbps", "egress": "30 Mbps"}), Purchase(10.0)
    )
    assert plan.cost > 0
    assert (plan.least_cost, plan.hose_cost, plan.hose_extra) == (None, None, None)
    assert any("for one matrix, not for bounds" in warning for warning in plan.warnings)


def test_what_is_not_known_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is too large or too hard, and failures that cut pairs off."""
    network = Network.random(1)
    network.mbps |= {("n0", "stub"): 10.0, ("stub", "n0"): 10.0}
    network.weight |= {("n0", "stub"): 3, ("stub", "n0"): 3}
    network.matrix |= {("n1", "stub"): 1.0}
    scenario = network.scenario(tmp_path)
    plan = capacity_to_buy(scenario, Purchase(3.0))
    message = (
        "1 failures cut pairs off (n0->stub: n1 to stub), "
        "which modules do not mend; their traffic is in no load"
    )
    assert any(message in warning for warning in plan.warnings)
    monkeypatch.setattr(capacity, "_NODES", 0)
    hard = capacity_to_buy(scenario, Purchase(0.7))
    assert any(
        "0 nodes of branch and bound were over before the least cost was proved" in warning
        for warning in hard.warnings
    )
    assert hard.least_bound is None or hard.least_bound <= (hard.least_cost or hard.cost)
    monkeypatch.setattr(capacity, "_MOST_FLOWS", 10)
    large = capacity_to_buy(scenario, Purchase(3.0))
    assert any("the least cost of any routing is left out" in warning for warning in large.warnings)
    assert large.least_cost is None
    assert large.cost == plan.cost


def test_prices_of_unknown_links_are_refused(tmp_path: Path) -> None:
    price = {frozenset({"n0", "nowhere"}): 2.0}
    with pytest.raises(ScenarioError, match="no link between routers from n0 to nowhere"):
        capacity_to_buy(Network.random(0).scenario(tmp_path), Purchase(10.0, price=price))


def test_a_link_without_a_price_is_told_and_not_taken_for_one(tmp_path: Path) -> None:
    network = Network.random(0)
    edges = [frozenset(arc) for arc in network.mbps if arc[0] < arc[1]]
    price = dict.fromkeys(edges[2:], 18_000.0)
    message = f"--prices: has no price of the link {' to '.join(sorted(edges[0]))} and of 1 more"
    with pytest.raises(ScenarioError, match=message):
        capacity_to_buy(network.scenario(tmp_path), Purchase(10.0, price=price))


def test_the_command(tmp_path: Path) -> None:
    network = Network.random(2)
    file = tmp_path / "net.toml"
    file.write_text(network.scenario(tmp_path).toml())
    priced = [f"{a},{b},{4 if (a, b) == ('n0', 'n1') else 1}" for a, b in network.mbps if a < b]
    (tmp_path / "p.csv").write_text("\n".join(["from,to,price", *priced]))
    command = [sys.executable, "-m", "anabranch", "capacity", str(file), "--module", "5 Mbps"]

    def ran(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *more], capture_output=True, text=True, check=False)  # noqa: S603

    document = json.loads(ran("--prices", str(tmp_path / "p.csv"), "--failures", "links", "--json").stdout)
    by_hand = needed(network, 5.0)
    assert document["cost"] == sum(
        count * (4 if edge == ("n0", "n1") else 1) for edge, count in by_hand.items()
    )
    shown = ran()
    assert shown.returncode == 0
    assert f"{sum(by_hand.values())} by ecmp" in shown.stdout
    (tmp_path / "p.csv").write_text("from,to,price\nn0,n1,-4\n")
    for refused in (
        ran("--prices", str(tmp_path / "p.csv")),
        ran("--module", "0 Mbps"),
        ran("--module", "5"),
    ):
        assert refused.returncode == 2
        assert "Traceback" not in refused.stderr
