"""Routes by a throughput model, against all paths that there are."""

from __future__ import annotations

import json
from itertools import pairwise, product
from typing import Any

import networkx as nx
import pytest

from anabranch import Scenario, ScenarioError, models
from anabranch.models import PathConditions, model_named
from anabranch.routing import tcpbp_exact
from anabranch.scenario.declarations import declarations
from anabranch_publications.papers.tcpbp.network import LINKS, NODES, scenario

DATA_BYTES, ACK_BYTES, PAYLOAD_BYTES = 1500, 40, 1460
"""Packets of the thesis: no timestamps."""


def test_the_models_that_a_scenario_can_name_are_there() -> None:
    (model,) = (p for p in declarations()["scheme"]["tcpbp-exact"]["parameters"] if p["name"] == "model")
    names = {choice["name"] for choice in model["choices"]}
    assert len(names) == 5
    assert names - {"transport"} <= models.MODELS.keys()


def ten_nodes(routing: dict[str, Any], pairs: list[tuple[str, str]], flows: int = 10) -> Scenario:
    data = scenario("TCPBP exact", pairs=tuple(pairs), flows=flows)
    data["routing"] = {"scheme": {"algorithm": "tcpbp-exact", **routing}}
    return Scenario.from_data(data)


def numbers(path: tuple[str, ...]) -> tuple[float, float]:
    """One-way delay in s, and probability of arriving."""
    delay, arrives = 0.0, 1.0
    for ends in pairwise(path):
        delay_ms, loss = LINKS[min(ends, key=int), max(ends, key=int)]
        delay, arrives = delay + delay_ms / 1e3, arrives * (1 - loss)
    return delay, arrives


def rate(model: str, path: tuple[str, ...], back: tuple[str, ...], flows: int) -> float:
    """A model's answer for a path and one back, from the printed delays and losses."""
    delay, arrives = numbers(path)
    bits = (len(path) - 1) * DATA_BYTES * 8 + (len(back) - 1) * ACK_BYTES * 8
    conditions = PathConditions(
        rtt_s=delay + numbers(back)[0] + bits / 1e9,
        loss=1 - arrives,
        mss_bytes=PAYLOAD_BYTES,
        capacity_mbps=1000 * PAYLOAD_BYTES / DATA_BYTES,
        flows=flows,
        window_bytes=6 * 2**20,
    )
    return model_named(model).predict(conditions).mbps


@pytest.fixture(scope="module")
def paths() -> dict[tuple[str, str], list[tuple[str, ...]]]:
    """All loop-free paths of up to six links."""
    graph = nx.Graph(list(LINKS))
    return {
        (a, b): [tuple(path) for path in nx.all_simple_paths(graph, a, b, cutoff=6)]
        for a, b in product(NODES, repeat=2)
        if a != b
    }


@pytest.mark.parametrize(("model", "flows"), [("mathis", 1), ("pftk", 1), ("cubic", 25), ("bbr", 1)])
def test_no_path_at_all_is_predicted_better(
    model: str, flows: int, paths: dict[tuple[str, str], list[tuple[str, ...]]]
) -> None:
    pairs = [(a, b) for a, b in paths if int(a) < int(b)]
    assert len(pairs) == 45
    entries = {
        (pair.source, pair.destination): pair.paths[0].nodes
        for pair in ten_nodes({"model": model, "sharing": "pair"}, pairs, flows).routes().pairs
    }
    assert len(entries) == 90
    for a, b in pairs:
        best = max(rate(model, path, entries[b, a], flows) for path in paths[a, b])
        assert rate(model, entries[a, b], entries[b, a], flows) == pytest.approx(best, rel=1e-9)


def test_two_pairs_that_send_to_each_other_are_one_choice(
    paths: dict[tuple[str, str], list[tuple[str, ...]]],
) -> None:
    routes = ten_nodes({"model": "mathis", "sharing": "none"}, [("2", "6"), ("6", "2")], 1).routes()
    there, back = (pair.paths[0].nodes for pair in routes.pairs)

    def both(one: tuple[str, ...], other: tuple[str, ...]) -> float:
        return rate("mathis", one, other, 1) + rate("mathis", other, one, 1)

    ways = product(paths["2", "6"], paths["6", "2"])
    assert both(there, back) == pytest.approx(max(both(*path) for path in ways), rel=1e-9)


def test_data_takes_the_way_with_little_loss_and_acknowledgments_the_short_one() -> None:
    # By hand, mathis is 1 / ((d + d_back) sqrt(p)) times a constant. 2-8-5-1-6 has 7.41 ms and p = 0.0405,
    # 2-3-6 13.6 ms and p = 0.01555. With 7.41 ms back: 14.82 ms x 0.2012 = 2.98, 21.01 ms x 0.1247 = 2.62.
    # With the same way back the first is the better one: 14.82 ms x 0.2012 against 27.2 ms x 0.1247 = 3.39.
    routes = ten_nodes({"model": "mathis"}, [("2", "6")], 1).routes()
    assert [pair.paths[0].nodes for pair in routes.pairs] == [("2", "3", "6"), ("6", "1", "5", "8", "2")]


def four_in_parallel(**routing: str) -> Scenario:
    """Two pairs with 20 flows each, from a1 and a2 by way of equal nodes x and y to b1 and b2."""
    ends = [
        ("a1", "m"),
        ("a2", "m"),
        ("m", "x"),
        ("m", "y"),
        ("x", "n"),
        ("y", "n"),
        ("n", "b1"),
        ("n", "b2"),
    ]
    wide = {"capacity": "1 Gbps"}
    return Scenario.from_data(
        {
            "network": {
                "node": [{"name": name} for name in ("a1", "a2", "b1", "b2", "m", "n", "x", "y")],
                "links": {"capacity": "20 Mbps", "delay": "2 ms", "loss": 1e-3},
                "link": [
                    {
                        "between": list(pair),
                        "new": True,
                        **(wide if pair[0] in "a1a2" or pair[0] == "n" else {}),
                    }
                    for pair in ends
                ],
            },
            "routing": {"scheme": {"algorithm": "tcpbp-exact", **routing}},
            "traffic": [{"from": f"a{n}", "to": f"b{n}", "flows": 20} for n in (1, 2)],
            "run": {"duration": "1 s"},
        }
    )


def middle(scenario_read: Scenario) -> list[str]:
    return [pair.paths[0].nodes[2] for pair in scenario_read.routes().pairs if pair.carries == "data"]


def test_all_pairs_together_leave_nobody_in_a_crowd() -> None:
    # Of equal paths both pairs take the same alone; together they have a path of 20 Mbps each, of which
    # 1448 of 1500 bytes are payload.
    assert middle(four_in_parallel(model="cubic", sharing="pair")) == ["x", "x"]
    for objective in ("total", "proportional"):
        together = four_in_parallel(model="cubic", sharing="all-pairs", objective=objective)
        assert sorted(middle(together)) == ["x", "y"]
        facts = together.routes().facts
        assert facts["predicted_total_mbps"] == pytest.approx(40 * 1448 / 1500)
        assert facts["gap"] == pytest.approx(0, abs=5e-3)
    alone = four_in_parallel(model="cubic", sharing="pair").routes().facts
    assert alone["predicted_total_mbps"] == pytest.approx(20 * 1448 / 1500)
    assert alone["gap"] == pytest.approx(0.5, abs=5e-3)


def test_a_run_follows_the_routes_and_keeps_what_is_said_of_them() -> None:
    result = four_in_parallel(model="transport", sharing="all-pairs").run()
    routing = result.summary["routing"]
    assert isinstance(routing, dict)
    assert set(routing) == {"model", "sharing", "predicted_total_mbps", "bound_mbps", "gap"}
    carried = dict(zip(result.links["name"].to_list(), result.links["packets"].to_list(), strict=True))
    assert min(carried["m->x"], carried["m->y"]) > 500


def test_a_search_that_stops_early_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert four_in_parallel(model="cubic", sharing="all-pairs").routes().warnings == ()
    for module in ("assignment", "tcpbp_exact"):
        monkeypatch.setattr(f"anabranch.routing.{module}.MOST_EVALUATIONS", 1)
    (warning,) = four_in_parallel(model="cubic", sharing="all-pairs").routes().warnings
    assert warning.startswith(
        "routing.sharing: the search for routes stopped after 1 assignments; the gap says"
    )


def test_a_model_outside_its_range_is_told_with_the_range() -> None:
    data = four_in_parallel(model="mathis").data()
    data["network"]["links"]["loss"] = 0.05
    (warning,) = Scenario.from_data(data).routes().warnings
    assert warning == (
        "routing.scheme.model: on the path a1 -> b1, and on those of 1 other pair: mathis: loss 0.185494 is "
        "outside its range (loss from 1e-05 to 0.05, mean window of at least 4 segments)"
    )
    data["event"] = [{"at": "500 ms", "link": ["m", "x"], "state": "down"}]
    warnings = Scenario.from_data(data).routes().warnings
    assert len(warnings) == 2
    assert "routes by a model are planned once" in warnings[1]
    assert "failure at 0.5 s" in warnings[1]


def test_after_a_failure_a_pair_without_its_path_waits_for_the_repair() -> None:
    data = four_in_parallel(model="cubic", sharing="pair").data()
    data["routing"]["reaction"] = "100 ms"
    data["traffic"] = [{**data["traffic"][0], "flows": 1, "start": "200 ms"}]
    data["event"] = [
        {"at": at, "link": ["m", "x"], "state": state} for at, state in (("1 s", "down"), ("2 s", "up"))
    ]
    data["run"] |= {"duration": "6 s", "sample_interval": "500 ms"}
    result = Scenario.from_data(data).run()
    carried = dict(zip(result.links["name"].to_list(), result.links["packets"].to_list(), strict=True))
    # The way by y would be as good, and is not taken.
    assert carried["m->x"] > 500
    assert carried["m->y"] == 0
    assert result.flows["drops_unreachable"].sum() > 0
    series = result.flow_series
    down = series.filter((series["time_s"] > 1.5) & (series["time_s"] <= 2.0))["goodput_mbps"].to_list()
    assert down == [0.0]
    assert series.filter(series["time_s"] > 5)["goodput_mbps"].to_numpy().max() > 1


def test_a_transport_without_a_model_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # As with a congestion control that is new, and for which nobody has a formula.
    monkeypatch.delitem(models._CONTROL_MODELS, "cubic")
    with pytest.raises(ScenarioError) as caught:
        ten_nodes({"model": "transport"}, [("1", "10")]).routes()
    (problem,) = caught.value.problems
    assert str(problem) == (
        "routing.scheme.model: transport \"tcpbp-cubic\": no throughput model for 'cubic'; name a "
        'model, such as "mathis"'
    )
    assert ten_nodes({"model": "mathis"}, [("1", "10")]).routes().pairs


@pytest.mark.parametrize("transport", ["mptcp-balia", "sliding-window", "uet"])
@pytest.mark.parametrize("sharing", ["none", "all-pairs"])
def test_a_model_can_be_named_for_a_transport_without_one(transport: str, sharing: str) -> None:
    scheme: dict[str, Any] = {"algorithm": "tcpbp-exact", "model": "pftk"}
    if sharing != "none":
        scheme |= {"sharing": sharing, "objective": "proportional"}
    data: dict[str, Any] = {
        "network": {"topology": "topohub/Abilene", "links": {"capacity": "10 Mbps", "loss": 1e-3}},
        "traffic": [{"from": "Denver", "to": "Indianapolis", "size": "200 kB", "transport": transport}],
        "routing": {"scheme": scheme},
        "run": {"duration": "1 s"},
    }
    if transport == "uet":
        with pytest.raises(
            ScenarioError, match="64 values, which 3 links of Denver, a plane each, cannot share"
        ):
            Scenario.from_data(data).routes()
        data["transport"] = {"uet": {"preset": "uet", "path_selector": "flow"}}
    assert Scenario.from_data(data).routes().pairs


def test_too_many_pareto_optimal_paths_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcpbp_exact, "MOST_PATHS", 1)
    with pytest.raises(ScenarioError) as caught:
        ten_nodes({"model": "mathis"}, [("1", "10")]).routes()
    (problem,) = caught.value.problems
    assert problem.place == "routing.scheme.model"
    assert 'more than 1 Pareto-optimal paths from "1" to "10"' in problem.message
    assert "leave model and sharing out" in problem.message


def test_the_same_scenario_has_the_same_routes() -> None:
    pairs = [(a, b) for a in NODES for b in NODES if a < b]
    wanted = {"model": "transport", "sharing": "all-pairs"}
    one, other = (json.dumps(ten_nodes(wanted, pairs, 25).routes().data()) for _ in range(2))
    assert one == other
