"""Limits on the delay and loss of paths, as a scenario has them."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.plans.routes import Routes, plan, routes
from anabranch.routing.path_limits import without_path
from anabranch.runs.runner import run
from anabranch.scenario.declarations import declarations
from anabranch.scenario.leaves import PathLimitsSetup
from anabranch.setup import resolve

TAKING = (
    "shortest",
    "k-shortest",
    "near-shortest",
    "tcpbp-exact",
    "concurrent-flow",
    "robust",
    "hybrid-hop",
    "hybrid-delay",
    "robust-optimal",
    "robust-single",
)


CONTROL = {"capacity": "10 Mbps", "delay": "1 ms"}


def square(*routings: dict[str, Any] | None, **tables: Any) -> Scenario:
    """From a to b directly in 20 ms, over c in 2 x 4 ms, over d and e in 3 x 1 ms; with an entry for each."""
    delays = {"ab": 20, "ac": 4, "cb": 4, "ad": 1, "de": 1, "eb": 1}
    link = [{"between": list(ends), "new": True, "delay": f"{ms} ms"} for ends, ms in delays.items()]
    ours = ({} if routing is None else {"routing": routing} for routing in routings)
    traffic = [{"name": f"t{number}", "from": "a", "to": "b", **more} for number, more in enumerate(ours)]
    links = {"capacity": "10 Mbps", "queue": "50 packets"}
    network = {"node": [{"name": name} for name in "abcde"], "link": link, "links": links}
    return Scenario.from_data({"network": network, "traffic": traffic, "run": {"duration": "1 s"}, **tables})


def ring(scheme: Any, *, to: str = "c", **routing: Any) -> Scenario:
    """Four nodes in a ring of 1 ms and 100 Mbps, and pairs of 10 Mbps unless the routing says otherwise."""
    network = {
        "links": {"capacity": "100 Mbps", "delay": "1 ms"},
        "node": [{"name": name} for name in "abcd"],
        "link": [{"between": list(pair), "new": True} for pair in ("ab", "bc", "cd", "da")],
    }
    routing = {"scheme": scheme, "demand": {"pair": "10 Mbps"}} | routing
    traffic = [{"from": "a", "to": to}]
    return Scenario.from_data(
        {"network": network, "routing": routing, "traffic": traffic, "run": {"duration": "1 s"}}
    )


def paths(paths: Routes, source: str = "a") -> list[str]:
    """The paths from a node, by their nodes."""
    (pair,) = (pair for pair in paths.pairs if pair.source == source)
    return ["".join(path.nodes) for path in pair.paths]


def limited(**limits: Any) -> Scenario:
    """The square, whose ways from a to b take 20, 8 and 3 ms over 1, 2 and 3 links."""
    return square(None, routing=limits)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, "ab"),
        ({"max_delay": "20 ms"}, "ab"),
        ({"max_delay": "19.9 ms"}, "acb"),
        ({"max_delay": "3 ms"}, "adeb"),
        ({"max_delay": "20 ms", "max_loss": 0.0}, "ab"),
    ],
)
def test_the_path_of_fewest_hops_within_the_limit_is_taken(limits: dict[str, Any], expected: str) -> None:
    assert paths(routes(limited(**limits))) == [expected]


def test_several_paths_are_the_first_that_keep_the_limit() -> None:
    scheme = {"algorithm": "k-shortest", "k": 3}
    assert paths(routes(limited(scheme=scheme))) == ["ab", "acb", "adeb"]
    assert paths(routes(limited(scheme=scheme, max_delay="10 ms"))) == ["acb", "adeb"]
    near = {"algorithm": "near-shortest", "within_percent": 50}
    assert paths(routes(limited(scheme=near))) == ["ab"]
    assert paths(routes(limited(scheme=near, max_delay="10 ms"))) == ["acb", "adeb"]


def test_an_entry_has_limits_of_its_own() -> None:
    pair_routes = routes(
        square(None, {"max_delay": "10 ms"}, {"metric": "delay"}, routing={"max_delay": "20 ms"})
    )
    assert paths(pair_routes) == ["ab"]
    assert [paths(ours) for ours in pair_routes.others] == [["acb"], ["adeb"]]


def test_loss_is_that_of_the_whole_path() -> None:
    """Two links of 1 % lose 1 - 0.99^2 = 1.99 %."""
    data = limited().data()
    for link in data["network"]["link"]:
        link["loss"] = 0.05 if link["between"] == ["a", "b"] else 0.01
    for most, expected in ((0.05, "ab"), (0.0499, "acb"), (0.0199, "acb")):
        assert paths(routes(Scenario.from_data(data | {"routing": {"max_loss": most}}))) == [expected]
    with pytest.raises(ScenarioError) as refused:
        routes(Scenario.from_data(data | {"routing": {"max_loss": 0.0198}}))
    (problem,) = refused.value.problems
    assert problem.place == "routing.max_loss"
    assert problem.message == (
        '0.0198 leaves no path from "a" to "b": the least is 0.0199, and 1 other pair has none; allow more, '
        "or leave it out"
    )


def test_a_pair_without_a_path_is_told_with_the_least_delay() -> None:
    with pytest.raises(ScenarioError) as refused:
        run(square(None, {"max_delay": "2 ms"}))
    (problem,) = refused.value.problems
    assert problem.place == "traffic[1].routing.max_delay"
    assert problem.message.startswith(
        '2 ms leaves no path from "a" to "b": the least is 3 ms, and 1 other pair has'
    )


def test_of_several_pairs_the_one_that_needs_most_is_named() -> None:
    """A limit of what it needs leaves every pair a path."""
    data = limited(max_delay="1 ms").data()
    data["traffic"] = [{"from": "a", "to": to} for to in "cdeb"]
    with pytest.raises(ScenarioError) as refused:
        routes(Scenario.from_data(data))
    (problem,) = refused.value.problems
    # c is 4 ms from a, and b 3 ms, e 2 ms and d 1 ms; each pair both ways.
    assert problem.message.startswith('1 ms leaves no path from "a" to "c": the least is 4 ms, and 5 other')
    routes(Scenario.from_data(data | {"routing": {"max_delay": "4 ms"}}))


def test_limits_that_no_path_keeps_together_are_told() -> None:
    data = limited(max_delay="4 ms", max_loss=0.01).data()
    for link in data["network"]["link"]:
        link["loss"] = 0.005
    with pytest.raises(ScenarioError) as refused:
        routes(Scenario.from_data(data))
    (problem,) = refused.value.problems
    assert problem.place == "routing.max_delay"
    assert '"a" to "b" that keeps max_loss = 0.01, too: the least is 8 ms' in problem.message


def test_the_least_that_is_told_leaves_a_path() -> None:
    """It is rounded up."""
    data = limited().data()
    for link in data["network"]["link"]:
        link |= {"loss": 0.0012345678, "delay": "1.23456789 ms"}
    setup = resolve(Scenario.from_data(data))
    tight = [PathLimitsSetup(max_delay=1, max_loss=None), PathLimitsSetup(max_delay=None, max_loss=1e-9)]
    for limits in tight:
        (problem,) = without_path(setup, limits, [(0, 1)])
        message = problem.message.partition("the least is ")[2].partition(";")[0]
        name = problem.place.rpartition(".")[2]
        value: Any = message if name == "max_delay" else float(message)
        assert paths(routes(Scenario.from_data(data | {"routing": {name: value}}))) == ["ab"]


def test_after_a_failure_there_may_be_no_path_within_the_limit_until_the_repair() -> None:
    """From 0.3 s on the link is down, and back at 0.6 s; the reaction takes 10 ms."""
    event = [
        {"at": "300 ms", "link": ["a", "c"], "state": "down"},
        {"at": "600 ms", "link": ["a", "c"], "state": "up"},
    ]
    ping = {"name": "p", "from": "a", "to": "b", "application": {"kind": "ping", "interval": "10 ms"}}

    def answered(slow: str, **limits: Any) -> int:
        data = square(None, routing={"reaction": "10 ms", **limits}, event=event).data()
        for link in data["network"]["link"]:
            if link["between"] == ["d", "e"]:
                link["delay"] = slow
        result = run(Scenario.from_data(data | {"traffic": [ping]}))
        return int(result.tables["datagram_flows"]["received"][0])

    # Of the pings at 0, 10, ... 990 ms those up to 950 ms, over ab, which never fails: round trips of 40 ms.
    assert answered("1 ms") == 96
    # Over acb those up to 980 ms, but for 290 ms, on its way at the failure, and 300 ms, before the reaction.
    assert answered("1 ms", max_delay="10 ms") == 99 - 2
    # With adeb beyond the limit those from 290 to 600 ms have no path.
    assert answered("9 ms", max_delay="10 ms") == 99 - 32


def test_candidates_of_robust_schemes_keep_the_limit() -> None:
    """A ring of four: opposite pairs have two ways of 2 ms, neighbours one of 1 ms and one of 3 ms."""
    scheme = {"algorithm": "robust", "k": 2}
    wide, tight = ring(scheme).routes(), ring(scheme, max_delay="2 ms").routes()
    assert tight.facts["worst_case_load"] == pytest.approx(wide.facts["worst_case_load"], rel=1e-5)
    assert tight.facts["mean_paths"] <= (8 * 1 + 4 * 2) / 12
    with pytest.raises(ScenarioError) as refused:
        ring(scheme, max_delay="1 ms").routes()
    (problem,) = refused.value.problems
    assert problem.place == "routing.max_delay"
    assert problem.message.startswith('1 ms leaves no path from "a" to "c": the least is 2 ms, and 3 other')


def test_shorter_paths_cost_load() -> None:
    """Publication 3's trade of delay against load: the ring with demand of one pair alone."""
    demand = {"ingress": {"a": "10 Mbps", "*": "0 Mbps"}, "egress": {"b": "10 Mbps", "*": "0 Mbps"}}
    scheme = {"algorithm": "robust", "k": 2}
    wide = ring(scheme, to="b", demand=demand).routes()
    tight = ring(scheme, to="b", demand=demand, max_delay="1 ms").routes()
    # 10 Mbps over two ways of 100 Mbps, or over one.
    assert wide.facts["worst_case_load"] == pytest.approx(0.05, rel=1e-4)
    assert tight.facts["worst_case_load"] == pytest.approx(0.1, rel=1e-4)


def test_failures_leave_pairs_without_a_path_within_the_limit_stranded() -> None:
    outcome = ring("shortest", max_delay="2 ms").worst_case(failures=True)
    assert outcome.failures is not None
    # With an edge of the ring down its ends are 3 ms apart, both ways.
    assert [len(case.stranded) for case in outcome.failures] == [2] * 4
    without = ring("shortest").worst_case(failures=True)
    assert without.failures is not None
    assert [len(case.stranded) for case in without.failures] == [0] * 4


def test_a_plan_has_no_path_beyond_the_limits_whatever_takes_them() -> None:
    """Every scheme that declares limits, on the square: none takes ab, of 20 ms."""
    names = [name for name, declared in declarations()["scheme"].items() if _takes(declared)]
    assert tuple(names) == TAKING
    for name in names:
        robust = name in TAKING[5:]
        demand = {"demand": {"pair": "1 Mbps"}} if robust else {}
        scheme: Any = {"algorithm": name, "k": 3} if name not in ("shortest",) else name
        setup = resolve(limited(scheme=scheme, max_delay="12 ms", **demand))
        made_plan = plan(setup, None).plan.paths(0, 1)
        assert made_plan
        assert all(sum(setup.links[link].delay for link in links) <= 12e9 for links, _ in made_plan), name


def _takes(declared: dict[str, Any]) -> bool:
    return any(entry["name"] == "limits" for entry in declared["parameters"])


@pytest.mark.parametrize(
    ("routing", "place", "said"),
    [
        ({"scheme": "ecmp"}, "max_delay", 'scheme "ecmp" forwards hop by hop'),
        ({"scheme": "disjoint"}, "max_delay", "NP-hard"),
        ({"scheme": "semper"}, "max_delay", "NP-hard"),
        ({"scheme": "max-flow"}, "max_delay", "takes the paths of one flow"),
        ({"scheme": "tcpbp"}, "max_delay", "the published search knows no limits"),
        ({"scheme": "given"}, "max_delay", "has the paths that you give"),
        (
            {"scheme": {"algorithm": "tcpbp-exact", "model": "pftk"}},
            "max_delay",
            "paths by a model have no limits",
        ),
        ({"scheme": "robust", "demand": {"pair": "1 Mbps"}}, "max_delay", "give robust a k"),
        ({"scheme": {"python": "own_paths:Paths"}}, "max_delay", "your class chooses the paths"),
        ({"max_delay": "-1 ms"}, "max_delay", "-1 ms"),
        ({"max_delay": 5}, "max_delay", "5"),
        ({"max_delay": "1 ms", "max_loss": 1.0}, "max_loss", "1.0 must be below 1.0"),
        ({"max_delay": "1 ms", "max_loss": -0.1}, "max_loss", "-0.1 must be at least 0.0"),
        ({"max_delay": "1 ms", "max_loss": "1 %"}, "max_loss", "is not a number"),
    ],
)
def test_what_does_not_go_together_is_refused(routing: dict[str, Any], place: str, said: str) -> None:
    for where in ("routing", "traffic[0].routing"):
        ours = routing | {"max_delay": routing.get("max_delay", "25 ms")}
        if where != "routing" and {"scheme": "given"}.items() <= ours.items():
            continue
        choice = {name: value for name, value in ours.items() if name != "demand"}
        tables = {"routing": ours} if where == "routing" else {}
        with pytest.raises(ScenarioError) as refused:
            square(None if tables else choice, **tables)
        (problem,) = refused.value.problems
        assert problem.place == f"{where}.{place}"
        assert said in problem.message


def test_a_controller_and_a_check_hop_by_hop_know_no_limits() -> None:
    with pytest.raises(ScenarioError, match="the controller chooses the paths, so leave this out"):
        resolve(square(None, controller={"links": CONTROL}, routing={"max_delay": "5 ms"}))
    with pytest.raises(ScenarioError, match="the controller knows no limits of a path"):
        resolve(square({"max_loss": 0.1}, controller={"links": CONTROL}))
    with pytest.raises(ScenarioError, match="no node knows what a packet has spent on its way"):
        limited(max_delay="20 ms").check_forwarding()


def test_the_core_refuses_limits_that_are_none() -> None:
    core = resolve(limited()).core()
    for wrong in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match="max_loss"):
            core.candidate_paths(1, "hops", [(0, 1)], max_loss=wrong)
    with pytest.raises(ValueError, match="the published search knows no limits"):
        core.candidate_paths(1, "tcpbp", [(0, 1)], "published", max_delay=1)
