"""The seam between a scenario and a plan made in Python."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.plans import routes
from anabranch.plans.routes import plan
from anabranch.routing import Planned, WeightedPath, pairs_of, plan_of, planner_of
from anabranch.scenario.algorithms.scheme import RobustSingle
from anabranch.scenario.declarations import declarations
from anabranch.setup import Setup, resolve
from anabranch.setup.model import PlannerSetup


def triangle() -> Setup:
    """A transfer from a to b, over one link or by way of c."""
    link = {"capacity": "10 Mbps", "delay": "1 ms", "new": True}
    ends = (("a", "b"), ("a", "c"), ("c", "b"))
    data = {
        "network": {
            "node": [{"name": name} for name in "abc"],
            "link": [{"between": list(pair), **link} for pair in ends],
        },
        "traffic": [{"from": "a", "to": "b", "size": "100 kB"}],
        "run": {"duration": "5 s"},
    }
    return resolve(Scenario.from_data(data))


def link(setup: Setup, name: str) -> int:
    return next(index for index, link in enumerate(setup.links) if link.name == name)


def test_a_planner_takes_the_place_of_the_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = triangle()
    roundabout = WeightedPath((link(setup, "a->c"), link(setup, "c->b")), 1.0)
    back = WeightedPath((link(setup, "b->a"),), 1.0)

    def planner(given: Setup, planner: PlannerSetup) -> Planned:
        assert pairs_of(given) == [(0, 1), (1, 0)]
        return Planned(plan_of({(0, 1): [roundabout], (1, 0): [back]}), (f"with {planner.scheme.k}",))

    monkeypatch.setattr(routes, "planner_of", {"robust-single": planner}.__getitem__)
    setup = setup.replace(planner=PlannerSetup(RobustSingle(k=3)))
    planned = plan(setup, None)
    assert planned.warnings == ("with 3",)
    # The engine never hears of planners, and forwards by what they say.
    tables = setup.core().simulate(planned.plan)["tables"]
    carried = dict(zip([link.name for link in setup.links], tables["links"]["packets"], strict=True))
    assert carried["a->b"] == 0
    assert carried["a->c"] == carried["c->b"] > 100_000 / 1460


def test_shares_add_up_to_one_without_what_is_rounding() -> None:
    paths = [WeightedPath((0,), 0.5), WeightedPath((1,), 1e-12), WeightedPath((2,), 0.25)]
    routes = plan_of({(3, 4): paths, (1, 2): [], (0, 1): paths[:1]}).data()["routes"]
    assert [(route["from"], route["to"]) for route in routes] == [(0, 1), (3, 4)]
    assert [path["links"] for path in routes[1]["paths"]] == [[0], [2]]
    assert [path["weight"] for path in routes[1]["paths"]] == pytest.approx([2 / 3, 1 / 3])


def test_every_planner_that_the_core_names_is_there() -> None:
    schemes = declarations()["scheme"]
    planned = {name: scheme["planner"] for name, scheme in schemes.items() if "planner" in scheme}
    assert len(planned) == 9
    modules = {"concurrent_flow", "given", "robust_planner", "tcpbp_exact", "weights_planner"}
    assert set(planned.values()) == modules
    for name, module in planned.items():
        planner = planner_of(name)
        assert (planner.__module__, planner.__name__) == (f"anabranch.routing.{module}", "plan")
    balancing = {scheme["load_balancing"] for scheme in schemes.values() if "load_balancing" in scheme}
    assert balancing == {"packet"} <= declarations()["load_balancing"].keys()


def test_the_core_refuses_a_scheme_that_is_a_planners() -> None:
    setup = triangle()
    scheme = {"algorithm": "tcpbp-exact", "model": "bbr"}
    setup = setup.replace(routing=replace(setup.routing, scheme=scheme))
    with pytest.raises(ScenarioError, match=r"routing\.scheme\.model: is for a planner"):
        plan(setup, None)
