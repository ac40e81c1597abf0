"""Links and nodes out of service: what the network and the traffic of a run are without."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.setup import resolve
from anabranch.setup.out_of_service import without

PLAIN: dict[str, Any] = {
    "network": {
        "node": [{"name": name} for name in ("a", "b", "c", "d-e")],
        "link": [
            {"between": ["a", "b"], "new": True},
            {"between": ["a", "b"], "new": True, "capacity": "5 Mbps", "queue": {"bdp": 1, "rtt": "50 ms"}},
            {"between": ["b", "c"], "new": True},
            {"between": ["c", "a"], "new": True},
            {"between": ["c", "d-e"], "new": True},
        ],
        "links": {"capacity": "10 Mbps", "delay": "1 ms"},
        "maintenance": [{"name": "night", "nodes": ["d-e"], "from": "22:00", "until": "04:00"}],
    },
    "traffic": [{"from": "*", "to": "*", "transport": "newreno", "size": "10 kB"}],
    "run": {"duration": "1 s"},
}


def scenario(out: dict[str, Any] | None = None, **changes: Any) -> Scenario:
    network = PLAIN["network"] | ({} if out is None else {"out_of_service": out})
    return Scenario.from_data(PLAIN | {"network": network} | changes)


def links(of: Scenario) -> list[str]:
    return [link.name for link in resolve(of).links]


def test_a_parallel_link_goes_and_the_other_keeps_its_name_and_queue() -> None:
    every = resolve(scenario())
    one = resolve(scenario({"links": ["a->b"]}))
    assert [link.name for link in one.links] == [
        link.name for link in every.links if link.name not in ("a->b", "b->a")
    ]
    by_name = {link.name: link for link in every.links}
    assert all(link == by_name[link.name] for link in one.links)
    assert links(scenario({"links": ["b-a#2"]})) == links(scenario({"links": ["a->b#2"]}))
    assert "a->b" in links(scenario({"links": ["a->b#2"]}))


def test_nobody_sends_from_or_to_a_node_that_is_out() -> None:
    result = scenario({"nodes": ["d-e"]}).run()
    flows = result.tables["flows"]
    assert {*flows["from"], *flows["to"]} == {"a", "b", "c"}
    assert flows.height == 6
    assert any('nobody sends from or to "d-e"' in warning for warning in result.summary["warnings"])


def test_a_matrix_loses_the_entries_of_a_node_that_is_out(tmp_path: Path) -> None:
    (tmp_path / "tm.csv").write_text("from,to,rate_mbps\na,b,1\na,d-e,2\nd-e,b,3\n")
    traffic = [{"matrix": {"from": "file:tm.csv"}, "size": "10 kB"}]
    demand = {"demand": {"matrix": {"from": "file:tm.csv"}}}
    plain = scenario({"nodes": ["d-e"]}, traffic=traffic, routing=demand).data(given_only=True)
    read = Scenario.from_data(plain, base=tmp_path)
    flows = resolve(read).flows
    assert len(flows) > 0
    assert {(flow.origin, flow.to) for flow in flows} == {(0, 1)}
    loads = read.worst_case()
    assert loads.warnings == (
        'network.out_of_service: the traffic, 5 Mbps, of "d-e" is left out of the demand',
    )
    assert {link.link: link.load for link in loads.links if link.load}.keys() == {"a->b"}


def test_traffic_that_names_the_node_is_told() -> None:
    named = [{"from": "a", "to": "d-e", "transport": "newreno"}]
    with pytest.raises(ScenarioError, match=r'no path from "a" to "d-e" .* without what is out of service'):
        resolve(scenario({"nodes": ["d-e"]}, traffic=named))


def test_an_event_of_a_link_that_is_out_is_told() -> None:
    event = [{"at": "1 ms", "link": ["c", "b"], "state": "down"}]
    with pytest.raises(ScenarioError, match='link between "c" and "b" is out of service'):
        resolve(scenario({"links": ["b->c"]}, event=event))


def test_more_out_of_service_by_name_and_by_window() -> None:
    """A name with a hyphen may be a node; what the scenario says stays."""
    more = without(scenario({"links": ["a->b#2"]}), ["d-e", "b-c"])
    assert more.network.out_of_service is not None
    assert (more.network.out_of_service.links, more.network.out_of_service.nodes) == (
        ["a->b#2", "b-c"], ["d-e"]
    )  # fmt: skip
    assert links(more) == ["a->b", "b->a", "c->a", "a->c"]
    assert links(without(scenario(), [], ["night"])) == links(scenario({"nodes": ["d-e"]}))
    with pytest.raises(ScenarioError, match='"nigth"; nearest: "night"'):
        without(scenario(), [], ["nigth"])


def test_from_the_command_line(tmp_path: Path) -> None:
    """Options of the command are those of the library; kinds of failures may be left out."""
    demand = {"demand": {"pair": "1 Mbps"}}
    file = tmp_path / "net.toml"
    file.write_text(scenario(routing=demand).toml())

    def load(*more: str) -> tuple[dict[str, Any], str]:
        call = [sys.executable, "-m", "anabranch", "load", "--json", *more]
        done = subprocess.run(call, capture_output=True, text=True, check=False)  # noqa: S603
        return (json.loads(done.stdout) if done.returncode == 0 else {}), done.stderr

    document, warned = load("--without", "b-c", "--during", "night", "--failures", str(file))
    assert document["out_of_service"] == ["d-e", "b->c"]
    assert [case["down"] for case in document["failures"]] == ["a->b", "a->b#2", "c->a"]
    assert 'of "d-e" is left out of the demand' in warned
    document, _ = load(str(file), "--failures", "nodes,links+nodes")
    assert {case["kind"] for case in document["failures"]} == {"nodes", "links+nodes"}
    _, message = load(str(file), "--failures", "nodez")
    assert message == '--failures: no kind "nodez"; nearest: "nodes"\n'


def test_a_bucket_that_is_too_small_is_told_of_the_links_in_service_alone() -> None:
    links = [dict(link) for link in PLAIN["network"]["link"]]
    # The last link has it, so that numbers from before the first link went would lie outside.
    links[-1]["shaper"] = {"rate": "1 Mbps", "burst": "100 B"}
    small = PLAIN["network"] | {"link": links}
    with pytest.raises(
        ScenarioError, match=r"network\.link\[4\]\.shaper\.burst: .* of the link c->d-e \(and 1 more\)"
    ):
        resolve(scenario(network=small | {"out_of_service": {"links": ["a->b"]}}))
    assert resolve(
        scenario(network=small | {"out_of_service": {"links": ["c->d-e"], "nodes": ["d-e"]}})
    ).links


def test_a_number_behind_a_name_may_be_the_name_s_own() -> None:
    """`b#2` is a node here, and `a->b#2` the link to it; elsewhere it is the second of two links to b."""
    network = PLAIN["network"] | {
        "node": [{"name": name} for name in ("a", "b", "b#2")],
        "link": [{"between": pair, "new": True} for pair in (["a", "b"], ["a", "b#2"], ["b", "b#2"])],
        "out_of_service": {"links": ["a->b#2"]},
        "maintenance": [],
    }
    left = links(Scenario.from_data(PLAIN | {"network": network}))
    assert left == ["a->b", "b->a", "b->b#2", "b#2->b"]
