"""One CSV of routes: what `anabranch routes --csv` and `anabranch export --to csv` write, `paths` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch import Scenario, _core
from anabranch.export import export
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
    "semper": "semper",
    "tcpbp": {"algorithm": "tcpbp", "k": 2},
    "tcpbp-exact": "tcpbp-exact",
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
    if str(scheme).find("robust") >= 0 or str(scheme).find("hybrid") >= 0:
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
    assert read_back(original, exported, tmp_path).routes().csv() == text
