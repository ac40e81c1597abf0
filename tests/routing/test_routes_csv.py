"""One CSV of routes: what `anabranch routes --csv` and `anabranch export --to csv` write, `paths` reads."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from anabranch import Scenario, ScenarioError, _core
from anabranch.export.write import export
from anabranch.plans.routes import plan
from anabranch.scenario.routing import declarations
from anabranch.setup import Needed, resolve

NETWORKS: dict[str, dict[str, Any]] = {
    name: {"topology": f"zoo/{name}"}
    for name in ("Abilene", "Nsfnet", "Cesnet200304", "Sprint", "Heanet", "Garr199901")
} | {
    "fat-tree": {"topology": "fat-tree", "parameters": {"k": 4}},
    "grid": {"topology": "grid", "parameters": {"rows": 3, "columns": 3}},
    "dumbbell": {"topology": "dumbbell", "parameters": {"hosts": 2, "bottleneck_capacity": "10 Mbps"}},
    "parallel": {
        "node": [{"name": name} for name in ("a", "b", "c")],
        "link": [{"between": list(ends), "new": True} for ends in ("ab", "ab", "ab", "bc", "bc", "ac")],
    },
}
SCHEMES: dict[str, Any] = {
    "shortest": "shortest",
    "ecmp": "ecmp",
    "k-shortest": {"algorithm": "k-shortest", "k": 3},
    "near-shortest": {"algorithm": "near-shortest", "within_percent": 60},
    "disjoint": "disjoint",
    "max-flow": "max-flow",
    "concurrent-flow": {"algorithm": "concurrent-flow", "k": 3},
    "semper": "semper",
    "tcpbp": {"algorithm": "tcpbp", "k": 2},
    "tcpbp-exact": "tcpbp-exact",
    "igp-weights": {"algorithm": "igp-weights", "time_limit": "0.1 s"},
    "robust": {"algorithm": "robust", "k": 2},
    "hybrid-hop": "hybrid-hop",
    "hybrid-delay": "hybrid-delay",
    "robust-optimal": {"algorithm": "robust-optimal", "k": 2, "level": 2},
    "robust-single": {"algorithm": "robust-single", "k": 2},
}


def scenario(network: dict[str, Any], scheme: Any, base: Path) -> Scenario:
    data: dict[str, Any] = {
        "network": network | {"links": {"capacity": "10 Mbps", "delay": "2 ms", "loss": 0.001}},
        "run": {"duration": "1 s"},
        "routing": {"scheme": scheme},
        "traffic": [{"from": "*", "pairs": "permutation", "size": "10 kB"}],
    }
    if any(word in str(scheme) for word in ("robust", "hybrid", "igp-weights")):
        data["routing"]["demand"] = {"pair": "50 kbps"}
    return Scenario.from_data(data, base=base)


def next_hops(made: _core.Plan) -> dict[int, dict[int, list[int]]]:
    return {table["to"]: {node: links for node, links in table["next"] if links} for table in made.tables()}


def read_back(original: Scenario, text: str, folder: Path) -> Scenario:
    (folder / "routes.csv").write_bytes(text.encode())
    given = {"routing.scheme": "given", "routing.paths": f"file:{folder}/routes.csv"}
    return original.replace({"routing.metric": original.routing.metric, **given})


def test_the_schemes_are_all_there_are() -> None:
    assert SCHEMES.keys() == {*declarations()["scheme"]} - {"given"}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_scheme_comes_back_on_every_network(network: str, scheme: str, tmp_path: Path) -> None:
    original = scenario(NETWORKS[network], SCHEMES[scheme], tmp_path)
    before = original.routes()
    text = before.csv()
    made = plan(resolve(original, Needed.ROUTES), None).plan
    given = read_back(original, text, tmp_path)
    again = plan(resolve(given, Needed.ROUTES), None).plan
    assert len(made.data()["routes"]) > 1
    assert again.data()["routes"] == made.data()["routes"]
    assert next_hops(again) == next_hops(made)
    assert given.routes().csv() == text
    export(original, "csv", tmp_path / "exported")
    exported = (tmp_path / "exported" / "routes.csv").read_bytes().decode()
    if "demand" not in original.data()["routing"]:
        assert exported == text
    back = read_back(original, exported, tmp_path).routes().csv()
    if scheme == "igp-weights":
        # Hop by hop, all pairs that may have traffic have more next hops than those that send.
        assert set(text.splitlines()) <= set(back.splitlines())
    else:
        assert back == text


ODD_NAMES = (
    "a->b", "x > y", 'Zürich, "CH"', "n#2", "#1", "=d", "-1", "'=x", " blank ", "two\nlines", "\u2028", "\\",
    ">",
)  # fmt: skip


@pytest.mark.parametrize("scheme", ["shortest", "ecmp"])
@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_name_comes_back(name: str, scheme: str, tmp_path: Path) -> None:
    """A spreadsheet runs nothing of it either: no cell begins as a formula does."""
    link = {"between": [name, "q"], "new": True}
    network = {"node": [{"name": name}, {"name": "q"}, {"name": "r"}], "link": [link, link]}
    network["link"].append({"between": ["q", "r"], "new": True})
    data = {"traffic": [{"from": name, "to": "r", "size": "10 kB"}]}
    original = scenario(network, scheme, tmp_path).replace(data)
    text = original.routes().csv()
    given = read_back(original, text, tmp_path)
    assert given.routes().csv() == text
    assert given.routes().data()["pairs"] == original.routes().data()["pairs"]
    cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
    assert not [cell for cell in cells if cell[:1] in "=+@\t" and cell]


@pytest.mark.parametrize(
    "older",
    [
        "from,to,weight,path\na,b,1,a->b\n",
        "pair,from,to,carries,path_number,path,weight,hops\na -> b,a,b,data,1,a - b,1,1\n",
    ],
)
def test_files_of_older_versions_are_told_the_new_columns(older: str, tmp_path: Path) -> None:
    given = read_back(scenario(NETWORKS["parallel"], "shortest", tmp_path), older, tmp_path)
    with pytest.raises(ScenarioError) as caught:
        given.routes()
    (problem,) = caught.value.problems
    assert problem.place.endswith("routes.csv, line 1")
    assert "columns of an older version; now they are from,to,kind,weight,path" in problem.message
    assert "anabranch routes SCENARIO --csv FOLDER" in problem.message


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["b,c,next-hop,1,b > c", "b,c,next-hop,2,b > c#2"], "hop by hop a node shares equally"),
        (["b,c,next-hop,1,b > c", "b,c,next-hop,1,b > c"], "the same next hop stands there twice"),
        (["b,c,next-hop,1,b > c#3"], 'no link 3 between "b" and "c"'),
        (["b,c,path,1,b > c,4"], "has 6 cells in place of 5"),
        ([], "has no path"),
    ],
)
def test_next_hops_that_do_not_hold(rows: list[str], words: str, tmp_path: Path) -> None:
    text = "\n".join(["from,to,kind,weight,path", *rows]) + "\n"
    with pytest.raises(ScenarioError, match=words):
        read_back(scenario(NETWORKS["parallel"], "shortest", tmp_path), text, tmp_path).routes()


def test_weights_are_parts_of_a_sum_and_other_columns_are_not_read(tmp_path: Path) -> None:
    """A name that ends like a number needs no quotation marks where no other node has the rest of it."""
    network = {
        "node": [{"name": name} for name in ("a", "b#2", "c")],
        "link": [{"between": list(ends), "new": True} for ends in (("a", "b#2"), ("b#2", "c"), ("a", "c"))],
    }
    text = "path,mine,weight,to,kind,from\na > b#2 > c,x,3,c,path,a\na>c,y,1,c,path,a\n"
    original = scenario(network, "shortest", tmp_path)
    original = original.replace({"traffic": [{"from": "a", "to": "c", "size": "10 kB"}]})
    (pair, _) = read_back(original, text, tmp_path).routes().pairs
    assert [(path.nodes, path.weight) for path in pair.paths] == [
        (("a", "b#2", "c"), 0.75),
        (("a", "c"), 0.25),
    ]
