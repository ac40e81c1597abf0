"""Weights that the search finds, against brute force: own ECMP over networkx, and own linear programs."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from scipy.optimize import linprog
from small_networks import Arc, Network

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.plans.weight_search import WeightLimits, search_weights

QUICK = WeightLimits(time_limit_s=0.2)


class Row(NamedTuple):
    """A weight of a table."""

    link: str
    weight: int


@pytest.fixture(params=range(10))
def network(request: pytest.FixtureRequest) -> Network:
    return Network.random(request.param)


def by_arc(weights: dict[str, int]) -> dict[Arc, int]:
    return {
        (a, b): weight for (a, _, b), weight in ((name.partition("->"), one) for name, one in weights.items())
    }


def test_one_matrix_is_as_brute_force_says(network: Network, tmp_path: Path) -> None:
    search = search_weights(network.scenario(tmp_path), QUICK)
    weights = by_arc({row.link: row.weight for row in search.table.rows})
    assert search.load_before == pytest.approx(network.highest(network.weight))
    assert search.load == pytest.approx(network.highest(weights))
    assert search.loads.after.max_load == pytest.approx(search.load)
    assert search.load <= search.load_before * (1 + 1e-9)
    assert search.lower_bound == pytest.approx(network.least_load(), rel=1e-5)
    # Each change with those before it leads to the load that is told.
    now = dict(network.weight)
    before = search.load_before
    for change in search.changes:
        (arc,) = by_arc({change.link: 0})
        assert now[arc] == change.before != change.after
        now[arc] = change.after
        assert change.load == pytest.approx(network.highest(now))
        assert change.gain == pytest.approx(before - change.load)
        before = change.load
    assert now == weights
    # No change can be left out for itself.
    for arc in weights:
        if weights[arc] != network.weight[arc]:
            assert network.highest({**weights, arc: network.weight[arc]}) > search.load * (1 + 1e-10)


def test_failures_count(network: Network, tmp_path: Path) -> None:
    search = search_weights(network.scenario(tmp_path), QUICK, failures="links")
    weights = by_arc({row.link: row.weight for row in search.table.rows})
    downs = [None, *(arc for arc in network.mbps if arc[0] < arc[1])]
    assert search.load_before == pytest.approx(max(network.highest(network.weight, down) for down in downs))
    assert search.load == pytest.approx(max(network.highest(weights, down) for down in downs))
    worst = search.loads.after.worst_failure
    assert worst is not None
    assert max(worst.load, search.loads.after.max_load) == pytest.approx(search.load)
    assert search.load <= search.load_before * (1 + 1e-9)
    down = tuple(search.bound_in.split("->")) if search.bound_in else None
    least = network.least_load(down if down is None else (down[0], down[1]))
    assert search.lower_bound == pytest.approx(least, rel=1e-5)
    assert search.lower_bound <= search.load * (1 + 1e-6)


def test_all_weights_of_a_small_network_have_no_better_ones(tmp_path: Path) -> None:
    """Every choice of five symmetric weights from 1 to 4."""
    edges = [("n0", "n1"), ("n1", "n2"), ("n2", "n3"), ("n0", "n3"), ("n1", "n3")]
    for seed in range(4):
        rng = random.Random(seed)  # noqa: S311
        mbps = {arc: 10.0 for a, b in edges for arc in ((a, b), (b, a))}
        nodes = ["n0", "n1", "n2", "n3"]
        matrix = {pair: float(rng.randint(1, 9)) for pair in product(nodes, nodes) if pair[0] != pair[1]}
        small = Network(mbps, dict.fromkeys(mbps, 2), matrix)
        every = (
            {arc: one for (a, b), one in zip(edges, choice, strict=True) for arc in ((a, b), (b, a))}
            for choice in product(range(1, 5), repeat=len(edges))
        )
        least = min(small.highest(weights) for weights in every)
        limits = WeightLimits(greatest=4, symmetric=True, time_limit_s=0.4)
        search = search_weights(small.scenario(tmp_path), limits)
        assert search.load == pytest.approx(least)
        weights = by_arc({row.link: row.weight for row in search.table.rows})
        assert all(weights[a, b] == weights[b, a] <= 4 for a, b in edges)


def test_all_within_bounds(network: Network, tmp_path: Path) -> None:
    """The worst matrix of each arc by a program of its own; what robust proves stands below."""
    demand: dict[str, object] = {"ingress": "20 Mbps", "egress": "15 Mbps", "pair": "8 Mbps"}
    search = search_weights(network.scenario(tmp_path, demand), QUICK)
    assert search.load == pytest.approx(worst_of_hose(network, search.table.rows), rel=1e-6)
    assert search.load <= search.load_before * (1 + 1e-9)
    robust = network.scenario(tmp_path, demand).replace(
        {"routing.scheme": "robust", "routing.metric": "hops"}
    )
    bound = robust.worst_case().facts["lower_bound"]
    assert search.lower_bound == pytest.approx(bound, rel=1e-4)


def test_all_within_bounds_in_failures(network: Network, tmp_path: Path) -> None:
    """The same with each link down: the worst of all failures, also by the evaluator of loads."""
    demand: dict[str, object] = {"ingress": "20 Mbps", "egress": "15 Mbps", "pair": "8 Mbps"}
    scenario = network.scenario(tmp_path, demand)
    one, two = (search_weights(scenario, QUICK, failures="links", jobs=jobs) for jobs in (1, 2))
    assert one.table == two.table
    before = [Row(f"{a}->{b}", weight) for (a, b), weight in network.weight.items()]
    downs = [None, *(arc for arc in network.mbps if arc[0] < arc[1])]
    for rows, load in ((before, one.load_before), (one.table.rows, one.load)):
        by_hand = max(worst_of_hose(network, tuple(rows), down=down) for down in downs)
        assert load == pytest.approx(by_hand, rel=1e-6)
    worst = one.loads.after.worst_failure
    assert worst is not None
    assert max(worst.load, one.loads.after.max_load) == pytest.approx(one.load, rel=1e-6)
    assert one.load <= one.load_before * (1 + 1e-9)


def worst_of_hose(
    network: Network,
    rows: tuple,  # type: ignore[type-arg]
    ingress: float = 20.0,
    down: Arc | None = None,
) -> float:
    weights = by_arc({row.link: row.weight for row in rows})
    nodes = sorted({node for node, _ in network.mbps})
    pairs = [pair for pair in product(nodes, nodes) if pair[0] != pair[1]]
    # The share of each pair on each arc: the loads of a matrix of that pair alone.
    shares = [
        Network(dict.fromkeys(network.mbps, 1.0), network.weight, {pair: 1.0}).loads(weights, down)
        for pair in pairs
    ]
    upper = [[float(pair[0] == node) for pair in pairs] for node in nodes]
    upper += [[float(pair[1] == node) for pair in pairs] for node in nodes]
    right = [ingress] * len(nodes) + [15.0] * len(nodes)
    return max(
        -linprog([-share[arc] for share in shares], A_ub=upper, b_ub=right, bounds=(0, 8)).fun / mbps
        for arc, mbps in network.mbps.items()
    )


@pytest.mark.parametrize("seed", range(3))
def test_few_changes_are_kept_and_counted(seed: int, tmp_path: Path) -> None:
    network = Network.random(seed)
    scenario = network.scenario(tmp_path)
    free = search_weights(scenario, QUICK)
    for most in (0, 1, 2):
        search = search_weights(scenario, WeightLimits(max_changes=most, time_limit_s=0.2))
        new = {row.link: row.weight for row in search.table.rows}
        changed = [
            name for name, weight in new.items() if weight != network.weight[next(iter(by_arc({name: 0})))]
        ]
        assert sorted(changed) == sorted(change.link for change in search.changes)
        assert len(changed) <= most
        assert search.load_before * (1 + 1e-9) >= search.load >= search.lower_bound * (1 - 1e-6)
        if most == 0:
            assert search.load == pytest.approx(free.load_before)
            assert any(
                "nothing was found within 0 changes that lowers the highest load; they stay as they are"
                in warning
                for warning in search.warnings
            )
        if most == 1 and free.load < free.load_before:
            # Every single weight from 1 to 40, by brute force.
            best = min(
                network.highest({**network.weight, arc: weight})
                for arc in network.weight
                for weight in range(1, 41)
            )
            assert search.load <= best * (1 + 1e-9)


def test_the_same_whatever_the_threads(tmp_path: Path) -> None:
    scenario = Network.random(3).scenario(tmp_path)
    one, two = (search_weights(scenario, QUICK, failures="links", jobs=jobs) for jobs in (1, 2))
    assert one.table == two.table
    assert one.changes == two.changes


@pytest.mark.parametrize(
    ("weights", "limits", "message"),
    [
        ({("n0", "n1"): 70_000}, WeightLimits(), r"weight of n0->n1 is 70,000, and the greatest is 65,535"),
        ({("n0", "n1"): 0}, WeightLimits(), "whole number from 1"),
    ],
)
def test_weights_out_of_range(
    weights: dict[Arc, int], limits: WeightLimits, message: str, tmp_path: Path
) -> None:
    network = Network.random(0)
    network.weight |= weights
    with pytest.raises(ScenarioError, match=message):
        search_weights(network.scenario(tmp_path), limits)


def test_a_network_that_is_cut_says_so(tmp_path: Path) -> None:
    network = Network.random(0)
    outages = {"nodes": ["n1", "n4"], "links": ["n0-n2", "n0-n3"]}
    with pytest.raises(ScenarioError, match="n0"):
        search_weights(network.scenario(tmp_path, out_of_service=outages), QUICK)


def test_failures_that_cut_are_told(tmp_path: Path) -> None:
    network = Network.random(1)
    network.mbps |= {("n0", "stub"): 10.0, ("stub", "n0"): 10.0}
    network.weight |= {("n0", "stub"): 3, ("stub", "n0"): 3}
    network.matrix |= {("n1", "stub"): 1.0}
    search = search_weights(network.scenario(tmp_path), QUICK, failures="links")
    message = (
        "1 failures cut pairs off (n0->stub: n1 to stub), "
        "and weights cannot help; their traffic is in no load"
    )
    assert any(message in warning for warning in search.warnings)


def test_more_changes_than_links_are_as_many_as_there_are(tmp_path: Path) -> None:
    scenario = Network.random(2).scenario(tmp_path)
    everything = search_weights(scenario, WeightLimits(max_changes=2 * 10**60, time_limit_s=0.2))
    assert everything.load == search_weights(scenario, WeightLimits(time_limit_s=0.2)).load


def test_overload_says_what_no_routing_can_do(tmp_path: Path) -> None:
    network = Network.random(2)
    network.matrix = {pair: 100 * mbps for pair, mbps in network.matrix.items()}
    search = search_weights(network.scenario(tmp_path), WeightLimits(max_changes=2, time_limit_s=0.2))
    assert search.lower_bound > 1
    assert any(
        "none were found within 2 changes by which no link is overloaded: the best have a load of" in warning
        and "no routing at all has less than" in warning
        for warning in search.warnings
    )


def test_without_weights_the_routes_before_are_those_of_fewest_hops(tmp_path: Path) -> None:
    network = Network.random(4)
    data = network.scenario(tmp_path).data(given_only=True)
    del data["network"]["weights"]
    data["routing"]["metric"] = "hops"
    search = search_weights(Scenario.from_data(data, base=tmp_path), QUICK)
    assert search.load_before == pytest.approx(network.highest(dict.fromkeys(network.mbps, 1)))
    assert any(
        "its links have no weights; the search begins with 10" in warning for warning in search.warnings
    )
    assert any(
        "ecmp by hops does not go by weights; before and after are ECMP by weight" in warning
        for warning in search.warnings
    )
    data["network"]["link"][0]["weight"] = 4
    with pytest.raises(ScenarioError, match="has no weight, and other links have one"):
        search_weights(Scenario.from_data(data, base=tmp_path), QUICK)


def test_files_are_a_scenario_with_these_weights(tmp_path: Path) -> None:
    """With parallel links, a link's own weight, and a link out of service, which keeps its weight."""
    network = Network.random(5)
    scenario = network.scenario(tmp_path, out_of_service={"links": ["n0-n1"]})
    data = scenario.data(given_only=True)
    data["network"]["link"][0]["weight"] = 7
    parallel = dict(data["network"]["link"][2])
    data["network"]["link"].append(parallel | {"weight": 3})
    file = tmp_path / "net.toml"
    file.write_text(Scenario.from_data(data, base=tmp_path).toml())
    command = [sys.executable, "-m", "anabranch", "weights", str(file), "--time-limit", "0.2", "--json"]
    ran = subprocess.run(  # noqa: S603 - our own program
        [*command, "--out", str(tmp_path / "new")], capture_output=True, text=True, check=True
    )
    document = json.loads(ran.stdout)
    written = Scenario.load(tmp_path / "new" / "scenario.toml")
    assert written.worst_case().max_load == pytest.approx(document["load"])
    back = written.replace({"network.out_of_service": {"links": []}})
    assert back.worst_case().max_load > 0, "the link that was out of service has a weight"
    assert document["weights"]["n0->n1"] == 7
    again = subprocess.run(  # noqa: S603 - as above
        [*command, "--out", str(tmp_path / "new")], capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert "exists" in again.stderr


def test_even_shares_alone_keep_weights_above_the_bound_of_hoses(tmp_path: Path) -> None:
    """A triangle: what n0 and n1 send to n2 is best halved over both ways, by each of them.

    That takes n0->n2 = n0->n1 + n1->n2 and n1->n2 = n1->n0 + n0->n2, and so a weight of 0.
    """
    edges = {("n0", "n1"): 30.0, ("n0", "n2"): 10.0, ("n1", "n2"): 10.0}
    mbps = {arc: rate for (a, b), rate in edges.items() for arc in ((a, b), (b, a))}
    small = Network(mbps, dict.fromkeys(mbps, 2), {("n0", "n1"): 1.0})
    demand: dict[str, object] = {"ingress": "15 Mbps", "egress": "15 Mbps", "pair": "8 Mbps"}
    highest = []
    for choice in product(range(1, 4), repeat=len(edges)):
        pairs = list(zip(edges, choice, strict=True))
        rows = [Row(f"{one}->{other}", w) for (a, b), w in pairs for one, other in ((a, b), (b, a))]
        highest.append(worst_of_hose(small, tuple(rows), 15.0))
    limits = WeightLimits(greatest=3, symmetric=True, time_limit_s=0.2)
    search = search_weights(small.scenario(tmp_path, demand), limits)
    assert search.load == pytest.approx(min(highest), rel=1e-6)
    assert search.load == pytest.approx(0.8)
    assert search.lower_bound == pytest.approx(0.75, rel=1e-5)
