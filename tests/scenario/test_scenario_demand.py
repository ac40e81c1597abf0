"""Bounds of the traffic and robust schemes: what reaches the planner, and every way to get them wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import Setup, resolve

from .conftest import BASE

ROBUST = BASE + '[routing]\nscheme = "robust"\n[routing.demand]\npair = "50 Mbps"\n'


def resolved(text: str) -> Setup:
    return resolve(Scenario.loads(text, origin="x.toml"))


def refused(**fields: str) -> str:
    """What is said about the scenario above with these fields set; ``__`` stands for a dot."""
    overrides = {name.replace("__", "."): value for name, value in fields.items()}
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(ROBUST, overrides, origin="x.toml"))
    return str(caught.value)


def test_defaults_reach_the_planner() -> None:
    setup = resolved(ROBUST)
    assert setup.planner is not None
    assert dict(setup.planner.scheme.items()) == {
        "algorithm": "robust", "k": None, "metric": "hops", "failures": "none",
        "splits": None, "time_limit": 60 * 10**12, "gap": 1e-6,
    }  # fmt: skip
    assert setup.demand is not None
    assert setup.demand.pair_bps == 50_000_000
    assert set(setup.demand.ingress_bps) == {None}
    assert "demand" not in setup.data()
    assert "planner" not in setup.data()


@pytest.mark.parametrize(
    ("scheme", "k", "metric"),
    [("hybrid-hop", 2, "hops"), ("hybrid-delay", 2, "delay"), ("robust-optimal", 4, "hops")],
)
def test_schemes_have_their_own_defaults(scheme: str, k: int, metric: str) -> None:
    planner = resolved(ROBUST.replace('"robust"', f'"{scheme}"')).planner
    assert planner is not None
    made = planner.scheme
    assert (made.algorithm, made.k, made.metric) == (scheme, k, metric)


def test_a_scenario_with_bounds_reads_back() -> None:
    scenario = Scenario.loads(
        ROBUST.replace('scheme = "robust"', 'scheme = { algorithm = "robust", gap = 0.01 }')
    )
    assert Scenario.loads(scenario.toml()) == scenario
    assert 'load_balancing = "packet"' in scenario.toml()


def test_rates_by_router_and_for_the_others() -> None:
    table = 'ingress = { Denver = "1 Mbps", "*" = "2 Mbps" }'
    demand = resolved(ROBUST.replace('pair = "50 Mbps"', table)).demand
    assert demand is not None
    rates = demand.ingress_bps
    assert sorted(set(rates)) == [1_000_000, 2_000_000]
    assert rates.count(1_000_000) == 1


def test_the_matrix_of_sndlib_is_scaled_and_mirrored() -> None:
    """nobel-us lists 91 demands, one for each pair of its 14 nodes; Palo-Alto to San-Diego is 52."""
    pair = '{ from = "topology", unit = "2 Mbps", scale = 0.5, direction = "both" }'
    text = ROBUST.replace("zoo/Abilene", "sndlib/nobel-us").replace('"50 Mbps"', pair)
    demand = resolved(text).demand
    assert demand is not None
    bounds = demand.pair_bps
    assert isinstance(bounds, list)
    assert len(bounds) == 182
    assert (0, 1, 52_000_000) in bounds
    assert (1, 0, 52_000_000) in bounds


def in_file(tmp_path: Path, csv: str) -> Scenario:
    (tmp_path / "d.csv").write_text(csv, encoding="utf-8")
    file = tmp_path / "x.toml"
    file.write_text(ROBUST.replace('"50 Mbps"', '{ from = "file:d.csv" }'), encoding="utf-8")
    return Scenario.load(file)


def test_rates_of_pairs_from_a_file(tmp_path: Path) -> None:
    for csv in (
        "from,to,rate\nSeattle,Denver,2.5 Mbps\nDenver,Seattle,1 Gbps\n",
        "from, to, rate_mbps\nSeattle, Denver, 2.5\n\nDenver, Seattle, 1e3\n",
    ):
        setup = resolve(in_file(tmp_path, csv))
        assert setup.demand is not None
        bounds = setup.demand.pair_bps
        assert isinstance(bounds, list)
        assert sorted(bps for _, _, bps in bounds) == [2_500_000, 1_000_000_000]


def test_every_mistake_in_a_file_has_its_line(tmp_path: Path) -> None:
    rows = ("Seatle,Denver,1", "Seattle,Denver,-1", "Seattle,Denver,fast", "Denver,Denver,1", "Denver,1")
    csv = "\n".join(("from,to,rate_mbps", *rows))
    with pytest.raises(ScenarioError) as caught:
        resolve(in_file(tmp_path, csv))
    assert [problem.place for problem in caught.value.problems] == [f"d.csv, line {n}" for n in range(2, 7)]
    for part in (
        'nearest: "Seattle"',
        "is below zero",
        "is not a number of Mbps",
        "to itself",
        "has 2 cells",
    ):
        assert part in str(caught.value)
    with pytest.raises(ScenarioError, match=r"line 1: .* is not from,to and one of rate, rate_kbps"):
        resolve(in_file(tmp_path, "node,kind,since\n"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"routing__scheme__k": "0"}, "routing.scheme.k: 0 must be at least 1"),
        ({"routing__scheme": "hybrid-hop", "routing__scheme__single_percent": "101"}, "must be at most 100"),
        ({"routing__scheme": "hybrid-hop", "routing__scheme__single_percent": "-1"}, "must be at least 0"),
        (
            {"routing__scheme__single_percent": "10"},
            "routing.scheme.single_percent: is a parameter of hybrid-hop and hybrid-delay (scheme); "
            'the scheme here is "robust"',
        ),
        ({"routing__scheme__level": "1"}, "is a parameter of robust-optimal (scheme)"),
        ({"routing__scheme__method": "exchange"}, "routing.scheme.method: no such key"),
        ({"routing__scheme__failures": "single-link"}, "give robust a k"),
        ({"routing__scheme__gap": "0"}, "routing.scheme.gap"),
        ({"routing__scheme__time_limit": "0 s"}, "must be above zero"),
        ({"routing__scheme": "hybrid-delay", "routing__metric": "hops"}, "goes by delay"),
        ({"routing__demand__pair": "-1 Mbps"}, "is below zero"),
        ({"routing__demand__pair": "5"}, "has no unit"),
        ({"routing__demand__pair": "0 bps"}, "no pair of routers may have traffic"),
        ({"routing__demand": "{}"}, "without bounds loads have none"),
        ({"routing__demand": '{ ingress = { Denver = "1 Mbps" } }'}, "nothing limits the traffic from"),
        ({"routing__demand__ingress": '{ Denvr = "1 Mbps" }'}, 'ingress.Denvr: no node "Denvr"'),
        ({"routing__demand__pair": '{ from = "topology" }'}, "has no traffic matrix"),
        ({"routing__demand__pair": '{ from = "topology", unit = "1 Mbps" }'}, "has no traffic matrix"),
        ({"routing__demand__pair": '{ from = "d.csv" }'}, 'neither "topology" nor like "file:demands.csv"'),
        ({"routing__demand__pair": '{ from = "file:none.csv" }'}, "cannot be read: No such file"),
        ({"routing__demand__pair": '{ from = "file:/dev/zero" }'}, "cannot be read: it is not a file"),
        ({"network__node": '[{ name = "Oslo" }]'}, "no path over routers"),
        ({"network__links__capacity": "0 bps"}, "must be above zero"),
        (
            {"routing__scheme": "shortest", "routing__scheme__gap": "0.1"},
            "is a parameter of robust, hybrid-hop",
        ),
    ],
)
def test_mistakes_are_answered_with_place_and_remedy(fields: dict[str, str], message: str) -> None:
    said = refused(**fields)
    assert said.startswith("x.toml: ")
    assert message in said


def test_robust_schemes_need_bounds() -> None:
    with pytest.raises(ScenarioError, match=r"routing\.demand: is missing"):
        Scenario.loads(BASE + '[routing]\nscheme = "robust"\n')


def test_traffic_of_a_host_is_bounded_at_its_router() -> None:
    said = refused(
        network__node='[{ name = "h", kind = "host" }]', routing__demand__ingress='{ h = "1 Mbps" }'
    )
    assert '"h" is a host; its traffic counts at the router' in said
