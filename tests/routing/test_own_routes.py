"""Traffic entries with routes of their own: several schemes and metrics in one network, by flow."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch import Scenario, ScenarioError
from anabranch.errors import ExportError
from anabranch.export.write import export
from anabranch.live.switches.layout import SwitchLayout
from anabranch.plans.routes import plan, routes
from anabranch.plans.saved import save_plan
from anabranch.plans.switch_rules import INGRESS, OF_FLOW, TCP, Numbers, OwnFlow, own_traffic, rules_of
from anabranch.plans.worst_loads import worst_loads
from anabranch.report.views.routes import route_tables
from anabranch.runs.capture import analyze
from anabranch.runs.runner import run
from anabranch.setup import resolve
from anabranch.study import Study

EXAMPLE = Path(__file__).parents[2] / "examples" / "metrics_by_flow.toml"
PUBLISHED = {"by-hops": "1 5 10", "by-delay": "1 5 4 10", "by-tcpbp": "1 3 4 10"}
"""Routes from node 1 to node 10 by each metric (Vilela 2022, table 4)."""

CONTROL = {"capacity": "10 Mbps", "delay": "1 ms"}


def square(*routings: dict[str, Any] | None, **tables: Any) -> Scenario:
    """From a to b directly in 20 ms, over c in 2 x 4 ms, over d and e in 3 x 1 ms; with an entry for each."""
    delays = {"ab": 20, "ac": 4, "cb": 4, "ad": 1, "de": 1, "eb": 1}
    link = [{"between": list(ends), "new": True, "delay": f"{ms} ms"} for ends, ms in delays.items()]
    node = [{"name": name} for name in "abcde"]
    ours = ({} if routing is None else {"routing": routing} for routing in routings)
    traffic = [
        {"name": f"t{number}", "from": "a", "to": "b", **routing} for number, routing in enumerate(ours)
    ]
    network = {"node": node, "link": link, "links": {"capacity": "10 Mbps", "queue": "50 packets"}}
    data = {"network": network, "traffic": traffic, "run": {"duration": "1 s"}, **tables}
    return Scenario.from_data(data)


def test_each_entry_goes_by_its_own_metric() -> None:
    """The three routes that the thesis prints, all at once."""
    pair_routes = routes(Scenario.load(EXAMPLE))
    assert not len(pair_routes.pairs)
    paths = {}
    for ours in pair_routes.others:
        (pair,) = (pair for pair in ours.pairs if pair.source == "1")
        paths[ours.traffic[0]] = " ".join(pair.paths[0].nodes)
    assert paths == PUBLISHED
    assert [ours.metric for ours in pair_routes.others] == ["hops-then-delay", "delay", "tcpbp"]


def test_packets_take_the_routes_of_their_entry() -> None:
    """Round trips are those of the routes: 2 x 20, 2 x 8 and 2 x 3 ms, and some transmission."""
    result = run(square(None, {"metric": "delay"}, {"metric": "hops"}))
    rtts = dict(result.flows.select("name", "rtt_min_ms").iter_rows())
    # The third entry says what [routing] says.
    assert rtts["t0.0"] == pytest.approx(40, abs=3)
    assert rtts["t1.0"] == pytest.approx(6, abs=6)
    assert rtts["t2.0"] == pytest.approx(40, abs=3)
    table = result.tables["routes"].filter(pl.col("from") == "a")
    assert [(row["routing"], len(row["links"])) for row in table.iter_rows(named=True)] == [(0, 1), (1, 3)]


def test_tables_of_next_hops_and_datagrams_have_their_own_too() -> None:
    delay = {"scheme": "ecmp", "metric": "delay"}
    scenario = square({"scheme": "ecmp"}, delay)
    data = scenario.data()
    data["traffic"].append(
        {"name": "p", "from": "a", "to": "b", "application": {"kind": "ping"}, "routing": delay}
    )
    result = run(Scenario.from_data(data))
    rtts = dict(result.flows.select("name", "rtt_min_ms").iter_rows())
    assert rtts["t0.0"] == pytest.approx(40, abs=3)
    assert rtts["t1.0"] == pytest.approx(6, abs=6)
    assert result.tables["datagram_flows"]["latency_min_ms"].to_list() == [pytest.approx(6, abs=2)]


def test_a_failure_moves_each_entry_by_its_own_scheme() -> None:
    """Without d the route by delay is the one over c; that by hops stays."""
    scenario = square(
        None, {"metric": "delay"}, event=[{"at": "0.3 s", "node": "d", "state": "down"}],
        routing={"reaction": "10 ms"},
    )  # fmt: skip
    links = dict(run(scenario).tables["links"].select("name", "packets").iter_rows())
    assert links["d->e"] > 0
    assert links["c->b"] > 20


def test_planners_see_their_own_traffic_alone() -> None:
    demand = {"pair": "2 Mbps"}
    robust = {"scheme": {"algorithm": "robust", "k": 2, "splits": "solver"}}
    scenario = square(None, robust, routing={"demand": demand})
    first, second = plan(resolve(scenario), None).plan, plan(resolve(scenario), None).plan.others()[0]
    assert [len(links) for links, _ in first.paths(0, 1) or []] == [1]
    assert len(second.paths(0, 1) or []) == 2


def test_the_worst_case_is_that_of_either() -> None:
    """All traffic of a pair may be of one entry: each of the two routes may carry all 2 Mbps of it."""
    alone = worst_loads(square(None, routing={"demand": {"pair": "2 Mbps"}}))
    both = worst_loads(square(None, {"metric": "delay"}, routing={"demand": {"pair": "2 Mbps"}}))
    loads = [{link.link: link.load for link in entry.links} for entry in (alone, both)]
    # Over d and e go by delay: a to b, a to e, d to b, d to e; by hops none besides, whatever ties become.
    assert loads[1]["d->e"] == pytest.approx(4 * 0.2)
    assert loads[0]["d->e"] < 0.7
    assert all(loads[1][name] >= load for name, load in loads[0].items())


def test_one_plan_for_all_is_saved_where_pairs_do_not_differ(tmp_path: Path) -> None:
    data = square(None, {"metric": "delay"}).data()
    with pytest.raises(
        ScenarioError, match=r"traffic\[1\].routing: \"a\" to \"b\" and 1 more: these flows go"
    ):
        save_plan(Scenario.from_data(data), tmp_path / "plan.json")
    for other in ("csv", "iproute2", "frr"):
        with pytest.raises(ScenarioError, match="a pair has one route"):
            export(Scenario.from_data(data), other, tmp_path / "out")
    data["traffic"][1] |= {"from": "c", "to": "e"}
    save_plan(Scenario.from_data(data), tmp_path / "plan.json")
    saved = json.loads((tmp_path / "plan.json").read_text())
    assert len(saved["routes"]) == 4
    export(Scenario.from_data(data), "csv", tmp_path / "out")


def exported(data: dict[str, Any], folder: Path) -> dict[tuple[str, int], str]:
    """What node a does first with packets of each address and source port that it matches, 0 for any."""
    export(Scenario.from_data(data), "openflow", folder, replace=True)
    lines = next(folder.glob("flows/n1-*.flows")).read_text().splitlines()[1:]
    entries = {}
    for line in lines:
        if (to := re.search(r"nw_dst=([\d.]+)", line)) is not None and "nw_proto=1," not in line:
            port = re.search(r"(?:tcp|udp)_src=(\d+)", line)
            entries[to[1], int(port[1]) if port else 0] = line.split("actions=")[1]
    return entries


def test_an_export_tells_flows_apart_by_their_ports(tmp_path: Path) -> None:
    """a leads to b by port 1, to c by port 2, to d by port 3; whose ports are whose, a run's capture says."""
    data = square(None, {"metric": "delay"}).data()
    data["traffic"][1]["flows"] = 3
    data["traffic"] += [
        {"name": "u", "from": "a", "to": "b", "routing": {"metric": "delay"},
         "application": {"kind": "udp", "rate": "1 Mbps", "packet": "200 B"}},
        {"name": "p", "from": "a", "to": "b", "routing": {"metric": "delay"},
         "application": {"kind": "ping"}},
    ]  # fmt: skip
    outcome = exported(data, tmp_path / "out")
    assert outcome["10.0.0.2", 0].endswith("output:1")
    own_fields = {port for (_, port), done in outcome.items() if port}
    assert {outcome["10.0.0.2", port][-8:] for port in own_fields} == {"output:3"}
    flows = (tmp_path / "out" / "flows" / "n1-a.flows").read_text()
    assert (
        "priority=110,in_port=1000,dl_type=2048,nw_proto=1,nw_src=10.0.0.1,nw_dst=10.0.0.2,actions=" in flows
    )
    data["capture"] = [{"file": "d.pcapng", "link": ["a", "d"]}]
    run(Scenario.from_data(data), out=tmp_path / "run")
    seen = analyze([tmp_path / "run" / "d.pcapng"]).subflows["client_port"]
    of_tcp = set(seen)
    assert len(of_tcp) == 3
    assert of_tcp < own_fields
    assert len(own_fields) == 4


def test_three_metrics_at_once_are_exported(tmp_path: Path) -> None:
    """The thesis's routes: ten flows of each metric leave node 1 towards 3, and twice ten towards 5."""
    outcome = exported(Scenario.load(EXAMPLE).data(), tmp_path)
    neighbours = Counter(done[-8:] for (to, port), done in outcome.items() if port and to == "10.0.0.10")
    # Interfaces of node 1: to 3, 5, 6 and 9.
    assert neighbours == {"output:1": 10, "output:2": 20}
    onward = {
        line.split("actions=")[1]
        for line in next(tmp_path.glob("flows/n5-*.flows")).read_text().splitlines()
        if "eth_dst=02:a0" in line
    }
    # At 5 those by hops go to 10 and those by delay to 4, and what comes back to 1.
    assert len(onward) == 3


def test_flows_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    pings = {"application": {"kind": "ping"}, "from": "a", "to": "b"}
    data = square(None).data()
    data["traffic"] = [
        {"name": f"t{number}", **pings, "routing": {"metric": metric}}
        for number, metric in enumerate(("delay", "tcpbp"))
    ]
    for link in data["network"]["link"]:
        link["loss"] = 0.01
    with pytest.raises(ExportError, match="t0 and t1: flows from a to b have the same addresses and ports"):
        export(Scenario.from_data(data), "openflow", tmp_path / "out")


def test_tables_for_people_say_whose_routes_they_are() -> None:
    pair_routes = routes(square(None, {"metric": "delay"}))
    assert pair_routes.others[0].caption == "shortest by delay, for t1"
    names = [table.name for table in route_tables(pair_routes)]
    assert names == ["paths", "lengths", "paths_1", "lengths_1"]
    assert pair_routes.data()["others"][0]["traffic"] == ("t1",)


def test_a_study_has_the_metric_of_an_entry_as_a_factor() -> None:
    study = {
        "scenario": square(None, {"metric": "hops"}).data(),
        "factor": [{"field": "traffic[1].routing.metric", "levels": ["hops", "delay"]}],
        "metric": [{"name": "rtt_ms", "column": "rtt_min_ms", "where": {"name": "t1.0"}}],
    }
    result = Study.from_data(study).run()
    assert result.runs["rtt_ms"].to_list() == [pytest.approx(40, abs=3), pytest.approx(6, abs=6)]


def test_a_controller_gives_flows_paths_by_their_own_metric() -> None:
    scenario = square(None, {"metric": "delay"}, controller={"metric": "hops", "links": CONTROL})
    rtts = dict(run(scenario).flows.select("name", "rtt_min_ms").iter_rows())
    assert rtts["t0.0"] == pytest.approx(40, abs=3)
    assert rtts["t1.0"] == pytest.approx(6, abs=6)


def test_a_controller_that_measures_does_so_too() -> None:
    """Once links have estimates, flows go by d sqrt(p), and those with a metric of their own by it."""
    data = square(None, {"metric": "hops"}).data()
    for link in data["network"]["link"]:
        link["loss"] = 0.001
    data["controller"] = {
        "application": {"algorithm": "tcpbp"},
        "statistics_interval": "200 ms",
        "links": CONTROL,
    }
    measuring = {"from": "*", "pairs": "neighbours", "application": {
        "kind": "constant-rate", "message": "1 kB", "rate": "800 kbps"}}  # fmt: skip
    del data["routing"]
    data["traffic"] = [measuring, *data["traffic"]]
    for entry in data["traffic"][1:]:
        entry["start"] = "2 s"
    data["run"]["duration"] = "4 s"
    rtts = dict(run(Scenario.from_data(data)).flows.select("name", "rtt_min_ms").iter_rows())
    assert rtts["t0.0"] == pytest.approx(6, abs=6)
    assert rtts["t1.0"] == pytest.approx(40, abs=3)


@pytest.mark.parametrize(
    ("routing", "tables", "message"),
    [
        ({"scheme": "given"}, {}, r'traffic\[1\].routing.scheme: "given" belongs to \[routing\]'),
        ({"metric": "dely"}, {}, r'traffic\[1\].routing.metric: .*"delay"'),
        ({"scheme": "ecmp", "metric": "tcpbp"}, {}, r"traffic\[1\].routing.metric: is .*, which is no sum"),
        ({"scheme": {"algorithm": "robust", "k": 2}}, {}, r"routing.demand: is missing; .*traffic\[1\]"),
        (
            {"scheme": "ecmp"},
            {"controller": {"links": CONTROL}},
            r"traffic\[1\].routing.scheme: the controller gives each flow one path",
        ),
        ({"load_balancing": "packet"}, {}, r"traffic\[1\].routing.load_balancing: "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_its_place(
    routing: dict[str, Any], tables: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        resolve(square(None, routing, **tables))


def test_switches_tell_flows_with_routes_of_their_own_by_their_ports() -> None:
    """Packets of one flow go by its own path there and back, and all others by that of their pair."""
    setup = resolve(square(None, {"metric": "delay"}))
    names = [node.name for node in setup.nodes]
    layout = SwitchLayout.of(names, setup.links, set(range(5)), {0, 1})
    made = plan(setup, None).plan
    flow = OwnFlow(1, (0, 1), TCP, ("10.0.0.1", 50_000), ("10.0.0.2", 5001))
    (ours,) = own_traffic([flow], 2)
    plans: list[Any] = []
    addresses = {0: ["10.0.0.1"], 1: ["10.0.0.2"]}
    for whose, one in ((None, made), (ours, made.others()[0])):
        outcome = {pair: one.paths(*pair) or [] for pair in ((0, 1), (1, 0))}
        plans.append(
            ({pair: [(tuple(links), 1) for links, _ in paths] for pair, paths in outcome.items()}, whose)
        )
    entries = rules_of(layout.openflow_ports(), setup.links, plans, addresses, Numbers()).entries
    first = [entry for entry in entries if entry.priority >= INGRESS]
    assert [entry.priority for entry in first] == [INGRESS, INGRESS, OF_FLOW, OF_FLOW]
    out = {(port.switch, port.number): port.link_out for port in layout.ports}
    leads = [names[setup.links[out[entry.switch, dict(entry.actions)["output"]]].to] for entry in first]
    assert leads == ["b", "a", "d", "e"]
    assert first[2].match["tcp_src"] == 50_000
    assert first[3].match["tcp_dst"] == 50_000
    assert first[3].match["ipv4_src"] == "10.0.0.2"
