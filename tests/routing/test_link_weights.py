"""Weights of links, as an operator sets them: routes by hand, three places for them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError

# a - b - d and a - c - d - and a direct edge a - d, which is short in hops only.
NETWORK = """
[network]
{topology}
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[[traffic]]
from = "a"
to = "d"
size = "1 MB"
[run]
duration = "1 s"
"""
EDGES = (("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("a", "d"))
LISTED = "".join(f'[[network.node]]\nname = "{name}"\n' for name in "abcd")
CSV = "from,to,weight\n" + "".join(
    f"{a},{b},{weight}\n{b},{a},{weight}\n" for (a, b), weight in zip(EDGES, (2, 2, 1, 3, 9), strict=True)
)


def links(weights: dict[str, int] | None = None) -> str:
    """The edges as the scenario lists them, with weights by their ends."""
    return "".join(
        f'[[network.link]]\nbetween = ["{a}", "{b}"]\nnew = true\n'
        + (f"weight = {weights[a + b]}\n" if weights and a + b in weights else "")
        for a, b in EDGES
    )


def scenario(
    folder: Path, *, scheme: str = "ecmp", more: str = "", topology: str = "", edges: str = ""
) -> Scenario:
    text = NETWORK.format(topology=topology) + f'[routing]\nscheme = "{scheme}"\nmetric = "weight"\n' + more
    return Scenario.loads(text + edges, origin="x.toml", base=folder)


def ways(scenario_read: Scenario) -> list[tuple[str, ...]]:
    """The next nodes of the source, or the paths."""
    pair = scenario_read.routes().pairs[0]
    return [hop.next_nodes for hop in pair.hop_by_hop if hop.node == "a"] or [
        path.nodes for path in pair.paths
    ]


def graphml(weights: tuple[str, ...]) -> str:
    edges = "".join(
        f'<edge source="{a}" target="{b}"><data key="w">{weight}</data></edge>'
        for (a, b), weight in zip(EDGES, weights, strict=True)
    )
    nodes = "".join(f'<node id="{name}"/>' for name in "abcd")
    return (
        '<graphml><key id="w" for="edge" attr.name="weight" attr.type="double"/>'
        f'<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>'
    )


def refused(scenario_read: Scenario) -> str:
    with pytest.raises(ScenarioError) as caught:
        scenario_read.routes()
    return str(caught.value)


def test_equal_sums_are_equal_routes(tmp_path: Path) -> None:
    """2 + 2 = 1 + 3 = 4, and the direct edge costs 9."""
    weights = {"ab": 2, "bd": 2, "ac": 1, "cd": 3, "ad": 9}
    scenario_read = scenario(tmp_path, edges=LISTED + links(weights))
    assert [set(nodes) for nodes in ways(scenario_read)] == [{"b", "c"}]
    cheaper = scenario(tmp_path, scheme="shortest", edges=LISTED + links(weights | {"cd": 2}))
    assert ways(cheaper) == [("a", "c", "d")]
    assert [path.metric_value for path in cheaper.routes().pairs[0].paths] == [3.0]
    assert cheaper.routes().metric_column == "igp_cost"
    direct = scenario(tmp_path, scheme="shortest", edges=LISTED + links(weights | {"ad": 3}))
    assert ways(direct) == [("a", "d")]


def test_weights_of_a_file_and_of_graphml_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "weights.csv").write_text(CSV)
    of_csv = scenario(tmp_path, topology='weights = "file:weights.csv"', edges=LISTED + links())
    assert [set(nodes) for nodes in ways(of_csv)] == [{"b", "c"}]
    (tmp_path / "net.graphml").write_text(graphml(("2", "2.0", "1", "3", "9")))
    of_graph = scenario(tmp_path, topology='topology = "file:net.graphml"')
    assert [set(nodes) for nodes in ways(of_graph)] == [{"b", "c"}]
    # What the scenario says of a single link comes before the file.
    scenario_read = scenario(
        tmp_path, topology='weights = "file:weights.csv"', edges=LISTED + links({"cd": 2})
    )
    assert ways(scenario_read) == [("c",)]


def test_a_weight_per_direction_and_per_parallel_link(tmp_path: Path) -> None:
    edges = LISTED + links() + '[[network.link]]\nbetween = ["a", "d"]\nnew = true\n'
    (tmp_path / "weights.csv").write_text(
        CSV.replace("from,to,weight", "from,to,weight,index").replace("\n", ",\n").replace("index,", "index")
        + "d,a,1,2\n"
    )
    scenario_read = scenario(
        tmp_path, scheme="shortest", topology='weights = "file:weights.csv"', edges=edges
    )
    (back,) = (pair for pair in scenario_read.routes().pairs if pair.source == "d")
    assert back.paths[0].links == ("d->a#2",)
    (there,) = (pair for pair in scenario_read.routes().pairs if pair.source == "a")
    assert there.paths[0].hops == 2


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            "a,b,0",
            'weights.csv, line 12: the weight is "0"; it must be a whole number from 1 to 4,294,967,295',
        ),
        ("a,b,-3", 'weights.csv, line 12: the weight is "-3"'),
        ("a,b,1.5", 'weights.csv, line 12: the weight is "1.5"'),
        ("a,b,much", 'weights.csv, line 12: the weight is "much"'),
        ("a,e,1", 'weights.csv, line 12: no node "e"'),
        ("b,c,1", 'weights.csv, line 12: no link from "b" to "c" in this scenario'),
        ("a,b,7", 'weights.csv, line 12: the weight from "a" to "b" stands in weights.csv, line 2 already'),
        ("a,b", "weights.csv, line 12: has 2 cells in place of 3"),
    ],
)
def test_rows_that_cannot_be_are_named_by_their_line(tmp_path: Path, row: str, words: str) -> None:
    (tmp_path / "weights.csv").write_text(CSV + row + "\n")
    scenario_read = scenario(tmp_path, topology='weights = "file:weights.csv"', edges=LISTED + links())
    message = refused(scenario_read)
    assert words in message
    assert message.count("\n") == 0


def test_a_header_and_a_name_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "weights.csv").write_text("from,to,cost\n")
    scenario_read = scenario(tmp_path, topology='weights = "file:weights.csv"', edges=LISTED + links())
    assert 'weights.csv, line 1: "from,to,cost" is no header with the columns from,to,weight' in refused(
        scenario_read
    )
    with pytest.raises(ScenarioError, match=r'"weights\.csv" is not like "file:weights\.csv"'):
        scenario(tmp_path, topology='weights = "weights.csv"', edges=LISTED + links())


def test_links_without_a_weight(tmp_path: Path) -> None:
    message = refused(scenario(tmp_path, edges=LISTED + links({"ab": 1, "bd": 1, "ac": 1})))
    assert (
        "network.links.weight: is missing: link c - d (and 1 more) of this scenario has no weight" in message
    )
    with pytest.raises(ScenarioError, match=r"network.link\[0\].weight: 0 .* at least 1"):
        scenario(tmp_path, edges=LISTED + links({"ab": 0}))
    # Nobody needs them where routes go by something else.
    assert scenario(tmp_path, edges=LISTED + links()).replace({"routing.metric": "hops"}).routes().pairs


@pytest.mark.parametrize(("weight", "words"), [("0", "is 0;"), ("-2", "is -2;"), ("1.5", "is 1.5;")])
def test_weights_of_a_topology_that_cannot_be(tmp_path: Path, weight: str, words: str) -> None:
    (tmp_path / "net.graphml").write_text(graphml((weight, "2", "1", "3", "9")))
    scenario_read = scenario(tmp_path, topology='topology = "file:net.graphml"')
    assert f"network.topology: the weight of the link a - b {words} a weight is a whole number" in refused(
        scenario_read
    )
    assert scenario_read.replace({"routing.metric": "hops"}).routes().pairs
