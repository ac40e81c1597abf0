"""The scheme `igp-weights`: the weights of the command, routes by them, and new ones after failures."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from small_networks import Arc, Network

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.export.write import export
from anabranch.plans.weight_search import WeightLimits, search_weights

QUICK = WeightLimits(time_limit_s=0.2)
SCHEME = {"algorithm": "igp-weights", "time_limit": "0.2 s"}
HOSE = {"ingress": "20 Mbps", "egress": "15 Mbps", "pair": "8 Mbps"}


def planned(
    network: Network, folder: Path, demand: dict[str, object] | None = None, **more: object
) -> Scenario:
    return network.scenario(folder, demand).replace({"routing.scheme": {**SCHEME, **more}})


def by_arc(weights: dict[str, int]) -> dict[Arc, int]:
    return {(name.partition("->")[0], name.partition("->")[2]): one for name, one in weights.items()}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("demand", [None, HOSE], ids=["matrix", "hose"])
def test_it_is_ecmp_by_the_weights_of_the_command(
    seed: int, demand: dict[str, object] | None, tmp_path: Path
) -> None:
    network = Network.random(seed)
    command = search_weights(network.scenario(tmp_path, demand), QUICK)
    scheme = planned(network, tmp_path, demand).worst_case()
    assert scheme.max_load == pytest.approx(command.load)
    assert scheme.facts["worst_case_load"] == pytest.approx(command.load)
    assert scheme.facts["load_before"] == pytest.approx(command.load_before)
    assert scheme.facts["changes"] == len(command.changes)
    if demand is None:
        weights = by_arc({row.link: row.weight for row in command.table.rows})
        assert {link.link: link.load for link in scheme.links} == pytest.approx(
            {f"{a}->{b}": load for (a, b), load in network.loads(weights).items()}
        )


@pytest.mark.parametrize("seed", range(3))
def test_failures_count_and_routers_find_new_routes(seed: int, tmp_path: Path) -> None:
    network = Network.random(seed)
    command = search_weights(network.scenario(tmp_path), QUICK, failures="links")
    made_plan = planned(network, tmp_path, failures="single-link").worst_case(failures="links")
    weights = by_arc({row.link: row.weight for row in command.table.rows})
    assert made_plan.failures is not None
    assert len(made_plan.failures) == len(network.mbps) // 2
    for case in made_plan.failures:
        (down,) = by_arc({case.name: 0})
        assert case.load == pytest.approx(network.highest(weights, down))
    assert made_plan.facts["worst_case_load"] == pytest.approx(command.load)


def test_a_run_reroutes_as_routers_with_these_weights_do(tmp_path: Path) -> None:
    """The same tables as a run of ECMP whose file has the weights, a failure and its repair included."""
    network = Network.random(1)
    solution = search_weights(network.scenario(tmp_path), QUICK)
    traffic = [{"from": "n0", "to": "n3", "size": "300 kB"}, {"from": "n1", "to": "n4", "size": "300 kB"}]
    solution.table.save(network.scenario(tmp_path), tmp_path / "by_file")
    by_file = Scenario.load(tmp_path / "by_file" / "scenario.toml")
    pair = next(one for one in by_file.routes().pairs if (one.source, one.destination) == ("n0", "n3"))
    away = next(["n0", hop.next_nodes[0]] for hop in pair.hop_by_hop if hop.node == "n0")
    more = {
        "traffic": traffic,
        "run": {"duration": "2 s"},
        "routing.reaction": "50 ms",
        "event": [
            {"at": "100 ms", "link": away, "state": "down"},
            {"at": "900 ms", "link": away, "state": "up"},
        ],
    }
    ours = planned(network, tmp_path).replace(more).run()
    theirs = by_file.replace(more).run()
    for name in ("flows", "links", "next_hops"):
        assert ours.tables[name].equals(theirs.tables[name]), name
    assert ours.tables["events"].height >= 2


def test_where_it_begins(tmp_path: Path) -> None:
    network = Network.random(2)
    by_weight = planned(network, tmp_path, max_changes=0).worst_case()
    assert by_weight.max_load == pytest.approx(network.highest(network.weight))
    assert not [warning for warning in by_weight.warnings if "the links have weights" in warning]
    by_hops = planned(network, tmp_path, max_changes=0).replace({"routing.metric": "hops"}).worst_case()
    assert by_hops.max_load == pytest.approx(network.highest(dict.fromkeys(network.mbps, 1)))
    assert [
        warning
        for warning in by_hops.warnings
        if "the links have weights, and the search begins with one weight for all" in warning
    ]


def test_exports_have_the_weights(tmp_path: Path) -> None:
    network = Network.random(3)
    solution = search_weights(network.scenario(tmp_path), QUICK)
    export(planned(network, tmp_path), "csv", tmp_path / "out")
    with (tmp_path / "out" / "weights.csv").open() as lines:
        written = {(row["from"], row["to"]): int(row["weight"]) for row in csv.DictReader(lines)}
    assert written == by_arc({row.link: row.weight for row in solution.table.rows})
    assert written != network.weight


def test_an_entry_of_traffic_may_go_by_it(tmp_path: Path) -> None:
    network = Network.random(4)
    entries = [
        {"from": "n0", "to": "n2", "size": "10 kB"},
        {"from": "n0", "to": "n2", "size": "10 kB", "name": "own", "routing": {"scheme": SCHEME}},
    ]
    scenario = network.scenario(tmp_path).replace({"traffic": entries, "run": {"duration": "1 s"}})
    scenario = scenario.replace({"routing.scheme": "shortest", "routing.metric": "hops"})
    (plan_routes,) = scenario.routes().others
    assert (plan_routes.scheme, plan_routes.traffic) == ("igp-weights", ("own",))
    assert plan_routes.facts["worst_case_load"] != 0
    flows = scenario.run().tables["flows"]
    assert flows.get_column("completion_s").null_count() == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"routing.metric": "delay"}, 'scheme "igp-weights" goes by hops or weight alone'),
        ({"routing.max_delay": "1 ms"}, "forwards hop by hop"),
        ({"routing.demand": None}, "routing.demand: is missing"),
        ({"routing.scheme": {**SCHEME, "max_weight": 0}}, "max_weight"),
        ({"routing.scheme": {**SCHEME, "max_weight": 2}}, "raise that (max_weight, --max-weight)"),
        ({"routing.scheme": {**SCHEME, "failures": "nodes"}}, "failures"),
    ],
)
def test_what_does_not_go_together_is_refused(change: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        planned(Network.random(0), tmp_path).replace(change).worst_case()
    assert words in str(caught.value)
