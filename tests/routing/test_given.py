"""Routes that a scenario brings along: in tables, in a CSV file, and as a saved plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.errors import ResultError
from anabranch.plans.saved import save_plan
from anabranch.plans.worst_loads import worst_loads

ABILENE = """
title = "Abilene"
[network]
topology = "zoo/Abilene"
[network.links]
capacity = "10 Mbps"
weight = 1
[[traffic]]
from = "Seattle"
to = "Atlanta"
flows = 4
size = "200 kB"
[[traffic]]
from = "New York"
to = "Houston"
flows = 3
size = "200 kB"
[run]
duration = "3 s"
[routing.demand]
pair = "50 kbps"
[routing]
"""
ROWS = (
    "Seattle,Atlanta,path,3,Seattle > Denver > Kansas City > Houston > Atlanta",
    "Seattle,Atlanta,path,1,Seattle>Sunnyvale  > Los Angeles > Houston > Atlanta",
    'New York,Houston,path,1,"New York > Washington DC > Atlanta > Houston"',
)


def loaded(folder: Path, routing: str) -> Scenario:
    return Scenario.loads(ABILENE + routing, origin="x.toml", base=folder)


def by_csv(folder: Path, *rows: str, header: str = "from,to,kind,weight,path") -> Scenario:
    (folder / "routes.csv").write_text("\n".join([header, *rows]) + "\n")
    return loaded(folder, 'scheme = "given"\npaths = "file:routes.csv"\n')


def refused(scenario: Scenario) -> str:
    with pytest.raises(ScenarioError) as caught:
        scenario.routes()
    return str(caught.value)


def test_paths_of_a_file_with_their_shares(tmp_path: Path) -> None:
    plan_routes = by_csv(tmp_path, *ROWS).routes()
    (pair,) = (pair for pair in plan_routes.pairs if pair.source == "Seattle")
    assert [(path.nodes[1], path.weight) for path in pair.paths] == [("Denver", 0.75), ("Sunnyvale", 0.25)]
    # Acknowledgments come back over the same edges.
    (back,) = (pair for pair in plan_routes.pairs if pair.destination == "Seattle")
    assert [(path.nodes[-2], path.weight) for path in back.paths] == [("Denver", 0.75), ("Sunnyvale", 0.25)]
    assert plan_routes.facts == {"paths_from": "routes.csv", "pairs_back": 2}


def test_paths_of_tables_are_those_of_the_file(tmp_path: Path) -> None:
    tables = ""
    for _, _, _, weight, path in (row.replace('"', "").split(",") for row in ROWS):
        nodes = [name.strip() for name in path.split(">")]
        tables += f"[[routing.paths]]\nnodes = {json.dumps(nodes)}\nweight = {weight}\n"
    of_tables = loaded(tmp_path, 'scheme = "given"\n' + tables)
    assert of_tables.routes().pairs == by_csv(tmp_path, *ROWS).routes().pairs
    assert Scenario.loads(of_tables.toml()) == of_tables


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            "Seattle,Atlanta,path,1,Seattle > Denver > Atlanta",
            'line 5: no link between "Denver" and "Atlanta"',
        ),
        (
            "Seattle,Atlanta,path,1,Seattle > Denvr > Atlanta",
            'line 5: no node "Denvr" in zoo/Abilene; nearest: "Denver"',
        ),
        (
            "Seatle,Atlanta,path,1,Seattle > Denver",
            'line 5: no node "Seatle" in zoo/Abilene; nearest: "Seattle"',
        ),
        (
            "Seattle,Atlanta,path,0,Seattle > Denver",
            'line 5: the weight is "0"; it must be a number above zero',
        ),
        ("Seattle,Atlanta,path,-1,Seattle > Denver", 'line 5: the weight is "-1"'),
        ("Seattle,Atlanta,path,nan,Seattle > Denver", 'line 5: the weight is "nan"'),
        ("Seattle,Atlanta,path,1e999,Seattle > Denver", 'line 5: the weight is "1e999"'),
        ("Seattle,Atlanta,path,1", "line 5: has 4 cells in place of 5"),
        ("Seattle,Atlanta,path,1,Seattle", 'line 5: the path is "Seattle"; write the nodes like a > b > c'),
        (ROWS[0], "line 5: the same path stands in routes.csv, line 2 already"),
        (
            "Seattle,Atlanta,path,1,Seattle > Denver",
            'line 5: the path leads from "Seattle" to "Denver", and the row is of Seattle to Atlanta',
        ),
        (
            "Denver,Denver,path,1,Denver > Seattle > Denver",
            'line 5: the path comes through "Denver" twice',
        ),
        ("Seattle,Denver,way,1,Seattle > Denver", 'line 5: the kind is "way"; it must be path or next-hop'),
        ("Seattle,Denver,path,1,Seattle->Denver", 'the path is "Seattle->Denver"; write > in place of ->'),
        ("Seattle,Denver,path,1,Seattle > ", 'path is "Seattle >": a node has no name'),
        (
            "Seattle > Denver,Denver,path,1,Seattle > Denver",
            'from is "Seattle > Denver"; it must be one node',
        ),
        (
            "Seattle,Houston,next-hop,1,Seattle > Denver > Kansas City",
            'the next hop is "Seattle > Denver > Kansas City"; it must be one link, like a > b',
        ),
        (
            "Seattle,Houston,next-hop,1,Denver > Kansas City",
            'the path leads from "Denver" to "Kansas City", and the row is of Seattle to Houston',
        ),
        (
            "Seattle,Houston,next-hop,1,Seattle > Denver",
            'packets to "Houston" go round, or end, at "Seattle"',
        ),
        ("Seattle,Denver,path,1,Seattle > Denver#2", 'line 5: no link 2 between "Seattle" and "Denver"'),
    ],
)
def test_rows_that_cannot_be_give_one_message_with_their_line(tmp_path: Path, row: str, words: str) -> None:
    message = refused(by_csv(tmp_path, *ROWS, row))
    assert words in message
    assert message.startswith("x.toml: routes.csv, line 5: ")
    assert message.count("\n") == 0


def test_a_header_and_pairs_without_a_path(tmp_path: Path) -> None:
    assert "routes.csv, line 1: " in refused(by_csv(tmp_path, *ROWS, header="from,to,kind,share,path"))
    message = refused(by_csv(tmp_path, *ROWS[:2]))
    assert message == (
        'x.toml: routing.paths: routes.csv has no path from "New York" to "Houston", "Houston" to "New York"'
        ", which traffic needs; add one to it"
    )
    assert '"routes.csv" has no path' in refused(by_csv(tmp_path))
    assert "cannot be read" in refused(loaded(tmp_path, 'scheme = "given"\npaths = "file:none.csv"\n'))


@pytest.mark.parametrize(
    ("routing", "words"),
    [
        ('scheme = "given"\n', "routing.paths: is missing"),
        ('scheme = "given"\npaths = "routes.csv"\n', 'routing.paths: "routes.csv" is not the name of a file'),
        ('paths = "file:routes.csv"\n', 'routing.paths: belongs to scheme = "given"'),
        (
            'scheme = "given"\nload_balancing = "hash"\npaths = "file:r.csv"\n',
            "gives every path the same share",
        ),
        (
            'scheme = "given"\n[[routing.paths]]\nnodes = ["a", "b"]\nweight = 0\n',
            "routing.paths[0].weight: 0",
        ),
        ('scheme = "given"\n[[routing.paths]]\nnodes = ["a"]\n', "routing.paths[0].nodes: "),
    ],
)
def test_fields_that_do_not_fit(tmp_path: Path, routing: str, words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, routing)
    assert words in str(caught.value)


def test_hosts_take_the_paths_of_their_routers() -> None:
    text = """
    [network]
    topology = "dumbbell"
    [network.parameters]
    hosts = 2
    bottleneck_capacity = "10 Mbps"
    access_capacity = "10 Mbps"
    bottleneck_delay = "1 ms"
    access_delay = "1 ms"
    [[traffic]]
    from = "left1"
    to = "right2"
    size = "10 kB"
    [run]
    duration = "1 s"
    [routing]
    scheme = "given"
    [[routing.paths]]
    nodes = ["router-left", "router-right"]
    """
    plan_routes = Scenario.loads(text).routes()
    assert [path.nodes for path in plan_routes.pairs[0].paths] == [
        ("left1", "router-left", "router-right", "right2")
    ]
    assert plan_routes.facts == {"paths_from": "routing.paths", "pairs_by_routers": 1, "pairs_back": 1}


@pytest.mark.parametrize(
    "routing",
    [
        'scheme = "ecmp"\nmetric = "weight"\n',
        'scheme = { algorithm = "disjoint", k = 2 }\n',
        'scheme = "max-flow"\n',
        'scheme = { algorithm = "robust", k = 3 }\n',
    ],
)
def test_a_saved_plan_gives_the_same_loads_and_the_same_run(tmp_path: Path, routing: str) -> None:
    original = loaded(tmp_path, routing)
    save_plan(original, tmp_path / "plan.json")
    balancing = str(original.data()["routing"]["load_balancing"])
    text = f'scheme = "given"\npaths = "file:plan.json"\nload_balancing = "{balancing}"\n'
    given = loaded(tmp_path, text)
    before, after = worst_loads(original), worst_loads(given)
    assert [link.link for link in after.links] == [link.link for link in before.links]
    assert [link.load for link in after.links] == pytest.approx(
        [link.load for link in before.links], abs=1e-9
    )
    assert max(link.load for link in before.links) > 0
    ran, again = original.run(), given.run()
    assert ran.tables.keys() == again.tables.keys()
    assert {"flows", "links"} <= ran.tables.keys()
    for name, table in ran.tables.items():
        assert table.equals(again.tables[name]), name
    # Saved once more it is the same plan.
    save_plan(given, tmp_path / "again.json")
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("plan.json", "again.json"))
    assert (first["routes"], first["tables"]) == (second["routes"], second["tables"])


def test_a_plan_of_another_network_says_what_differs(tmp_path: Path) -> None:
    original = loaded(tmp_path, 'scheme = "shortest"\n')
    save_plan(original, tmp_path / "plan.json")
    given = loaded(tmp_path, 'scheme = "given"\npaths = "file:plan.json"\n')
    more = given.replace(
        {"network.link": [{"between": ["Seattle", "Houston"], "new": True, "delay": "1 ms"}]}
    )
    assert refused(more) == (
        'x.toml: routing.paths: "plan.json" is a plan of another network ("Abilene"): the plan lacks the '
        'links "Seattle->Houston", "Houston->Seattle"'
    )
    other = given.replace({"network.topology": "zoo/Aarnet"})
    assert "zoo/Aarnet lacks the nodes" in refused(other)
    faster = given.replace({"network.links.capacity": "20 Mbps"}).routes()
    assert faster.warnings == (
        'routing.paths: the plan in "plan.json" was made where the link New York->Chicago and 27 more had '
        "another capacity or delay",
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{", "[{", "plan.json, line "),
        (
            '"anabranch-plan"',
            '"other"',
            '"plan.json" is no plan; write one by: anabranch routes SCENARIO --out',
        ),
        ('"format_version": 1', '"format_version": 9', "has format 9; this version reads 1"),
        (
            '"weight": 1.0',
            '"weight": 0.5',
            'routes[0]: the weights of "New York" to "Houston" add up to 0.5, not to 1',
        ),
        ('"weight": 1.0', '"weight": 0', "plan.json, routes[0].paths[0].weight: 0"),
        ('["New York->', '["New York->X', "routes[0]: no link"),
        ('"links": ["New York->Washington DC", ', '"links": [', "is no path from"),
    ],
)
def test_plans_that_do_not_hold(tmp_path: Path, old: str, new: str, words: str) -> None:
    save_plan(
        loaded(tmp_path, 'scheme = "shortest"\n').replace({"routing.demand": {"pair": "1 kbps"}}),
        tmp_path / "p.json",
    )
    text = (tmp_path / "p.json").read_text()
    start = text.index('    {"from": "New York", "to": "Houston"')
    text = text[: text.index('"routes": [') + 12] + text[start:]
    assert old in text
    (tmp_path / "plan.json").write_text(text.replace(old, new, 1))
    assert words in refused(loaded(tmp_path, 'scheme = "given"\npaths = "file:plan.json"\n'))


def test_a_table_that_goes_round_is_refused(tmp_path: Path) -> None:
    save_plan(loaded(tmp_path, 'scheme = "ecmp"\n'), tmp_path / "plan.json")
    plan = json.loads((tmp_path / "plan.json").read_text())
    (table,) = (table for table in plan["tables"] if table["to"] == "Atlanta")
    table["next"]["Denver"] = ["Denver->Seattle"]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    message = refused(loaded(tmp_path, 'scheme = "given"\npaths = "file:plan.json"\n'))
    assert 'packets to "Atlanta" go round, or end, at ' in message


def test_a_plan_is_not_written_over(tmp_path: Path) -> None:
    scenario_read = loaded(tmp_path, 'scheme = "shortest"\n')
    (tmp_path / "plan.json").write_text("mine")
    with pytest.raises(ResultError, match="exists; choose another name, or give --replace"):
        save_plan(scenario_read, tmp_path / "plan.json")
    assert (tmp_path / "plan.json").read_text() == "mine"
    save_plan(scenario_read, tmp_path / "plan.json", replace=True)
    assert json.loads((tmp_path / "plan.json").read_text())["scheme"] == "shortest"


def test_a_result_carries_the_plan(tmp_path: Path) -> None:
    save_plan(loaded(tmp_path, 'scheme = "shortest"\n'), tmp_path / "plan.json")
    given = loaded(tmp_path, 'scheme = "given"\npaths = "file:plan.json"\n')
    given.run(out=tmp_path / "result", page=False)
    (tmp_path / "plan.json").unlink()
    again = Scenario.load(tmp_path / "result" / "scenario.toml")
    assert again.routing.paths == "file:inputs/plan.json"
    assert again.routes().scheme == "given"


def test_given_paths_follow_no_metric(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="the paths are given and follow no metric"):
        by_csv(tmp_path, *ROWS).check_forwarding()
